//! Replacing regions by splits and merges, under concurrent reads and writes.
//!
//! Nothing is copied. Memstores are flushed, one edit replaces the old regions, and the new regions
//! name the old regions' files, restricted to their own rows. Compactions, requested at once,
//! rewrite shared files for each region.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rowhouse_model::{
    Bytes, Error, ErrorKind, RegionInfo, Result, RowRange, SplitPolicy, TableDescriptor, TableName,
    check_row, escape,
};

use super::Store;
use super::alter::release_flushed_segments;
use super::handle::Tables;
use crate::compact::rewrite_wider;
use crate::compaction_policy::Policy;
use crate::family::FamilyStore;
use crate::flush;
use crate::indexed::refuse_in_memory;
use crate::manifest::{Assignment, EditKind, RegionMeta, RegionsReplaced};
use crate::oversized_rows::RowLimit;
use crate::region::{Region, serve_all};
use crate::store_file::StoreFile;
use crate::table::Table;

impl Store {
    /// Splits a region in two. The second region begins at row `at`, or near the middle of the data
    /// if `at` is `None`. The table's split restriction and split policy can move the split point,
    /// so that rows they keep together are not parted. Concurrent reads and writes on the table
    /// continue; the old region no longer serves.
    ///
    /// # Errors
    /// `UnknownRegion`; `TableNotEnabled`; `InvalidRequest` if splits are switched off or disabled
    /// by the table's policy, for a row that is not after the region's first row, and for a region
    /// without two rows that may be parted.
    pub fn split_region(&self, name: &[u8], at: Option<Bytes>) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        self.inner.engine.check_open()?;
        let region = self.known_region(name)?;
        let table = self.inner.tables.catalog.table(&region.info().table)?;
        table.check_enabled()?;
        refuse_in_memory(table.descriptor(), "split")?;
        self.check_split_allowed(&table, &region)?;
        region.check_serving()?;
        self.inner.tables.check_split_quota(&region)?;
        let at = match at {
            Some(at) => restricted(table.descriptor(), &region, &at)?,
            None => Bytes::new(),
        };
        check_splittable(table.descriptor(), &region)?;
        let at = if at.is_empty() { middle(table.descriptor(), &region)? } else { at };
        let RowRange { start, stop } = region.info().range.clone();
        check_row(&at)?;
        if at == start || !region.info().range.contains(&at) {
            return Err(Error::invalid(format!(
                "a region is split at a row after its first: region={}, row={}, start key={}, end \
                 key={}",
                region.name(),
                region.display_row(&at),
                region.display_row(&start),
                region.display_row(&stop)
            )));
        }
        let ranges = [RowRange::new(start, at.clone()), RowRange::new(at, stop)];
        self.inner.tables.replace_regions(&table, &[region], &ranges)
    }

    /// Merges adjacent regions in a table into one. Concurrent reads and writes on the table
    /// continue; the old regions no longer serve. Files that earlier splits left shared are
    /// compacted first, which takes as long as compacting them does.
    ///
    /// # Errors
    /// `UnknownRegion`; `TableNotEnabled`; `InvalidRequest` if merges are switched off, for fewer
    /// than two regions, for regions in several tables, and for regions that are not adjacent.
    pub fn merge_regions(&self, names: &[&[u8]]) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        self.inner.engine.check_open()?;
        let mut regions =
            names.iter().map(|name| self.known_region(name)).collect::<Result<Vec<_>>>()?;
        regions.sort_by(|a, b| a.info().range.start.cmp(&b.info().range.start));
        let (first, last) = match &regions[..] {
            [first, .., last] => (first, last),
            _ => return Err(Error::invalid("a merge needs two regions or more")),
        };
        let table = self.inner.tables.catalog.table(&first.info().table)?;
        table.check_enabled()?;
        self.check_merge_allowed(&table, &regions)?;
        regions.iter().try_for_each(|region| region.check_serving())?;
        for pair in regions.windows(2) {
            let one = pair[0].info();
            let other = pair[1].info();
            if Arc::ptr_eq(&pair[0], &pair[1]) {
                let twice = pair[0].display_name();
                return Err(Error::invalid(format!(
                    "a region cannot be merged with itself: region={twice}"
                )));
            }
            if one.table != other.table || one.range.stop != other.range.start {
                return Err(Error::invalid(format!(
                    "regions to merge must be adjacent regions of one table: region={}, region={}",
                    pair[0].display_name(),
                    pair[1].display_name()
                )));
            }
        }
        let range = RowRange::new(first.info().range.start.clone(), last.info().range.stop.clone());
        for region in &regions {
            for family in region.families() {
                rewrite_wider(&self.inner.engine, family)?;
            }
        }
        self.inner.tables.replace_regions(&table, &regions, &[range])
    }

    pub(super) fn known_region(&self, name: &[u8]) -> Result<Arc<Region>> {
        self.find_region(name).ok_or_else(|| Error::new(ErrorKind::UnknownRegion, escape(name)))
    }
}

