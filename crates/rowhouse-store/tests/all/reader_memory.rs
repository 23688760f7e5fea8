//! Flushed memstore bytes that read points and open scanners hold are counted and bounded. Above
//! the bound readers go on in files, and the oldest among those that cannot end with an error.

use std::sync::Arc;

use rowhouse_model::{
    ErrorKind, FamilyDescriptor, Get, Put, Scan, TableDescriptor, TableName, TimeRange, Timestamp,
};
use rowhouse_store::{
    CompactionSettings, ReadPoint, RegionScanner, Settings, Store, Table, TableScanner,
};

const ROWS: u32 = 100;
const FLUSH_BYTES: u64 = 1 << 20;
const BYTES_MAX: u64 = 1 << 20;

fn open(dir: &std::path::Path, reader_memstore_bytes_max: u64) -> (Store, Arc<Table>) {
    let settings = Settings {
        memstore_flush_bytes: FLUSH_BYTES,
        memstore_bytes_max: 8 << 20,
        reader_memstore_bytes_max: Some(reader_memstore_bytes_max),
        compaction: CompactionSettings {
            files_min: usize::MAX,
            files_blocking: usize::MAX,
            ..Default::default()
        },
        ..Settings::default()
    };
    let store = Store::builder(dir).settings(settings).open().unwrap();
    let name = TableName::parse("t").unwrap();
    let family = FamilyDescriptor::new("f").unwrap();
    store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
    let table = store.table(&name).unwrap();
    (store, table)
}

fn row(nth: u32) -> String {
    format!("{nth:04}")
}

/// Puts every row again, at a later timestamp.
fn put_all(table: &Table, round: i64) {
    let value = vec![u8::try_from(round).unwrap(); 1200];
    for nth in 0..ROWS {
        let at = Timestamp::from_millis(round).unwrap();
        let put = Put::new(row(nth)).unwrap().add_at("f", "q", at, value.clone()).unwrap();
        table.mutate(&put.into()).unwrap();
    }
}

fn before(millis: i64) -> TimeRange {
    let [start, end] = [0, millis].map(|millis| Timestamp::from_millis(millis).unwrap());
    TimeRange::new(start, end).unwrap()
}

enum Reader {
    Point(Arc<ReadPoint>),
    Scanner(Box<RegionScanner>),
    TableScanner(Box<TableScanner>),
    AtPoint(Box<TableScanner>),
}

/// A reader of each kind by turns. Scanners have read no row, or one.
fn begin(store: &Store, table: &Arc<Table>, nth: i64) -> (Reader, u32) {
    match nth % 4 {
        0 => (Reader::Point(store.read_point()), 0),
        1 => {
            // A flush may drop what is seen by one with an upper time bound: it cannot continue in
            // files.
            let scan = Scan::all().time_range(before(10_000));
            (Reader::Scanner(Box::new(table.regions()[0].scan(&scan).unwrap())), 0)
        }
        2 => {
            let mut scanner = table.scan(Scan::all()).unwrap();
            assert!(scanner.next().unwrap().is_some());
            (Reader::TableScanner(Box::new(scanner)), 1)
        }
        _ => {
            let scanner = table.scan_at(Scan::all(), &store.read_point()).unwrap();
            (Reader::AtPoint(Box::new(scanner)), 0)
        }
    }
}

/// The timestamps of the rows it reads.
fn read(table: &Arc<Table>, reader: Reader) -> rowhouse_model::Result<Vec<i64>> {
    let mut all = Vec::new();
    let mut next: Box<dyn FnMut() -> rowhouse_model::Result<Option<rowhouse_model::Row>>> =
        match reader {
            Reader::Point(point) => {
                let got = table.get_at(&Get::new(row(7)).unwrap(), &point)?;
                let mut scanner = table.scan_at(Scan::all(), &point)?;
                let first = got.to_cells()[0].timestamp();
                Box::new(move || {
                    let row = scanner.next()?;
                    assert!(row.as_ref().is_none_or(|row| row.to_cells()[0].timestamp() == first));
                    Ok(row)
                })
            }
            Reader::Scanner(mut scanner) => Box::new(move || scanner.next()),
            Reader::TableScanner(mut scanner) | Reader::AtPoint(mut scanner) => {
                Box::new(move || scanner.next())
            }
        };
    while let Some(row) = next()? {
        assert_eq!(row.len(), 1);
        all.push(row.to_cells()[0].timestamp().as_millis());
    }
    Ok(all)
}

