use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use proptest::prelude::*;
use rowhouse_model::{Cell, CellKind, Key, RowBuilder, RowRange, Timestamp, compare};

use super::{Memstore, MemstoreCursor};

fn cell(row: &[u8], qualifier: &[u8], millis: i64, value: &[u8]) -> Cell {
    let at = Timestamp::from_millis(millis).unwrap();
    Cell::new(row, "f", qualifier, at, CellKind::Put, value).unwrap()
}

fn walk(memstore: &Arc<Memstore>) -> Vec<(Cell, u64)> {
    walk_from(MemstoreCursor::new(Arc::clone(memstore), &Key::row_start(b"")))
}

fn walk_from(mut cursor: MemstoreCursor) -> Vec<(Cell, u64)> {
    let mut cells = Vec::new();
    while let Some(cell) = cursor.cell() {
        let mut copy = RowBuilder::default();
        cursor.push_to(&mut copy);
        let copy = copy.finish().to_cells().remove(0);
        assert!(copy.key() == cell.key && copy.value() == cell.value);
        cells.push((copy, cell.sequence));
        cursor.advance();
    }
    cells
}

/// A cell with the cell order as `Ord`, for a map.
#[derive(PartialEq)]
struct Sorted(Cell);

impl Eq for Sorted {}

impl Ord for Sorted {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        compare(&self.0.view(), &other.0.view())
    }
}

impl PartialOrd for Sorted {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Rows that are short, share their first eight bytes, or are prefixes of each other.
fn row() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(prop::sample::select(vec![0u8, 1, b'a', 0xFF]), 1..4),
        prop::collection::vec(prop::sample::select(vec![0u8, 0xFF]), 7..10),
        prop::collection::vec(prop::sample::select(vec![0u8, 1]), 0..3).prop_map(|end| [
            &b"the same"[..],
            &end
        ]
        .concat()),
    ]
}

fn any_cell() -> impl Strategy<Value = Cell> {
    let kind = prop::sample::select(vec![
        CellKind::Put,
        CellKind::DeleteVersion,
        CellKind::DeleteColumn,
        CellKind::DeleteFamily,
    ]);
    let qualifier = prop::collection::vec(prop::sample::select(vec![0u8, b'q']), 0..3);
    let tags = prop::sample::select(vec![&b""[..], b"\0\x03\x01ab"]);
    (row(), qualifier, 0i64..3, kind, any::<[u8; 2]>(), tags, 1u64..4).prop_map(
        |(row, qualifier, timestamp, kind, value, tags, sequence)| {
            let kind = kind.code();
            let key = Key { row: &row, family: b"f", qualifier: &qualifier, timestamp, kind };
            Cell::from_parts(key, &value, tags).unwrap().with_sequence(sequence)
        },
    )
}

#[derive(Clone, Copy, Debug)]
enum Way {
    OneByOne,
    Sorted,
}

/// Sorted or nearly sorted cells, and the way they are inserted.
fn any_run() -> impl Strategy<Value = (Way, Vec<Cell>)> {
    let way = prop::sample::select(vec![Way::OneByOne, Way::Sorted]);
    let cells = prop::collection::vec(any_cell(), 0..if cfg!(miri) { 12 } else { 40 });
    (way, cells, any::<bool>()).prop_map(|(way, mut cells, sorted)| {
        if sorted {
            cells.sort_by(|a, b| compare(&a.view(), &b.view()));
        }
        (way, cells)
    })
}