/// Returns the row at which to split a region for a request at row `requested`, after the table's
/// split restriction; empty, as in HBase, if the restriction leaves no row.
fn restricted(table: &TableDescriptor, region: &Region, requested: &Bytes) -> Result<Bytes> {
    let at = table.split_restriction()?.split_row(requested);
    if at != requested {
        let requested = region.display_row(requested);
        let at = region.display_row(&at);
        tracing::warn!(
            asked = %requested,
            %at,
            "a region is split where the table's restriction lets it"
        );
    }
    Ok(at)
}

/// Refuses if the table's policy disables splits, including requested ones: HBase's message.
fn check_splittable(table: &TableDescriptor, region: &Region) -> Result<()> {
    if matches!(table.split_policy(), Ok(SplitPolicy::Disabled)) {
        return Err(Error::invalid(format!("{} NOT splittable", region.name().encoded)));
    }
    Ok(())
}

/// Returns the row at which to split a region near the middle.
fn middle(table: &TableDescriptor, region: &Region) -> Result<Bytes> {
    region.flush()?;
    let refuse = |why: String| Error::invalid(format!("{why}: region={}", region.display_name()));
    if let Some(at) = region.split_row(table)? {
        return Ok(at);
    }
    Err(match region.middle_row()? {
        None => refuse("the region has fewer than two rows".to_owned()),
        Some(middle) => refuse(format!(
            "the table's split policy or restriction allows no split after the middle of the \
             region: row={}",
            region.display_row(&middle)
        )),
    })
}

impl Tables {
    /// Replaces regions by new ones with the given ranges, which together hold the same rows.
    pub(super) fn replace_regions(
        &self,
        table: &Arc<Table>,
        old: &[Arc<Region>],
        ranges: &[RowRange],
    ) -> Result<()> {
        let engine = &self.engine;
        let names: Vec<_> = old.iter().map(|region| region.name().to_string()).collect();
        let what = if old.len() > 1 { "Merging" } else { "Splitting" };
        let description = format!("{what} {}", names.join(", "));
        let _task = engine.begin_task(description, format!("into {}", ranges.len()));
        let added = self.metas_of(table.name(), ranges)?;
        let removed = old.iter().map(|region| region.id()).collect();
        let edit = RegionsReplaced { table_id: table.id(), removed, added: added.clone() };
        let families: Vec<_> = old.iter().flat_map(|region| region.families()).cloned().collect();
        // Flushes most data while the regions still accept writes.
        families.iter().try_for_each(|family| flush::flush(engine, family))?;
        let _moving: Vec<_> = old.iter().map(|region| region.topology_lock.lock()).collect();
        families.iter().for_each(|family| family.set_closing(true));
        // No flush or compaction may add a file to an old region.
        let _quiet: Vec<_> = families
            .iter()
            .map(|family| (family.flushing.lock(), family.compacting.write()))
            .collect();
        let serve = |serving| serve_all(engine, old.iter().map(|region| &**region), serving);
        serve(false);
        let flushed = families.iter().try_for_each(|family| flush::flush_locked(engine, family));
        if let Err(error) =
            flushed.and_then(|()| engine.append_removal(EditKind::RegionsReplaced(edit)))
        {
            families.iter().for_each(|family| family.set_closing(false));
            serve(true);
            return Err(error);
        }
        let added = {
            let _latch = engine.freeze_latch.write();
            // The last timestamps issued to rows are stored by region; the new regions do not have
            // them.
            engine.timestamps.catch_up();
            let added: Vec<_> = added
                .into_iter()
                .map(|meta| self.region_in_place_of(table.descriptor(), old, meta))
                .collect();
            families.iter().for_each(|family| {
                family.set_dropped();
                engine.forget_family(family);
            });
            engine.recent_writes.note_all(engine.mvcc.reserved());
            self.catalog.replace([Arc::new(table.with_regions(old, &added))]);
            self.changed();
            old.iter().for_each(|region| region.set_replaced(&added));
            added
        };
        families.iter().for_each(|family| family.release_files());
        for family in added.iter().flat_map(|region| region.families()) {
            engine.compactions.request(family, None);
        }
        tracing::info!(
            table = %table.name(),
            regions = ?old.iter().map(|region| region.display_name()).collect::<Vec<_>>(),
            replaced_by = ?added.iter().map(|region| region.display_name()).collect::<Vec<_>>(),
            "regions replaced"
        );
        release_flushed_segments(engine);
        Ok(())
    }

