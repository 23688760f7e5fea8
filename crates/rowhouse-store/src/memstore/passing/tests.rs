use std::cell::Cell as Counter;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rowhouse_model::{Cell, CellKind, Key};

use super::super::skip_list::SkipList;
use super::super::spans::{LinkBounds, link_bounds};
use super::super::{Memstore, MemstoreCursor};
use super::*;

/// Parses a cell: `q5` is a put to column q at 5, `q5-` deletes that version, `q5=` the column up
/// to there, `q5~` the same with a TTL, `5!` the family up to there.
fn cell(row: &str, text: &str) -> Cell {
    let kind = match text.as_bytes()[text.len() - 1] {
        b'-' => CellKind::DeleteVersion,
        b'=' | b'~' => CellKind::DeleteColumn,
        b'!' => CellKind::DeleteFamily,
        _ => CellKind::Put,
    };
    let (qualifier, timestamp) = text.split_at(text.find(|c: char| c.is_ascii_digit()).unwrap());
    let timestamp = timestamp.trim_end_matches(['-', '=', '~', '!']).parse().unwrap();
    let tags: &[u8] = if text.ends_with('~') { b"\0\x03\x08ab" } else { b"" };
    let [row, qualifier] = [row, qualifier].map(str::as_bytes);
    let key = Key { row, family: b"f", qualifier, timestamp, kind: kind.code() };
    Cell::from_parts(key, b"", tags).unwrap()
}

/// Returns a cell in the column with this number; `end` as in [`cell`].
fn numbered(column: u64, end: &str) -> Cell {
    let cell = cell("a", &format!("q9{end}"));
    let qualifier = format!("{column:09}");
    Cell::from_parts(Key { qualifier: qualifier.as_bytes(), ..cell.key() }, b"", b"").unwrap()
}

/// Parses cells; `/` begins another row.
fn cells(text: &str) -> Vec<Cell> {
    let rows = text.split('/').zip(["a", "b", "c"]);
    rows.flat_map(|(cells, row)| cells.split_whitespace().map(move |text| cell(row, text)))
        .collect()
}

/// Checks the column and timestamp that a skip from the first cell reaches.
#[track_caller]
fn check(text: &str, bound: Option<&str>, expected: &str) {
    let cells = cells(text);
    let bound = bound.map(|bound| cell("a", bound));
    // For various insertion orders and random heights.
    for round in 0..if cfg!(miri) { 2 } else { 30 } {
        let memstore = Arc::new(Memstore::default());
        let (front, back) = cells.split_at(round % cells.len());
        for cell in front.iter().rev().chain(back) {
            memstore.insert(cell.as_bytes(), 1);
        }
        let mut cursor = MemstoreCursor::new(memstore, &cells[0].key());
        let passed = cursor.pass_markers_to(bound.as_ref().map(Cell::key).as_ref());
        let here = cursor.cell().unwrap();
        let shown =
            format!("{}{}", String::from_utf8_lossy(here.key.qualifier), here.key.timestamp);
        assert_eq!(shown, expected, "{text}");
        assert_eq!(passed, here.key != cells[0].key(), "{text}");
    }
}

#[test]
fn markers_are_passed_up_to_the_last_that_may_cover_following_cells() {
    check("p9= q9= r9= s5", None, "r9");
    check("p9= q9= r9= / a5", None, "r9");
    check("p9= q9= r9=", None, "r9");
    check("p9= q9= r9= / a9= b9=", None, "r9");
    // A version marker covers only its own timestamp.
    check("q9- q8- q7- q6- q6", None, "q6");
    check("p9- p8= q7- q6- q5- q4", None, "q7");
    check("p9- q8- r7- r6- r5", None, "r6");
    // With both kinds in one column, skips up to the first marker that covers older cells.
    check("q9- q8- q7= q6- q5- q4", None, "q8");
    check("q9- q8= q7- q6-", None, "q9");
    // But a matched marker on the same column covers all later ones, unless it may have expired.
    check("q8= q7- q6= q5- q4-", None, "q4");
    check("q8~ q7- q6= q5- q4-", None, "q7");
    check("q8~ q7- q6- q5- q4-", None, "q4");
    check("q8~ q7= q6- q5- q4-", None, "q8");
    // Stays if there is nothing to skip.
    check("q9= q8 r9= s9=", None, "q9");
    check("q9= r8 r7= r6=", None, "q9");
    check("q9=", None, "q9");
}

