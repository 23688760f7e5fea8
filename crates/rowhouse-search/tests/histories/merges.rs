//! Large merges: what happens to the index while one runs, and when it ends early.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use rowhouse_model::{
    Columns, Delete, FamilyDescriptor, Filter, Put, Scan, TableDescriptor, TableName,
};
use rowhouse_schema::{Direction, INDEXES_ATTRIBUTE, SEGMENT_FAMILY};
use rowhouse_search::{MergeLimits, PlannedMerge, SearchEngine};
use rowhouse_store::Store;

use crate::cases::{Texts, name};
use crate::histories::copy_of_store;

/// How many segments are merged here.
const SEGMENTS: usize = 3;

/// How many rows a segment has at first.
const ROWS: usize = 6;

fn limits() -> MergeLimits {
    MergeLimits { segments: SEGMENTS, at_once_bytes_max: 0, ..MergeLimits::default() }
}

/// Three segments whose merge is planned.
struct Merging {
    texts: Texts,
    engine: SearchEngine,
}

impl Merging {
    /// Returns the planned merge too.
    fn new() -> (Self, PlannedMerge) {
        let texts = Texts::new();
        let engine = SearchEngine::without_thread_with(&texts.store, limits());
        let merging = Self { texts, engine };
        for segment in 0..SEGMENTS {
            for row in 0..ROWS {
                merging.texts.put(&format!("{row}-{segment}"), &format!("shared at{segment}"));
            }
            // In all segments.
            merging.texts.put("always", &format!("shared at{segment}"));
            if segment + 1 < SEGMENTS {
                assert!(merging.work().is_none());
            }
        }
        let planned = merging.work().unwrap();
        (merging, planned)
    }

    fn work(&self) -> Option<PlannedMerge> {
        self.engine.work_to_merge(&name(), "text").unwrap()
    }

    fn delete(&self, row: &str) {
        let delete = Delete::new(row.to_owned()).unwrap();
        self.texts.store.table(&name()).unwrap().mutate(&delete.into()).unwrap();
    }

    fn documents(&self) -> Vec<u64> {
        let segments = self.engine.segments(&name(), "text").unwrap();
        segments.iter().map(|segment| segment.documents).collect()
    }

    fn check(&self) {
        check(&self.texts, &self.engine);
    }
}

/// Checks that searches find what the table has, and that the index has nothing else.
fn check(texts: &Texts, engine: &SearchEngine) {
    let mut rows = texts.store.table(&name()).unwrap().scan(Scan::all()).unwrap();
    let mut words: Vec<(String, Vec<u8>)> = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let text = String::from_utf8(row.value("f", "q").unwrap().to_vec()).unwrap();
        words.extend(text.split(' ').map(|word| (word.to_owned(), row.key().to_vec())));
    }
    for word in ["shared", "at0", "at1", "at2", "new", "newer"] {
        let found = texts.find(engine, word).unwrap();
        let found = found.by_key(Direction::Forward, None, usize::MAX).unwrap();
        let expected = words.iter().filter(|(of, _)| of == word).map(|(_, row)| &row[..]);
        assert!(found.iter().map(|row| &row[..]).eq(expected), "{word}: {found:?}");
    }
    let report = engine.verify(&name(), "text", &mut |_| {}).unwrap();
    assert!(report.is_clean(), "{report:?}");
}

/// Checks that an index's table has parts of the listed segments alone, and all of these.
pub(crate) fn check_parts(store: &Store, engine: &SearchEngine, table: &TableName, index: &str) {
    let listed = engine.segments(table, index).unwrap();
    let listed: BTreeSet<u64> = listed.iter().map(|segment| segment.number).collect();
    let entries = store.search_read(table, index).unwrap().entries;
    let mut columns = Columns::all();
    columns.add_family(SEGMENT_FAMILY);
    let filter = Some(Box::new(Filter::KeyOnly { length_as_value: false }));
    let mut rows = entries.scan(Scan { columns, filter, ..Scan::all() }).unwrap();
    let mut stored = BTreeSet::new();
    while let Some(row) = rows.next().unwrap() {
        stored.insert(u64::from_be_bytes(row.key()[..8].try_into().unwrap()));
    }
    assert_eq!(stored, listed);
}

/// As [`check_parts`], after some work.
fn check_swept(texts: &Texts, engine: &SearchEngine) {
    engine.work(&name(), "text").unwrap();
    engine.work(&name(), "text").unwrap();
    check_parts(&texts.store, engine, &name(), "text");
}

#[test]
fn rows_that_change_during_a_merge_are_found_and_outdate_its_documents() {
    let (merging, planned) = Merging::new();
    merging.texts.put("always", "shared new");
    merging.texts.put("0-0", "new");
    merging.delete("1-1");
    merging.check();
    assert!(merging.work().is_none(), "one at a time");
    // In the queue when the merge ends.
    merging.texts.put("2-2", "new");
    merging.delete("3-0");
    let before = merging.texts.find(&merging.engine, "shared").unwrap();
    planned.run().unwrap();
    assert_eq!(merging.documents(), [(SEGMENTS * ROWS + 1) as u64, 3]);
    merging.check();
    merging.engine.work(&name(), "text").unwrap();
    merging.check();
    assert_eq!(before.count().unwrap(), (SEGMENTS * ROWS + 1 - 4) as u64, "as it was then");
    drop(before);
    check_swept(&merging.texts, &merging.engine);
}

