//! Counts what a store's files and log contain, cell by cell, without opening the store.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::path::Path;

use rowhouse_model::{
    Bytes, Cell, CellKind, CellRef, Key, RegionInfo, Result, TableDescriptor, TableName,
    equal_bytes,
};
use rowhouse_schema::ColumnSchema;

use crate::aside::{self, AsideSize};
use crate::check::Progress;
use crate::directory::{self, ReadOnlyDirectory};
use crate::disk::RealDisk;
use crate::hfile::{HFile, HFileCells};
use crate::layout::file_path;
use crate::manifest::{self, FamilyFiles, ManifestAge, ManifestState, RegionState, TableEntry};
use crate::open::log_known;
use crate::wal::{self, LogScan};

/// The result of [`stats`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StoreStats {
    /// The tables, by name.
    pub tables: Vec<TableStats>,
    /// Commits in the log. Their cells may be in files already.
    pub log_records: u64,
    /// Log bytes.
    pub log_bytes: u64,
    /// Files that an open moved to `aside/`.
    pub aside_files: u64,
    /// Bytes in these files.
    pub aside_bytes: u64,
}

/// What a table contains: in its files, and what is in the log only.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TableStats {
    /// The declaration.
    pub descriptor: TableDescriptor,
    /// The regions, in row order.
    pub regions: Vec<RegionStats>,
    /// The largest rows, largest first: at most [`LARGEST_ROWS`].
    pub largest_rows: Vec<RowSize>,
    /// Rows sampled evenly from the table, in order: at most [`SAMPLE_ROWS`].
    pub sample: Vec<Bytes>,
}

/// What a region contains.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RegionStats {
    /// The region.
    pub info: RegionInfo,
    /// The families, by name.
    pub families: Vec<FamilyStats>,
}

/// What one family in a region contains. Bytes are cell bytes before compression, unless stated
/// otherwise.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FamilyStats {
    /// The name.
    pub name: Bytes,
    /// How many files there are. A file shared by several regions is counted with each region.
    pub files: u64,
    /// Bytes in these files on disk.
    pub file_bytes: u64,
    /// Bytes in their indexes, before compression.
    pub index_bytes: u64,
    /// Bytes in their blooms.
    pub bloom_bytes: u64,
    /// The number of rows.
    pub rows: u64,
    /// Cells in the region's rows, in files and in the log.
    pub cells: u64,
    /// The cells among them that are in the log only.
    pub log_cells: u64,
    /// Delete markers among these cells.
    pub markers: u64,
    /// Cells that follow a newer cell in the same column.
    pub older_versions: u64,
    /// Key bytes: row, family, qualifier, timestamp, kind, and their lengths.
    pub key_bytes: u64,
    /// Row bytes among the key bytes.
    pub row_bytes: u64,
    /// Value bytes.
    pub value_bytes: u64,
    /// Tag bytes.
    pub tag_bytes: u64,
    /// Row, family and qualifier bytes repeated from the key before: the bytes that a data block
    /// encoding saves.
    pub repeated_bytes: u64,
    /// Bytes that keys would save with a one-letter family name and two-letter qualifiers. Only
    /// qualifiers that are names count; qualifiers that the table declares as templates are data.
    pub name_bytes: u64,
}

/// A row and its size.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct RowSize {
    /// Bytes in the row's cells, all versions and markers, in all families.
    pub bytes: u64,
    /// The number of cells in the row.
    pub cells: u64,
    /// The row.
    pub row: Bytes,
}

/// The maximum number of sampled rows per table.
pub const SAMPLE_ROWS: usize = 1_000;

/// The number of largest rows reported for a table.
pub const LARGEST_ROWS: usize = 10;