#[test]
fn of_markers_at_one_timestamp_the_first_is_judged() {
    let memstore = Arc::new(Memstore::default());
    for (text, sequence) in [("q7-", 1), ("q6-", 1), ("q6-", 2), ("q6-", 3), ("q5", 1)] {
        memstore.insert(cell("a", text).as_bytes(), sequence);
    }
    let mut cursor = MemstoreCursor::new(memstore, &Key::row_start(b"a"));
    assert!(cursor.pass_markers_to(None));
    assert_eq!((cursor.cell().unwrap().key.timestamp, cursor.sequence()), (6, Some(3)));
    assert!(!cursor.pass_markers_to(None));
}

#[test]
fn markers_of_the_family_are_never_passed() {
    check("9! p9= q9= r9=", None, "r9");
    check("9= 8! 7= p9= q9=", None, "9");
    check("9- 8- 7! 6-", None, "8");
}

#[test]
fn no_marker_is_passed_that_may_cover_cells_of_another_source() {
    let text = "p9= q9= r9= s9= t9=";
    check(text, Some("t9="), "t9");
    check(text, Some("s5"), "s9");
    check(text, Some("r9="), "r9");
    check(text, Some("r10"), "q9");
    check(text, Some("p5"), "p9");
    check("q9- q8- q7- q6-", Some("q7"), "q7");
    check("q9- q8- q7- q6-", Some("q8-"), "q8");
}

fn any_cell() -> impl Strategy<Value = Cell> {
    let end = prop::sample::select(vec!["", "-", "-", "-", "-", "=", "=", "=", "=", "~", "!"]);
    let row = prop::sample::select(vec!["a", "a", "a", "b"]);
    (row, prop::sample::select(vec!["p", "q", "r", "s"]), 0i64..9, end).prop_map(
        |(row, qualifier, at, end)| match end {
            "!" => cell(row, &format!("{at}!")),
            end => cell(row, &format!("{qualifier}{at}{end}")),
        },
    )
}