#[test]
fn segments_written_during_a_merge_are_merged_among_themselves() {
    let (merging, planned) = Merging::new();
    drop(planned);
    let inputs = merging.engine.segments(&name(), "text").unwrap();
    let at_once_bytes_max = inputs.iter().map(|it| it.bytes).sum::<u64>() - 1;
    let at_once = MergeLimits { at_once_bytes_max, ..limits() };
    let engine = SearchEngine::without_thread_with(&merging.texts.store, at_once);
    let planned = engine.work_to_merge(&name(), "text").unwrap().unwrap();
    for round in 0..SEGMENTS {
        merging.texts.put("always", "newer");
        merging.texts.put(&format!("more-{round}"), "newer");
        assert!(engine.work_to_merge(&name(), "text").unwrap().is_none());
    }
    assert_eq!(merging.documents().len(), SEGMENTS + 1);
    check(&merging.texts, &engine);
    planned.run().unwrap();
    let rows = (SEGMENTS * ROWS + 1) as u64;
    assert_eq!(merging.documents(), [rows, SEGMENTS as u64 + 1], "as when it was planned");
    check(&merging.texts, &engine);
    check_swept(&merging.texts, &engine);
}

#[test]
fn merge_of_an_index_that_is_replaced_meanwhile_changes_nothing() {
    let change = |change: &dyn Fn(&Texts)| {
        let (merging, planned) = Merging::new();
        change(&merging.texts);
        planned.run().unwrap();
        if merging.texts.store.search_read(&name(), "text").is_ok() {
            merging.texts.put("after", "shared new");
            check_swept(&merging.texts, &merging.engine);
            merging.check();
        }
        merging.engine.close();
        merging.texts.store.close().unwrap();
    };
    let declare = |texts: &Texts, indexes: &str| {
        let with = |table: &TableDescriptor| {
            Ok(table.clone().attribute(INDEXES_ATTRIBUTE, format!("1 {indexes}")))
        };
        texts.store.change_table(&name(), with).unwrap();
    };
    let drop_table = |texts: &Texts| {
        texts.store.disable_table(&name()).unwrap();
        texts.store.drop_table(&name()).unwrap();
    };
    change(&drop_table);
    change(&|texts| {
        drop_table(texts);
        let table = TableDescriptor::new(name()).family(FamilyDescriptor::new("f").unwrap());
        texts.store.create_table(table, &[]).unwrap();
    });
    change(&|texts| {
        texts.store.disable_table(&name()).unwrap();
        texts.store.truncate_table(&name(), true).unwrap();
    });
    change(&|texts| texts.store.request_index_repair(&name(), "text").unwrap());
    change(&|texts| declare(texts, ""));
    change(&|texts| declare(texts, "text search q english"));
    change(&|texts| {
        declare(texts, "");
        declare(texts, "text search q simple");
    });
}

#[test]
fn rebuild_during_a_merge_ends_it() {
    let (merging, planned) = Merging::new();
    merging.texts.store.request_index_repair(&name(), "text").unwrap();
    assert!(merging.work().is_none());
    let rebuilt = merging.documents();
    let written = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&written);
    planned
        .run_while(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            true
        })
        .unwrap();
    assert_eq!(written.load(Ordering::Relaxed), 0, "no record was written");
    assert_eq!(merging.documents(), rebuilt);
    merging.check();
    check_swept(&merging.texts, &merging.engine);
}

#[test]
fn merge_that_ends_early_leaves_no_parts_and_is_made_again() {
    for records in 0..20 {
        let (merging, planned) = Merging::new();
        let is_over = Arc::new(AtomicUsize::new(0));
        let over = Arc::clone(&is_over);
        planned
            .run_while(move |written| {
                let goes_on = written < records;
                over.fetch_add(usize::from(!goes_on), Ordering::Relaxed);
                goes_on
            })
            .unwrap();
        let ended_early = is_over.load(Ordering::Relaxed) > 0;
        let segments = if ended_early { SEGMENTS } else { 1 };
        assert_eq!(merging.documents().len(), segments, "after {records} records");
        merging.check();
        check_swept(&merging.texts, &merging.engine);
        assert_eq!(merging.documents(), [(SEGMENTS * ROWS + 1) as u64]);
        merging.check();
        if !ended_early {
            assert!(records > 5, "a record for each file");
            return;
        }
    }
    panic!("a merge has fewer records");
}

