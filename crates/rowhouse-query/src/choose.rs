//! Chooses how a query is read: by the key, or by an index.

use std::fmt;

use rowhouse_model::{Columns, Scan, TimeRange};
use rowhouse_schema::{
    COLLECTED_ENTRIES_MAX, ColumnSchema, Index, IndexCost, IndexPlan, IndexState, KeySchema, Plan,
    Predicate, TimeZone,
};

use crate::judge::EntryOrder;
use crate::projection::add_condition_columns;

/// How a query is read, and how else it could be.
///
/// ```
/// use rowhouse_model::{FamilyDescriptor, TableDescriptor, TableName};
/// use rowhouse_query::StoreQuery;
/// use rowhouse_store::Store;
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path())?;
/// let name = TableName::parse("mail")?;
/// let mail = TableDescriptor::new(name.clone())
///     .family(FamilyDescriptor::new("d")?)
///     .attribute("rowhouse.key", "1 [user text]")
///     .attribute("rowhouse.columns", "1 d:s sender string")
///     .attribute("rowhouse.indexes", "1 by_sender [sender]");
/// store.create_table(mail, &[])?;
///
/// // The table is empty, so the key is as good as any index.
/// let access = StoreQuery::new(&store, &name, "sender = 'eve'")?.access()?;
/// assert_eq!(access.chosen().index, None);
/// let by_index = access.paths()[1].to_string();
/// assert_eq!(by_index, "index by_sender: about 0 entries, costs as much as 100 cells");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Access {
    /// By the key first, then by each index in declaration order.
    paths: Vec<AccessPath>,
    chosen: usize,
    plan: Plan,
    /// The plan by the chosen index.
    index_plan: Option<(IndexPlan, EntryOrder)>,
    /// Whether a server has chosen.
    is_of_server: bool,
}

/// A way to read a query.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AccessPath {
    /// The index name; `None` for the key.
    pub index: Option<String>,
    /// How many entries to read, estimated. `None` for the key, and where nothing is estimated: on
    /// a cluster, if the query names the index, and if no index can serve.
    pub entries: Option<u64>,
    /// The estimated cost, in cells that a scan would read in the same time. `None` where nothing
    /// is estimated.
    pub cells: Option<u64>,
    /// Whether entries that are certain are the answer without their rows.
    pub is_covered: bool,
    /// Why the query cannot be read this way.
    pub why_not: Option<String>,
}

/// An index that can serve a query.
#[derive(Clone)]
pub struct Candidate {
    /// The plan by it.
    pub plan: IndexPlan,
    /// What that costs.
    pub cost: IndexCost,
}

impl Candidate {
    /// Plans a table query by an index, or returns why that is not possible. The index state is not
    /// considered.
    ///
    /// # Errors
    /// The reason, in words.
    pub fn plan(
        index: &Index,
        (key, columns): (&KeySchema, Option<&ColumnSchema>),
        predicate: &Predicate,
        zone: &TimeZone,
        scan: &Scan,
    ) -> Result<IndexPlan, String> {
        let is_newest = scan.versions == 1
            && !scan.raw
            && scan.time_range == TimeRange::ALL
            && scan.family_time_ranges.is_empty();
        if !is_newest {
            return Err("entries are of the newest versions".to_owned());
        }
        let plan = index.plan(key, columns, predicate, zone, &scan.columns);
        plan.map_err(|why| why.to_string())
    }

    /// Returns why an index in a state does not serve.
    pub fn not_ready(state: &IndexState) -> String {
        format!("it is not ready, its state is: {state}")
    }

    /// Returns the columns that a plan reads from the index's table, for an estimate of their
    /// cells.
    pub fn entry_columns(plan: &IndexPlan, requested: &Columns) -> Columns {
        if !plan.index().is_copy() {
            return Columns::all();
        }
        let mut columns = requested.clone();
        add_condition_columns(&mut columns, plan.row_plan());
        columns
    }

    /// `entry_cells` estimates how many cells the plan reads from the index's table; `None` where
    /// there are no estimates.
    pub fn new(plan: IndexPlan, entry_cells: Option<u64>, requested: &Columns) -> Self {
        let cost = IndexCost::new(&plan, entry_cells.unwrap_or(u64::MAX), requested);
        Self { plan, cost }
    }
}

impl Access {
    /// The chosen way.
    pub fn chosen(&self) -> &AccessPath {
        &self.paths[self.chosen]
    }

    /// All ways: by the key, and by each index that the table declares.
    pub fn paths(&self) -> &[AccessPath] {
        &self.paths
    }

    /// The query plan by the key.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The query plan by the chosen index; `None` if the query is read by the key.
    pub fn index_plan(&self) -> Option<&IndexPlan> {
        self.index_plan.as_ref().map(|(plan, _)| plan)
    }

    /// Returns the chosen way in a few words.
    pub fn how(&self) -> String {
        let by = if self.is_of_server { ", as the server chooses" } else { "" };
        let Some((plan, order)) = &self.index_plan else { return format!("by the key{by}") };
        let order = match order {
            EntryOrder::Index => "in the order of the index",
            EntryOrder::Key => "whose entries are in key order",
            EntryOrder::Sorted => "whose rows are sorted into key order",
        };
        format!("by index {}, {order}{by}", plan.index().name())
    }

