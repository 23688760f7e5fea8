//! Checks a store that is not open: every checksum and every invariant. Changes nothing, so a
//! read-only mount suffices.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use rowhouse_model::{
    BloomKind, Bytes, CellRef, Error, Key, Qualifiers, Result, TableName, compare, escape,
};

use crate::cells::Cells;
use crate::directory::{self, ReadOnlyDirectory};
use crate::disk::{Disk, RealDisk};
use crate::indexed::is_declared_index;
use crate::key_formatter::KeyFormatter;
use crate::layout::{FILES_DIR, file_name, file_path};
use crate::manifest::{self, ManifestAge, ManifestState, NamedFile, SnapshotEntry};
use crate::open::{log_known, open_files_max};
use crate::settings::Settings;
use crate::store_file::{FileCursor, Files, StoreFile};
use crate::wal::{self, LogScan};

/// The result of [`check`].
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct CheckReport {
    /// Tables, without system tables.
    pub tables: usize,
    /// Regions in all tables.
    pub regions: usize,
    /// Table snapshots.
    pub snapshots: usize,
    /// HFiles that belong to tables and snapshots.
    pub files: usize,
    /// Bytes in these HFiles.
    pub file_bytes: u64,
    /// Readable cells in these HFiles.
    pub cells: u64,
    /// Commits in the write-ahead log.
    pub log_records: u64,
    /// Bytes in the write-ahead log.
    pub log_bytes: u64,
    /// How the log ends, unless the store was closed. This is not damage, but commits that were not
    /// synced can be missing after the end without a trace.
    pub log_end: Option<String>,
    /// Files in the directory that no table or snapshot names. The next open removes those that a
    /// compaction replaced, and moves the others aside.
    pub strangers: Vec<String>,
    /// Why other processes can write to the store meanwhile: it is on a read-only mount without a
    /// lock file.
    pub unlocked: Option<String>,
    /// The defects found, each with the file.
    pub problems: Vec<Error>,
}

/// How far a check or a salvage has got.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// The file being read.
    pub file: &'a str,
    /// File bytes read so far.
    pub bytes_done: u64,
    /// Bytes in all files.
    pub bytes_total: u64,
}

impl<'a> Progress<'a> {
    /// Returns the progress after `bytes_done` out of `bytes_total`, while `file` is being read.
    pub fn new(file: &'a str, bytes_done: u64, bytes_total: u64) -> Self {
        Self { file, bytes_done, bytes_total }
    }
}

/// Reads everything in the data directory `dir` and reports defects.
///
/// # Errors
/// A directory that holds no store, is in use, or has another version. Data defects are not errors
/// but part of the report.
pub fn check(dir: impl AsRef<Path>, progress: impl FnMut(Progress<'_>)) -> Result<CheckReport> {
    let look = ReadOnlyDirectory::at(dir.as_ref())?;
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::read_only(dir));
    let mut report = check_disk(&disk, directory::boot_id(), progress)?;
    report.problems.splice(..0, look.wrong);
    report.unlocked = look.unlocked;
    Ok(report)
}

