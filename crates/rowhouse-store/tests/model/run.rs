//! Runs the same steps on the store and the model.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use rowhouse_filter::FilterRun;
use rowhouse_model::{
    Cell, CellKind, Delete, FamilyDescriptor, Get, Increment, Mutation, Put, Row, RowRange, Scan,
    TableDescriptor, TableName, TimeRange, Timestamp,
};
use rowhouse_store::{Clock, CompactionKind, CompactionSettings, Settings, Store, Table};

use super::plain::{Family, Plain, Query};
use super::sift;
use super::steps::{FAMILIES, Place, QUALIFIERS, ROWS, Read, SPLIT, Step, ends_at_a_row};

/// A clock that only steps move.
#[derive(Clone, Default)]
struct TestClock(Arc<AtomicI64>);

impl Clock for TestClock {
    fn now_millis(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

pub(crate) struct Run {
    dir: tempfile::TempDir,
    clock: TestClock,
    store: Option<Store>,
    plain: Plain,
    families: Vec<Family>,
    /// True if a file is removed when all its cells have expired.
    vanishes: bool,
    /// Whether cells that only a raw read shows may be missing: dropped by a flush, by a minor
    /// compaction, or with a file.
    dropped: bool,
}

impl Run {
    pub(crate) fn new(declared: &[FamilyDescriptor; 2]) -> Self {
        let families = FAMILIES.iter().zip(declared);
        let mut run = Self {
            dir: tempfile::tempdir().unwrap(),
            clock: TestClock::default(),
            store: None,
            plain: Plain::default(),
            families: families.map(|(name, declared)| Family::of(name, declared)).collect(),
            vanishes: false,
            dropped: false,
        };
        let vanishes = |family: &Family| family.ttl_millis.is_some() && family.versions_min == 0;
        run.vanishes = run.families.iter().any(vanishes);
        run.dropped = run.vanishes;
        // Timestamps used by steps have not outlived a three-second TTL.
        run.clock.0.store(2_000, Ordering::Relaxed);
        run.open();
        let mut descriptor = TableDescriptor::new(name());
        for family in declared {
            descriptor = descriptor.family(family.clone());
        }
        run.store().create_table(descriptor, &[SPLIT.into()]).unwrap();
        run
    }

    fn open(&mut self) {
        self.store = None;
        // Only the compactions in the history run: one of all files drops markers, which affects
        // later reads.
        let compaction = CompactionSettings { files_min: usize::MAX, ..Default::default() };
        let settings = Settings { compaction, ..Settings::default() };
        let builder = Store::builder(self.dir.path()).settings(settings);
        self.store = Some(builder.with_clock(self.clock.clone()).open().unwrap());
    }

    fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    fn table(&self) -> Arc<Table> {
        self.store().table(&name()).unwrap()
    }

    fn now(&self) -> i64 {
        self.clock.now_millis()
    }

    fn mutate(&self, mutation: impl Into<Mutation>) -> rowhouse_model::Result<Row> {
        self.table().mutate(&mutation.into()).map(|outcome| outcome.row)
    }

    pub(crate) fn step(&mut self, step: &Step) {
        self.clock.0.fetch_add(1, Ordering::Relaxed);
        match step {
            Step::Put { row, cells } => self.put(ROWS[*row], cells),
            Step::Delete { place, row, kind } => self.delete(ROWS[*row], place, *kind),
            Step::DeleteRow { row } => {
                self.mutate(Delete::new(ROWS[*row]).unwrap()).unwrap();
                let now = millis(self.now());
                let kind = CellKind::DeleteFamily;
                let marker = |family| Cell::new(ROWS[*row], family, "", now, kind, "").unwrap();
                self.plain.write(FAMILIES.map(marker));
            }
            Step::Increment { row, family, amount } => {
                self.increment(ROWS[*row], *family, *amount);
            }
            Step::Wait(seconds) => {
                self.clock.0.fetch_add(i64::from(*seconds) * 1000, Ordering::Relaxed);
            }
            Step::Flush => {
                self.table().flush().unwrap();
                self.dropped = true;
            }
            Step::MinorCompact => {
                // A compaction that takes all files is a major one, and so is a requested one of a
                // single file.
                self.table().compact(CompactionKind::Minor).unwrap();
                self.dropped = true;
            }
            Step::MajorCompact => self.major_compact(),
            Step::Reopen => self.open(),
            Step::Read(read) => self.read(read),
        }
    }

    fn put(&mut self, row: &str, cells: &[(Place, u8)]) {
        let mut put = Put::new(row.to_owned()).unwrap();
        let mut written: Vec<Cell> = Vec::new();
        for (place, value) in cells {
            let family = FAMILIES[place.family];
            let qualifier = QUALIFIERS[place.qualifier];
            let at = millis(place.at.map_or(self.now(), i64::from));
            // The same cell twice in one mutation is tested in same_cell_twice.rs. With deletes by
            // sequence number two versions of a column in one mutation count as one, in HBase too.
            let again = |cell: &Cell| {
                cell.family() == family.as_bytes()
                    && cell.qualifier() == qualifier.as_bytes()
                    && (cell.timestamp() == at || self.families[place.family].by_sequence)
            };
            if written.iter().any(again) {
                continue;
            }
            let timestamp = place.at.map_or(Timestamp::LATEST, |at| millis(at.into()));
            put = put.add_at(family, qualifier, timestamp, [*value]).unwrap();
            let kind = CellKind::Put;
            written.push(Cell::new(row, family, qualifier, at, kind, [*value]).unwrap());
        }
        self.mutate(put).unwrap();
        self.plain.write(written);
    }

    fn delete(&mut self, row: &str, place: &Place, kind: CellKind) {
        let family = FAMILIES[place.family];
        let mut qualifier = QUALIFIERS[place.qualifier];
        let timestamp = place.at.map_or(Timestamp::LATEST, |at| millis(at.into()));
        let mut at = millis(place.at.map_or(self.now(), i64::from));
        let delete = Delete::new(row.to_owned()).unwrap();
        let delete = match kind {
            CellKind::DeleteVersion => {
                if place.at.is_none() {
                    let newest = self.newest(row, place.family, qualifier);
                    at = newest.map_or(at, |cell| cell.timestamp());
                }
                delete.version(family, qualifier, timestamp)
            }
            CellKind::DeleteColumn => delete.column(family, qualifier, timestamp),
            _ => {
                qualifier = "";
                match kind {
                    CellKind::DeleteFamily => delete.family(family, timestamp),
                    _ => delete.family_version(family, timestamp),
                }
            }
        };
        self.mutate(delete.unwrap()).unwrap();
        self.plain.write([Cell::new(row, family, qualifier, at, kind, "").unwrap()]);
    }

    /// Returns the version of a column that a read of one version sees.
    fn newest(&self, row: &str, family: usize, qualifier: &str) -> Option<Cell> {
        let mut get = Get::new(row.to_owned()).unwrap();
        get = get.column(FAMILIES[family], qualifier.to_owned());
        let query = Query {
            qualifiers: get.columns.qualifiers(FAMILIES[family].as_bytes()),
            range: TimeRange::ALL,
            versions: 1,
            raw: false,
            filtered: false,
            jumps: Vec::new(),
        };
        let read = self.plain.read(row.as_bytes(), &self.families[family], &query, self.now());
        read.into_iter().next()
    }

    fn increment(&mut self, row: &str, family: usize, amount: i64) {
        let before = self.newest(row, family, "n");
        let increment = Increment::new(row.to_owned()).unwrap();
        let result = self.mutate(increment.add(FAMILIES[family], "n", amount).unwrap());
        let value = match before.as_ref().map(Cell::value) {
            None => 0,
            Some(value) => match value.try_into() {
                Ok(eight) => i64::from_be_bytes(eight),
                // A put has written another kind of value there.
                Err(_) => return assert!(result.is_err(), "an increment of {value:?}"),
            },
        };
        let now = self.now();
        let at = before.map_or(now, |cell| now.max(cell.timestamp().as_millis() + 1));
        let value = value.wrapping_add(amount).to_be_bytes();
        let cell = Cell::new(row, FAMILIES[family], "n", millis(at), CellKind::Put, value).unwrap();
        assert_eq!(result.unwrap().to_cells(), std::slice::from_ref(&cell));
        self.plain.write([cell]);
    }

    fn major_compact(&mut self) {
        let table = self.table();
        table.flush().unwrap();
        table.compact(CompactionKind::Major).unwrap();
        let files = table.regions().iter().map(|region| region.size().files);
        assert!(files.into_iter().all(|files| files <= FAMILIES.len()));
        let first = |row: &[u8]| row < SPLIT.as_bytes();
        self.plain.compact(&self.families, |a, b| first(a) == first(b), self.clock.now_millis());
        self.dropped = self.vanishes;
    }

    pub(crate) fn read(&self, read: &Read) {
        let expires = self.families.iter().any(|family| family.ttl_millis.is_some());
        let by_row = read.scan.filter.as_deref().is_some_and(ends_at_a_row);
        if read.scan.raw && self.dropped || by_row && expires {
            return;
        }
        match read.get {
            Some(row) => self.read_row(ROWS[row], &read.scan),
            None => self.read_rows(&read.scan),
        }
    }

    fn read_row(&self, row: &str, requested: &Scan) {
        let mut get = Get::new(row.to_owned()).unwrap().versions(requested.versions);
        get = get.time_range(requested.time_range);
        get.columns = requested.columns.clone();
        get.family_time_ranges = requested.family_time_ranges.clone();
        (get.family_limit, get.family_offset) = (requested.family_limit, requested.family_offset);
        get.filter = requested.filter.clone();
        let scan = Scan {
            range: RowRange::row(row.as_bytes()),
            limit: None,
            batch: None,
            reversed: false,
            ..requested.clone()
        };
        let Some(expected) = self.expected(&scan) else { return };
        let expected = expected.into_iter().next().unwrap_or_default();
        assert_eq!(self.table().get(&get).unwrap().to_cells(), expected, "{get:?}");
    }

    fn read_rows(&self, scan: &Scan) {
        let mut scanner = self.table().scan(scan.clone()).unwrap();
        let rows = std::iter::from_fn(|| scanner.next().unwrap().map(|row| row.to_cells()));
        let rows: Vec<Vec<Cell>> = rows.collect();
        let Some(mut expected) = self.expected(scan) else { return };
        expected.truncate(scan.limit.map_or(usize::MAX, |limit| limit as usize));
        if let Some(batch) = scan.batch {
            let parts = |row: Vec<Cell>| {
                row.chunks(batch as usize).map(<[Cell]>::to_vec).collect::<Vec<_>>()
            };
            expected = expected.into_iter().flat_map(parts).collect();
        }
        assert_eq!(rows, expected, "{scan:?}");
    }

    /// Returns the expected rows of a scan, region by region; `None` if they depend on dropped
    /// cells.
    fn expected(&self, scan: &Scan) -> Option<Vec<Vec<Cell>>> {
        self.plain.jumped.set(false);
        let before = RowRange::new("", SPLIT);
        let after = RowRange::new(SPLIT, "");
        let mut regions = [before, after];
        let mut rows: Vec<Vec<u8>> = self.plain.rows().into_iter().collect();
        if scan.reversed {
            regions.reverse();
            rows.reverse();
        }
        let mut results = Vec::new();
        for region in regions.iter().filter(|region| region.overlaps(&scan.range)) {
            let filter = scan.filter.as_deref();
            let mut filter = filter.map(|filter| FilterRun::new(filter, scan.reversed).unwrap());
            let is_mine = |row: &&Vec<u8>| region.contains(row) && scan.range.contains(row);
            let mine = rows.iter().filter(is_mine).cloned();
            let now = self.now();
            let rows = sift::scan(&self.plain, &self.families, mine, scan, &mut filter, now);
            // A filter that is done ends the scan if the region returned no row.
            if rows.is_empty() && filter.as_mut().is_some_and(FilterRun::is_done) {
                break;
            }
            results.extend(rows);
        }
        (!(self.dropped && self.plain.jumped.get())).then_some(results)
    }

    /// Reads everything in several ways, before and after a reopen.
    pub(crate) fn end(mut self) {
        for _ in 0..2 {
            for versions in [1, 2, 9] {
                for reversed in [false, true] {
                    self.read_rows(&Scan { reversed, ..Scan::all().versions(versions) });
                }
                if !self.dropped {
                    self.read_rows(&Scan { raw: true, ..Scan::all().versions(versions) });
                }
            }
            self.open();
        }
    }
}

fn name() -> TableName {
    TableName::parse("t").unwrap()
}

fn millis(at: i64) -> Timestamp {
    Timestamp::from_millis(at).unwrap()
}