    /// Takes the plan by the chosen index and the entry order, and leaves the key chosen.
    pub fn take_index(&mut self) -> Option<(IndexPlan, EntryOrder)> {
        self.chosen = 0;
        self.index_plan.take()
    }

    /// Reads by the key. The others are shown with their reasons.
    pub fn by_key(plan: Plan, why_not: Vec<(String, String)>) -> Self {
        let paths = vec![AccessPath::default()];
        let mut access = Self { paths, chosen: 0, plan, index_plan: None, is_of_server: false };
        access.paths.extend(why_not.into_iter().map(|(index, why)| AccessPath::not(index, why)));
        access
    }

    /// Reads by the index that the query names.
    pub fn using(plan: Plan, index: IndexPlan, is_covered: bool) -> Self {
        let name = index.index().name().to_owned();
        let path = AccessPath { index: Some(name), is_covered, ..AccessPath::default() };
        let paths = vec![AccessPath::default(), path];
        let index_plan = Some((index, EntryOrder::Index));
        Self { paths, chosen: 1, plan, index_plan, is_of_server: false }
    }

    /// Reads by the index that a server has chosen, or by the key. Rows come in key order.
    pub fn of_server(
        plan: Plan,
        chosen: Option<&str>,
        indexes: Vec<(String, Result<IndexPlan, String>)>,
    ) -> Self {
        let mut access = Self { is_of_server: true, ..Self::by_key(plan, Vec::new()) };
        for (name, plan) in indexes {
            let path = match plan {
                Ok(plan) => {
                    if chosen == Some(&name) {
                        access.chosen = access.paths.len();
                        let order = EntryOrder::of_key(&plan);
                        access.index_plan = Some((plan, order));
                    }
                    AccessPath { index: Some(name), ..AccessPath::default() }
                }
                Err(why) => AccessPath::not(name, why),
            };
            access.paths.push(path);
        }
        access
    }

    /// Chooses between the key, whose ranges hold `key_cells` cells, and indexes: the ones that can
    /// serve, or the reason why not.
    pub fn choose(
        plan: Plan,
        key_cells: u64,
        limit: u64,
        indexes: Vec<(String, Result<Candidate, String>)>,
    ) -> Self {
        let costs = indexes.iter().map(|(_, candidate)| Some(candidate.as_ref().ok()?.cost));
        let costs: Vec<_> = costs.collect();
        let cheapest = IndexCost::choose(key_cells, limit, &costs);
        let mut access = Self::by_key(plan, Vec::new());
        access.paths[0].cells = Some(cheapest.key_cells as u64);
        for (at, (name, candidate)) in indexes.into_iter().enumerate() {
            let Candidate { plan, cost } = match candidate {
                Ok(candidate) => candidate,
                Err(why) => {
                    access.paths.push(AccessPath::not(name, why));
                    continue;
                }
            };
            if cheapest.chosen == Some(at) {
                let order = EntryOrder::of_key(&plan);
                access.chosen = access.paths.len();
                access.index_plan = Some((plan, order));
            }
            access.paths.push(AccessPath {
                index: Some(name),
                entries: Some(cost.entries()),
                cells: Some(cost.cells(limit) as u64),
                is_covered: cost.is_covered(),
                why_not: (!cost.is_possible()).then(|| {
                    format!(
                        "its entries are not in the order of the key, and more than \
                         {COLLECTED_ENTRIES_MAX} are not sorted"
                    )
                }),
            });
        }
        access
    }
}

impl Default for AccessPath {
    /// By the key.
    fn default() -> Self {
        Self { index: None, entries: None, cells: None, is_covered: false, why_not: None }
    }
}

impl AccessPath {
    fn not(index: String, why: String) -> Self {
        Self { index: Some(index), why_not: Some(why), ..Self::default() }
    }
}

impl fmt::Display for AccessPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.index {
            Some(index) => write!(f, "index {index}")?,
            None => f.write_str("key")?,
        }
        let mut parts = Vec::new();
        if let Some(entries) = self.entries {
            parts.push(format!("about {entries} entries"));
        }
        if let Some(cells) = self.cells {
            parts.push(format!("costs as much as {cells} cells"));
        }
        if self.is_covered {
            parts.push("covers the query".to_owned());
        }
        if let Some(why) = &self.why_not {
            parts.push(format!("not used: {why}"));
        }
        if parts.is_empty() {
            return Ok(());
        }
        write!(f, ": {}", parts.join(", "))
    }
}

impl fmt::Display for Access {
    /// Writes the chosen way, all ways with their estimates, and the plan by the chosen index.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "access: {}", self.how())?;
        for path in &self.paths {
            writeln!(f, "  {path}")?;
        }
        match &self.index_plan {
            None => Ok(()),
            Some((plan, _)) => write!(f, "{plan}"),
        }
    }
}
