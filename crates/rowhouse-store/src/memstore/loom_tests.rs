//! Tests in every interleaving of a few threads, under loom.
//!
//! Readers run on separate threads: loom tries fewer interleavings of the main thread.

use std::sync::atomic::Ordering::{Acquire, Release};

use loom::sync::Arc;
use loom::sync::atomic::AtomicBool;
use loom::thread;
use rowhouse_model::{Cell, CellKind, Key, Timestamp};

use super::node::SearchKey;
use super::passing::after_markers;
use super::skip_list::SkipList;
use super::spans::link_bounds;

fn cell(row: &str, value: &str) -> Cell {
    Cell::new(row, "f", "q", Timestamp::MIN, CellKind::Put, value).unwrap()
}

fn insert(list: &SkipList, row: &str, value: &str, height: usize) -> u64 {
    list.insert_with_height(cell(row, value).as_bytes(), 1, height)
}

/// Walks the list and returns the rows and values, reading each cell.
fn walk(list: &SkipList) -> String {
    let mut seen = Vec::new();
    let mut node = list.first();
    while let Some(here) = node {
        if !here.is_overwritten() {
            let cell = here.cell();
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            seen.push(text(cell.key.row) + &text(cell.value));
        }
        node = here.next();
    }
    seen.join(" ")
}

fn seek(list: &SkipList, row: &str) -> Option<Vec<u8>> {
    let key = Key::row_start(row.as_bytes());
    list.seek(&SearchKey::new(key, u64::MAX)).map(|node| node.cell().key.row.to_vec())
}

/// Walks the lowest level and returns the rows that second-level links point to.
fn walk_ahead(list: &SkipList) -> String {
    let mut seen = String::new();
    let mut node = list.first();
    while let Some(here) = node {
        if let Some(ahead) = here.ahead() {
            seen += std::str::from_utf8(ahead.cell().key.row).unwrap();
        }
        node = here.next();
    }
    seen
}

/// Runs `check` in every interleaving, each time with a new list.
fn model(check: impl Fn(Arc<SkipList>) + Sync + Send + 'static) {
    loom::model(move || check(Arc::new(SkipList::default())));
}

#[test]
fn two_writers_of_one_gap_and_a_reader() {
    model(|list| {
        insert(&list, "a", "", 1);
        let writers = [("b", 2), ("c", 2)].map(|(row, height)| {
            let list = Arc::clone(&list);
            thread::spawn(move || insert(&list, row, "", height))
        });
        let reader = {
            let list = Arc::clone(&list);
            thread::spawn(move || (walk(&list), seek(&list, "b")))
        };
        for writer in writers {
            writer.join().unwrap();
        }
        let (seen, hit) = reader.join().unwrap();
        assert!(["a", "a b", "a c", "a b c"].contains(&&seen[..]), "{seen}");
        assert!(matches!(hit.as_deref(), None | Some(b"b" | b"c")));
        assert_eq!(walk(&list), "a b c");
        assert_eq!(seek(&list, "b").unwrap(), b"b");
        assert_eq!(seek(&list, "c").unwrap(), b"c");
    });
}

/// The gaps found for one cell are the start of the search for the next, and another writer may
/// have filled them meanwhile.
#[test]
fn a_sorted_run_and_a_writer_among_it() {
    model(|list| {
        let run = {
            let list = Arc::clone(&list);
            thread::spawn(move || {
                let cells = [("b", 2), ("d", 1), ("f", 2)].map(|(row, h)| (cell(row, ""), h));
                let cells = cells.iter().map(|(cell, height)| (&cell.as_bytes()[..], 1, *height));
                list.insert_with_heights(cells)
            })
        };
        let writer = {
            let list = Arc::clone(&list);
            thread::spawn(move || {
                insert(&list, "c", "", 2);
                insert(&list, "e", "", 1)
            })
        };
        run.join().unwrap();
        writer.join().unwrap();
        assert_eq!(walk(&list), "b c d e f");
        for row in ["b", "c", "d", "e", "f"] {
            assert_eq!(seek(&list, row).unwrap(), row.as_bytes());
        }
    });
}

