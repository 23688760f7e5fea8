//! Simulates two weeks in a region, flush by flush, under [`choose`] and under Apache HBase's
//! policy, with typical write patterns. Only compactions are simulated, and they take no time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;

use super::*;
use crate::Settings;
use crate::compaction_policy::OtherFiles;

const CELLS_A_FLUSH: i64 = 64;
const CELL_LEN: u64 = (32 << 20) / CELLS_A_FLUSH as u64;
const FLUSHES: i64 = 672;
const MILLIS_A_CELL: i64 = 30 * 60 * 1000 / CELLS_A_FLUSH;
const MILLIS_A_FLUSH: i64 = MILLIS_A_CELL * CELLS_A_FLUSH;
/// A quarter of the simulated time.
const TTL_MILLIS: i64 = FLUSHES * MILLIS_A_FLUSH / 4;

type Row = [u8; 8];

/// A cell in the only column that every row has.
#[derive(Clone, Copy)]
struct Cell {
    row: Row,
    millis: i64,
    delete: bool,
}

/// A table's write pattern.
#[derive(Clone, Copy, PartialEq)]
enum Pattern {
    /// New rows all over the key space.
    NewRows,
    /// Puts to existing rows.
    Overwrites,
    /// Nine out of ten puts go to a twentieth of the rows, which changes every day.
    HotRange,
    /// Keys that begin with the time, some late; with a TTL.
    TimeFirst,
    /// Keys that begin with the time; some rows are put again within two hours.
    TimeFirstTwice,
    /// Keys that begin with one of a thousand metrics, then the time; with a TTL.
    MetricFirst,
    /// Every row is deleted five hours after it was put.
    Queue,
    /// One cell in four deletes an existing row.
    Deletes,
}

const PATTERNS: [(Pattern, &str); 8] = [
    (Pattern::NewRows, "new rows, all over"),
    (Pattern::Overwrites, "the same rows again"),
    (Pattern::HotRange, "the same rows again, most in a hot range"),
    (Pattern::TimeFirst, "time first, TTL"),
    (Pattern::TimeFirstTwice, "time first, some rows again within two hours"),
    (Pattern::MetricFirst, "metric, then time; TTL"),
    (Pattern::Queue, "a queue"),
    (Pattern::Deletes, "a quarter are deletes"),
];

impl Pattern {
    fn expires(self) -> bool {
        matches!(self, Self::TimeFirst | Self::MetricFirst)
    }