#[test]
fn process_killed_in_a_merge_leaves_parts_that_the_next_one_deletes() {
    let (merging, planned) = Merging::new();
    let copies = Arc::new(Mutex::new(Vec::new()));
    let dir: PathBuf = merging.texts.dir.path().to_owned();
    let taken = Arc::clone(&copies);
    planned
        .run_while(move |_| {
            taken.lock().unwrap().push(copy_of_store(&dir));
            true
        })
        .unwrap();
    copies.lock().unwrap().push(copy_of_store(merging.texts.dir.path()));
    let copies = std::mem::take(&mut *copies.lock().unwrap());
    assert!(copies.len() > 5);
    for dir in copies {
        let store = Store::open(dir.path()).unwrap();
        let texts = Texts { store, dir };
        let engine = SearchEngine::without_thread_with(&texts.store, limits());
        check(&texts, &engine);
        texts.put("always", "newer");
        check(&texts, &engine);
        check_swept(&texts, &engine);
        check(&texts, &engine);
        engine.close();
        texts.store.close().unwrap();
    }
}

#[test]
fn close_of_the_engine_ends_a_merge() {
    let (merging, planned) = Merging::new();
    let (begin, began) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let ended = Mutex::new(ended);
    std::thread::scope(|scope| {
        let running = scope.spawn(move || {
            planned.run_while(move |_| {
                begin.send(()).unwrap();
                let _ = ended.lock().unwrap().recv();
                true
            })
        });
        began.recv().unwrap();
        merging.engine.close();
        drop(end);
        running.join().unwrap().unwrap();
        assert!(began.recv().is_err(), "no other record was written");
    });
    assert_eq!(merging.documents().len(), SEGMENTS);
    let engine = SearchEngine::without_thread_with(&merging.texts.store, limits());
    check_swept(&merging.texts, &engine);
    check(&merging.texts, &engine);
}

#[test]
fn merge_on_its_own_thread_ends_with_the_engine_or_lists_the_merged_segment() {
    let (merging, planned) = Merging::new();
    drop(planned);
    let texts = &merging.texts;
    for rounds in [0, 1_000] {
        let engine = SearchEngine::start_with(&texts.store, limits()).unwrap();
        engine.work(&name(), "text").unwrap();
        for _ in 0..rounds {
            if engine.segments(&name(), "text").unwrap().len() < SEGMENTS {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        check(texts, &engine);
        engine.close();
    }
    assert_eq!(merging.documents(), [(SEGMENTS * ROWS + 1) as u64]);
    let engine = SearchEngine::without_thread_with(&texts.store, limits());
    check_swept(texts, &engine);
    check(texts, &engine);
}

#[test]
fn outdated_documents_are_deleted_also_from_segments_that_are_too_large_to_merge() {
    for at_once_bytes_max in [0, 1_000_000] {
        let texts = Texts::new();
        let full = MergeLimits { bytes_max: 1, documents_max: 1, at_once_bytes_max, ..limits() };
        let engine = SearchEngine::without_thread_with(&texts.store, full);
        let documents = || -> Vec<u64> {
            engine.work(&name(), "text").unwrap();
            check(&texts, &engine);
            let segments = engine.segments(&name(), "text").unwrap();
            segments.iter().map(|segment| segment.documents).collect()
        };
        let put = |rows: std::ops::Range<usize>, text: &str| {
            rows.for_each(|row| texts.put(&format!("{row:03}"), text));
        };
        put(0..30, "shared at0");
        assert_eq!(documents(), [30]);
        put(0..10, "shared at1");
        assert_eq!(documents(), [30, 10], "a third is not enough");
        put(10..11, "shared at1");
        assert_eq!(documents(), [19, 10, 1]);
        put(5..30, "shared at2");
        assert_eq!(documents(), [5, 25], "segments without documents are not listed");
        let table = texts.store.table(&name()).unwrap();
        for row in 0..30 {
            table.mutate(&Delete::new(format!("{row:03}")).unwrap().into()).unwrap();
        }
        assert_eq!(documents(), [0u64; 0], "nor are marks of deleted rows, if none is older");
        check_swept(&texts, &engine);
    }
}

/// Files of more than one part, written while others grow.
#[test]
fn merged_segment_of_many_parts_has_the_documents_of_its_inputs() {
    const LARGE_ROWS: usize = 6_000;
    let texts = Texts::new();
    let engine = SearchEngine::without_thread_with(&texts.store, limits());
    let table = texts.store.table(&name()).unwrap();
    let mut state = 1u64;
    for segment in 0..SEGMENTS {
        let rows = (0..LARGE_ROWS).map(|row| {
            let mut text = format!("shared at{segment}");
            for _ in 0..64 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                text.push_str(&format!(" {:x}", (state >> 33) % 70_000));
            }
            // A quarter is outdated by the next segment.
            let row = row * SEGMENTS + segment * SEGMENTS * LARGE_ROWS / 4 * 3;
            Put::new(format!("{row:07}")).unwrap().add("f", "q", text).unwrap().into()
        });
        table.batch(rows.collect()).into_iter().for_each(|it| assert!(it.is_ok()));
        engine.work(&name(), "text").unwrap();
    }
    let segments = engine.segments(&name(), "text").unwrap();
    assert_eq!(segments.len(), 1);
    assert!(segments[0].bytes > 3 << 20, "{segments:?}");
    let report = engine.verify(&name(), "text", &mut |_| {}).unwrap();
    assert!(report.is_clean() && report.rows == segments[0].documents, "{report:?}");
    check_swept(&texts, &engine);
}
