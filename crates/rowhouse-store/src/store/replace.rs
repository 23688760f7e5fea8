//! A table takes another one's place, in one edit.

use std::sync::Arc;

use rowhouse_model::{Error, ErrorKind, Result, TableDescriptor, TableName};
use rowhouse_schema::{INDEX_STATE_ATTRIBUTE, IndexState};

use super::Store;
use super::indexes::declared_indexes;
use super::promote::renamed;
use super::removal::without;
use super::tables::{families_of, with_tracker};
use crate::compaction_policy::Policy;
use crate::manifest::{EditKind, TableDropped, TableRenamed, encode_table};
use crate::observer::TableChange;
use crate::region::{Region, serve_all};
use crate::table::Table;

/// A table that gets another name.
struct Renamed {
    table: Arc<Table>,
    descriptor: TableDescriptor,
    /// The compaction policies for the table's families.
    policies: Vec<Policy>,
}

impl Store {
    /// Gives the name `name` to the table `with`, and to the table's indexes the names that belong
    /// to it. A table that has the name is dropped with all indexes. All this takes effect at once,
    /// also in a crash, and takes no longer for more rows: files and memstores stay as they are.
    ///
    /// `may_drop` is called with the table that would be dropped, while no table changes.
    ///
    /// Open scanners and read points on the dropped table go on in it, and other reads are refused.
    /// Handles on `with` do not write any more.
    ///
    /// ```
    /// use rowhouse_model::{FamilyDescriptor, Get, Put, TableDescriptor, TableName};
    /// use rowhouse_store::Store;
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// let store = Store::open(dir.path())?;
    /// let (rates, new_rates) = (TableName::parse("rates")?, TableName::parse("rates.new")?);
    /// for (name, rate) in [(&rates, "7"), (&new_rates, "8")] {
    ///     let table = TableDescriptor::new(name.clone()).family(FamilyDescriptor::new("r")?);
    ///     store.create_table(table, &[])?;
    ///     store.table(name)?.mutate(&Put::new("EUR")?.add("r", "q", rate)?.into())?;
    /// }
    /// store.replace_table(&rates, &new_rates, |_old| Ok(()))?;
    /// let row = store.table(&rates)?.get(&Get::new("EUR")?)?;
    /// assert_eq!(row.value("r", "q").as_deref(), Some(&b"8"[..]));
    /// assert!(store.table(&new_rates).is_err());
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// The error from `may_drop`; `TableNotFound` and `TableNotEnabled` for `with`;
    /// `InvalidRequest` if it has an index that is not ready, if either table holds index entries,
    /// and for the same name twice; `TableExists` if another table has an index's name; errors as
    /// for [`Store::create_table`] if no table has the name; `Io` from the manifest. The tables
    /// then stay as they were.
    pub fn replace_table(
        &self,
        name: &TableName,
        with: &TableName,
        may_drop: impl FnOnce(&TableDescriptor) -> Result<()>,
    ) -> Result<()> {
        // No index on the table is being built or repaired.
        let reindexed = self.table(with)?;
        let _reindexing = reindexed.reindexing.lock();
        let _changing = self.inner.tables.changing.lock();
        let engine = &self.inner.engine;
        engine.check_open()?;
        let table = self.table(with)?;
        table.check_enabled()?;
        if name == with {
            return Err(Error::invalid(format!("a table cannot replace itself: table={name}")));
        }
        let old = self.replaced(name, table.regions().len(), may_drop)?;
        let new = self.renamed(&table, name, &old)?;
        let edits = new.iter().map(|renamed| {
            let table_id = renamed.table.id();
            let descriptor = encode_table(&renamed.descriptor);
            EditKind::TableRenamed(TableRenamed { table_id, descriptor })
        });
        let dropped = old.iter().map(|table| TableDropped { table_id: table.id() });
        let edits = edits.chain(dropped.map(EditKind::TableDropped)).collect();
        let regions = || new.iter().map(|it| &it.table).chain(&old).flat_map(|it| it.regions());
        let _moving: Vec<_> = regions().map(|region| region.topology_lock.lock()).collect();
        let served: Vec<_> = regions().filter(|region| region.is_serving()).collect();
        // On return no commit in these regions is in progress.
        serve_all(engine, served.iter().map(|region| &***region), false);
        let is_served = |region: &Region| served.iter().any(|it| it.id() == region.id());
        // Before the table counts as dropped, so that it never looks as if it was gone.
        let supersede = |is: bool| {
            old.iter().flat_map(|table| table.regions()).for_each(|it| it.set_superseded(is));
        };
        supersede(true);
        let replaced = without(
            &self.inner.tables,
            &families_of(&old),
            EditKind::together(edits),
            name,
            || {
                let tables: Vec<_> = new.iter().map(|it| Arc::new(it.make(is_served))).collect();
                self.inner.tables.catalog.change(|entries| {
                    let gone = old.iter().chain(new.iter().map(|renamed| &renamed.table));
                    gone.for_each(|table| entries.remove(table.name()));
                    tables.iter().for_each(|table| entries.replace(Arc::clone(table)));
                });
                self.changed();
                let from = new.iter().flat_map(|renamed| renamed.table.regions());
                let to = tables.iter().flat_map(|table| table.regions());
                from.zip(to).for_each(|(from, to)| from.set_replaced(&[Arc::clone(to)]));
            },
        );
        match &replaced {
            Ok(()) => {
                self.effects().observers.note(with, TableChange::Dropped);
                tracing::info!(table = %name, %with, "table replaced");
            }
            Err(_) => {
                supersede(false);
                serve_all(engine, served.iter().map(|region| &***region), true);
            }
        }
        replaced
    }

