//! Measures reads that could touch much data but need little:
//! `cargo bench -p rowhouse-store --bench wide`.
//!
//! Single reads in wide and deep rows and after delete markers, each compared with a plain get in
//! the same table, from memory and files; the reads after delete markers once more in a store that
//! was just opened; and which share of a table's bytes is read for a filter that knows the
//! positions of the table's rows.

#![expect(clippy::unwrap_used, reason = "a bench that cannot continue fails")]

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rowhouse_model::{
    Delete, FamilyDescriptor, Filter, FilterRange, FuzzyKey, Get, Put, Scan, TableDescriptor,
    TableName, Timestamp,
};
use rowhouse_store::{
    CompactionKind, CompactionSettings, Disk, DiskFile, RealDisk, Settings, Store, Table,
};

fn main() {
    single_reads();
    first_reads_from_memory();
    first_reads_from_files();
    for (columns, block_size) in [(10, 64 << 10), (1, 8 << 10), (1, 64 << 10)] {
        filtered_scans(columns, block_size);
    }
}

fn millis(at: i64) -> Timestamp {
    Timestamp::from_millis(at).unwrap()
}

fn table(store: &Store, family: FamilyDescriptor) -> Arc<Table> {
    let name = TableName::parse("t").unwrap();
    store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
    store.table(&name).unwrap()
}

fn single_reads() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = table(&store, FamilyDescriptor::new("f").unwrap().versions(10_000));
    for number in 0..100_000 {
        let put = Put::new(format!("plain{number:06}")).unwrap();
        table.mutate(&put.add("f", "q", [b'v'; 100]).unwrap().into()).unwrap();
    }
    for chunk in 0..100 {
        let mut put = Put::new("wide").unwrap();
        let mut markers = Delete::new("markers-of-other-columns").unwrap();
        let mut versions = Delete::new("markers-of-versions").unwrap();
        for number in chunk * 1000..(chunk + 1) * 1000 {
            let qualifier = format!("q{number:06}");
            put = put.add("f", &qualifier, [b'v'; 100]).unwrap();
            markers = markers.column("f", &qualifier, millis(5)).unwrap();
            versions = versions.version("f", "q", millis(1000 + number)).unwrap();
        }
        for mutation in [put.into(), markers.into(), versions.into()] {
            table.mutate(&mutation).unwrap();
        }
    }
    for version in 1..=10_000 {
        let put = Put::new("deep").unwrap().add_at("f", "q", millis(version), [b'v'; 100]).unwrap();
        table.mutate(&put.into()).unwrap();
    }
    for (row, qualifier) in [("markers-of-other-columns", "z"), ("markers-of-versions", "q")] {
        let put = Put::new(row).unwrap().add_at("f", qualifier, millis(7), "live").unwrap();
        table.mutate(&put.into()).unwrap();
    }
    let get = |row: &str| Get::new(row.to_owned()).unwrap();
    let cases: [(&str, Get); 6] = [
        ("one column of 100,000", get("wide").column("f", "q050000")),
        ("the newest of 10,000 versions, column named", get("deep").column("f", "q")),
        ("the newest of 10,000 versions", get("deep")),
        ("behind 100,000 markers, column named", get("markers-of-other-columns").column("f", "z")),
        ("behind 100,000 markers", get("markers-of-other-columns")),
        ("behind 100,000 markers of versions", get("markers-of-versions").column("f", "q")),
    ];
    for place in ["memory", "files", "one file, minor"] {
        match place {
            "files" => table.flush().unwrap(),
            "one file, minor" => table.compact(CompactionKind::Minor).unwrap(),
            _ => {}
        }
        let plain = per_call(|number| {
            let row = format!("plain{:06}", number * 7919 % 100_000);
            assert_eq!(table.get(&get(&row)).unwrap().len(), 1);
        });
        println!("{place}: a plain get {:.2} us", plain * 1e6);
        for (name, get) in &cases {
            let each = per_call(|_| assert_eq!(table.get(get).unwrap().len(), 1));
            println!("  {name}: {:.2} us, {:.1} plain gets", each * 1e6, each / plain);
        }
    }
}

/// Measures the first read of 100,000 markers in memory, compared with the first read of a plain
/// row.
fn first_reads_from_memory() {
    let get = |row: &str| Get::new(row.to_owned()).unwrap();
    let plain = first_read_from_memory(false, &get("plain005000"));
    println!("memory, first reader: a plain get {:.1} us", plain * 1e6);
    for (name, of_versions, get) in [
        ("behind 100,000 markers", false, get("markers")),
        ("behind 100,000 markers, column named", false, get("markers").column("f", "z")),
        ("behind 100,000 markers of versions", true, get("markers")),
        ("behind 100,000 markers of versions, column named", true, get("markers").column("f", "q")),
    ] {
        let first = first_read_from_memory(of_versions, &get);
        println!("  {name}: {:.1} us, {:.1} plain gets", first * 1e6, first / plain);
    }
}

