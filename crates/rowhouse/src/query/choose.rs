//! The choice of how a query is read: by the key, or by an index.

use std::fmt;

use rowhouse_schema::{COLLECTED_ENTRIES_MAX, IndexCost, IndexPlan, Plan};

use super::judge::EntryOrder;

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
    pub(super) cost: IndexCost,
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

    /// Returns the chosen way in a few words.
    pub(super) fn how(&self) -> String {
        let Some((plan, order)) = &self.index_plan else { return "by the key".to_owned() };
        let order = match order {
            EntryOrder::Index => "in the order of the index",
            EntryOrder::Key => "whose entries are in key order",
            EntryOrder::Sorted => "whose rows are sorted into key order",
        };
        format!("by index {}, {order}", plan.index().name())
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
        let candidates = indexes.iter().filter_map(|(_, candidate)| candidate.as_ref().ok());
        let entries = candidates.map(|it| it.cost.entries(&it.plan));
        let key_cost = IndexCost::of_key(key_cells, limit, entries);
        let mut access = Self::by_key(plan, Vec::new());
        access.paths[0].cells = Some(key_cost as u64);
        let mut least = f64::INFINITY;
        for (name, candidate) in indexes {
            let candidate = match candidate {
                Ok(candidate) => candidate,
                Err(why) => {
                    access.paths.push(AccessPath::not(name, why));
                    continue;
                }
            };
            let Candidate { plan, cost } = candidate;
            let (entries, cells) = (cost.entries(&plan), cost.cells(&plan, limit));
            let too_many = !cost.is_possible(&plan);
            if !too_many && cells < least && IndexCost::is_clearly_less(cells, key_cost) {
                let order = if cost.streams { EntryOrder::Key } else { EntryOrder::Sorted };
                least = cells;
                access.chosen = access.paths.len();
                access.index_plan = Some((plan, order));
            }
            access.paths.push(AccessPath {
                index: Some(name),
                entries: Some(entries),
                cells: Some(cells as u64),
                is_covered: cost.is_covered,
                why_not: too_many.then(|| {
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