/// Counts the contents of the data directory `dir`, for one table or for all. Changes nothing. The
/// cells that are in the log only are held in memory, as when the store is opened.
///
/// # Errors
/// A directory that holds no store, is in use, or has another version; `TableNotFound`; `Io` and
/// `Corruption` for failed reads.
pub fn stats(
    dir: impl AsRef<Path>,
    table: Option<&TableName>,
    mut progress: impl FnMut(Progress<'_>),
) -> Result<StoreStats> {
    let dir = dir.as_ref();
    let _look = ReadOnlyDirectory::at(dir)?;
    let disk = RealDisk::read_only(dir);
    let boot_id = directory::boot_id();
    let whole = manifest::read(&disk, boot_id)?
        .ok_or_else(|| rowhouse_model::Error::corruption("MANIFEST is missing"))?;
    let state = whole.state;
    let age = whole.age;
    let is_selected = |entry: &&std::sync::Arc<TableEntry>| {
        table.is_none_or(|name| entry.descriptor.name() == name)
    };
    let mut entries: Vec<_> = state.tables.values().filter(is_selected).collect();
    entries.sort_by_key(|entry| entry.descriptor.name().to_string());
    if let (Some(name), true) = (table, entries.is_empty()) {
        let kind = rowhouse_model::ErrorKind::TableNotFound;
        return Err(rowhouse_model::Error::new(kind, name.to_string()));
    }
    let regions = entries.iter().flat_map(|entry| entry.regions.values());
    let bytes_total = regions.map(|region| bytes_of(region)).sum();
    let regions = entries.iter().flat_map(|entry| entry.regions.keys().copied());
    let (mut logged, scan) = logged_cells(&disk, boot_id, &state, age, regions.collect())?;
    let log_records = scan.records;
    let log_bytes = scan.bytes;
    let AsideSize { files: aside_files, bytes: aside_bytes } = aside::size(&disk);
    let tables = Vec::new();
    let mut stats = StoreStats { tables, log_records, log_bytes, aside_files, aside_bytes };
    let mut bytes_done = 0;
    for entry in entries {
        let table_name = entry.descriptor.name().to_string();
        let columns = ColumnSchema::of_table(&entry.descriptor).ok().flatten();
        let mut largest = Largest::default();
        let mut sample = Sample::default();
        let mut regions: Vec<_> = entry.regions.iter().collect();
        regions.sort_by(|(_, a), (_, b)| a.info.range.start.cmp(&b.info.range.start));
        let mut counted = Vec::with_capacity(regions.len());
        for (id, region) in regions {
            progress(Progress::new(&table_name, bytes_done, bytes_total));
            let mut seen = |row: &RowSize| {
                largest.offer(row);
                sample.offer(&row.row);
            };
            let cells = logged.remove(id).unwrap_or_default();
            counted.push(region_stats(dir, region, &cells, columns.as_ref(), &mut seen)?);
            bytes_done += bytes_of(region);
        }
        let descriptor = entry.descriptor.clone();
        let largest_rows = largest.into_rows();
        stats.tables.push(TableStats {
            descriptor,
            regions: counted,
            largest_rows,
            sample: sample.rows,
        });
    }
    Ok(stats)
}

/// Returns the regions' cells that are in the log only, in their order.
fn logged_cells(
    disk: &RealDisk,
    boot_id: [u8; 16],
    state: &ManifestState,
    age: ManifestAge,
    regions: BTreeSet<u64>,
) -> Result<(BTreeMap<u64, Vec<Cell>>, LogScan)> {
    let mut logged = BTreeMap::<u64, Vec<Cell>>::new();
    let known = log_known(disk, state, Some(age), boot_id)?;
    let scan = wal::scan(disk, known, |commit, _| {
        for (region, family, cells) in commit.groups {
            state.check_known(region)?;
            let is_stored = state.files_of(region, &family).is_none()
                || state.is_flushed(region, &family, commit.sequence);
            if regions.contains(&region) && !is_stored {
                logged.entry(region).or_default().extend(cells);
            }
        }
        Ok(())
    })?;
    logged.values_mut().for_each(|cells| cells.sort_by(|a, b| a.key().cmp(&b.key())));
    Ok((logged, scan))
}

fn bytes_of(region: &RegionState) -> u64 {
    let files = region.families.values().flat_map(|family| family.files.values());
    files.map(|meta| meta.len).sum()
}

/// Counts a region's cells, with the cells that are in the log only. Reads all families side by
/// side, so that a row's cells come together.
fn region_stats(
    dir: &Path,
    region: &RegionState,
    logged: &[Cell],
    columns: Option<&ColumnSchema>,
    seen: &mut impl FnMut(&RowSize),
) -> Result<RegionStats> {
    let mut files = Vec::new();
    let mut families = BTreeMap::new();
    for (name, family) in &region.families {
        let opened = open(dir, family)?;
        let mut counted = Counted::new(name, columns);
        opened.iter().for_each(|file| counted.stats.add_file(file));
        families.insert(name.clone(), counted);
        files.extend(opened);
    }
    let range = &region.info.range;
    let start = Key::row_start(&range.start);
    let cells = files.iter().map(|file| Ok(CellSource::File(file.cells_from(&start)?)));
    let mut sources = cells.collect::<Result<Vec<_>>>()?;
    sources.push(CellSource::Log(logged));
    let mut row: Option<RowSize> = None;
    while let Some(at) = first_of(&sources) {
        let Some(cell) = sources[at].cell().filter(|cell| range.contains(cell.key.row)) else {
            break;
        };
        let bytes = bytes_of_cell(&cell);
        match &mut row {
            Some(row) if equal_bytes(&row.row, cell.key.row) => {
                row.bytes += bytes;
                row.cells += 1;
            }
            other => {
                let new_row =
                    RowSize { bytes, cells: 1, row: Bytes::copy_from_slice(cell.key.row) };
                other.replace(new_row).iter().for_each(&mut *seen);
            }
        }
        if let Some(counted) = families.get_mut(cell.key.family) {
            counted.note(&cell);
            counted.stats.log_cells += u64::from(matches!(sources[at], CellSource::Log(_)));
        }
        sources[at].advance()?;
    }
    row.iter().for_each(seen);
    let families = families.into_values().map(|counted| counted.stats).collect();
    Ok(RegionStats { info: region.info.clone(), families })
}

fn open(dir: &Path, family: &FamilyFiles) -> Result<Vec<HFile>> {
    family.files.keys().map(|id| HFile::open(dir.join(file_path(*id)))).collect()
}

/// Cells in their order.
enum CellSource<'a> {
    File(HFileCells<'a>),
    /// Those that are left.
    Log(&'a [Cell]),
}

impl CellSource<'_> {
    fn cell(&self) -> Option<CellRef<'_>> {
        match self {
            Self::File(cells) => cells.cell(),
            Self::Log(cells) => cells.first().map(Cell::view),
        }
    }

    fn advance(&mut self) -> Result<()> {
        match self {
            Self::File(cells) => cells.advance(),
            Self::Log(cells) => {
                *cells = cells.get(1..).unwrap_or_default();
                Ok(())
            }
        }
    }
}

