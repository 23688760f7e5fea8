//! Promotion: a table and its copy under another key swap their contents, while writers go on
//! (`docs/decisions/0071-copies-and-promotion.md`).

use std::iter::once;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rowhouse_model::{
    Bytes, Error, ErrorKind, Get, RegionInfo, Result, RowRange, TableDescriptor, TableName,
    TableState, escape,
};
use rowhouse_schema::{
    ColumnSchema, FORMER_KEY_ATTRIBUTE, INDEX_STATE_ATTRIBUTE, INDEXES_ATTRIBUTE, Index,
    IndexState, KEY_ATTRIBUTE, KeySchema, LAYOUT_ATTRIBUTE, layout_of,
};

use super::Store;
use super::index_build::row_keys;
use super::indexes::{IndexChange, declared_indexes};
use super::removal::without;
use super::tables::with_tracker;
use crate::compaction_policy::Policy;
use crate::indexed::no_indexes;
use crate::manifest::{EditKind, TablesSwapped, encode_table};
use crate::oversized_rows::RowLimit;
use crate::read::RowVersion;
use crate::region::{Region, serve_all};
use crate::table::Table;

/// How many rows a refusal names.
const NAMED_MAX: usize = 10;

/// The layouts of a table before and after a promotion ([`rowhouse_schema::layout_of`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutChange {
    /// The layout before; `None` before the first promotion.
    pub before: Option<Bytes>,
    /// The layout after. The caller uses it for this promotion alone.
    pub after: Bytes,
}

impl LayoutChange {
    /// Returns true if the table has been promoted.
    fn is_done(&self, table: &Table) -> Result<bool> {
        let layout = layout_of(table.descriptor());
        if layout == Some(&self.after) {
            return Ok(true);
        }
        if layout == self.before.as_ref() {
            return Ok(false);
        }
        let message = format!(
            "an index was promoted since the layout of the table was read, read it again: table={}",
            table.name()
        );
        Err(Error::new(ErrorKind::LayoutChanged, message))
    }
}

/// A table, its copy, and what they become.
struct Swap {
    base: Arc<Table>,
    copy: Arc<Table>,
    descriptor: TableDescriptor,
    copy_descriptor: TableDescriptor,
    /// The other indexes, which are built anew for the new key.
    others: IndexChange,
}