    /// Returns cell number `at`. Deletes choose their row from `live`.
    fn cell(self, at: i64, random: &mut Random, live: &Live) -> Cell {
        let millis = at * MILLIS_A_CELL;
        let put = |row: u64| Cell { row: row.to_be_bytes(), millis, delete: false };
        let delete = |row: Row| Cell { row, millis, delete: true };
        let known_rows = 10_000;
        match self {
            Self::NewRows => put(random.next()),
            Self::Overwrites => put(random.below(known_rows)),
            Self::HotRange if random.below(10) == 0 => put(random.below(known_rows)),
            Self::HotRange => {
                let day = (millis / (24 * 3600 * 1000)) as u64;
                put((day * 700 + random.below(known_rows / 20)) % known_rows)
            }
            Self::TimeFirst => {
                let late = random.below(CELLS_A_FLUSH as u64 / 4);
                put(((at as u64 + 100 - late) << 8) + random.below(256))
            }
            Self::TimeFirstTwice => put(at as u64 + 1000 - random.below(CELLS_A_FLUSH as u64 * 4)),
            Self::MetricFirst => put((random.below(1000) << 32) + at as u64),
            Self::Queue => match live.oldest_before(millis - 10 * MILLIS_A_FLUSH) {
                Some(row) if at % 2 == 1 => delete(row),
                _ => put(random.next()),
            },
            Self::Deletes => match live.any(random) {
                Some(row) if random.below(4) == 0 => delete(row),
                _ => put(random.next()),
            },
        }
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut hash = self.0;
        hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^ (hash >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// The rows visible to a reader.
#[derive(Default)]
struct Live {
    rows: BTreeMap<Row, i64>,
    by_time: VecDeque<(i64, Row)>,
}

impl Live {
    fn apply(&mut self, cell: &Cell) {
        if cell.delete {
            self.rows.remove(&cell.row);
        } else {
            self.rows.insert(cell.row, cell.millis);
            self.by_time.push_back((cell.millis, cell.row));
        }
        while self
            .by_time
            .front()
            .is_some_and(|&(millis, row)| self.rows.get(&row) != Some(&millis))
        {
            self.by_time.pop_front();
        }
    }

    fn expire(&mut self, unexpired_from: i64) {
        while let Some(&(millis, row)) = self.by_time.front() {
            if millis >= unexpired_from {
                return;
            }
            self.by_time.pop_front();
            if self.rows.get(&row) == Some(&millis) {
                self.rows.remove(&row);
            }
        }
    }

    fn oldest_before(&self, bound: i64) -> Option<Row> {
        self.by_time.front().filter(|(millis, _)| *millis < bound).map(|(_, row)| *row)
    }

    /// Returns a row with uniform probability.
    fn any(&self, random: &mut Random) -> Option<Row> {
        if self.rows.is_empty() {
            return None;
        }
        loop {
            let (millis, row) = self.by_time[random.below(self.by_time.len() as u64) as usize];
            if self.rows.get(&row) == Some(&millis) {
                return Some(row);
            }
        }
    }
}

/// A file: sorted cells and properties.
struct File {
    id: u64,
    cells: Vec<Cell>,
    created_millis: i64,
    major: bool,
    timestamps: (i64, i64),
    surplus: Surplus,
}

impl File {
    fn new(id: u64, mut cells: Vec<Cell>, created_millis: i64, major: bool) -> Self {
        cells.sort_by_key(|cell| (cell.row, Reverse(cell.millis)));
        let first = cells.iter().map(|cell| cell.millis).min().unwrap();
        let last = cells.iter().map(|cell| cell.millis).max().unwrap();
        let surplus = Surplus {
            markers: cells.iter().filter(|cell| cell.delete).count() as u64,
            older_versions: cells.windows(2).filter(|pair| pair[0].row == pair[1].row).count()
                as u64,
        };
        Self { id, cells, created_millis, major, timestamps: (first, last), surplus }
    }

    fn facts(&self) -> FileSummary<'_> {
        FileSummary {
            id: self.id,
            len: self.cells.len() as u64 * CELL_LEN,
            first_row: &self.cells.first().unwrap().row,
            last_row: &self.cells.last().unwrap().row,
            timestamp_min: self.timestamps.0,
            timestamp_max: self.timestamps.1,
            created_millis: self.created_millis,
            cells: self.cells.len() as u64,
            surplus: Some(self.surplus),
            major: self.major,
            wider: false,
        }
    }
}

/// The policy, and the cells that the compactions drop.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Hbase,
    Rowhouse,
    /// With `rowhouse.compaction.minor.drops.versions` off.
    RowhouseKeeping,
}

impl Side {
    fn choose(self, situation: &PolicyInput<'_>, policy: &Policy) -> Choice {
        match self {
            Self::Rowhouse | Self::RowhouseKeeping => choose(situation, policy),
            Self::Hbase => choose_as_hbase(situation, policy),
        }
    }

    /// Returns the cells that a compaction leaves.
    fn merge(
        self,
        files: &[File],
        run: Range<usize>,
        kind: CompactionKind,
        unexpired_from: i64,
    ) -> Vec<Cell> {
        let facts: Vec<FileSummary<'_>> = files.iter().map(File::facts).collect();
        let mut other_files = OtherFiles::of(facts[..run.start].iter().chain(&facts[run.end..]));
        let mut is_major = false;
        let mut cells: Vec<Cell> =
            files[run].iter().flat_map(|file| file.cells.iter().copied()).collect();
        cells.sort_by_key(|cell| (cell.row, Reverse(cell.millis)));
        let mut row = None;
        let mut deleted = false;
        let mut seen = false;
        cells.retain(|cell| {
            if row != Some(cell.row) {
                row = Some(cell.row);
                (deleted, seen) = (false, false);
                is_major = kind == CompactionKind::Major
                    || self != Self::Hbase && !other_files.may_hold(&cell.row);
            }
            if cell.millis < unexpired_from {
                return false;
            }
            if cell.delete {
                deleted = true;
                return !is_major;
            }
            let is_surplus = std::mem::replace(&mut seen, true);
            // Whether to drop versions that a delete of the newest could uncover is up to the
            // family (decision 0050).
            !(deleted || is_surplus && (is_major || self != Self::RowhouseKeeping))
        });
        cells
    }

