//! Copies the readable contents of a damaged store into a new one. The damaged store is not
//! changed.

mod adopt;
mod index_tables;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use rowhouse_model::{
    Bytes, Cell, Durability, Error, ErrorKind, Namespace, Result, TableName, TableState, escape,
};
use rowhouse_schema::IndexState;

use crate::check::{Progress, files_on, misplaced, placed};
use crate::directory::{self, ReadOnlyDirectory};
use crate::disk::{Disk, RealDisk};
use crate::layout::file_path;
use crate::manifest::{self, ManifestState, NamedFile};
use crate::open::log_known;
use crate::region::Region;
use crate::space::Need;
use crate::store::Store;
use crate::store_file::{Files, StoreFile};
use crate::wait_mode::WaitMode;
use crate::wal::{self, Commit, Known};
use crate::write::admit::admit;
use crate::write::commit;
use crate::write::record_builder::RecordBuilder;

/// The result of [`salvage`].
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct SalvageReport {
    /// Tables created in the new store.
    pub tables: usize,
    /// HFiles read, in full or in part.
    pub files: usize,
    /// Cells written to the new store.
    pub cells: u64,
    /// Commits read from the write-ahead log.
    pub log_records: u64,
    /// How the log ends, unless the store was closed, as in a [check](crate::CheckReport::log_end).
    pub log_end: Option<String>,
    /// As [`CheckReport::unlocked`](crate::CheckReport::unlocked).
    pub unlocked: Option<String>,
    /// Everything that could not be read, each error with the file. The data at these places is
    /// lost.
    pub lost: Vec<Error>,
}

/// Cell bytes written to the new store at once.
const BATCH_BYTES: usize = 4 << 20;

/// Reads the readable contents of the store in `from` and writes them to a new store in `into`,
/// which must not exist or be empty. Tables keep names, descriptors and regions; cells keep
/// timestamps, kinds and tags. Indexes are built anew once the new store is opened, from the rows
/// in their tables; no row is taken from a copy. Snapshots are not copied, nor is the write order,
/// which families with NEW_VERSION_BEHAVIOR are read by; both are reported as lost. Data from a
/// damaged place is taken from the log if the log has it. A bulk-loaded cell is not in the log; if
/// its file had been compacted with older ones, the value written before the load takes its place.
///
/// # Errors
/// A directory that holds no store or is in use; a manifest without a readable edit, if no file
/// names the table either; errors when writing the new store.
pub fn salvage(
    from: impl AsRef<Path>,
    into: impl AsRef<Path>,
    progress: impl FnMut(Progress<'_>),
) -> Result<SalvageReport> {
    let from = from.as_ref();
    let into = into.as_ref();
    check_free(into)?;
    let look = ReadOnlyDirectory::at(from)?;
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::read_only(from));
    let mut report = salvage_disk(&disk, directory::boot_id(), || Store::open(into), progress)?;
    report.unlocked = look.unlocked;
    Ok(report)
}