/// The gap on one level may be older than the gap on the level above.
#[test]
fn a_cell_of_a_sorted_run_goes_after_cells_inserted_meanwhile() {
    model(|list| {
        insert(&list, "z", "", 1);
        let run = {
            let list = Arc::clone(&list);
            thread::spawn(move || {
                let cells = [("b", 2), ("d", 2)].map(|(row, h)| (cell(row, ""), h));
                let cells = cells.iter().map(|(cell, height)| (&cell.as_bytes()[..], 1, *height));
                list.insert_with_heights(cells)
            })
        };
        let writer = {
            let list = Arc::clone(&list);
            thread::spawn(move || insert(&list, "c", "", 2))
        };
        run.join().unwrap();
        writer.join().unwrap();
        assert_eq!(walk(&list), "b c d z");
        assert_eq!(walk_ahead(&list), "cd");
    });
}

#[test]
fn published_cells_are_reached_from_every_position() {
    model(|list| {
        insert(&list, "a", "", 2);
        let published = Arc::new(AtomicBool::new(false));
        let other = {
            let list = Arc::clone(&list);
            thread::spawn(move || insert(&list, "b", "", 2))
        };
        let writer = {
            let list = Arc::clone(&list);
            let published = Arc::clone(&published);
            thread::spawn(move || {
                insert(&list, "c", "", 2);
                published.store(true, Release);
            })
        };
        let reader = {
            let list = Arc::clone(&list);
            thread::spawn(move || {
                if published.load(Acquire) {
                    assert_eq!(seek(&list, "c").unwrap(), b"c");
                    assert!(walk(&list).ends_with('c'));
                    assert!(walk_ahead(&list).ends_with('c'));
                }
            })
        };
        writer.join().unwrap();
        other.join().unwrap();
        reader.join().unwrap();
    });
}

/// A cursor reaches a node on the lowest level and looks ahead over a higher link that the node's
/// writer may still be setting.
#[test]
fn links_are_valid_as_soon_as_a_node_is_reachable() {
    model(|list| {
        insert(&list, "a", "", 1);
        let writers = ["b", "c"].map(|row| {
            let list = Arc::clone(&list);
            thread::spawn(move || insert(&list, row, "", 2))
        });
        let reader = {
            let list = Arc::clone(&list);
            thread::spawn(move || walk_ahead(&list))
        };
        for writer in writers {
            writer.join().unwrap();
        }
        let seen = reader.join().unwrap();
        assert!(["", "c"].contains(&&seen[..]), "{seen}");
        assert_eq!(walk_ahead(&list), "c");
    });
}

#[test]
fn of_the_same_cell_the_last_is_seen_once_it_is_published() {
    model(|list| {
        let published = Arc::new(AtomicBool::new(false));
        let writer = {
            let list = Arc::clone(&list);
            let published = Arc::clone(&published);
            thread::spawn(move || {
                insert(&list, "b", "1", 1);
                insert(&list, "b", "2", 2);
                published.store(true, Release);
            })
        };
        let other = {
            let list = Arc::clone(&list);
            thread::spawn(move || insert(&list, "a", "", 1))
        };
        let reader = {
            let list = Arc::clone(&list);
            thread::spawn(move || published.load(Acquire).then(|| walk(&list)))
        };
        writer.join().unwrap();
        other.join().unwrap();
        if let Some(seen) = reader.join().unwrap() {
            assert!(["b2", "a b2"].contains(&&seen[..]), "{seen}");
        }
        assert_eq!(walk(&list), "a b2");
    });
}

#[test]
fn chunks_added_side_by_side_are_counted_once() {
    model(|list| {
        let value = "v".repeat(250);
        let mut added = insert(&list, "a", &value, 1);
        let writers = ["b", "c"].map(|row| {
            let list = Arc::clone(&list);
            let value = value.clone();
            thread::spawn(move || insert(&list, row, &value, 1))
        });
        for writer in writers {
            added += writer.join().unwrap();
        }
        assert_eq!(list.bytes(), added);
        let rows: Vec<String> = ["a", "b", "c"].map(|row| row.to_owned() + &value).into();
        assert_eq!(walk(&list), rows.join(" "));
    });
}

