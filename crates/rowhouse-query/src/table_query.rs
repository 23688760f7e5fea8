//! A query of a store table, and the choice of how it is read.

use std::sync::Arc;

use rowhouse_model::{Columns, Error, ErrorKind, Result, RowRange, Scan};
use rowhouse_schema::{
    ColumnSchema, IndexCost, IndexPlan, IndexState, KEY_ATTRIBUTE, KeySchema, Plan, Predicate,
    TimeZone,
};
use rowhouse_store::{Store, Table, is_unreadable};

use crate::choose::{Access, Candidate};
use crate::projection::add_condition_columns;

/// A table query, planned by the key.
pub(crate) struct TableQuery {
    pub(crate) table: Arc<Table>,
    pub(crate) key: KeySchema,
    pub(crate) columns: Option<ColumnSchema>,
    pub(crate) predicate: Predicate,
    /// The zone of times that name none.
    zone: TimeZone,
    pub(crate) plan: Plan,
}

impl TableQuery {
    /// Plans a query whose times without a zone are UTC.
    ///
    /// # Errors
    /// As [`TableQuery::new_in`].
    pub(crate) fn new(table: Arc<Table>, predicate: Predicate) -> Result<Self> {
        Self::new_in(table, predicate, TimeZone::UTC)
    }

    /// # Errors
    /// `InvalidRequest` for a query that is wrong, and for a table without a row-key template.
    pub(crate) fn new_in(table: Arc<Table>, predicate: Predicate, zone: TimeZone) -> Result<Self> {
        let key = key_of(&table)?;
        let columns = ColumnSchema::of_table(table.descriptor())?;
        let plan = match &columns {
            Some(columns) => key.plan_with_columns(columns, &predicate, &zone)?,
            None => key.plan_in(&predicate, &zone)?,
        };
        Ok(Self { table, key, columns, predicate, zone, plan })
    }

    /// Chooses how up to `limit` rows in the plan's `ranges` are read. Without `explains` nothing
    /// is estimated that cannot be chosen.
    pub(crate) fn access(
        &self,
        store: &Store,
        scan: &Scan,
        ranges: &[RowRange],
        limit: u64,
        explains: bool,
    ) -> Result<Access> {
        let by_key = |why_not| Ok(Access::by_key(self.plan.clone(), why_not));
        // Declarations from a newer version are useless, but the key is as good as ever.
        let Ok(Some(indexes)) = self.table.indexes() else { return by_key(Vec::new()) };
        let mut plans = Vec::new();
        for index in indexes.indexes() {
            let Self { key, columns, predicate, zone, .. } = self;
            let declared = (key, columns.as_ref());
            let plan = Candidate::plan(index, declared, predicate, zone, scan);
            plans.push((index.name().to_owned(), plan));
        }
        if plans.iter().all(|(_, plan)| plan.is_err()) {
            let why = plans.into_iter().filter_map(|(name, plan)| Some((name, plan.err()?)));
            return by_key(why.collect());
        }
        let mut columns = scan.columns.clone();
        add_condition_columns(&mut columns, &self.plan);
        let key_cells = self.table.estimate(ranges, &columns)?.cells;
        if !explains && IndexCost::is_key_cheap(key_cells) {
            return by_key(Vec::new());
        }
        let mut candidates = Vec::new();
        for (name, plan) in plans {
            let candidate = match plan {
                Ok(plan) => self.candidate(store, plan, &scan.columns)?,
                Err(why) => Err(why),
            };
            candidates.push((name, candidate));
        }
        Ok(Access::choose(self.plan.clone(), key_cells, limit, candidates))
    }

    /// Estimates what a plan by an index costs; or returns why the index is not read.
    fn candidate(
        &self,
        store: &Store,
        plan: IndexPlan,
        requested: &Columns,
    ) -> Result<Result<Candidate, String>> {
        // The index may have been dropped since.
        let entries = match store.table(&plan.index().table_name(self.table.name())?) {
            Ok(entries) => entries,
            Err(error) => return Ok(Err(error.message().to_owned())),
        };
        let state = IndexState::of_table(entries.descriptor())?;
        if !state.is_ready() {
            return Ok(Err(Candidate::not_ready(&state)));
        }
        let columns = Candidate::entry_columns(&plan, requested);
        Ok(match entries.estimate(plan.plan().ranges(), &columns) {
            Ok(estimate) => Ok(Candidate::new(plan, Some(estimate.cells), requested)),
            Err(error) if is_unreadable(&error) || is_closed(&error) => {
                Err(error.message().to_owned())
            }
            Err(error) => return Err(error),
        })
    }
}

/// Returns the template of a table's key.
///
/// # Errors
/// `InvalidRequest` without one.
pub(crate) fn key_of(table: &Table) -> Result<KeySchema> {
    KeySchema::of_table(table.descriptor())?.ok_or_else(|| {
        Error::invalid(format!(
            "a query needs a row-key template, and table {} has none: attribute={KEY_ATTRIBUTE}",
            table.name()
        ))
    })
}

/// True if an error says that an entry table is disabled or one of the regions does not serve. The
/// table may be disabled with them, or it is read by the key.
pub(crate) fn is_closed(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotServingRegion | ErrorKind::TableNotEnabled)
}
