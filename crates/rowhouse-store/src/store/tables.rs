//! Creating, dropping, enabling and disabling tables.

use std::sync::Arc;

use rowhouse_model::{
    Bytes, Error, ErrorKind, Result, RowRange, TableDescriptor, TableName, TableState, check_row,
};
use rowhouse_schema::{IndexState, check_declarations};

use super::Store;
use super::alter::{release_flushed_segments, without};
use super::closed_regions::ClosedRegions;
use super::indexes::{NewTable, declared_indexes};
use crate::compaction_policy::Policy;
use crate::family::FamilyStore;
use crate::manifest::{Assignment, EditKind, RegionMeta, TableDropped, TableStateChanged};
use crate::region::{Region, serve_all};
use crate::table::Table;

/// The attribute that Apache HBase's master adds to every table, and the HBase shell shows.
const FILE_TRACKER: (&str, &str) = ("hbase.store.file-tracker.impl", "DEFAULT");

impl Store {
    /// Creates a table whose regions begin at the first row and at each row in `splits`.
    ///
    /// # Errors
    /// `TableExists`, `NamespaceNotFound`, `InvalidRequest` for splits that are empty or not
    /// distinct, and errors as for [`TableDescriptor::check`].
    pub fn create_table(&self, descriptor: TableDescriptor, splits: &[Bytes]) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        self.inner.engine.check_open()?;
        let descriptor = with_tracker(descriptor);
        let name = descriptor.name().clone();
        self.check_new_table(&name, splits.len() + 1)?;
        descriptor.check()?;
        Self::refuse_index_table(&descriptor)?;
        self.inner.engine.observers.check_buffered(&descriptor)?;
        check_declarations(&descriptor)?;
        let settings = &self.inner.engine.settings;
        for family in descriptor.families() {
            Policy::of(settings, &descriptor, family)?;
        }
        let indexes = declared_indexes(&descriptor)?;
        let ready = IndexState::Ready;
        let enabled = TableState::Enabled;
        let tables = self.new_index_tables(&descriptor, &indexes, &[], &ready, enabled)?;
        let table = self.inner.tables.new_table(descriptor, &ranges(splits)?, enabled)?;
        let tables: Vec<_> = std::iter::once(table).chain(tables).collect();
        let edit = EditKind::together(tables.iter().map(NewTable::edit).collect());
        self.inner.engine.append_edit(edit)?;
        let tables = tables.into_iter().map(|table| table.make(&self.inner.tables));
        self.inner.tables.catalog.replace(tables);
        self.changed();
        Ok(())
    }

    /// Returns the error for a write to a generated table.
    pub fn refuse_write(table: &TableName) -> Error {
        Error::unsupported(format!(
            "{table} is synthesized from the manifest and cannot be written"
        ))
    }

    /// Checks that a table with this name and `regions` regions may be created.
    pub(super) fn check_new_table(&self, name: &TableName, regions: usize) -> Result<()> {
        if [TableName::meta(), TableName::namespace_table()].contains(name) {
            return Err(Error::new(ErrorKind::TableExists, name.to_string()));
        }
        if name.is_system() {
            return Err(Error::invalid(format!("{name}: the hbase namespace is the system's")));
        }
        let manifest = &self.inner.engine.manifest;
        if !manifest.read(|state| state.namespaces.contains_key(name.namespace())) {
            return Err(Error::new(ErrorKind::NamespaceNotFound, name.namespace()));
        }
        if self.inner.tables.catalog.table(name).is_ok() {
            return Err(Error::new(ErrorKind::TableExists, name.to_string()));
        }
        self.inner.tables.check_table_quota(name, regions)
    }

    /// Returns the metadata for new regions that begin at the first row and at each row in
    /// `splits`.
    pub(super) fn region_metas(
        &self,
        name: &TableName,
        splits: &[Bytes],
    ) -> Result<Vec<RegionMeta>> {
        self.inner.tables.metas_of(name, &ranges(splits)?)
    }

    pub(super) fn new_region(&self, table: &TableDescriptor, meta: RegionMeta) -> Arc<Region> {
        self.inner.tables.region_in_place_of(table, &[], meta)
    }

    /// Enables a table for reads and writes.
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotDisabled` when it is enabled.
    pub fn enable_table(&self, name: &TableName) -> Result<()> {
        self.set_table_state(name, TableState::Enabled)
    }

    /// Disables a table for reads and writes. Pending ones finish, and memstores are flushed.
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotEnabled` when it is disabled; `Io`, after which the table stays
    /// enabled.
    pub fn disable_table(&self, name: &TableName) -> Result<()> {
        if [TableName::meta(), TableName::namespace_table()].contains(name) {
            return Err(Error::new(
                ErrorKind::NamespaceConstraint,
                format!("Cannot disable {name}"),
            ));
        }
        self.set_table_state(name, TableState::Disabled)
    }

    fn set_table_state(&self, name: &TableName, state: TableState) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        self.inner.engine.check_open()?;
        let table = self.inner.tables.catalog.table(name)?;
        if table.state() == state {
            return Err(match state {
                TableState::Enabled => not_disabled(name, state),
                TableState::Disabled => Error::new(ErrorKind::TableNotEnabled, name.to_string()),
            });
        }
        Self::refuse_index_table(table.descriptor())?;
        let engine = &self.inner.engine;
        let tables = self.inner.tables.with_indexes(&table)?;
        let append = |disabled| {
            let of_table = |table: &Arc<Table>| {
                let table_id = table.id();
                EditKind::TableStateChanged(TableStateChanged { table_id, disabled })
            };
            engine.append_edit(EditKind::together(tables.iter().map(of_table).collect()))
        };
        match state {
            TableState::Enabled => {
                append(false)?;
                tables.iter().for_each(|table| table.set_state(state));
                let regions = || tables.iter().flat_map(|table| table.regions());
                for region in regions() {
                    region.assign(Assignment { in_service: true, ..region.assignment() });
                }
                serve_all(engine, regions().map(|region| &**region), true);
            }
            TableState::Disabled => {
                let regions = tables.iter().flat_map(|table| table.regions());
                let regions: Vec<_> = regions.cloned().collect();
                let closed = ClosedRegions::close(engine, &regions, |_| true)?;
                append(true)?;
                tables.iter().for_each(|table| table.set_state(state));
                closed.keep_closed();
                release_flushed_segments(engine);
            }
        }
        self.changed();
        self.inner.tables.request_index_builds();
        Ok(())
    }

    /// Drops a table with all cells and files.
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotDisabled`.
    pub fn drop_table(&self, name: &TableName) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        self.inner.engine.check_open()?;
        let table = self.inner.tables.catalog.table(name)?;
        if table.state() == TableState::Enabled {
            return Err(not_disabled(name, TableState::Enabled));
        }
        Self::refuse_index_table(table.descriptor())?;
        let tables = self.inner.tables.with_indexes(&table)?;
        let of_table =
            |table: &Arc<Table>| EditKind::TableDropped(TableDropped { table_id: table.id() });
        let edit = EditKind::together(tables.iter().map(of_table).collect());
        without(&self.inner.engine, &families_of(&tables), edit, name, || {
            self.inner.tables.catalog.change(|entries| {
                tables.iter().for_each(|table| entries.remove(table.name()));
            });
            self.changed();
        })
    }
}

/// Returns the families of all regions in these tables.
pub(super) fn families_of(tables: &[Arc<Table>]) -> Vec<Arc<FamilyStore>> {
    let regions = tables.iter().flat_map(|table| table.regions());
    regions.flat_map(|region| region.families()).cloned().collect()
}

/// Adds the attribute that Apache HBase's master adds to every table.
pub(super) fn with_tracker(mut table: TableDescriptor) -> TableDescriptor {
    let (tracker, kind) = FILE_TRACKER;
    table.attributes.entry(tracker.into()).or_insert_with(|| kind.into());
    table
}

/// Returns the ranges between split keys.
fn ranges(splits: &[Bytes]) -> Result<Vec<RowRange>> {
    let mut splits = splits.to_vec();
    splits.sort();
    for split in &splits {
        check_row(split)
            .map_err(|error| Error::invalid(format!("a split key must be a row key: {error}")))?;
    }
    if let Some(twice) = splits.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::invalid(format!(
            "All split keys must be unique, found duplicate: {}",
            rowhouse_model::escape(&twice[0])
        )));
    }
    let starts = [Bytes::new()].into_iter().chain(splits.iter().cloned());
    let stops = splits.iter().cloned().chain([Bytes::new()]);
    Ok(starts.zip(stops).map(|(start, stop)| RowRange { start, stop }).collect())
}

pub(super) fn not_disabled(name: &TableName, state: TableState) -> Error {
    let state = match state {
        TableState::Enabled => "ENABLED",
        TableState::Disabled => "DISABLED",
    };
    Error::new(
        ErrorKind::TableNotDisabled,
        format!("Not DISABLED; tableName={name}, state={state}"),
    )
}