/// Inserts a cell in row `r`: `m` is a put to column m, `m=` deletes column m, `m-` a version of
/// it.
fn insert_column(list: &SkipList, column: &str, height: usize) {
    let (qualifier, kind) = match column.split_at(1) {
        (qualifier, "=") => (qualifier, CellKind::DeleteColumn),
        (qualifier, "-") => (qualifier, CellKind::DeleteVersion),
        _ => (column, CellKind::Put),
    };
    let cell = Cell::new("r", "f", qualifier.to_owned(), Timestamp::MIN, kind, "").unwrap();
    list.insert_with_height(cell.as_bytes(), 1, height);
}

/// Runs concurrent writers with some columns each, after the columns `there` were inserted. At the
/// end no link's span is too high.
fn model_writers(
    there: &'static [(&str, usize)],
    writers: &'static [&[(&str, usize)]],
    reader: Option<fn(&SkipList)>,
) {
    model(move |list| {
        there.iter().for_each(|(column, height)| insert_column(&list, column, *height));
        let published = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        for (at, columns) in writers.iter().enumerate() {
            let list = Arc::clone(&list);
            let published = Arc::clone(&published);
            threads.push(thread::spawn(move || {
                columns.iter().for_each(|(column, height)| insert_column(&list, column, *height));
                if at == 0 {
                    published.store(true, Release);
                }
            }));
        }
        if let Some(reader) = reader {
            let list = Arc::clone(&list);
            threads.push(thread::spawn(move || {
                if published.load(Acquire) {
                    reader(&list);
                }
            }));
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        for link in link_bounds(&list) {
            assert!(
                link.known <= link.between,
                "{:?} {:?}",
                link.from.to_cell(),
                link.to.to_cell()
            );
        }
    });
}

/// As [`model_writers`], with a reader that, after the first writer is done, skips markers from m
/// on but must not skip p.
fn model_passing(there: &'static [(&str, usize)], writers: &'static [&[(&str, usize)]]) {
    model_writers(there, writers, Some(passes_no_put));
}

fn passes_no_put(list: &SkipList) {
    let key = Key::column_start(b"r", b"f", b"m");
    let node = list.seek(&SearchKey::new(key, u64::MAX));
    let Some(marker) = node.filter(|node| node.cell().key.qualifier == b"m") else { return };
    if let Some((target, _)) = after_markers(marker, true, None) {
        assert!(target.qualifier <= &b"p"[..], "{}", target.qualifier.escape_ascii());
    }
}

const BEFORE: [(&str, usize); 2] = [("a", 1), ("z=", 3)];

#[test]
fn no_put_is_passed_that_comes_while_a_marker_is_linked_over_it() {
    model_passing(&BEFORE, &[&[("p", 1)], &[("m=", 2)]]);
}

#[test]
fn no_put_is_passed_on_the_level_above() {
    model_passing(&BEFORE, &[&[("p", 1)], &[("m=", 3)]]);
}

#[test]
fn no_put_is_passed_that_is_linked_as_high() {
    model_passing(&BEFORE, &[&[("p", 2)], &[("m=", 3)]]);
}

#[test]
fn no_put_is_passed_that_comes_among_markers() {
    model_passing(&[("m-", 3), ("z-", 3)], &[&[("p", 1)], &[("n=", 1), ("o-", 2)]]);
}

#[test]
fn the_first_marker_of_all_sees_the_put() {
    model_passing(&[], &[&[("p", 1)], &[("m=", 2), ("z=", 2)]]);
}

#[test]
fn no_link_says_too_much_over_a_put_between_two_markers() {
    model_writers(&[("a", 1), ("z=", 2)], &[&[("p", 1)], &[("m=", 2)], &[("s-", 2)]], None);
}

#[test]
fn no_marker_of_a_column_is_taken_for_one_of_a_version() {
    model_writers(&[("a", 1), ("z-", 2)], &[&[("p=", 1)], &[("m-", 2)]], None);
}