/// Returns the seconds that a get takes for a row that was not read before: the median of several
/// tables.
fn first_read_from_memory(of_versions: bool, get: &Get) -> f64 {
    let mut rounds = [(); 9].map(|()| {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let table = table(&store, FamilyDescriptor::new("f").unwrap());
        for number in 0..10_000 {
            let put = Put::new(format!("plain{number:06}")).unwrap();
            table.mutate(&put.add("f", "q", [b'v'; 100]).unwrap().into()).unwrap();
        }
        for chunk in 0..100 {
            let mut markers = Delete::new("markers").unwrap();
            for number in chunk * 1000..(chunk + 1) * 1000 {
                markers = if of_versions {
                    markers.version("f", "q", millis(1000 + number)).unwrap()
                } else {
                    markers.column("f", format!("q{number:06}"), millis(5)).unwrap()
                };
            }
            table.mutate(&markers.into()).unwrap();
        }
        let qualifier = if of_versions { "q" } else { "z" };
        let put = Put::new("markers").unwrap().add_at("f", qualifier, millis(7), "live").unwrap();
        table.mutate(&put.into()).unwrap();
        for number in 0..100 {
            let get = Get::new(format!("plain{number:06}")).unwrap();
            assert_eq!(table.get(&get).unwrap().len(), 1);
        }
        let started = Instant::now();
        assert_eq!(table.get(get).unwrap().len(), 1);
        started.elapsed().as_secs_f64()
    });
    rounds.sort_by(f64::total_cmp);
    rounds[rounds.len() / 2]
}

/// Measures the first read of a cell after 100,000 markers in a store that was just opened,
/// compared with a plain get.
fn first_reads_from_files() {
    for (place, files, by_turns) in
        [("one file", 1, false), ("four files", 4, false), ("four files by turns", 4, true)]
    {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::builder(dir.path()).settings(no_merges()).open().unwrap();
        let markers = table(&store, FamilyDescriptor::new("f").unwrap());
        for (row, qualifier) in [("columns", "z"), ("versions", "q")] {
            let put = Put::new(row).unwrap().add_at("f", qualifier, millis(7), "live").unwrap();
            markers.mutate(&put.into()).unwrap();
        }
        for file in 0..files {
            let numbers = 100_000 / files * file..100_000 / files * (file + 1);
            for number in numbers {
                let number = if by_turns { number * files % 100_000 + file } else { number };
                let put = Put::new(format!("plain{number:06}")).unwrap();
                let columns = Delete::new("columns").unwrap();
                let columns = columns.column("f", format!("q{number:06}"), millis(5)).unwrap();
                let versions = Delete::new("versions").unwrap();
                let versions = versions.version("f", "q", millis(1000 + number)).unwrap();
                let put = put.add("f", "q", [b'v'; 100]).unwrap();
                for mutation in [put.into(), columns.into(), versions.into()] {
                    markers.mutate(&mutation).unwrap();
                }
            }
            markers.flush().unwrap();
        }
        store.close().unwrap();
        let get = |row: &str| Get::new(row.to_owned()).unwrap();
        // A get of a missing row opens the files.
        let (plain, kib) = first_read(dir.path(), &get("plain050000-"), &get("plain050000"));
        println!("{place}, first reader: a plain get {:.1} us, {kib} KiB read", plain * 1e6);
        for (name, get) in [
            ("behind 100,000 markers", get("columns")),
            ("behind 100,000 markers, column named", get("columns").column("f", "z")),
            ("behind 100,000 markers of versions", get("versions")),
            ("behind 100,000 markers of versions, column named", get("versions").column("f", "q")),
        ] {
            let (each, kib) = first_read(dir.path(), &Get::new("columns-").unwrap(), &get);
            let gets = each / plain;
            println!("  {name}: {:.1} us, {gets:.1} plain gets, {kib} KiB read", each * 1e6);
        }
    }
}

fn no_merges() -> Settings {
    let compaction = CompactionSettings { files_min: usize::MAX, ..Default::default() };
    Settings { compaction, ..Settings::default() }
}

/// Returns the seconds that a get takes and the KiB it reads after another get, in a store that was
/// just opened: the median of several rounds.
fn first_read(dir: &Path, opening: &Get, get: &Get) -> (f64, u64) {
    let read = Arc::new(AtomicU64::new(0));
    let mut rounds = [(); 21].map(|()| {
        let disk = Counting { disk: RealDisk::new(dir), read: Arc::clone(&read) };
        let store = Store::builder(dir).with_disk(disk).settings(no_merges()).open().unwrap();
        let table = store.table(&TableName::parse("t").unwrap()).unwrap();
        assert!(table.get(opening).unwrap().is_empty());
        read.store(0, Ordering::Relaxed);
        let started = Instant::now();
        assert_eq!(table.get(get).unwrap().len(), 1);
        let round = (started.elapsed().as_secs_f64(), read.load(Ordering::Relaxed) >> 10);
        store.close().unwrap();
        round
    });
    rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
    rounds[rounds.len() / 2]
}