/// Returns the source with the lowest cell.
fn first_of(sources: &[CellSource<'_>]) -> Option<usize> {
    let keys = sources.iter().enumerate().filter_map(|(at, source)| Some((source.cell()?.key, at)));
    keys.min().map(|(_, at)| at)
}

fn bytes_of_cell(cell: &CellRef<'_>) -> u64 {
    key_len(&cell.key) + (cell.value.len() + cell.tags.len()) as u64
}

fn key_len(key: &Key<'_>) -> u64 {
    // The key includes row length, family length, timestamp and kind.
    (key.row.len() + key.family.len() + key.qualifier.len() + 2 + 1 + 8 + 1) as u64
}

impl FamilyStats {
    fn add_file(&mut self, file: &HFile) {
        let meta = file.meta();
        let trailer = file.meta().trailer();
        self.files += 1;
        self.file_bytes += trailer.file_len;
        self.index_bytes += trailer.uncompressed_index_len;
        let chunks = meta.bloom().into_iter().chain(meta.delete_family_bloom());
        let chunks = chunks.flat_map(|bloom| bloom.chunks());
        self.bloom_bytes += chunks.map(|chunk| u64::from(chunk.len)).sum::<u64>();
    }
}

/// A family being counted.
struct Counted<'c> {
    stats: FamilyStats,
    columns: Option<&'c ColumnSchema>,
    /// The previous cell's row and qualifier; empty before the first cell.
    row: Vec<u8>,
    qualifier: Vec<u8>,
}

impl<'c> Counted<'c> {
    fn new(name: &Bytes, columns: Option<&'c ColumnSchema>) -> Self {
        let stats = FamilyStats { name: name.clone(), ..FamilyStats::default() };
        Self { stats, columns, row: Vec::new(), qualifier: Vec::new() }
    }