impl Store {
    /// Swaps a table with an index on it that `covers *`: the table gets the index's key and
    /// contents, and the index, under its name, gets the table's key and contents. The regions keep
    /// their files, so the time that this takes depends on the row count only in that their keys
    /// are read before. Reads and writes go on until then, and wait for the swap itself. Open
    /// scanners go on in the old key. Other indexes on the table are built anew.
    ///
    /// ```
    /// use rowhouse_model::{FamilyDescriptor, Get, Put, TableDescriptor, TableName};
    /// use rowhouse_schema::KeySchema;
    /// use rowhouse_store::Store;
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// let store = Store::open(dir.path())?;
    /// let name = TableName::parse("mail")?;
    /// let mail = TableDescriptor::new(name.clone())
    ///     .family(FamilyDescriptor::new("d")?)
    ///     .attribute("rowhouse.key", "1 [at u8][user string]")
    ///     .attribute("rowhouse.indexes", "1 by_user [user] covers *");
    /// store.create_table(mail, &[])?;
    /// let put = Put::new(&b"\x07bob\0\x01"[..])?.add("d", "subject", "hello")?;
    /// store.table(&name)?.mutate(&put.into())?;
    ///
    /// store.promote_index(&name, "by_user")?;
    ///
    /// let mail = store.table(&name)?;
    /// let key = KeySchema::of_table(mail.descriptor())?.unwrap();
    /// assert_eq!(key.to_string(), "[user string][at u8]");
    /// assert!(!mail.get(&Get::new(&b"bob\0\x01\x07"[..])?)?.is_empty());
    /// let by_user = store.table(&TableName::parse("mail.by_user")?)?;
    /// assert!(!by_user.get(&Get::new(&b"\x07bob\0\x01"[..])?)?.is_empty());
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`; `InvalidRequest` if the table has no such index, if it
    /// does not cover `*` or is not ready, if the old key cannot be declared as an index on the new
    /// one, if rows in the table do not fit the template (the error names some), or if the table is
    /// altered meanwhile; `Corruption` if an index file is damaged. The table then stays as it was.
    pub fn promote_index(&self, table: &TableName, index: &str) -> Result<()> {
        self.promote(table, index, None)
    }

    /// As [`Store::promote_index`], for a call that may be repeated: a table that has the layout
    /// `layouts.after` stays as it is, so that the call swaps once.
    ///
    /// # Errors
    /// As [`Store::promote_index`]; `LayoutChanged` if the table has neither layout;
    /// `InvalidRequest` if they are the same.
    pub fn promote_index_once(
        &self,
        table: &TableName,
        index: &str,
        layouts: &LayoutChange,
    ) -> Result<()> {
        if layouts.before.as_ref() == Some(&layouts.after) {
            let layout = escape(&layouts.after);
            return Err(Error::invalid(format!("a promotion changes the layout: {layout}")));
        }
        self.promote(table, index, Some(layouts))
    }

    fn promote(
        &self,
        table: &TableName,
        index: &str,
        layouts: Option<&LayoutChange>,
    ) -> Result<()> {
        let base = self.table(table)?;
        let _reindexing = base.reindexing.lock();
        let base = self.table(table)?;
        if let Some(layouts) = layouts
            && layouts.is_done(&base)?
        {
            return Ok(());
        }
        let copy = self.copy_to_promote(&base, index)?;
        let misfits = copy.misfits_written.load(Ordering::Acquire);
        // Writers that were counted have committed, so that their rows are read.
        drop(self.inner.engine.row_locks.lock_all(std::iter::empty()));
        check_fit(&base)?;
        let _changing = self.inner.tables.changing.lock();
        self.inner.engine.check_open()?;
        let swap = self.swap(table, index, layouts.map(|layouts| &layouts.after))?;
        if swap.base.descriptor() != base.descriptor() || swap.copy.id() != copy.id() {
            return Err(Error::invalid(format!("table {table} was altered meanwhile")));
        }
        swap.run(self, misfits)?;
        // The table's files are the index's files now.
        self.inner.engine.files.damage.check_again();
        self.request_index_builds();
        tracing::info!(%table, index, "index promoted");
        Ok(())
    }

    /// Returns the index table that can be promoted.
    fn copy_to_promote(&self, base: &Table, index: &str) -> Result<Arc<Table>> {
        base.check_enabled()?;
        let schema = base.indexes()?.ok_or_else(|| no_indexes(base.name()))?;
        let columns = ColumnSchema::of_table(base.descriptor())?;
        schema.promote(index, columns.as_ref())?;
        let copy = self.table(&schema.index(index)?.table_name(base.name())?)?;
        if let Some(why) = self.inner.tables.damage_of(&copy) {
            let message = format!("the data of the index is damaged: index={index}, damage={why}");
            return Err(Error::corruption(message));
        }
        match IndexState::of_table(copy.descriptor())? {
            IndexState::Ready => Ok(copy),
            state => Err(Error::invalid(format!(
                "an index can be promoted once it is ready: index={index}, state={state}"
            ))),
        }
    }

    /// Returns what promoting an index changes; without `layout` the table gets one that it never
    /// had. The caller prevents changes to tables.
    fn swap(&self, table: &TableName, index: &str, layout: Option<&Bytes>) -> Result<Swap> {
        let base = self.table(table)?;
        let copy = self.copy_to_promote(&base, index)?;
        let schema = base.indexes()?.ok_or_else(|| no_indexes(table))?;
        let columns = ColumnSchema::of_table(base.descriptor())?;
        let promotion = schema.promote(index, columns.as_ref())?;
        let layout = layout
            .cloned()
            .unwrap_or_else(|| self.inner.engine.timestamps.issue().as_millis().to_string().into());
        let descriptor = base.descriptor().clone();
        let descriptor = descriptor.attribute(KEY_ATTRIBUTE, promotion.key.to_stored());
        let descriptor = descriptor.attribute(INDEXES_ATTRIBUTE, promotion.indexes.to_stored());
        let promoted = promotion.indexes.index(index)?;
        let descriptor = descriptor.attribute(LAYOUT_ATTRIBUTE, layout);
        let descriptor = descriptor.attribute(FORMER_KEY_ATTRIBUTE, promoted.to_string());
        descriptor.check()?;
        let copy_descriptor = with_tracker(promoted.table_descriptor(&descriptor)?);
        let ready = IndexState::Ready.to_string();
        let copy_descriptor = copy_descriptor.attribute(INDEX_STATE_ATTRIBUTE, ready);
        let declared = declared_indexes(&descriptor)?;
        let others: Vec<&Index> = declared.iter().filter(|it| it.name() != index).collect();
        let mut dropped = self.inner.tables.with_indexes(&base)?.split_off(1);
        dropped.retain(|other| other.id() != copy.id());
        let state = IndexState::Building { next_row: Bytes::new() };
        let enabled = TableState::Enabled;
        let created = self.new_index_tables(&descriptor, others, &dropped, &state, enabled)?;
        let others = IndexChange { dropped, created };
        Ok(Swap { base, copy, descriptor, copy_descriptor, others })
    }
}

impl Swap {
    /// Swaps the tables, unless rows without a copy were written since `misfits` were counted.
    fn run(self, store: &Store, misfits: u64) -> Result<()> {
        let engine = &store.inner.engine;
        let Self { base, copy, descriptor, copy_descriptor, others } = self;
        let policies = Policies::of(store, &descriptor, &copy_descriptor)?;
        let edit = EditKind::TablesSwapped(TablesSwapped {
            table_id: base.id(),
            descriptor: encode_table(&descriptor),
            other_id: copy.id(),
            other_descriptor: encode_table(&copy_descriptor),
        });
        let edits = once(edit).chain(others.edits()).collect();
        let lost: Vec<_> = others.lost().collect();
        let regions = || base.regions().iter().chain(copy.regions());
        let _moving: Vec<_> = regions().map(|region| region.topology_lock.lock()).collect();
        let served: Vec<_> = regions().filter(|region| region.is_serving()).collect();
        // On return no commit in these regions is in progress.
        serve_all(engine, served.iter().map(|region| &***region), false);
        let swapped = match copy.misfits_written.load(Ordering::Acquire) {
            written if written != misfits => Err(Error::invalid(format!(
                "a row whose key does not fit the template was written meanwhile: table={}",
                base.name()
            ))),
            _ => {
                without(&store.inner.tables, &lost, EditKind::together(edits), base.name(), || {
                    // The last timestamps issued to rows are stored by region and key.
                    engine.timestamps.catch_up();
                    engine.recent_writes.note_all(engine.mvcc.reserved());
                    let serves =
                        |region: &Arc<Region>| served.iter().any(|it| it.id() == region.id());
                    let renamed = |of: &Table, table: &TableDescriptor, policies: &[Policy]| {
                        let regions = of.regions().iter();
                        let renamed = regions.map(|it| renamed(it, table, policies, serves(it)));
                        renamed.collect::<Vec<_>>()
                    };
                    let of_copy = renamed(&copy, &descriptor, &policies.base);
                    let of_base = renamed(&base, &copy_descriptor, &policies.copy);
                    let enabled = TableState::Enabled;
                    let new_base = Table::new(base.id(), descriptor, of_copy.clone(), enabled);
                    let new_copy = Table::new(copy.id(), copy_descriptor, of_base.clone(), enabled);
                    let tables = [new_base.succeeding(&base), new_copy.succeeding(&copy)];
                    let dropped = others.dropped.clone();
                    let created = others.make(&store.inner.tables);
                    store.inner.tables.catalog.change(|entries| {
                        dropped.iter().for_each(|table| entries.remove(table.name()));
                        let tables = tables.into_iter().map(Arc::new);
                        tables.chain(created).for_each(|table| entries.replace(table));
                    });
                    store.changed();
                    let replaced = base.regions().iter().zip(of_base);
                    let replaced = replaced.chain(copy.regions().iter().zip(of_copy));
                    replaced.for_each(|(old, new)| old.set_replaced(&[new]));
                })
            }
        };
        if swapped.is_err() {
            serve_all(engine, served.iter().map(|region| &***region), true);
        }
        swapped
    }
}

/// The compaction policies for both tables' families, after the swap.
struct Policies {
    base: Vec<Policy>,
    copy: Vec<Policy>,
}

impl Policies {
    fn of(store: &Store, base: &TableDescriptor, copy: &TableDescriptor) -> Result<Self> {
        let settings = &store.inner.engine.settings;
        let of = |table: &TableDescriptor| -> Result<Vec<_>> {
            let families = table.families().iter();
            families.map(|family| Policy::of(settings, table, family)).collect()
        };
        Ok(Self { base: of(base)?, copy: of(copy)? })
    }
}

/// Returns a region with another one's families, as a region in this table.
pub(super) fn renamed(
    region: &Arc<Region>,
    table: &TableDescriptor,
    policies: &[Policy],
    serves: bool,
) -> Arc<Region> {
    let limit = Arc::new(RowLimit::of(table));
    for (family, policy) in table.families().iter().zip(policies) {
        let mut stores = region.families().iter();
        if let Some(store) = stores.find(|store| store.name() == family.name()) {
            store.declare(family.clone(), policy.clone(), Arc::clone(&limit));
        }
    }
    let RegionInfo { range, id: created_millis, .. } = region.info().clone();
    let info = RegionInfo::new(table.name().clone(), range, created_millis);
    let families = region.families().to_vec();
    let engine = Arc::clone(region.engine());
    let effects = Arc::clone(region.effects());
    let renamed = Region::new(region.id(), info, families, table, serves, engine, effects);
    Arc::new(renamed.assigned(region.assignment()).in_place_of(&[Arc::clone(region)]))
}

/// Checks that all row keys in a table fit the template, also for rows that show cells again when
/// delete markers expire.
fn check_fit(table: &Arc<Table>) -> Result<()> {
    let Some(key) = KeySchema::of_table(table.descriptor())? else { return Ok(()) };
    let mut misfits = 0u64;
    let mut named = Vec::new();
    let mut next = Bytes::new();
    let mut values = Vec::new();
    loop {
        let rows = row_keys(table, &next, true)?;
        let Some(last) = rows.last() else { break };
        next = RowRange::row(last).stop;
        for row in &rows {
            values.clear();
            if key.decode_into(row, &mut values).is_err() && shows_cells_ever(table, row)? {
                misfits += 1;
                if named.len() < NAMED_MAX {
                    named.push(escape(row));
                }
            }
        }
    }
    if misfits == 0 {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "rows whose keys do not fit the template would be lost, delete them first, by deletes \
         that do not expire: table={}, \
         template={key}, rows={misfits}, the first are {}",
        table.name(),
        named.join(" ")
    )))
}

/// Returns true if a row shows cells, now or after delete markers expire.
fn shows_cells_ever(table: &Table, row: &[u8]) -> Result<bool> {
    let region = table.region_of(row);
    let get = Get::new(Bytes::copy_from_slice(row))?;
    let mut at_millis = region.engine().timestamps.now_millis();
    loop {
        let shown = region.read_row_at_time(&get, RowVersion::Current, at_millis)?;
        if !shown.row.is_empty() || shown.until_millis == i64::MAX {
            return Ok(!shown.row.is_empty());
        }
        at_millis = shown.until_millis + 1;
    }
}
