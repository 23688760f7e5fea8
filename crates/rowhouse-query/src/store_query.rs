//! Store queries, read on the requesting thread.

use std::sync::Arc;
use std::time::Instant;

use rowhouse_model::{Bytes, Result, Scan, TableName};
use rowhouse_schema::{Direction, IndexPlan, IndexSchema, Plan, PlanPart, Predicate};
use rowhouse_store::{ReadPoint, Store, Table};

use crate::at_point::{StoreSource, at_once};
use crate::choose::Access;
use crate::entries::Written;
use crate::index_rows::{IndexQuery, IndexRows};
use crate::judge::EntryOrder;
use crate::plan_rows::{KeyQuery, PlanRows};
use crate::projection::Projection;
use crate::source::ReadFrom;
use crate::table_query::TableQuery;

/// A query of a store table, in query order. Times without a zone are UTC.
///
/// ```
/// use rowhouse_model::{FamilyDescriptor, Put, TableDescriptor, TableName};
/// use rowhouse_query::StoreQuery;
/// use rowhouse_schema::KeySchema;
/// use rowhouse_store::Store;
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path())?;
/// let name = TableName::parse("mail")?;
/// let mail = TableDescriptor::new(name.clone())
///     .family(FamilyDescriptor::new("d")?)
///     .attribute("rowhouse.key", "1 [bucket 4 of user][user text]");
/// store.create_table(mail, &[])?;
/// let mail = store.table(&name)?;
/// let key = KeySchema::of_table(mail.descriptor())?.unwrap();
/// for user in ["bob", "cid", "ann"] {
///     let row = key.encode(&[("user", user.into())])?;
///     mail.mutate(&Put::new(row)?.add("d", "q", "")?.into())?;
/// }
///
/// // The buckets are merged.
/// let mut keys = StoreQuery::new(&store, &name, "user < 'c'")?.limit(10).keys()?;
/// assert_eq!(keys.next()?.unwrap()[1..], b"ann"[..]);
/// assert_eq!(keys.next()?.unwrap()[1..], b"bob"[..]);
/// assert!(keys.next()?.is_none());
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
pub struct StoreQuery<'s> {
    store: &'s Store,
    query: TableQuery,
    limit: u64,
    until: Option<Instant>,
}

/// The row keys of a query, in query order, at one read point.
pub struct StoreKeys {
    rows: Rows,
    table: Arc<Table>,
    point: Arc<ReadPoint>,
    plan: Plan,
}

enum Rows {
    ByKey(Box<PlanRows<StoreSource>>),
    ByIndex(Box<IndexRows<StoreSource>>),
}

impl<'s> StoreQuery<'s> {
    /// Plans a query by the key.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` for a query that is wrong, one with `matches`, and a table
    /// without a row-key template.
    pub fn new(store: &'s Store, table: &TableName, query: &str) -> Result<Self> {
        let query = TableQuery::new(store.table(table)?, Predicate::parse(query)?)?;
        Ok(Self { store, query, limit: u64::MAX, until: None })
    }

    /// Limits how many rows are returned.
    pub fn limit(self, rows: u64) -> Self {
        Self { limit: rows, ..self }
    }

    /// Ends reading at a time, with the error `Timeout`.
    pub fn until(self, time: Instant) -> Self {
        Self { until: Some(time), ..self }
    }

    /// Returns the plan by the key.
    pub fn plan(&self) -> &Plan {
        &self.query.plan
    }

    /// Returns how the query is read, with all other ways.
    ///
    /// # Errors
    /// As for estimates.
    pub fn access(&self) -> Result<Access> {
        self.choose(true)
    }

    fn choose(&self, explains: bool) -> Result<Access> {
        let ranges = self.query.plan.ranges();
        self.query.access(self.store, &Scan::all(), ranges, self.limit, explains)
    }

    /// Opens the row keys. If an index cannot be read, the rest is read by the key.
    ///
    /// # Errors
    /// `TableNotEnabled`; `Io`, `Corruption`; `Timeout`.
    pub fn keys(self) -> Result<StoreKeys> {
        let by_index = match self.choose(false)?.take_index() {
            // It may have been dropped meanwhile; the read by the key reports other errors.
            Some((plan, order)) => self.keys_by_index(plan, order).unwrap_or_default(),
            None => None,
        };
        match by_index {
            Some(keys) => Ok(keys),
            None => self.keys_by_key(),
        }
    }

    fn keys_by_index(&self, plan: IndexPlan, order: EntryOrder) -> Result<Option<StoreKeys>> {
        let TableQuery { table, key, columns, plan: key_plan, .. } = &self.query;
        let Some(read) = self.store.index_read_point(table.name(), plan.index().name())? else {
            return Ok(None);
        };
        let now = read.table.indexes()?.map(IndexSchema::indexes).unwrap_or_default();
        if read.table.id() != table.id() || !now.contains(plan.index()) {
            return Ok(None);
        }
        let source = StoreSource::by_index(self.store, &read).until(self.until);
        let query = IndexQuery {
            key: key.clone(),
            columns: columns.clone(),
            entries: plan.plan().clone(),
            plan,
            order,
            key_plan: key_plan.clone(),
            direction: Direction::Forward,
            projection: keys_of_all(),
            limit: self.limit,
        };
        let rows = at_once(IndexRows::open(source, query, Written::default()))?;
        Ok(rows.map(|rows| StoreKeys {
            rows: Rows::ByIndex(Box::new(rows.or_by_key())),
            table: read.table,
            point: read.point,
            plan: key_plan.clone(),
        }))
    }

    fn keys_by_key(self) -> Result<StoreKeys> {
        let (table, point) = self.store.table_read_point(self.query.table.name())?;
        let source = StoreSource::new(self.store, Arc::clone(&table), Arc::clone(&point));
        let TableQuery { key, plan, .. } = self.query;
        let query = KeyQuery {
            key,
            plan: plan.clone(),
            scan: Scan::all(),
            keys_only: true,
            limit: self.limit,
            with_misfits: false,
        };
        let source = source.until(self.until);
        let rows = at_once(PlanRows::open(source, ReadFrom::Rows, query))?;
        Ok(StoreKeys { rows: Rows::ByKey(Box::new(rows)), table, point, plan })
    }
}

fn keys_of_all() -> Projection {
    Projection { keys_only: true, ..Projection::default() }
}

impl StoreKeys {
    /// Returns the next key, or `None` after the last.
    ///
    /// # Errors
    /// `Io`, `Corruption`; `Timeout`. The keys end with the first.
    #[expect(clippy::should_implement_trait, reason = "as scanners")]
    pub fn next(&mut self) -> Result<Option<Bytes>> {
        let row = at_once(std::future::poll_fn(|context| match &mut self.rows {
            Rows::ByKey(rows) => rows.poll_row(context),
            Rows::ByIndex(rows) => rows.poll_row(context),
        }));
        Ok(row?.map(|row| Bytes::copy_from_slice(row.key())))
    }

    /// The table, at the read point.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The read point of the keys.
    pub fn point(&self) -> &Arc<ReadPoint> {
        &self.point
    }

    /// Returns the reads for a row, which together make up what the query returns for the row.
    pub fn parts(&self) -> Vec<PlanPart> {
        let families = self.table.descriptor().families().iter();
        let families: Vec<_> = families.map(|family| family.name().clone()).collect();
        Projection::default().parts(&self.plan, &families)
    }
}