/// Whether a skipped marker may cover a cell after it: the rule itself, without spans.
fn may_cover(marker: &Key<'_>, cell: &Key<'_>) -> bool {
    let only_there = marker.kind == CellKind::DeleteVersion.code();
    marker.qualifier == cell.qualifier && (!only_there || marker.timestamp == cell.timestamp)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { 1000 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn passed_markers_cover_no_following_cells(
        cells in prop::collection::vec((any_cell(), 1usize..5), 1..if cfg!(miri) { 16 } else { 60 }),
        bound in prop::option::of(any_cell()),
        sorted in any::<bool>(),
    ) {
        let memstore = Arc::new(Memstore::default());
        let put_in = cells.iter().map(|(cell, height)| (&cell.as_bytes()[..], 1, *height));
        if sorted {
            memstore.cells.insert_with_heights(put_in);
        } else {
            put_in.for_each(|(cell, sequence, height)| {
                memstore.cells.insert_with_height(cell, sequence, height);
            });
        }
        for LinkBounds { from, to, known, between } in link_bounds(&memstore.cells) {
            prop_assert!(known <= between, "{:?} to {:?}", from.to_cell(), to.to_cell());
            // Between two markers, where readers follow links, the span is exact.
            if [from, to].iter().all(|end| Between::beside(end.key.kind) != Between::Anything) {
                prop_assert_eq!(known, between, "{:?} to {:?}", from.to_cell(), to.to_cell());
            }
        }
        let mut start = MemstoreCursor::new(Arc::clone(&memstore), &Key::row_start(b""));
        while let Some(first) = start.cell() {
            if first.kind() != CellKind::Put {
                let from = first.to_cell();
                let bound = bound.as_ref().map(Cell::key).filter(|bound| *bound >= from.key());
                let mut plain = MemstoreCursor::new(Arc::clone(&memstore), &from.key());
                let mut passing = MemstoreCursor::new(Arc::clone(&memstore), &from.key());
                let passed = passing.pass_markers_to(bound.as_ref());
                let landed = passing.cell().unwrap().to_cell();
                prop_assert_eq!(passed, landed.key() != from.key());
                prop_assert!(landed.row() == from.row());
                prop_assert!(!passed || bound.is_none_or(|bound| landed.key() <= bound));
                plain.advance();
                while plain.cell().is_some_and(|cell| cell.key < landed.key()) {
                    let marker = plain.cell().unwrap().to_cell();
                    prop_assert!(Between::beside(marker.key().kind) != Between::Anything);
                    let judged = from.key();
                    let covered = judged.kind == CellKind::DeleteColumn.code()
                        && from.tags().is_empty()
                        && judged.qualifier == marker.qualifier();
                    // The landing cell decides: later columns are not affected.
                    prop_assert!(covered || !may_cover(&marker.key(), &landed.key()));
                    plain.advance();
                }
                // A call skips all it can, so few further calls skip anything.
                let mut again = 0;
                while passing.pass_markers_to(bound.as_ref()) {
                    again += 1;
                }
                prop_assert!(again <= 8, "as many as there are columns, twice");
            }
            start.advance();
        }
    }
}

/// Returns how many links a reader follows from the first marker in a run to the last.
fn steps(list: &SkipList) -> usize {
    let count = Counter::new(0);
    let mut here = list.first().unwrap();
    let goes_on = |_: NodeRef<'_>| true;
    while let Some((node, _)) = step(here, Between::Markers, goes_on) {
        count.set(count.get() + 1);
        here = node;
    }
    assert!(here.next().is_none());
    count.get()
}

#[test]
fn a_run_is_passed_over_few_links_in_any_insertion_order() {
    let total = if cfg!(miri) { 100 } else { 50_000u64 };
    let column = |at: u64| numbered(at, "=");
    let version = |at: u64| cell("a", &format!("q{at}-"));
    for order in [|at: u64, _| at, |at, total| total - 1 - at, |at: u64, total| at * 7919 % total] {
        for of in [&column as &dyn Fn(u64) -> Cell, &version] {
            let list = SkipList::default();
            (0..total).for_each(|at| _ = list.insert(of(order(at, total)).as_bytes(), 1));
            assert!(steps(&list) < 200, "{}", steps(&list));
        }
    }
}

/// Returns a column's number in a pseudo-random order.
fn shuffled(at: u64, total: u64) -> u64 {
    at * 7919 % total
}

/// Writers insert markers and now and then a put, which they record. A reader that goes through the
/// row meets every put recorded before it began.
#[test]
fn no_reader_passes_a_put_that_is_there_while_writers_write() {
    let total: u64 = if cfg!(miri) { 64 } else { 4096 };
    let rounds_until = Instant::now() + Duration::from_millis(if cfg!(miri) { 0 } else { 400 });
    let is_put = |at: u64| at.is_multiple_of(64);
    let cell_of = |at: u64| numbered(at, if is_put(at) { "" } else { "=" });
    loop {
        let memstore = Arc::new(Memstore::default());
        let there: Vec<AtomicBool> = (0..total).map(|_| AtomicBool::new(false)).collect();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writers = [0, 1].map(|writer| {
                let memstore = &memstore;
                let there = &there;
                scope.spawn(move || {
                    for at in (0..total).filter(|at| at % 2 == writer) {
                        let number = shuffled(at, total);
                        memstore.insert(cell_of(number).as_bytes(), 1);
                        there[number as usize].store(true, Release);
                    }
                })
            });
            let memstore = &memstore;
            let there = &there;
            let done = &done;
            scope.spawn(move || {
                while !done.load(Acquire) {
                    meets_all_puts(memstore, there, is_put);
                }
                meets_all_puts(memstore, there, is_put);
            });
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            done.store(true, Release);
        });
        assert!(link_bounds(&memstore.cells).iter().all(|link| link.known <= link.between));
        if Instant::now() >= rounds_until {
            return;
        }
    }
}

fn meets_all_puts(memstore: &Arc<Memstore>, there: &[AtomicBool], is_put: impl Fn(u64) -> bool) {
    let known = (0..there.len()).filter(|&at| is_put(at as u64) && there[at].load(Acquire));
    let known: Vec<usize> = known.collect();
    let mut known = known.into_iter();
    let mut expected = known.next();
    let mut cursor = MemstoreCursor::new(Arc::clone(memstore), &Key::row_start(b"a"));
    while let Some(cell) = cursor.cell() {
        let qualifier = std::str::from_utf8(cell.key.qualifier).unwrap();
        let number: usize = qualifier.parse().unwrap();
        if expected == Some(number) {
            expected = known.next();
        }
        assert!(expected.is_none_or(|expected| expected > number), "{expected:?} was passed");
        if cell.kind() == CellKind::Put || !cursor.pass_markers_to(None) {
            cursor.advance();
        }
    }
    assert_eq!(expected, None);
}
