//! The choice of how a query is read: by the key, or by an index.

use std::fmt;

use rowhouse_schema::{IndexPlan, Plan};

use super::judge::EntryOrder;

/// The most entries that are collected and sorted into the order of the key.
pub(super) const SORTED_ENTRIES_MAX: usize = 100_000;

/// The cost of reading a row to which an entry leads, in cells of a scan.
const CELLS_OF_GET: f64 = 20.0;
/// The cost of reading by an index at all, in cells of a scan: its read point, and a second scan.
const CELLS_OF_INDEX: f64 = 100.0;
/// An index is read if the key costs this many times as much: estimates are rough, and a scan by
/// the key costs no memory.
const MARGIN: f64 = 2.0;

/// How a query is read, and how else it could be: see [`Query::explain_access`].
///
/// ```
/// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
/// let access = mail.query("sender = 'eve'").explain_access().await?;
/// println!("{access}");
/// assert_eq!(access.chosen().index.as_deref(), Some("by_sender"));
/// # Ok(())
/// # }
/// ```
///
/// [`Query::explain_access`]: super::Query::explain_access
#[derive(Clone, Debug)]
pub struct Access {
    /// By the key first, then by each index in the order of the declarations.
    paths: Vec<AccessPath>,
    chosen: usize,
    plan: Plan,
    /// The plan by the chosen index.
    index_plan: Option<(IndexPlan, EntryOrder)>,
}

/// A way to read a query.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AccessPath {
    /// The name of the index; `None` for the key.
    pub index: Option<String>,
    /// The estimated number of entries to read. `None` for the key, and where nothing is estimated:
    /// on a cluster, if the query names the index, and if no index can serve.
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
pub(super) struct Candidate {
    pub(super) plan: IndexPlan,
    /// The estimated number of cells of entries in the ranges.
    pub(super) entry_cells: u64,
    pub(super) is_covered: bool,
}

impl Access {
    /// The chosen way.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let access = mail.query("sender = 'eve'").explain_access().await?;
    /// println!("by {}", access.chosen().index.as_deref().unwrap_or("the key"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn chosen(&self) -> &AccessPath {
        &self.paths[self.chosen]
    }

    /// All ways: by the key, and by each index that the table declares.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// for path in mail.query("size > 10000").explain_access().await?.paths() {
    ///     println!("{path}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn paths(&self) -> &[AccessPath] {
        &self.paths
    }

    /// The plan of the query by the key.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// println!("{}", mail.query("sender = 'eve'").explain_access().await?.plan());
    /// # Ok(())
    /// # }
    /// ```
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The plan of the query by the chosen index; `None` if the query is read by the key.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// if let Some(plan) = mail.query("sender = 'eve'").explain_access().await?.index_plan() {
    ///     println!("{plan}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn index_plan(&self) -> Option<&IndexPlan> {
        self.index_plan.as_ref().map(|(plan, _)| plan)
    }

    /// Takes the plan by the chosen index and the order of the entries, and leaves the key chosen.
    pub(super) fn take_index(&mut self) -> Option<(IndexPlan, EntryOrder)> {
        self.chosen = 0;
        self.index_plan.take()
    }

    /// Reads by the key. The others are shown with their reasons.
    pub(super) fn by_key(plan: Plan, why_not: Vec<(String, String)>) -> Self {
        let mut access =
            Self { paths: vec![AccessPath::default()], chosen: 0, plan, index_plan: None };
        access.paths.extend(why_not.into_iter().map(|(index, why)| AccessPath::not(index, why)));
        access
    }

    /// Reads by the index that the query names.
    pub(super) fn using(plan: Plan, index: IndexPlan, is_covered: bool) -> Self {
        let name = index.index().name().to_owned();
        let path = AccessPath { index: Some(name), is_covered, ..AccessPath::default() };
        let paths = vec![AccessPath::default(), path];
        Self { paths, chosen: 1, plan, index_plan: Some((index, EntryOrder::Index)) }
    }

    /// Chooses between the key, whose ranges hold `key_cells` cells, and indexes: those that can
    /// serve, or the reason why not.
    pub(super) fn choose(
        plan: Plan,
        key_cells: u64,
        limit: u64,
        indexes: Vec<(String, Result<Candidate, String>)>,
    ) -> Self {
        let candidates = || indexes.iter().filter_map(|(_, candidate)| candidate.as_ref().ok());
        // No index has fewer entries than the query has rows.
        let rows = candidates().map(Candidate::entries).fold(f64::INFINITY, f64::min);
        let part = if rows > limit as f64 { limit as f64 / rows } else { 1.0 };
        let key_cost = key_cells as f64 * part;
        let mut access = Self::by_key(plan, Vec::new());
        access.paths[0].cells = Some(key_cost as u64);
        let mut cost_min = key_cost / MARGIN;
        for (name, candidate) in indexes {
            let candidate = match candidate {
                Ok(candidate) => candidate,
                Err(why) => {
                    access.paths.push(AccessPath::not(name, why));
                    continue;
                }
            };
            let (entries, cost) = (candidate.entries(), candidate.cost(limit as f64));
            let in_key_order = candidate.plan.is_in_key_order();
            let too_many = !in_key_order && entries > SORTED_ENTRIES_MAX as f64;
            if !too_many && cost < cost_min {
                let order = if in_key_order { EntryOrder::Key } else { EntryOrder::Sorted };
                cost_min = cost;
                access.chosen = access.paths.len();
                access.index_plan = Some((candidate.plan, order));
            }
            access.paths.push(AccessPath {
                index: Some(name),
                entries: Some(entries as u64),
                cells: Some(cost as u64),
                is_covered: candidate.is_covered,
                why_not: too_many.then(|| {
                    format!(
                        "its entries are not in the order of the key, and more than \
                         {SORTED_ENTRIES_MAX} are not sorted"
                    )
                }),
            });
        }
        access
    }
}

impl Candidate {
    /// The estimated number of entries.
    fn entries(&self) -> f64 {
        let cells = 1 + self.plan.index().covers().len();
        (self.entry_cells as f64 / cells as f64).ceil()
    }

    /// The estimated cost of up to `limit` rows, in cells of a scan.
    fn cost(&self, limit: f64) -> f64 {
        let rows = self.entries().min(limit);
        let read = match self.plan.is_in_key_order() {
            true => self.entry_cells as f64 * rows / self.entries().max(1.0),
            false => self.entry_cells as f64,
        };
        let fetched = if self.is_covered { 0.0 } else { rows * CELLS_OF_GET };
        CELLS_OF_INDEX + read + fetched
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
            parts.push(format!("not possible: {why}"));
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
        match &self.index_plan {
            None => writeln!(f, "access: by the key")?,
            Some((plan, order)) => {
                let order = match order {
                    EntryOrder::Index => "in the order of the index",
                    EntryOrder::Key => "whose entries are in key order",
                    EntryOrder::Sorted => "whose rows are sorted into key order",
                };
                writeln!(f, "access: by index {}, {order}", plan.index().name())?;
            }
        }
        for path in &self.paths {
            writeln!(f, "  {path}")?;
        }
        match &self.index_plan {
            None => Ok(()),
            Some((plan, _)) => write!(f, "{plan}"),
        }
    }
}