fn config() -> ProptestConfig {
    // Under Miri a case takes seconds, and files are not accessible.
    let cases = if cfg!(miri) { 4 } else { ProptestConfig::default().cases };
    ProptestConfig {
        cases,
        failure_persistence: if cfg!(miri) {
            None
        } else {
            ProptestConfig::default().failure_persistence
        },
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_memstore_equals_a_map(
        runs in prop::collection::vec(any_run(), 0..if cfg!(miri) { 3 } else { 12 }),
        seeks in prop::collection::vec(any_cell(), 1..12),
    ) {
        let memstore = Arc::new(Memstore::default());
        let mut map = BTreeMap::new();
        let mut added = 0;
        for (way, run) in &runs {
            let each = run.iter().map(|cell| (&cell.as_bytes()[..], cell.sequence()));
            added += match way {
                Way::OneByOne => each.map(|(cell, sequence)| memstore.insert(cell, sequence)).sum(),
                Way::Sorted => memstore.insert_sorted(each),
            };
        }
        let cells: Vec<&Cell> = runs.iter().flat_map(|(_, run)| run).collect();
        for &cell in &cells {
            // `insert` alone would keep the older key, which holds the older value.
            map.remove(&Sorted(cell.clone()));
            map.insert(Sorted(cell.clone()), ());
        }
        let expected: Vec<_> = map.keys().map(|Sorted(cell)| (cell.clone(), cell.sequence())).collect();
        prop_assert_eq!(walk(&memstore), expected);
        prop_assert_eq!(memstore.bytes(), added);
        prop_assert_eq!(memstore.is_empty(), cells.is_empty());
        prop_assert_eq!(memstore.has_tags(), cells.iter().any(|cell| !cell.tags().is_empty()));
        let sequences = || cells.iter().map(|cell| cell.sequence());
        prop_assert_eq!(memstore.first_sequence(), sequences().min());
        prop_assert_eq!(memstore.last_sequence(), sequences().max().unwrap_or(0));
        // One cursor that moves forward, and a new one for each seek.
        let mut cursor = MemstoreCursor::new(Arc::clone(&memstore), &Key::row_start(b""));
        let mut last: Option<Cell> = None;
        for target in &seeks {
            let following = map.keys().find(|Sorted(cell)| cell.key() >= target.key());
            let fresh = MemstoreCursor::new(Arc::clone(&memstore), &target.key());
            let fresh = fresh.cell().map(|cell| (cell.to_cell(), cell.sequence));
            let expected = following.map(|Sorted(cell)| (cell.clone(), cell.sequence()));
            prop_assert_eq!(&fresh, &expected);
            cursor.seek(&target.key());
            let from = last.take().filter(|last| last.key() > target.key());
            let target = from.unwrap_or_else(|| target.clone());
            let following = map.keys().find(|Sorted(cell)| cell.key() >= target.key());
            let expected = following.map(|Sorted(cell)| (cell.clone(), cell.sequence()));
            prop_assert_eq!(cursor.cell().map(|cell| (cell.to_cell(), cell.sequence)), expected);
            last = Some(target);
        }
    }
}

#[test]
fn same_key_under_a_newer_sequence_comes_first() {
    let memstore = Arc::new(Memstore::default());
    for (millis, sequence) in [(5, 1), (5, 2), (6, 1)] {
        memstore.insert(cell(b"r", b"q", millis, b"").as_bytes(), sequence);
    }
    let sequences: Vec<_> = walk(&memstore).into_iter().map(|(_, sequence)| sequence).collect();
    assert_eq!(sequences, [1, 2, 1]);
    assert_eq!(memstore.first_sequence(), Some(1));
}

#[test]
fn of_the_same_cell_put_in_often_the_last_stays() {
    let memstore = Arc::new(Memstore::default());
    for value in ["a", "b", "c", "d"] {
        memstore.insert(cell(b"r", b"q", 1, value.as_bytes()).as_bytes(), 7);
        memstore.insert(cell(b"s", b"q", 1, value.as_bytes()).as_bytes(), 7);
    }
    let values: Vec<_> = walk(&memstore).into_iter().map(|(cell, _)| cell.value_bytes()).collect();
    assert_eq!(values, ["d", "d"]);
}

#[test]
fn an_empty_memstore_takes_no_memory_and_a_small_one_little() {
    let memstore = Memstore::default();
    assert_eq!(memstore.bytes(), 0);
    memstore.insert(cell(b"r", b"q", 1, b"value").as_bytes(), 1);
    assert_eq!(memstore.bytes(), 2048);
}

#[test]
fn cells_of_any_size_lie_side_by_side() {
    let memstore = Arc::new(Memstore::default());
    let sizes: &[usize] =
        if cfg!(miri) { &[0, 9, 3000] } else { &[0, 9, 3000, 100_000, 1 << 20, 5 << 20, 70] };
    let mut added = 0;
    for (at, &size) in sizes.iter().enumerate() {
        let value = vec![at as u8; size];
        added += memstore.insert(cell(&[at as u8], b"q", 1, &value).as_bytes(), 1);
    }
    for (at, (cell, _)) in walk(&memstore).iter().enumerate() {
        assert_eq!(cell.value(), vec![at as u8; sizes[at]]);
    }
    assert_eq!(memstore.bytes(), added);
    let payload = sizes.iter().sum::<usize>() as u64;
    assert!(added < payload * 2 + (2 << 20), "{added} bytes for {payload}");
}

#[test]
fn a_cursor_holds_the_memstore_and_reaches_later_inserts_ahead_of_it() {
    let memstore = Arc::new(Memstore::default());
    memstore.insert(cell(b"b", b"q", 1, b"").as_bytes(), 1);
    let mut cursor = MemstoreCursor::new(Arc::clone(&memstore), &Key::row_start(b""));
    memstore.insert(cell(b"a", b"q", 1, b"").as_bytes(), 2);
    memstore.insert(cell(b"c", b"q", 1, b"").as_bytes(), 2);
    drop(memstore);
    assert_eq!(cursor.cell().unwrap().key.row, b"b");
    cursor.advance();
    assert_eq!(cursor.cell().unwrap().key.row, b"c");
    cursor.advance();
    assert!(cursor.cell().is_none());
    cursor.advance();
    cursor.seek(&Key::row_start(b"a"));
    assert!(cursor.cell().is_none());
}

/// Returns the cell written under `sequence`: scattered over the key space, but always the same.
fn cell_of(sequence: u64) -> Cell {
    let number = sequence.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    cell(format!("row{number:09}").as_bytes(), b"q", 1, &sequence.to_be_bytes())
}

/// Writers insert cells under sequence numbers and publish these in order, as commits do. A reader
/// that walks, or seeks from cell to cell, finds every cell up to the number published when it
/// began, each once and in order.
#[test]
fn readers_see_everything_published_while_writers_write() {
    let (writers, total) = if cfg!(miri) { (2, 60) } else { (3, 30_000) };
    let memstore = Arc::new(Memstore::default());
    let reserved = AtomicU64::new(0);
    let published = AtomicU64::new(0);
    let added = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..writers {
            scope.spawn(|| {
                loop {
                    let sequence = reserved.fetch_add(1, Relaxed) + 1;
                    if sequence > total {
                        return;
                    }
                    added.fetch_add(
                        memstore.insert(cell_of(sequence).as_bytes(), sequence),
                        Relaxed,
                    );
                    while published.load(Acquire) != sequence - 1 {
                        std::thread::yield_now();
                    }
                    published.store(sequence, Release);
                }
            });
        }
        for seeking in [false, true] {
            let memstore = &memstore;
            let published = &published;
            scope.spawn(move || {
                while published.load(Acquire) < total {
                    check_view(memstore, published.load(Acquire), seeking);
                    std::thread::yield_now();
                }
            });
        }
    });
    check_view(&memstore, total, false);
    assert_eq!(walk(&memstore).len() as u64, total);
    assert_eq!(memstore.bytes(), added.into_inner());
    assert_eq!((memstore.first_sequence(), memstore.last_sequence()), (Some(1), total));
}