/// Returns the seconds per call over many calls.
fn per_call(mut call: impl FnMut(u64)) -> f64 {
    (0..200).for_each(&mut call);
    let started = Instant::now();
    let mut calls = 0;
    while started.elapsed() < Duration::from_millis(500) {
        call(calls);
        calls += 1;
    }
    started.elapsed().as_secs_f64() / calls as f64
}

/// Measures a scan for one row in ten thousand, over rows with `columns` values of 100 bytes, in
/// blocks of `block_size`.
fn filtered_scans(columns: u32, block_size: u32) {
    const ROWS: u32 = 1_000_000;
    println!("\nrows of {columns} columns, blocks of {} KiB", block_size >> 10);
    let dir = tempfile::tempdir().unwrap();
    let settings = || Settings { memstore_bytes_max: 1 << 30, ..Settings::default() };
    let store = Store::builder(dir.path()).settings(settings()).open().unwrap();
    let family = FamilyDescriptor::new("f").unwrap();
    let rows = table(&store, family.attribute("BLOCKSIZE", block_size.to_string()));
    let mut batch = Vec::new();
    for number in 0..ROWS {
        // A user, and one of ten thousand places.
        let row = format!("{:04}-{:06}", number / 10_000, number % 10_000);
        let put = (0..columns).try_fold(Put::new(row).unwrap(), |put, column| {
            put.add("f", format!("column{column:02}"), [b'v'; 100])
        });
        batch.push(put.unwrap().into());
        if batch.len() == 1000 {
            rows.batch(std::mem::take(&mut batch))
                .into_iter()
                .for_each(|outcome| drop(outcome.unwrap()));
        }
    }
    rows.flush().unwrap();
    rows.compact(CompactionKind::Major).unwrap();
    store.close().unwrap();

    let read = Arc::new(AtomicU64::new(0));
    let fuzzy = Filter::FuzzyRow(vec![FuzzyKey {
        key: "????-007777".into(),
        mask: vec![1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0].into(),
    }]);
    let range = |number: u32| FilterRange {
        start: format!("{number:04}-007777").into(),
        start_inclusive: true,
        stop: format!("{number:04}-007777").into(),
        stop_inclusive: true,
    };
    let ranges = Filter::MultiRowRange((0..100).map(range).collect());
    for (name, filter) in
        [("everything", None), ("fuzzy rows", Some(fuzzy)), ("row ranges", Some(ranges))]
    {
        let disk = Counting { disk: RealDisk::new(dir.path()), read: Arc::clone(&read) };
        let store = Store::builder(dir.path()).with_disk(disk).settings(settings()).open().unwrap();
        let table = store.table(&TableName::parse("t").unwrap()).unwrap();
        let stored = table.regions().iter().map(|region| region.size().file_bytes).sum::<u64>();
        // Loads the index.
        table.get(&Get::new("0000-000000").unwrap()).unwrap();
        read.store(0, Ordering::Relaxed);
        let started = Instant::now();
        let filter = filter.map(Box::new);
        let mut scanner = table.scan(Scan { filter, ..Scan::all() }).unwrap();
        let mut hits = 0;
        while scanner.next().unwrap().is_some() {
            hits += 1;
        }
        println!(
            "{name}: {hits} of {ROWS} rows, {:.1} MB read ({:.2} %) in {:.1} ms",
            read.load(Ordering::Relaxed) as f64 / 1e6,
            read.load(Ordering::Relaxed) as f64 * 100.0 / stored as f64,
            started.elapsed().as_secs_f64() * 1e3
        );
        store.close().unwrap();
    }
}

/// A disk that counts the bytes read from it.
struct Counting {
    disk: RealDisk,
    read: Arc<AtomicU64>,
}

struct CountingFile {
    file: Arc<dyn DiskFile>,
    read: Arc<AtomicU64>,
}

impl Counting {
    fn counted(&self, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(CountingFile { file, read: Arc::clone(&self.read) })
    }
}

impl Disk for Counting {
    fn create(&self, path: &str) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.counted(self.disk.create(path)?))
    }
    fn open(&self, path: &str) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.counted(self.disk.open(path)?))
    }
    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        self.disk.list(dir)
    }
    fn create_dir(&self, dir: &str) -> io::Result<()> {
        self.disk.create_dir(dir)
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove(&self, path: &str) -> io::Result<()> {
        self.disk.remove(path)
    }
    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.disk.sync_dir(dir)
    }
    fn available_bytes(&self) -> io::Result<u64> {
        self.disk.available_bytes()
    }
}

impl DiskFile for CountingFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.read.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.file.read_exact_at(buffer, offset)
    }
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }
    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }
    fn truncate(&self, len: u64) -> io::Result<()> {
        self.file.truncate(len)
    }
}
