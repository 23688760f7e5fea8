//! Measures merges: `merge_cost DIR [SEGMENTS] [MEGABYTES]`, by default ten segments of 100 MB.
//!
//! The first run fills an index in `DIR`, the second one merges it. Prints the time, the process
//! CPU and the peak memory of the merge. With the environment variable `SEARCHED` it also prints
//! how long searches wait meanwhile that find 60,000 changed rows; with `AT_ONCE` for a merge in
//! memory. Texts are random words, frequent ones more often.

#![allow(clippy::unwrap_used, reason = "an example that cannot continue ends")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rowhouse_model::{FamilyDescriptor, Mutation, Put, TableDescriptor, TableName};
use rowhouse_schema::{
    COLUMNS_ATTRIBUTE, ColumnSchema, INDEXES_ATTRIBUTE, IndexSchema, Predicate, TimeZone,
};
use rowhouse_search::{MergeLimits, SearchEngine};
use rowhouse_store::Store;

/// The words in a text, and the different ones.
const WORDS: usize = 60;
const VOCABULARY: f64 = 2_000_000.0;

/// The changed rows that a search finds: more than it analyses.
const PENDING: u64 = 60_000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let dir = PathBuf::from(arguments.next().expect("a directory"));
    let number = |argument: Option<String>| argument.map(|it| it.parse::<u64>().unwrap());
    let segments = number(arguments.next()).unwrap_or(10);
    let bytes = number(arguments.next()).unwrap_or(100) * 1_000_000;
    let store = Store::open(&dir).unwrap();
    if store.table(&name()).is_err() {
        store.create_table(descriptor(), &[]).unwrap();
        fill(&store, segments, bytes);
        store.close().unwrap();
        return;
    }
    let searched = std::env::var_os("SEARCHED").is_some();
    let mut limits = MergeLimits { segments: segments as usize, ..MergeLimits::default() };
    let merges_at_once = std::env::var_os("AT_ONCE").is_some();
    if merges_at_once {
        limits.at_once_bytes_max = u64::MAX;
    }
    let engine = SearchEngine::without_thread_with(&store, limits);
    let planned = || engine.work_to_merge(&name(), "text").unwrap().expect("a merge is due");
    let merge = (!merges_at_once).then(planned);
    println!("before: peak {} MB, {:?}", peak_megabytes(), engine.segments(&name(), "text"));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let waits = searched.then(|| scope.spawn(|| searches(&store, &engine, &is_over)));
        let start = Instant::now();
        let cpu_before = cpu();
        match merge {
            Some(merge) => merge.run().unwrap(),
            None => engine.work(&name(), "text").unwrap(),
        }
        println!(
            "merged: {:?}, CPU {:?}, peak {} MB",
            start.elapsed(),
            cpu() - cpu_before,
            peak_megabytes()
        );
        is_over.store(true, Ordering::Relaxed);
        if let Some(waits) = waits {
            println!("waits: {:?}", waits.join().unwrap());
        }
    });
    println!("after: {:?}", engine.segments(&name(), "text"));
    engine.close();
    store.close().unwrap();
}

fn name() -> TableName {
    TableName::parse("t").unwrap()
}

fn descriptor() -> TableDescriptor {
    TableDescriptor::new(name())
        .family(FamilyDescriptor::new("f").unwrap())
        .attribute(COLUMNS_ATTRIBUTE, "1 f:q q text")
        .attribute(INDEXES_ATTRIBUTE, "1 text search q simple")
}

/// Writes segments, each merged from parts that are as large as the memory of a builder allows.
fn fill(store: &Store, segments: u64, bytes: u64) {
    let mut state = 1;
    let mut row = 0;
    let unmerged = MergeLimits { segments: 1_000, ..MergeLimits::default() };
    let mut engine = SearchEngine::without_thread_with(store, unmerged);
    loop {
        engine.work(&name(), "text").unwrap();
        let now = engine.segments(&name(), "text").unwrap();
        let done = now.iter().take_while(|it| it.bytes >= bytes).count();
        let open: u64 = now[done..].iter().map(|it| it.bytes).sum();
        if open >= bytes {
            // Those that are done are full.
            let limits = MergeLimits { segments: 2, bytes_max: bytes * 2, ..unmerged };
            engine = SearchEngine::without_thread_with(store, limits);
            engine.work(&name(), "text").unwrap();
            engine = SearchEngine::without_thread_with(store, unmerged);
        } else if done as u64 >= segments {
            return;
        } else {
            write(store, &mut state, 50_000, |_| {
                row += 1;
                row
            });
        }
    }
}

/// Writes rows with random texts.
fn write(store: &Store, state: &mut u64, rows: u64, mut row: impl FnMut(u64) -> u64) {
    let table = store.table(&name()).unwrap();
    for batch in 0..rows / 1_000 {
        let puts = (0..1_000).map(|nth| -> Mutation {
            let text: Vec<String> = (0..WORDS).map(|_| word(state)).collect();
            let key = row(batch * 1_000 + nth).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let put = Put::new(format!("{key:016x}")).unwrap();
            put.add("f", "q", text.join(" ")).unwrap().into()
        });
        table.batch(puts.collect()).into_iter().for_each(|it| assert!(it.is_ok()));
    }
}

fn word(state: &mut u64) -> String {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    let uniform = (*state >> 11) as f64 / (1u64 << 53) as f64;
    format!("w{:x}", VOCABULARY.powf(uniform) as u64)
}

/// Searches, each time after many rows have changed. Returns how long each search took.
fn searches(store: &Store, engine: &SearchEngine, is_over: &AtomicBool) -> Vec<Duration> {
    let table = store.table(&name()).unwrap();
    let columns = ColumnSchema::of_table(table.descriptor()).unwrap().unwrap();
    let indexes = IndexSchema::of_table(table.descriptor()).unwrap().unwrap();
    let query = Predicate::all().matches("q", "w1 w2");
    let plan = indexes.search_plan(None, &columns, &query, &TimeZone::UTC, None).unwrap();
    let mut waits = Vec::new();
    let mut state = 7;
    while !is_over.load(Ordering::Relaxed) {
        write(store, &mut state, PENDING, |row| row * 3);
        let start = Instant::now();
        engine.find(&name(), &plan).unwrap().count().unwrap();
        waits.push(start.elapsed());
    }
    waits
}

fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1_000
}