#[test]
fn sixty_one_readers_under_writes_hold_no_more_than_the_bound_and_a_memstore() {
    let dir = tempfile::tempdir().unwrap();
    let (store, table) = open(dir.path(), BYTES_MAX);
    let mut readers = Vec::new();
    let mut most = 0;
    for round in 1..=61 {
        put_all(&table, round);
        put_all(&table, round);
        readers.push((round, begin(&store, &table, round)));
        // Flushes drop what only the readers see.
        put_all(&table, 100 + round);
        table.flush().unwrap();
        let (bytes, max) = store.reader_memstore_bytes();
        assert_eq!(max, BYTES_MAX);
        assert!(bytes <= BYTES_MAX + FLUSH_BYTES, "{bytes}");
        most = most.max(bytes);
    }
    assert!(most > BYTES_MAX / 2, "readers hold something: {most}");
    let mut ended = 0;
    let mut read_whole = 0;
    let last = readers.len();
    for (nth, (round, (reader, had))) in readers.into_iter().enumerate() {
        let is_early = matches!(reader, Reader::Scanner(_));
        match read(&table, reader) {
            Ok(versions) => {
                let seen = if round == 1 { 1 } else { 99 + round };
                assert_eq!(versions, vec![seen; (ROWS - had) as usize], "reader {round}");
                read_whole += 1;
            }
            Err(error) => {
                assert!(is_early, "all others go on in files: {error}");
                assert_eq!(error.kind(), ErrorKind::ScannerReset);
                let message = error.to_string();
                assert!(message.contains(&format!("max={BYTES_MAX}")), "{message}");
                assert!(message.contains("flushed memstores held by readers: bytes="), "{message}");
                assert!(nth + 1 < last, "the newest is not ended");
                ended += 1;
            }
        }
    }
    assert!(ended > 10, "{ended}");
    assert!(read_whole > 30, "{read_whole}");
    assert_eq!(store.reader_memstore_bytes().0, 0);
}

#[test]
fn bytes_are_counted_from_the_flush_until_the_last_reader_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let (store, table) = open(dir.path(), u64::MAX);
    put_all(&table, 1);
    let (bytes, _) = store.memstore_bytes();
    let point = store.read_point();
    let scanner = table.scan(Scan::all()).unwrap();
    assert_eq!(store.reader_memstore_bytes(), (0, u64::MAX));
    table.flush().unwrap();
    assert_eq!((store.memstore_bytes().0, store.reader_memstore_bytes().0), (0, bytes));
    drop(point);
    assert_eq!(store.reader_memstore_bytes().0, bytes);
    drop(scanner);
    assert_eq!(store.reader_memstore_bytes().0, 0);
}

#[test]
fn readers_of_a_dropped_family_hold_memory_that_counts_until_they_end() {
    let dir = tempfile::tempdir().unwrap();
    let (store, table) = open(dir.path(), u64::MAX);
    store.add_family(table.name(), FamilyDescriptor::new("g").unwrap()).unwrap();
    put_all(&table, 1);
    let (bytes, _) = store.memstore_bytes();
    let point = store.read_point();
    let mut scanner = table.regions()[0].scan(&Scan::all()).unwrap();
    assert!(scanner.next().unwrap().is_some());
    store.drop_family(table.name(), b"f").unwrap();
    assert_eq!((store.memstore_bytes().0, store.reader_memstore_bytes().0), (0, bytes));
    assert!(scanner.next().unwrap().is_some());
    store.release_reader_memory();
    assert_eq!(store.reader_memstore_bytes().0, 0);
    let error = scanner.next().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ScannerReset, "{error}");
    drop(point);
}

#[test]
fn a_read_point_that_continues_in_files_refuses_reads_of_cells_dropped_by_flushes() {
    let dir = tempfile::tempdir().unwrap();
    let (store, table) = open(dir.path(), u64::MAX);
    put_all(&table, 1);
    put_all(&table, 2);
    let point = store.read_point();
    let early = Scan::all().time_range(before(2));
    let raw = Scan { raw: true, ..Scan::all().versions(u32::MAX) };
    let count = |scan: &Scan| -> rowhouse_model::Result<usize> {
        let mut scanner = table.scan_at(scan.clone(), &point)?;
        let mut cells = 0;
        while let Some(row) = scanner.next()? {
            cells += row.len();
        }
        Ok(cells)
    };
    let rows = ROWS as usize;
    table.flush().unwrap();
    assert_eq!((count(&early).unwrap(), count(&raw).unwrap()), (rows, 2 * rows));
    store.release_reader_memory();
    assert_eq!(store.reader_memstore_bytes().0, 0);
    for scan in [&early, &raw] {
        assert_eq!(count(scan).unwrap_err().kind(), ErrorKind::UnknownScanner);
    }
    assert_eq!(count(&Scan::all()).unwrap(), rows);
}

#[test]
fn a_read_point_of_which_no_flush_dropped_anything_reads_the_same_in_files() {
    let dir = tempfile::tempdir().unwrap();
    let (store, table) = open(dir.path(), u64::MAX);
    put_all(&table, 1);
    let point = store.read_point();
    let raw = Scan { raw: true, ..Scan::all().versions(u32::MAX) };
    // From the same memstore, later than the point.
    put_all(&table, 2);
    table.flush().unwrap();
    store.release_reader_memory();
    assert_eq!(store.reader_memstore_bytes().0, 0);
    let mut scanner = table.scan_at(raw, &point).unwrap();
    while let Some(row) = scanner.next().unwrap() {
        assert_eq!((row.len(), row.to_cells()[0].timestamp().as_millis()), (1, 1));
    }
}