    /// Returns the table that is to be dropped for another one with so many regions, with its index
    /// tables; nothing if there is none and the name may be given.
    fn replaced(
        &self,
        name: &TableName,
        regions: usize,
        may_drop: impl FnOnce(&TableDescriptor) -> Result<()>,
    ) -> Result<Vec<Arc<Table>>> {
        let Ok(old) = self.table(name) else {
            self.check_new_table(name, regions)?;
            return Ok(Vec::new());
        };
        Self::refuse_index_table(old.descriptor())?;
        may_drop(old.descriptor())?;
        self.effects().observers.check(name)?;
        self.inner.tables.with_indexes(&old)
    }

    /// Returns a table and its index tables, as they become with the name `name`, which the tables
    /// in `old` leave.
    fn renamed(
        &self,
        table: &Arc<Table>,
        name: &TableName,
        old: &[Arc<Table>],
    ) -> Result<Vec<Renamed>> {
        Self::refuse_index_table(table.descriptor())?;
        let descriptor = table.descriptor().clone().with_name(name.clone());
        let mut renamed = vec![(Arc::clone(table), descriptor.clone())];
        for index in declared_indexes(&descriptor)? {
            let entries = self.table(&index.table_name(table.name())?)?;
            let state = IndexState::of_table(entries.descriptor())?;
            if !state.is_ready() {
                let index = entries.name();
                return Err(Error::invalid(format!("index {index} is not ready: state={state}")));
            }
            let of_index = with_tracker(index.table_descriptor(&descriptor)?);
            let of_index = of_index.attribute(INDEX_STATE_ATTRIBUTE, state.to_string());
            let leaves = old.iter().any(|table| table.name() == of_index.name());
            if !leaves && self.table(of_index.name()).is_ok() {
                return Err(Error::new(ErrorKind::TableExists, of_index.name().to_string()));
            }
            renamed.push((entries, of_index));
        }
        let with_policies = |(table, descriptor): (Arc<Table>, TableDescriptor)| {
            descriptor.check()?;
            let settings = &self.inner.engine.settings;
            let families = descriptor.families().iter();
            let policies = families.map(|family| Policy::of(settings, &descriptor, family));
            let policies = policies.collect::<Result<_>>()?;
            Ok(Renamed { table, descriptor, policies })
        };
        renamed.into_iter().map(with_policies).collect()
    }
}

impl Renamed {
    /// Returns the table with the new name.
    fn make(&self, is_served: impl Fn(&Region) -> bool) -> Table {
        let Self { table, descriptor, policies } = self;
        let regions = table.regions().iter();
        let regions = regions.map(|it| renamed(it, descriptor, policies, is_served(it))).collect();
        let id = table.id();
        let state = table.state();
        Table::new(id, descriptor.clone(), regions, state).succeeding(table)
    }
}