    fn note(&mut self, cell: &CellRef<'_>) {
        let stats = &mut self.stats;
        let key = &cell.key;
        let same_row = stats.cells > 0 && equal_bytes(&self.row, key.row);
        let same_column = same_row && equal_bytes(&self.qualifier, key.qualifier);
        stats.cells += 1;
        stats.rows += u64::from(!same_row);
        stats.markers += u64::from(key.kind != CellKind::Put.code());
        stats.older_versions += u64::from(same_column);
        stats.key_bytes += key_len(key);
        stats.row_bytes += key.row.len() as u64;
        stats.value_bytes += cell.value.len() as u64;
        stats.tag_bytes += cell.tags.len() as u64;
        stats.repeated_bytes += if same_row {
            (key.row.len() + key.family.len() + common(&self.qualifier, key.qualifier)) as u64
        } else {
            common(&self.row, key.row) as u64
        };
        let columns = self.columns.and_then(|columns| columns.find(key.family, key.qualifier));
        let is_name = columns.is_none_or(|column| column.template().is_none());
        let saved = if is_name { key.qualifier.len().saturating_sub(SHORT_LEN) } else { 0 };
        stats.name_bytes += (key.family.len().saturating_sub(1) + saved) as u64;
        if !same_row {
            self.row.clear();
            self.row.extend_from_slice(key.row);
        }
        if !same_column {
            self.qualifier.clear();
            self.qualifier.extend_from_slice(key.qualifier);
        }
    }
}

/// Returns the length of the common prefix.
fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The largest rows so far.
#[derive(Default)]
struct Largest {
    rows: BinaryHeap<Reverse<RowSize>>,
}

impl Largest {
    fn offer(&mut self, row: &RowSize) {
        self.rows.push(Reverse(row.clone()));
        if self.rows.len() > LARGEST_ROWS {
            self.rows.pop();
        }
    }

    fn into_rows(self) -> Vec<RowSize> {
        self.rows.into_sorted_vec().into_iter().map(|Reverse(row)| row).collect()
    }
}

/// A row sample: every row at first, every second once there are too many, then every fourth, and
/// so on.
struct Sample {
    rows: Vec<Bytes>,
    step: u64,
    seen: u64,
}

impl Default for Sample {
    fn default() -> Self {
        Self { rows: Vec::new(), step: 1, seen: 0 }
    }
}

impl Sample {
    fn offer(&mut self, row: &Bytes) {
        if self.seen.is_multiple_of(self.step) {
            if self.rows.len() == SAMPLE_ROWS {
                let mut nth = 0;
                self.rows.retain(|_| {
                    nth += 1;
                    nth % 2 == 1
                });
                self.step *= 2;
            }
            if self.seen.is_multiple_of(self.step) {
                self.rows.push(row.clone());
            }
        }
        self.seen += 1;
    }
}

/// The length of a short qualifier.
const SHORT_LEN: usize = 2;

#[cfg(test)]
mod tests {
    use rowhouse_model::{Delete, FamilyDescriptor, Put, Timestamp};

    use super::*;
    use crate::Store;

    #[test]
    fn a_sample_is_taken_evenly_and_stays_small() {
        let rows = |count: u32| {
            let mut sample = Sample::default();
            (0..count).for_each(|n| sample.offer(&Bytes::copy_from_slice(&n.to_be_bytes())));
            let number = |row: &Bytes| u32::from_be_bytes(row[..].try_into().unwrap());
            sample.rows.iter().map(number).collect::<Vec<_>>()
        };
        assert_eq!(rows(0), []);
        assert_eq!(rows(1_000), (0..1_000).collect::<Vec<_>>());
        assert_eq!(rows(10_000), (0..10_000).step_by(16).collect::<Vec<_>>());
    }

    fn name() -> TableName {
        TableName::parse("mail").unwrap()
    }