    /// Returns the metadata for new regions with these ranges.
    pub(super) fn metas_of(
        &self,
        name: &TableName,
        ranges: &[RowRange],
    ) -> Result<Vec<RegionMeta>> {
        // The new regions may take over rows whose last issued timestamps they do not have.
        self.engine.timestamps.catch_up();
        let created_millis = self.next_region_millis();
        let mut servers = self.region_servers.in_turn();
        let metas = ranges.iter().map(|range| {
            // A region's name is a row in hbase:meta.
            let info = RegionInfo::new(name.clone(), range.clone(), created_millis);
            check_row(&info.name().full).map_err(|error| {
                Error::invalid(format!("a split key makes a region name too long: {error}"))
            })?;
            Ok(RegionMeta {
                region_id: self.engine.manifest.next_id(),
                start: range.start.clone(),
                stop: range.stop.clone(),
                created_millis,
                server: servers.next().unwrap_or(0),
            })
        });
        metas.collect()
    }

    /// Returns a creation time for region names, later than every earlier one.
    fn next_region_millis(&self) -> u64 {
        let now = self.engine.timestamps.issue().as_millis();
        let last = &self.last_region_millis;
        let before = last.fetch_max(now, Ordering::Relaxed);
        let millis = if before < now { now } else { last.fetch_add(1, Ordering::Relaxed) + 1 };
        millis.unsigned_abs()
    }

    /// Returns a region with the files from the `old` regions that may hold the new region's rows.
    pub(super) fn region_in_place_of(
        &self,
        descriptor: &TableDescriptor,
        old: &[Arc<Region>],
        meta: RegionMeta,
    ) -> Arc<Region> {
        self.region_with_files_of(old, descriptor, old, meta)
    }

    /// Returns a region that replaces a truncated one, whose cells are still there at earlier read
    /// points.
    pub(super) fn truncated_region(
        &self,
        descriptor: &TableDescriptor,
        old: &Arc<Region>,
        meta: RegionMeta,
    ) -> Arc<Region> {
        self.region_with_files_of(&[], descriptor, std::slice::from_ref(old), meta)
    }

    fn region_with_files_of(
        &self,
        sources: &[Arc<Region>],
        descriptor: &TableDescriptor,
        old: &[Arc<Region>],
        meta: RegionMeta,
    ) -> Arc<Region> {
        let engine = &self.engine;
        let range = RowRange::new(meta.start, meta.stop);
        let row_limit = Arc::new(RowLimit::of(descriptor));
        let families = descriptor.families().iter().map(|family| {
            let stores = sources.iter().flat_map(|region| region.families());
            let stores: Vec<_> = stores.filter(|store| store.name() == family.name()).collect();
            let files = stores.iter().flat_map(|store| files_for(store, &range)).collect();
            let policy = Policy::of_stored(&engine.settings, descriptor, family);
            let id = meta.region_id;
            let limit = Arc::clone(&row_limit);
            let store = FamilyStore::new(id, range.clone(), family.clone(), policy, limit, files);
            let readable_from =
                stores.iter().map(|store| store.super_version().readable_from).max();
            store.change(|super_version| super_version.readable_from = readable_from.unwrap_or(0));
            engine.add_family(store)
        });
        let families = families.collect();
        let info = RegionInfo::new(descriptor.name().clone(), range, meta.created_millis);
        let engine = Arc::clone(engine);
        let new = Assignment { server: meta.server, in_service: true };
        let assignment = old.first().map_or(new, |old| old.assignment());
        let region = Region::new(meta.region_id, info, families, descriptor, true, engine);
        Arc::new(region.assigned(assignment).in_place_of(old))
    }
}

/// Returns the files in a (region, family) that may hold rows in `range`.
fn files_for(store: &FamilyStore, range: &RowRange) -> Vec<Arc<StoreFile>> {
    let super_version = store.super_version();
    super_version
        .files
        .iter()
        .filter(|file| file.may_hold_rows(range))
        .map(StoreFile::share)
        .collect()
}