pub(crate) fn salvage_disk(
    disk: &Arc<dyn Disk>,
    boot_id: [u8; 16],
    open: impl FnOnce() -> Result<Store>,
    mut progress: impl FnMut(Progress<'_>),
) -> Result<SalvageReport> {
    let mut report = SalvageReport::default();
    let (mut state, age) = manifest::read_readable(&**disk, boot_id, &mut report.lost);
    // Files that an undamaged manifest does not name belong to no table.
    if !report.lost.is_empty() {
        adopt::adopt_tables(&**disk, &mut state, &mut report.lost)?;
    }
    if state.cluster_id.is_empty() && state.tables.is_empty() {
        let nothing = || Error::corruption("MANIFEST is empty");
        return Err(report.lost.into_iter().next().unwrap_or_else(nothing));
    }
    let snapshots = state.snapshots.keys();
    report.lost.extend(
        snapshots
            .map(|name| Error::unsupported(format!("a salvage drops snapshots: snapshot={name}"))),
    );
    let known = log_known(&**disk, &state, age, boot_id)?;
    let indexes = index_tables::take_index_tables(&mut state, &mut report.lost);
    let index_regions = indexes.values().flat_map(|table| table.regions.keys().copied()).collect();
    // Log damage is reported in `lost`.
    let scanned = wal::scan(&**disk, known, |_, _| Ok(()));
    report.log_end = scanned.ok().and_then(|scan| scan.unclosed_end());
    let store = open()?;
    let regions = HashMap::new();
    let mut salvage = Salvage { store, regions, index_regions, log_unknown: 0, report };
    salvage.make_tables(&state)?;
    salvage.read_all(disk, &known, &state, &mut progress)?;
    salvage.finish(&state)
}

fn check_free(into: &Path) -> Result<()> {
    let names = match std::fs::read_dir(into) {
        Ok(mut names) => names.next(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(source) => {
            return Err(Error::io(format_args!("cannot read {}", into.display()), source));
        }
    };
    match names {
        None => Ok(()),
        Some(_) => Err(Error::invalid(format!("{} is not empty", into.display()))),
    }
}

/// Returns the files with cells that are still in the log.
fn logged_files(disk: &dyn Disk, known: &Known, state: &ManifestState) -> Result<HashSet<u64>> {
    let mut logged = HashSet::new();
    // The later pass, which reads the log's contents, reports the damage.
    wal::read_readable(disk, known, &mut Vec::new(), |Commit { sequence, groups, .. }| {
        let file = |(region_id, family, _): &(u64, Bytes, Vec<Cell>)| {
            let file = state.files_of(*region_id, family)?.file_with(sequence)?;
            Some(file.file_id)
        };
        logged.extend(groups.iter().filter_map(file));
        Ok(())
    })?;
    Ok(logged)
}

/// Returns true if any cell in a file cannot be read.
fn is_damaged(files: &Arc<Files>, named: &NamedFile<'_>) -> Result<bool> {
    let cells = walk(files, named, &mut Vec::new(), |_| Ok(()))?;
    Ok(cells < named.meta.cells)
}

/// Hands the readable cells of a file to `visit`.
fn walk(
    files: &Arc<Files>,
    named: &NamedFile<'_>,
    lost: &mut Vec<Error>,
    visit: impl FnMut(Cell) -> Result<()>,
) -> Result<u64> {
    let file = StoreFile::new(files, named.meta.clone());
    file.walk(&|cell| misplaced(cell, named).is_none(), lost, visit)
}

struct Salvage {
    store: Store,
    /// The new store's regions, by the ids of the regions they replace.
    regions: HashMap<u64, Arc<Region>>,
    /// The index table regions, whose cells are not copied.
    index_regions: HashSet<u64>,
    /// Log commits with cells in regions that the manifest has not recorded.
    log_unknown: u64,
    report: SalvageReport,
}

impl Salvage {
    fn make_tables(&mut self, state: &ManifestState) -> Result<()> {
        for namespace in state.namespaces.values().filter(|namespace| !namespace.is_reserved()) {
            self.store.create_namespace(Namespace::clone(namespace))?;
        }
        for table in state.tables.values() {
            let name = table.descriptor.name();
            let regions = table.regions.values();
            let mut starts: Vec<Bytes> =
                regions.map(|region| region.info.range.start.clone()).collect();
            starts.sort();
            starts.retain(|start| !start.is_empty());
            self.store.create_table(table.descriptor.clone(), &starts)?;
            let made = self.store.table(name)?;
            // Until the rows are there.
            let off = IndexState::Off("the salvage of its table did not end".to_owned());
            self.store.set_index_states(&made, &off)?;
            let by_sequence =
                table.descriptor.families().iter().filter(|it| it.new_version_behavior());
            self.report.lost.extend(by_sequence.map(|family| {
                Error::unsupported(format!(
                    "a salvage drops the order of writes, which decides the visible cells with \
                     NEW_VERSION_BEHAVIOR: table={name}, family={}",
                    escape(family.name())
                ))
            }));
            for (&id, region) in &table.regions {
                self.regions.insert(id, Arc::clone(made.region_of(&region.info.range.start)));
            }
            self.report.tables += 1;
        }
        Ok(())
    }

    /// Writes the contents of files and log in the original write order, so that the later write
    /// wins where two set the same cell.
    fn read_all(
        &mut self,
        disk: &Arc<dyn Disk>,
        known: &Known,
        state: &ManifestState,
        progress: &mut impl FnMut(Progress<'_>),
    ) -> Result<()> {
        let files = files_on(disk);
        let mut named: Vec<NamedFile> = state.files().collect();
        named.sort_by_key(|named| (named.meta.log_order(), named.meta.file_id));
        progress(Progress::new("the log", 0, 0));
        let logged = logged_files(&**disk, known, state)?;
        let is_logged = |named: &&NamedFile| logged.contains(&named.meta.file_id);
        let bytes = |named: &NamedFile| named.meta.len;
        let bytes_logged: u64 = named.iter().filter(is_logged).map(bytes).sum();
        let bytes_total = bytes_logged + named.iter().map(bytes).sum::<u64>();
        let mut bytes_done = 0;
        let mut begin_file = |named: &NamedFile| {
            progress(Progress::new(&file_path(named.meta.file_id), bytes_done, bytes_total));
            bytes_done += named.meta.len;
        };
        let mut damaged = HashSet::new();
        for named in named.iter().filter(is_logged) {
            begin_file(named);
            if is_damaged(&files, named)? {
                damaged.insert(named.meta.file_id);
            }
        }
        let mut waiting = named.iter().peekable();
        let mut lost = Vec::new();
        let read = wal::read_readable(&**disk, known, &mut lost, |commit| {
            // A cell written while files were loaded is newer than the logged cells in a compacted
            // file, though the cell's sequence number is below the load's.
            let is_older = |named: &&NamedFile| named.meta.log_order() < commit.sequence;
            while let Some(named) = waiting.next_if(is_older) {
                begin_file(named);
                self.read_file(&files, state, named)?;
            }
            self.read_commit(commit, state, &damaged)
        });
        self.report.lost.append(&mut lost);
        read?;
        for named in waiting {
            begin_file(named);
            self.read_file(&files, state, named)?;
        }
        if self.log_unknown > 0 {
            self.report.lost.push(Error::corruption(format!(
                "the log has cells of a table that MANIFEST does not name: commits={}",
                self.log_unknown
            )));
        }
        progress(Progress::new("", bytes_total, bytes_total));
        Ok(())
    }

    /// Writes the cells of a file, except for unreadable blocks.
    fn read_file(
        &mut self,
        files: &Arc<Files>,
        state: &ManifestState,
        named: &NamedFile<'_>,
    ) -> Result<()> {
        let region = Arc::clone(&self.regions[&named.region_id]);
        self.report.files += 1;
        let mut lost = Vec::new();
        let mut batch = Vec::new();
        let mut bytes = 0;
        let mut last: Option<Cell> = None;
        walk(files, named, &mut lost, |cell| {
            // Among cells with equal keys the first is the newest; the others were overwritten. A
            // file shared after a split also has rows from other regions, which may have been
            // rewritten since.
            let other_files = !named.range.contains(cell.row());
            let overwritten = last.as_ref().is_some_and(|last| last.key() == cell.key());
            if overwritten || other_files {
                return Ok(());
            }
            bytes += cell.as_bytes().len();
            batch.push(cell.clone());
            last = Some(cell);
            if bytes > BATCH_BYTES {
                bytes = 0;
                self.write(&region, named.family, std::mem::take(&mut batch))?;
            }
            Ok(())
        })?;
        self.report.lost.extend(lost.into_iter().map(|error| placed(error, state, named)));
        self.write(&region, named.family, batch)
    }

    /// Writes the cells of a commit that are in no file, or whose file is damaged.
    fn read_commit(
        &mut self,
        Commit { sequence, groups, .. }: Commit,
        state: &ManifestState,
        damaged: &HashSet<u64>,
    ) -> Result<()> {
        self.report.log_records += 1;
        for (region_id, family, cells) in groups {
            let Some(region) = self.regions.get(&region_id).map(Arc::clone) else {
                let is_known =
                    self.index_regions.contains(&region_id) || state.check_known(region_id).is_ok();
                self.log_unknown += u64::from(!is_known);
                continue;
            };
            let file = || state.files_of(region_id, &family)?.file_with(sequence);
            let is_needed = !state.is_flushed(region_id, &family, sequence)
                || file().is_some_and(|file| damaged.contains(&file.file_id));
            if is_needed {
                self.write(&region, &family, cells)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, region: &Region, family: &[u8], cells: Vec<Cell>) -> Result<()> {
        if cells.is_empty() {
            return Ok(());
        }
        admit(region, Need::Room, WaitMode::Blocking)?.done();
        let engine = region.engine();
        let cells_len = cells.len() as u64;
        let family = match region.family(family) {
            Ok(family) => family,
            Err(error) if error.kind() == ErrorKind::NoSuchColumnFamily => {
                self.report.lost.push(error);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let _latch = engine.freeze_latch.read();
        let mut draft = RecordBuilder::default();
        cells.iter().for_each(|cell| draft.push(family, cell, None));
        let committed = commit::commit(engine, draft, Durability::UseDefault)?;
        committed.wait(engine)?;
        self.report.cells += cells_len;
        Ok(())
    }

    fn finish(self, state: &ManifestState) -> Result<SalvageReport> {
        for table in self.store.tables() {
            table.flush()?;
        }
        for table in state.tables.values().filter(|table| table.state == TableState::Disabled) {
            let name: &TableName = table.descriptor.name();
            self.store.disable_table(name)?;
        }
        for table in self.store.tables() {
            let building = IndexState::Building { next_row: Bytes::new() };
            self.store.set_index_states(&table, &building)?;
        }
        self.store.close()?;
        Ok(self.report)
    }
}