    /// Returns a store with two regions, two families, versions and a marker in two files, and a
    /// row in the log only.
    fn filled() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let family = |name: &str| FamilyDescriptor::new(name.to_owned()).unwrap().versions(5);
        let columns = ColumnSchema::parse("long:r[at u8] score u8; long:subject subject string");
        let table = TableDescriptor::new(name())
            .family(family("a"))
            .family(family("long"))
            .attribute("COMPACTION_ENABLED", "false")
            .attribute(rowhouse_schema::COLUMNS_ATTRIBUTE, columns.unwrap().to_stored());
        store.create_table(table, &[Bytes::from_static(b"m")]).unwrap();
        let table = store.table(&name()).unwrap();
        let put = |row: &str, family: &str, qualifier: &str, at: i64, value: &str| {
            let at = Timestamp::from_millis(at).unwrap();
            let put = Put::new(row.to_owned()).unwrap();
            table.mutate(&put.add_at(family, qualifier, at, value).unwrap().into()).unwrap();
        };
        put("bob", "a", "q", 1, "one");
        put("bob", "long", "subject", 1, "hello");
        put("bob", "long", "r\x07", 1, "x");
        put("zoe", "a", "q", 1, "z");
        table.flush().unwrap();
        put("bob", "a", "q", 2, "second");
        let delete = Delete::new("zoe").unwrap().column("a", "q", Timestamp::LATEST).unwrap();
        table.mutate(&delete.into()).unwrap();
        table.flush().unwrap();
        put("new", "a", "q", 1, "in the log");
        put("new", "a", "q", 2, "a newer version");
        store.close().unwrap();
        dir
    }

    #[test]
    fn cells_are_counted_by_region_and_family_over_all_files() {
        let dir = filled();
        let stats = stats(dir.path(), None, |_| {}).unwrap();
        let [table] = &stats.tables[..] else { panic!("one table: {:?}", stats.tables) };
        let [first, second] = &table.regions[..] else { panic!("two regions") };
        let [a, long] = &first.families[..] else { panic!("two families") };
        assert_eq!((a.files, a.rows, a.cells, a.older_versions, a.markers), (2, 1, 2, 1, 0));
        // Row, family, qualifier, and twelve bytes for lengths, timestamp and kind.
        assert_eq!((a.key_bytes, a.value_bytes), (2 * (3 + 1 + 1 + 12), 3 + 6));
        assert_eq!((a.repeated_bytes, a.name_bytes), (3 + 1 + 1, 0));
        assert_eq!((long.files, long.rows, long.cells), (1, 1, 2));
        // The family's three letters twice, five in `subject`; the other qualifier is data.
        assert_eq!(long.name_bytes, 2 * 3 + 5);
        let a = &second.families[0];
        assert_eq!((a.rows, a.cells, a.markers, a.older_versions), (2, 4, 1, 2));
        assert_eq!((a.log_cells, first.families[0].log_cells), (2, 0));
        assert!(a.file_bytes > a.key_bytes + a.value_bytes && a.bloom_bytes > 0);
        let rows: Vec<_> = table.largest_rows.iter().map(|row| (&row.row[..], row.cells)).collect();
        assert_eq!(rows, [(&b"bob"[..], 4), (b"new", 2), (b"zoe", 2)]);
        assert!(stats.log_records >= 1, "the row that is in no file is in the log");
    }

    #[test]
    fn cells_in_the_log_only_are_merged_with_those_in_files() {
        let dir = filled();
        let counted = |log: bool| {
            let stats = stats(dir.path(), None, |_| {}).unwrap();
            let family = &stats.tables[0].regions[1].families[0];
            assert_eq!(family.log_cells > 0, log);
            let FamilyStats { rows, cells, markers, older_versions, .. } = *family;
            let FamilyStats { key_bytes, value_bytes, repeated_bytes, .. } = *family;
            ((rows, cells, markers, older_versions), (key_bytes, value_bytes, repeated_bytes))
        };
        let before = counted(true);
        assert_eq!(before.0, (2, 4, 1, 2));
        let store = Store::open(dir.path()).unwrap();
        store.table(&name()).unwrap().flush().unwrap();
        store.close().unwrap();
        drop(store);
        assert_eq!(counted(false), before);
    }

    #[test]
    fn stats_cover_one_table_and_a_store_in_use_is_refused() {
        let dir = filled();
        assert_eq!(stats(dir.path(), Some(&name()), |_| {}).unwrap().tables.len(), 1);
        let other = TableName::parse("other").unwrap();
        let error = stats(dir.path(), Some(&other), |_| {}).unwrap_err();
        assert_eq!(error.kind(), rowhouse_model::ErrorKind::TableNotFound);
        let _open = Store::open(dir.path()).unwrap();
        let error = stats(dir.path(), None, |_| {}).unwrap_err();
        assert_eq!(error.kind(), rowhouse_model::ErrorKind::InUse);
    }
}