fn check_view(memstore: &Arc<Memstore>, read_point: u64, seeking: bool) {
    let mut cursor = MemstoreCursor::new(Arc::clone(memstore), &Key::row_start(b""));
    let mut last: Option<Cell> = None;
    let mut seen = 0;
    while let Some(view) = cursor.cell() {
        let cell = view.to_cell();
        let sequence = view.sequence;
        assert_eq!(cell, cell_of(sequence));
        let cell = cell.with_sequence(sequence);
        if let Some(last) = &last {
            assert!(compare(&last.view(), &cell.view()).is_lt(), "{last:?} before {cell:?}");
        }
        seen += u64::from(sequence <= read_point);
        if seeking {
            // Seek past this cell: no other has the same key.
            cursor.seek(&Key { timestamp: 0, ..cell.key() });
        } else {
            cursor.advance();
        }
        last = Some(cell);
    }
    assert_eq!(seen, read_point);
}

/// Writers insert neighbouring cells, so that they often race for the same link.
#[test]
fn neighbours_written_at_once_are_all_there() {
    let each = if cfg!(miri) { 25 } else { 20_000 };
    let memstore = Arc::new(Memstore::default());
    std::thread::scope(|scope| {
        for writer in 0..4u64 {
            let memstore = &memstore;
            scope.spawn(move || {
                let rows = (0..each).map(|at| (at * 4 + writer).to_be_bytes());
                // Insert twice: the second must replace the first.
                let twice =
                    |row: [u8; 8]| [b"first".as_slice(), b"second"].map(|v| cell(&row, b"q", 1, v));
                let cells: Vec<Cell> = rows.flat_map(twice).collect();
                let cells = cells.iter().map(|cell| &cell.as_bytes()[..]);
                if writer % 2 == 0 {
                    cells.for_each(|cell| _ = memstore.insert(cell, 1));
                } else {
                    memstore.insert_sorted(cells.map(|cell| (cell, 1)));
                }
            });
        }
    });
    let cells = walk(&memstore);
    assert_eq!(cells.len() as u64, each * 4);
    for (at, (cell, _)) in cells.iter().enumerate() {
        assert_eq!(cell.row(), (at as u64).to_be_bytes());
        assert_eq!(cell.value(), b"second");
    }
}

#[test]
fn ranges_are_counted_exactly_up_to_a_number_of_cells_and_nearly_beyond() {
    let memstore = Memstore::default();
    let row = |number: u32| format!("{number:04}");
    let put = |number| memstore.insert(cell(row(number).as_bytes(), b"q", 1, b"v").as_bytes(), 1);
    assert_eq!(memstore.estimate(&RowRange::all(), 64), (0, 0));
    (0..800).for_each(|number| _ = put(number));
    let len = cell(b"0000", b"q", 1, b"v").as_bytes().len() as u64;
    for (first, stop) in [(0, 1), (10, 70), (799, 800), (5, 5), (800, 900)] {
        let cells = u64::from(stop.min(800) - first);
        let range = RowRange::new(row(first), row(stop));
        assert_eq!(memstore.estimate(&range, 64), (cells, cells * len));
    }
    for range in [RowRange::all(), RowRange::new("", row(780)), RowRange::new(row(3), "")] {
        let (cells, bytes) = memstore.estimate(&range, 64);
        assert!((400..1600).contains(&cells) && bytes == cells * len, "{range:?}: {cells}");
    }
}