pub(crate) fn check_disk(
    disk: &Arc<dyn Disk>,
    boot_id: [u8; 16],
    mut progress: impl FnMut(Progress<'_>),
) -> Result<CheckReport> {
    let mut report = CheckReport::default();
    let (state, age) = match manifest::read(&**disk, boot_id) {
        Ok(Some(whole)) => {
            report.problems.extend(whole.wrong);
            (whole.state, whole.age)
        }
        Ok(None) => {
            report.problems.push(Error::corruption("MANIFEST is missing"));
            return Ok(report);
        }
        Err(error) => {
            report.problems.push(error);
            return Ok(report);
        }
    };
    report.tables = state.tables.len();
    report.regions = state.tables.values().map(|table| table.regions.len()).sum();
    report.snapshots = state.snapshots.len();
    match read_log(&**disk, boot_id, &state, age) {
        Ok(scan) => {
            report.log_records = scan.records;
            report.log_bytes = scan.bytes;
            report.log_end = scan.unclosed_end();
            report.problems.extend(scan.note_wrong);
        }
        Err(error) => report.problems.push(error),
    }
    find_strangers(&**disk, &state, &mut report)?;
    let files = files_on(disk);
    let mut named: Vec<NamedFile> = state.all_files().collect();
    // A file that several regions share, or that is in a clone or snapshot, is named several times.
    named.sort_by_key(|named| named.meta.file_id);
    named.dedup_by_key(|named| named.meta.file_id);
    let bytes_total = named.iter().map(|named| named.meta.len).sum();
    let mut bytes_done = 0;
    for named in named {
        let path = file_path(named.meta.file_id);
        progress(Progress::new(&path, bytes_done, bytes_total));
        let mut checked = Checked { cells: 0, problem: None };
        let done = check_file(&files, &named, &mut checked);
        let problems = done.err().into_iter().chain(checked.problem);
        report.problems.extend(problems.map(|error| placed(error, &state, &named)));
        report.files += 1;
        report.file_bytes += named.meta.len;
        report.cells += checked.cells;
        bytes_done += named.meta.len;
    }
    progress(Progress::new("", bytes_done, bytes_total));
    Ok(report)
}

/// Adds a file's table, region and rows to the file's error.
pub(crate) fn placed(error: Error, state: &ManifestState, named: &NamedFile<'_>) -> Error {
    let message = format!("{error}; {}", whereabouts(state, named));
    Error::new(error.kind(), message).with_source(error)
}

/// Describes a file's table, region and rows. Rows are shown with their key fields too, if the
/// table declares a key.
fn whereabouts(state: &ManifestState, named: &NamedFile<'_>) -> String {
    let mut tables = state.tables.values();
    let table = tables.find(|table| table.regions.contains_key(&named.region_id));
    let find = |name: &TableName| {
        let mut tables = state.tables.values().map(|table| &table.descriptor);
        tables.find(|table| table.name() == name)
    };
    let is_index = table.is_some_and(|table| is_declared_index(&table.descriptor, find));
    let hint = if is_index { "; an open store builds this index anew" } else { "" };
    let keys = table.map(|table| KeyFormatter::of(&table.descriptor));
    let key = |row: &[u8]| keys.as_ref().map_or_else(|| escape(row), |keys| keys.row(row));
    let table = table.map(|table| format!("table={}", table.descriptor.name()));
    let place = table.unwrap_or_else(|| {
        let mut snapshots = state.snapshots.values();
        let has_it = |entry: &&Arc<SnapshotEntry>| {
            entry.files().any(|file| file.meta.file_id == named.meta.file_id)
        };
        let snapshot = snapshots.find(has_it).map(|entry| entry.snapshot.name().to_owned());
        format!("snapshot={}", snapshot.unwrap_or_default())
    });
    format!(
        "{place}, family={}, first row={}, last row={}{hint}",
        escape(named.family),
        key(&named.meta.first_row),
        key(&named.meta.last_row)
    )
}

/// Returns the files in a store that is not open, with the default limits.
pub(crate) fn files_on(disk: &Arc<dyn Disk>) -> Arc<Files> {
    let settings = Settings::default();
    let open_max = open_files_max(settings.open_files_max);
    Arc::new(Files::new(Arc::clone(disk), open_max, settings.block_cache_bytes))
}

/// Reads the log in a store that is not open.
pub(crate) fn read_log(
    disk: &dyn Disk,
    boot_id: [u8; 16],
    state: &ManifestState,
    age: ManifestAge,
) -> Result<LogScan> {
    let known = log_known(disk, state, Some(age), boot_id)?;
    wal::scan(disk, known, |commit, _| {
        commit.groups.iter().try_for_each(|(region, _, _)| state.check_known(*region))
    })
}

fn find_strangers(disk: &dyn Disk, state: &ManifestState, report: &mut CheckReport) -> Result<()> {
    let named: BTreeSet<String> =
        state.all_files().map(|named| file_name(named.meta.file_id)).collect();
    let dir = FILES_DIR;
    let names =
        disk.list(dir).map_err(|source| Error::io(format_args!("cannot list {dir}"), source))?;
    let strangers = names.into_iter().filter(|name| !named.contains(name));
    report.strangers.extend(strangers.map(|name| format!("{dir}/{name}")));
    Ok(())
}

struct Checked {
    cells: u64,
    /// The first defect found.
    problem: Option<Error>,
}

/// Reads a file from the first cell to the last.
///
/// # Errors
/// The first failed read; the rest is then not checked.
fn check_file(files: &Arc<Files>, named: &NamedFile<'_>, checked: &mut Checked) -> Result<()> {
    let meta = named.meta;
    let path = file_path(meta.file_id);
    let file = Arc::new(StoreFile::new(files, meta.clone()));
    let mut wrong = |what: String| {
        checked.problem.get_or_insert_with(|| Error::corruption(format!("{path}: {what}")));
    };
    let mut last: Option<rowhouse_model::Cell> = None;
    let mut cells = 0;
    let mut cursor = FileCursor::open_once(&file, &Key::row_start(b""))?;
    let bloom = file.bloom_kind()?;
    let runs = file.marker_runs()?;
    while let Some(cell) = cursor.cell() {
        cells += 1;
        if let Some(what) = misplaced(&cell, named) {
            wrong(format!("{what}: {:?}, sequence={}", cell.to_cell(), cell.sequence));
        }
        let before = last.as_ref().map(|last| last.view());
        if before.is_some_and(|before| compare(&before, &cell).is_gt()) {
            wrong(format!("cells out of order: {:?}", cell.to_cell()));
        }
        let new_row = before.is_none_or(|before| before.key.row != cell.key.row);
        let new_column =
            new_row || before.is_none_or(|before| before.key.qualifier != cell.key.qualifier);
        let is_in_bloom = match bloom {
            BloomKind::Row | BloomKind::RowPrefix(_) if new_row => {
                file.may_hold_row(cell.key.row, || None)?
            }
            BloomKind::RowCol if new_column => {
                let qualifier = Bytes::copy_from_slice(cell.key.qualifier);
                let qualifiers = Qualifiers::from_iter([qualifier]);
                file.may_hold_row(cell.key.row, || Some(&qualifiers))?
            }
            _ => true,
        };
        if !is_in_bloom {
            wrong(format!("a cell is missing in the bloom filter: {:?}", cell.to_cell()));
        }
        if runs.iter().any(|run| run.hides(&cell.key)) {
            wrong(format!("a run of delete markers hides a cell: {:?}", cell.to_cell()));
        }
        if cells == 1 && cell.key.row != meta.first_row {
            wrong("its first row is not the recorded one".to_owned());
        }
        last = cursor.to_cell();
        cursor.advance()?;
    }
    for what in file.unread_bloom() {
        wrong(what);
    }
    if cells != meta.cells {
        wrong(format!("wrong number of cells: cells={cells}, written={}", meta.cells));
    }
    if last.is_some_and(|last| last.row() != meta.last_row) {
        wrong("its last row is not the recorded one".to_owned());
    }
    checked.cells = cells;
    Ok(())
}

/// Returns the reason why a cell does not belong where it is; `None` if it does.
pub(crate) fn misplaced(cell: &CellRef<'_>, named: &NamedFile<'_>) -> Option<&'static str> {
    let meta = named.meta;
    let is_split = !named.range.contains(&meta.first_row) || !named.range.contains(&meta.last_row);
    if !is_split && !named.range.contains(cell.key.row) {
        return Some("a cell is outside the region");
    }
    if cell.key.family != named.family {
        return Some("a cell is of another family");
    }
    if cell.sequence > meta.sequence_max {
        return Some("a cell is newer than the file");
    }
    let written = meta.timestamp_min..=meta.timestamp_max;
    (!written.contains(&cell.key.timestamp)).then_some("a cell is outside the file's time range")
}