    /// Returns the cells that a flush leaves: it drops surplus versions among them, and puts under
    /// a marker.
    fn flush(self, mut cells: Vec<Cell>) -> Vec<Cell> {
        cells.sort_by_key(|cell| (cell.row, Reverse(cell.millis)));
        let mut row = None;
        let mut hidden = false;
        cells.retain(|cell| {
            if row != Some(cell.row) {
                (row, hidden) = (Some(cell.row), false);
            }
            let is_retained = cell.delete || !hidden;
            hidden |= cell.delete || self != Self::RowhouseKeeping;
            is_retained
        });
        cells
    }
}

/// HBase's `ExploringCompactionPolicy`, unchanged.
fn choose_as_hbase(situation: &PolicyInput<'_>, policy: &Policy) -> Choice {
    let files = situation.files;
    let expired: Vec<usize> =
        (0..files.len()).filter(|&at| files[at].timestamp_max < situation.unexpired_from).collect();
    if !expired.is_empty() {
        return Choice::DropExpired(expired);
    }
    let Some(oldest) = files.iter().map(|file| file.created_millis).min() else {
        return Choice::Nothing;
    };
    let due = oldest < situation.now_millis - policy.major_period_millis
        && files.len() < policy.files_max;
    let alone_and_done =
        matches!(files, [file] if file.major && file.timestamp_min >= situation.unexpired_from);
    if due && !alone_and_done {
        return Choice::Merge(0..files.len(), CompactionKind::Major);
    }
    choose_run(files, 0, policy, |run, _| Some(run.len()))
}

/// How many simulations run for each pattern, each with other rows.
const LIVES: u64 = 4;

/// The mean result over the simulations.
#[derive(Default)]
struct Outcome {
    /// Bytes written per byte put.
    written: f64,
    /// Files whose row range includes the row that a get reads.
    read: f64,
    read_max: usize,
    /// Bytes stored per visible byte.
    stored: f64,
}

fn mean_of_lives(pattern: Pattern, side: Side) -> Outcome {
    let mut mean = Outcome::default();
    for seed in 1..=LIVES {
        let life = live_through(pattern, side, seed);
        mean.written += life.written / LIVES as f64;
        mean.read += life.read / LIVES as f64;
        mean.read_max = mean.read_max.max(life.read_max);
        mean.stored += life.stored / LIVES as f64;
    }
    mean
}

fn live_through(pattern: Pattern, side: Side, seed: u64) -> Outcome {
    let policy = Policy { major_jitter: 0.0, ..Policy::new(&Settings::default()) };
    let drops = Drops { markers: true, older_versions: true };
    let mut random = Random(seed);
    let mut live = Live::default();
    let mut files: Vec<File> = Vec::new();
    let mut next_id = 0;
    let mut written = 0;
    let mut stored = 0;
    let mut seen = 0;
    let mut reads = 0;
    let mut read_files = 0;
    let mut read_max = 0;
    for flush in 1..=FLUSHES {
        let mut flushed = Vec::new();
        for at in (flush - 1) * CELLS_A_FLUSH..flush * CELLS_A_FLUSH {
            let cell = pattern.cell(at, &mut random, &live);
            live.apply(&cell);
            flushed.push(cell);
        }
        let now_millis = flush * MILLIS_A_FLUSH;
        let unexpired_from = if pattern.expires() { now_millis - TTL_MILLIS } else { i64::MIN };
        live.expire(unexpired_from);
        let mut add = |cells: Vec<Cell>, major| {
            next_id += 1;
            written += cells.len();
            (!cells.is_empty()).then(|| File::new(next_id, cells, now_millis, major))
        };
        files.extend(add(side.flush(flushed), false));
        loop {
            let facts: Vec<FileSummary<'_>> = files.iter().map(File::facts).collect();
            let situation = PolicyInput {
                files: &facts,
                busy: 0,
                now_millis,
                unexpired_from,
                drops,
                requested: None,
            };
            match side.choose(&situation, &policy) {
                Choice::Nothing => break,
                Choice::DropExpired(expired) => {
                    expired.iter().rev().for_each(|&at| drop(files.remove(at)));
                }
                Choice::Merge(run, kind) => {
                    let cells = side.merge(&files, run.clone(), kind, unexpired_from);
                    files.splice(run, add(cells, kind == CompactionKind::Major));
                }
            }
        }
        for _ in 0..8 {
            let Some(row) = live.any(&mut random) else { break };
            let holds = |file: &&File| {
                file.cells[0].row <= row && row <= file.cells[file.cells.len() - 1].row
            };
            let consulted = files.iter().filter(holds).count();
            reads += 1;
            read_files += consulted;
            read_max = read_max.max(consulted);
        }
        stored += files.iter().map(|file| file.cells.len()).sum::<usize>();
        seen += live.rows.len();
    }
    Outcome {
        written: written as f64 / (FLUSHES * CELLS_A_FLUSH) as f64,
        read: read_files as f64 / f64::from(reads),
        read_max,
        stored: stored as f64 / seen as f64,
    }
}

/// Checks the table in `bench/measurements.md`: Apache HBase's numbers, then ours, then ours with
/// minor compactions that keep surplus versions, if these differ.
#[test]
fn amplification_beside_the_policy_of_hbase_is_as_documented() {
    let mut table = String::new();
    for (pattern, name) in PATTERNS {
        let sides = [Side::Hbase, Side::Rowhouse, Side::RowhouseKeeping];
        let mut lives = sides.map(|side| mean_of_lives(pattern, side)).map(|life| {
            let Outcome { written, read, read_max, stored } = life;
            [format!("{written:.1}"), format!("{read:.1} ({read_max})"), format!("{stored:.2}")]
        });
        if lives[1] == lives[2] {
            lives[2] = Default::default();
        }
        write!(table, "| {name} |").unwrap();
        for measure in 0..3 {
            let values = lives.iter().map(|life| &life[measure]);
            let values: Vec<_> = values.filter(|it| !it.is_empty()).map(String::as_str).collect();
            write!(table, " {} |", values.join(" → ")).unwrap();
        }
        table.push('\n');
    }
    let expected = [
        "| new rows, all over | 5.9 → 5.9 | 4.3 (7) → 4.3 (7) | 1.00 → 1.00 |",
        "| the same rows again | 5.1 → 5.1 → 5.4 | 4.0 (7) → 4.0 (7) → 3.9 (7) | 1.31 → 1.31 → 1.31 |",
        "| the same rows again, most in a hot range | 3.5 → 3.5 → 4.9 | 3.5 (7) → 3.5 (7) → 3.3 (6) | 1.20 → 1.20 → 1.30 |",
        "| time first, TTL | 5.7 → 1.8 → 1.9 | 1.0 (2) → 1.1 (2) → 1.1 (2) | 1.33 → 1.02 → 1.02 |",
        "| time first, some rows again within two hours | 4.2 → 4.2 → 4.7 | 1.1 (3) → 1.1 (3) → 1.1 (3) | 1.01 → 1.01 → 1.01 |",
        "| metric, then time; TTL | 6.0 → 5.4 | 4.1 (7) → 4.9 (7) | 1.32 → 1.07 |",
        "| a queue | 3.1 → 3.1 | 2.6 (4) → 2.6 (4) | 1.40 → 1.40 |",
        "| a quarter are deletes | 5.5 → 5.5 | 3.9 (7) → 3.9 (7) | 1.15 → 1.15 |",
    ];
    assert_eq!(table.trim_end(), expected.join("\n"), "\n{table}");
}
