//! Followers of changes, over the public API.

use std::time::Duration;

use proptest::prelude::*;
use rowhouse_model::{
    Cell, Change, ChangePosition, Delete, Durability, ErrorKind, FamilyDescriptor, Mutation, Put,
    Scan, TableDescriptor, TableName,
};
use rowhouse_store::{Changes, ChangesFrom, CompactionKind, Settings, Store};

fn name() -> TableName {
    TableName::parse("t").unwrap()
}

fn create(store: &Store, name: &TableName) {
    let family = FamilyDescriptor::new("f").unwrap().versions(100);
    store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
}

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    create(&store, &name());
    (dir, store)
}

fn open(dir: &tempfile::TempDir) -> Store {
    let settings = Settings { wal_segment_bytes: 2 << 10, ..Settings::default() };
    Store::builder(dir.path()).settings(settings).open().unwrap()
}

fn put(row: &str, value: &str) -> Mutation {
    let mut put = Put::new(row.to_owned()).unwrap().add("f", "q", value).unwrap();
    put.durability = Durability::FsyncWal;
    put.into()
}

fn write(store: &Store, row: &str, value: &str) {
    store.table(&name()).unwrap().mutate(&put(row, value)).unwrap();
}

/// Returns a short text for each change that is synced, and the position after the last.
fn read(changes: &mut Changes) -> Vec<String> {
    let mut texts = Vec::new();
    while let Some(change) = changes.next_now().unwrap() {
        texts.push(text(&change));
    }
    texts
}

fn text(change: &Change) -> String {
    let cells = |cells: &[Cell]| {
        let cells = cells.iter().map(|cell| match cell.kind().is_delete() {
            true => "-".to_owned(),
            false => String::from_utf8_lossy(cell.value()).into_owned(),
        });
        cells.collect::<Vec<_>>().join(",")
    };
    let row = |row: &[u8]| String::from_utf8_lossy(row).into_owned();
    match change {
        Change::Row(it) => format!("{}={}", row(&it.row), cells(&it.cells)),
        Change::Copied(it) => format!("copied {}={}", row(&it.row), cells(&it.cells)),
        Change::CopyEnded(_) => "copied".to_owned(),
        Change::Table(it) => it.kind.word().to_owned(),
    }
}

fn follow(store: &Store, from: ChangesFrom) -> Changes {
    store.table_changes(&name(), &from).unwrap()
}

fn from(position: &ChangePosition) -> ChangesFrom {
    ChangesFrom::Position(position.clone())
}

#[test]
fn changes_are_read_in_order_over_segments_and_restarts() {
    let (dir, store) = store();
    let start = store.changes_end().unwrap();
    store.save_follower("f", &name(), &start).unwrap();
    let expected: Vec<String> = (0..200).map(|n| format!("row{n}=value{n}")).collect();
    for n in 0..100 {
        write(&store, &format!("row{n}"), &format!("value{n}"));
    }
    store.table(&name()).unwrap().flush().unwrap();
    store.roll_log().unwrap();
    store.close().unwrap();
    let store = open(&dir);
    for n in 100..200 {
        write(&store, &format!("row{n}"), &format!("value{n}"));
    }
    assert_eq!(read(&mut follow(&store, from(&start))), expected);
    // Every position continues with the rest.
    let mut changes = follow(&store, from(&start));
    let mut positions = Vec::new();
    while let Some(change) = changes.next_now().unwrap() {
        positions.push(change.position().clone());
    }
    for (at, position) in positions.iter().enumerate().step_by(37) {
        assert_eq!(read(&mut follow(&store, from(position))), expected[at + 1..], "{position}");
    }
    assert_eq!(store.followers()[0].position, start);
    assert!(store.followers()[0].lag_bytes > 0);
}

#[test]
fn a_default_put_is_read_only_once_it_is_synced() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings { wal_sync_interval: Duration::from_secs(3600), ..Settings::default() };
    let store = Store::builder(dir.path()).settings(settings).open().unwrap();
    create(&store, &name());
    let mut changes = follow(&store, ChangesFrom::Now);
    let put = Put::new("a").unwrap().add("f", "q", "1").unwrap();
    store.table(&name()).unwrap().mutate(&put.into()).unwrap();
    assert_eq!(read(&mut changes), [""; 0]);
    write(&store, "b", "2");
    assert_eq!(read(&mut changes), ["a=1", "b=2"]);
}

#[test]
fn a_waiting_reader_is_woken_by_a_synced_write() {
    let (_dir, store) = store();
    let mut changes = follow(&store, ChangesFrom::Now);
    let waiting = std::thread::spawn(move || changes.next(Duration::from_secs(60)).unwrap());
    write(&store, "a", "1");
    assert_eq!(text(&waiting.join().unwrap().unwrap()), "a=1");
}

#[test]
fn the_rows_of_one_record_have_positions_of_their_own() {
    let (_dir, store) = store();
    let mut changes = follow(&store, ChangesFrom::Now);
    let table = store.table(&name()).unwrap();
    let rows = ["c", "a", "b", "a"].map(|row| (table.clone(), put(row, row)));
    store.commit(&rows).unwrap();
    let mut positions = Vec::new();
    let mut texts = Vec::new();
    while let Some(change) = changes.next_now().unwrap() {
        positions.push(change.position().clone());
        texts.push(text(&change));
    }
    assert_eq!(texts, ["c=c", "a=a,a", "b=b"]);
    for (at, position) in positions.iter().enumerate() {
        assert_eq!(read(&mut follow(&store, from(position))), texts[at + 1..]);
    }
}

#[test]
fn a_table_that_changes_as_a_whole_is_reported_once_and_in_order() {
    let (_dir, store) = store();
    let mut changes = follow(&store, ChangesFrom::Now);
    write(&store, "a", "1");
    let family = FamilyDescriptor::new("f").unwrap().versions(7);
    store.alter_family(&name(), family.clone()).unwrap();
    // Stores the cells in another way, and retains the same.
    store.alter_family(&name(), family.attribute("COMPRESSION", "LZ4")).unwrap();
    write(&store, "b", "2");
    store.disable_table(&name()).unwrap();
    store.truncate_table(&name(), false).unwrap();
    write(&store, "c", "3");
    store.disable_table(&name()).unwrap();
    store.drop_table(&name()).unwrap();
    create(&store, &name());
    write(&store, "d", "4");
    let expected = ["a=1", "altered", "b=2", "truncated", "c=3", "dropped", "d=4"];
    assert_eq!(read(&mut changes), expected);
}

#[test]
fn a_table_that_replaces_another_is_copied_by_the_followers_of_its_new_name() {
    let (_dir, store) = store();
    let new = TableName::parse("t.new").unwrap();
    create(&store, &new);
    write(&store, "old", "1");
    let mut changes = follow(&store, ChangesFrom::Now);
    store.table(&new).unwrap().mutate(&put("new", "2")).unwrap();
    store.replace_table(&name(), &new, |_| Ok(())).unwrap();
    assert_eq!(read(&mut changes), ["dropped", "restored"]);
    changes.copy_again().unwrap();
    write(&store, "later", "3");
    assert_eq!(read(&mut changes), ["copied new=2", "copied", "later=3"]);
}

/// A table with a copy under another key.
fn create_with_copy(store: &Store) {
    let table = TableDescriptor::new(name())
        .family(FamilyDescriptor::new("f").unwrap())
        .attribute("rowhouse.key", "1 [user string][n u8]")
        .attribute("rowhouse.indexes", "1 by_n [n] covers *");
    store.create_table(table, &[]).unwrap();
}

/// Returns what all tables' followers read from a position on, with the tables.
fn read_all(store: &Store, position: &ChangePosition) -> Vec<String> {
    let mut changes = store.changes(position).unwrap();
    let mut texts = Vec::new();
    while let Some(change) = changes.next_now().unwrap() {
        let table = match &change {
            Change::Row(row) | Change::Copied(row) => row.table.to_string(),
            Change::Table(change) => change.table.to_string(),
            Change::CopyEnded(_) => String::new(),
        };
        texts.push(format!("{table} {}", text(&change)));
    }
    texts
}

#[test]
fn changes_before_a_promotion_are_those_of_the_tables_that_they_were_made_in() {
    // With a follower that is away, and with none at all; in this process, and after a restart.
    for (is_registered, restarts) in [(false, false), (false, true), (true, true)] {
        let dir = tempfile::tempdir().unwrap();
        let mut store = open(&dir);
        create_with_copy(&store);
        let start = store.changes_end().unwrap();
        if is_registered {
            store.save_follower("away", &name(), &start).unwrap();
        }
        write(&store, "bob\0\u{1}\u{1}", "1");
        let between = store.changes_end().unwrap();
        write(&store, "eve\0\u{1}\u{2}", "2");
        store.promote_index(&name(), "by_n").unwrap();
        write(&store, "\u{3}jim\0\u{1}", "3");
        let check = |store: &Store| {
            let all = ["bob\0\u{1}\u{1}=1", "eve\0\u{1}\u{2}=2", "restored", "\u{3}jim\0\u{1}=3"];
            assert_eq!(read(&mut follow(store, from(&start))), all);
            assert_eq!(read(&mut follow(store, from(&between))), all[1..]);
            let expected = [
                "t bob\0\u{1}\u{1}=1",
                "t.by_n \u{1}bob\0\u{1}=1",
                "t eve\0\u{1}\u{2}=2",
                "t.by_n \u{2}eve\0\u{1}=2",
                "t restored",
                "t \u{3}jim\0\u{1}=3",
                "t.by_n jim\0\u{1}\u{3}=3",
            ];
            let read = read_all(store, &start);
            let read: Vec<&str> = read.iter().map(|text| text.trim_end_matches(",")).collect();
            assert_eq!(read, expected);
        };
        check(&store);
        if restarts {
            store.close().unwrap();
            store = open(&dir);
            check(&store);
        }
    }
}

#[test]
fn a_region_that_moved_and_was_removed_without_followers_has_its_last_table() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    create_with_copy(&store);
    let start = store.changes_end().unwrap();
    store.promote_index(&name(), "by_n").unwrap();
    write(&store, "\u{3}jim\0\u{1}", "3");
    store.disable_table(&name()).unwrap();
    store.drop_table(&name()).unwrap();
    let expected = ["restored", "\u{3}jim\0\u{1}=3", "dropped"];
    assert_eq!(read(&mut follow(&store, from(&start))), expected);
}

#[test]
fn changes_before_a_replacement_have_the_name_that_their_table_had() {
    for is_registered in [false, true] {
        let (_dir, store) = store();
        let new = TableName::parse("t.new").unwrap();
        create(&store, &new);
        let start = store.changes_end().unwrap();
        if is_registered {
            store.save_follower("away", &name(), &start).unwrap();
            write(&store, "old", "1");
        }
        store.table(&new).unwrap().mutate(&put("new", "2")).unwrap();
        store.replace_table(&name(), &new, |_| Ok(())).unwrap();
        write(&store, "later", "3");
        // Commits in a region that was removed while there was no follower are lost.
        let all = ["old=1", "dropped", "restored", "later=3"];
        let expected = if is_registered { &all[..] } else { &all[1..] };
        assert_eq!(read(&mut follow(&store, from(&start))), expected);
        let mut of_new = store.table_changes(&new, &from(&start)).unwrap();
        assert_eq!(read(&mut of_new), ["new=2", "dropped"]);
    }
}

#[test]
fn tables_of_regions_are_forgotten_with_the_log_that_names_them() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    create_with_copy(&store);
    write(&store, "bob\0\u{1}\u{1}", "1");
    store.promote_index(&name(), "by_n").unwrap();
    let file = dir.path().join("wal/FOLLOWERS");
    assert!(file.exists());
    store.roll_log().unwrap();
    for table in ["t", "t.by_n"] {
        store.table(&TableName::parse(table).unwrap()).unwrap().flush().unwrap();
    }
    write(&store, "\u{2}bob\0\u{1}", "2");
    store.roll_log().unwrap();
    assert!(!file.exists());
}

/// Returns the path of a log file with this number.
fn log_file(dir: &tempfile::TempDir, number: u64, is_retained: bool) -> std::path::PathBuf {
    let extension = if is_retained { "retained" } else { "wal" };
    dir.path().join(format!("wal/{number:010}.{extension}"))
}

/// Returns a store with a follower at the beginning of retained segments, the position, and the
/// number of a segment between.
fn store_with_retained_segments() -> (tempfile::TempDir, Store, ChangePosition, u64) {
    let (dir, store) = store();
    let start = store.changes_end().unwrap();
    store.save_follower("slow", &name(), &start).unwrap();
    for n in 0..6 {
        write(&store, &format!("row{n}"), "1");
        store.table(&name()).unwrap().flush().unwrap();
        store.roll_log().unwrap();
    }
    let missing = start.segment + 2;
    assert!(log_file(&dir, missing, true).exists());
    (dir, store, start, missing)
}

/// Reads until the place is lost. Returns how many changes were read.
fn read_until_lost(changes: &mut Changes) -> usize {
    for count in 0.. {
        match changes.next_now() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("{count} changes were read to the end"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::PositionLost, "{error}");
                // It stays lost.
                let again = changes.next_now().unwrap_err();
                assert_eq!(again.kind(), ErrorKind::PositionLost);
                return count;
            }
        }
    }
    unreachable!()
}

#[test]
fn a_removed_segment_is_a_lost_place_and_not_a_gap() {
    let (dir, store, start, missing) = store_with_retained_segments();
    let mut changes = follow(&store, from(&start));
    std::fs::remove_file(log_file(&dir, missing, true)).unwrap();
    assert_eq!(read_until_lost(&mut changes), 2);
    // The rest can be removed all the same.
    drop(changes);
    store.drop_follower("slow").unwrap();
    assert!(!log_file(&dir, missing + 1, true).exists());
}

#[test]
fn a_segment_that_is_removed_while_the_store_is_closed_is_a_lost_place() {
    for is_listed in [true, false] {
        let (dir, store, start, missing) = store_with_retained_segments();
        store.close().unwrap();
        std::fs::remove_file(log_file(&dir, missing, true)).unwrap();
        if !is_listed {
            forget_segment(&dir, missing);
        }
        let store = open(&dir);
        let read = match store.table_changes(&name(), &from(&start)) {
            Ok(mut changes) => read_until_lost(&mut changes),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::PositionLost);
                0
            }
        };
        // Without the line in the list the segments before it are there.
        assert_eq!(read, if is_listed { 0 } else { 2 });
    }
}

/// Removes the line of a retained segment from the list of them.
fn forget_segment(dir: &tempfile::TempDir, number: u64) {
    let path = dir.path().join("wal/FOLLOWERS");
    let text = std::fs::read_to_string(&path).unwrap();
    let line = format!("retained {number} ");
    assert!(text.contains(&line), "{text}");
    let is_left = |text: &&str| !text.starts_with(&line) && !text.starts_with("crc32c ");
    let mut left: String = text.split_inclusive('\n').filter(is_left).collect();
    let crc = crc32c::crc32c(left.as_bytes());
    left.push_str(&format!("crc32c {crc:08x}\n"));
    std::fs::write(path, left).unwrap();
}

#[test]
fn a_cloned_snapshot_is_copied_and_a_region_that_is_gone_still_has_its_table() {
    let (_dir, store) = store();
    let mut changes = follow(&store, ChangesFrom::Now);
    for row in ["a", "m", "z"] {
        write(&store, row, row);
    }
    let region = store.table(&name()).unwrap().regions()[0].name().full.clone();
    store.split_region(&region, Some("m".into())).unwrap();
    write(&store, "n", "n");
    assert_eq!(read(&mut changes), ["a=a", "m=m", "z=z", "n=n"]);
    store.take_snapshot(rowhouse_model::Snapshot::new("s", name()).unwrap()).unwrap();
    store.disable_table(&name()).unwrap();
    store.drop_table(&name()).unwrap();
    store.clone_snapshot("s", &name()).unwrap();
    assert_eq!(read(&mut changes), ["dropped", "restored"]);
    changes.copy_again().unwrap();
    let copied = ["copied a=a", "copied m=m", "copied n=n", "copied z=z", "copied"];
    assert_eq!(read(&mut changes), copied);
}

#[test]
fn a_follower_whose_log_is_gone_has_lost_its_place_and_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings {
        wal_segment_bytes: 2 << 10,
        followers_bytes_max: 10 << 10,
        ..Settings::default()
    };
    let store = Store::builder(dir.path()).settings(settings).open().unwrap();
    create(&store, &name());
    write(&store, "first", "1");
    let start = store.changes_end().unwrap();
    store.save_follower("slow", &name(), &start).unwrap();
    for n in 0..200 {
        write(&store, &format!("row{n}"), &"value".repeat(20));
        if n % 20 == 19 {
            store.table(&name()).unwrap().flush().unwrap();
            store.roll_log().unwrap();
        }
    }
    let slow = &store.followers()[0];
    assert!(slow.is_lost, "{slow:?}");
    let error = store.table_changes(&name(), &from(&start)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::PositionLost);
    assert!(error.message().contains("copy the table again"), "{error}");
    store.drop_follower("slow").unwrap();
    assert!(store.followers().is_empty());
    assert!(store.drop_follower("slow").is_err());
    // Nothing is retained for none.
    let names = std::fs::read_dir(dir.path().join("wal")).unwrap();
    let names: Vec<_> = names.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!names.iter().any(|it| it.ends_with(".retained") || it == "FOLLOWERS"), "{names:?}");
}

#[test]
fn a_position_of_another_store_or_in_no_record_is_refused() {
    let (_dir, store) = store();
    write(&store, "a", "1");
    let good = store.changes_end().unwrap();
    let others = [
        ChangePosition { epoch: good.epoch ^ 1, ..good.clone() },
        ChangePosition { offset: good.offset + 8, ..good.clone() },
        ChangePosition { segment: good.segment + 9, ..good.clone() },
    ];
    for other in others {
        let error = store.table_changes(&name(), &from(&other)).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::PositionLost, "{other}");
    }
    let within = ChangePosition { offset: good.offset - 8, ..good };
    let error = follow(&store, from(&within)).next_now().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PositionLost);
}

#[test]
fn a_row_is_read_as_it_was_before_a_change_until_it_is_flushed() {
    let (_dir, store) = store();
    let mut changes = follow(&store, ChangesFrom::Now);
    write(&store, "a", "1");
    write(&store, "a", "2");
    let mut befores = Vec::new();
    let mut last = None;
    while let Some(Change::Row(row)) = changes.next_now().unwrap() {
        let before = store.row_before(&row).unwrap();
        befores.push(before.value("f", "q").map(|value| value.to_vec()));
        last = Some(row);
    }
    assert_eq!(befores, [None, Some(b"1".to_vec())]);
    let table = store.table(&name()).unwrap();
    table.flush().unwrap();
    write(&store, "a", "3");
    table.flush().unwrap();
    table.compact(CompactionKind::Major).unwrap();
    let error = store.row_before(&last.unwrap());
    assert!(error.is_err_and(|error| error.kind() == ErrorKind::UnknownScanner));
}

#[test]
fn index_tables_are_not_followed_and_their_table_is() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let table = TableDescriptor::new(name())
        .family(FamilyDescriptor::new("f").unwrap())
        .attribute("rowhouse.key", "1 [user string][n u8]")
        .attribute("rowhouse.indexes", "1 by_n [n]");
    store.create_table(table, &[]).unwrap();
    let index = TableName::parse("t.by_n").unwrap();
    let error = store.table_changes(&index, &ChangesFrom::Now).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let mut changes = follow(&store, ChangesFrom::Now);
    write(&store, "bob\0\u{1}", "1");
    assert_eq!(read(&mut changes), ["bob\0\u{1}=1"]);
}

#[test]
fn a_follower_keeps_its_table_and_its_name_is_checked() {
    let (_dir, store) = store();
    let other = TableName::parse("other").unwrap();
    create(&store, &other);
    let end = store.changes_end().unwrap();
    store.save_follower("a", &name(), &end).unwrap();
    for (follower, table) in [("a", &other), ("", &name()), ("a b", &name())] {
        let error = store.save_follower(follower, table, &end).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{follower}");
    }
}

/// Returns all versions in a table; if `is_raw`, with deleted cells and delete markers.
fn cells(store: &Store, is_raw: bool) -> Vec<Cell> {
    let mut scan = Scan::all().versions(u32::MAX);
    scan.raw = is_raw;
    let mut rows = store.table(&name()).unwrap().scan(scan).unwrap();
    let mut cells = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        cells.extend(row.to_cells().into_iter().map(|cell| cell.with_sequence(0)));
    }
    // A cell that was applied twice.
    cells.dedup();
    cells
}

/// Applies a row's cells with their timestamps.
fn apply(sink: &Store, cells: &[Cell]) {
    let table = sink.table(&name()).unwrap();
    for cell in cells {
        let row = cell.row_bytes();
        let mutation: Mutation = match cell.kind().is_delete() {
            false => Put::new(row).unwrap().add_cell(cell.clone()).unwrap().into(),
            true => Delete::new(row).unwrap().add_cell(cell.clone()).unwrap().into(),
        };
        table.mutate(&mutation).unwrap();
    }
}

#[derive(Clone, Debug)]
enum Step {
    Put(u8, u8),
    Delete(u8),
    Flush,
    Roll,
    Split(u8),
    Reopen,
    /// Reads so many changes.
    Read(u8),
    Save,
    /// The follower begins again where it saved its position.
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..20u8, any::<u8>()).prop_map(|(row, value)| Step::Put(row, value)),
        2 => (0..20u8).prop_map(Step::Delete),
        1 => Just(Step::Flush),
        1 => Just(Step::Roll),
        1 => (1..20u8).prop_map(Step::Split),
        1 => Just(Step::Reopen),
        4 => (1..12u8).prop_map(Step::Read),
        2 => Just(Step::Save),
        2 => Just(Step::Restart),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 64, ..ProptestConfig::default() })]

    /// A copy, begun at any time, and the changes after it, with repetitions from the last saved
    /// position, make the same table.
    #[test]
    fn a_follower_that_begins_with_a_copy_equals_the_table(
        steps in prop::collection::vec(step(), 1..60), begin in 0..40usize,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut store = open(&dir);
        create(&store, &name());
        let (_sink_dir, sink) = self::store();
        let mut saved: Option<ChangePosition> = None;
        let mut changes: Option<Changes> = None;
        let mut seen: Vec<String> = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            if at == begin {
                changes = Some(follow(&store, ChangesFrom::Copy));
                let position = changes.as_ref().unwrap().position();
                store.save_follower("sink", &name(), &position).unwrap();
                saved = Some(position);
            }
            match step {
                Step::Put(row, value) => write(&store, &format!("{row:02}"), &value.to_string()),
                Step::Delete(row) => {
                    let mut delete = Delete::new(format!("{row:02}")).unwrap();
                    delete.durability = Durability::FsyncWal;
                    store.table(&name()).unwrap().mutate(&delete.into()).unwrap();
                }
                Step::Flush => store.table(&name()).unwrap().flush().unwrap(),
                Step::Roll => store.roll_log().unwrap(),
                Step::Split(row) => {
                    let table = store.table(&name()).unwrap();
                    let row = format!("{row:02}");
                    let region = table.region_of(row.as_bytes());
                    // A split at the first row of a region is refused.
                    let _ = store.split_region(&region.name().full, Some(row.into()));
                }
                Step::Reopen => {
                    drop(changes.take());
                    store.close().unwrap();
                    store = open(&dir);
                    changes = saved.as_ref().map(|saved| follow(&store, from(saved)));
                }
                Step::Read(count) => {
                    for _ in 0..*count {
                        let next = changes.as_mut().map(|it| it.next_now().unwrap());
                        let Some(Some(change)) = next else { break };
                        match &change {
                            Change::Row(row) | Change::Copied(row) => apply(&sink, &row.cells),
                            Change::CopyEnded(_) => {}
                            Change::Table(_) => panic!("no table changed: {change:?}"),
                        }
                        seen.push(text(&change));
                    }
                }
                Step::Save => {
                    if let Some(changes) = &changes {
                        let position = changes.position();
                        store.save_follower("sink", &name(), &position).unwrap();
                        saved = Some(position);
                    }
                }
                Step::Restart => {
                    changes = saved.as_ref().map(|saved| follow(&store, from(saved)));
                }
            }
        }
        let mut changes = changes.unwrap_or_else(|| follow(&store, ChangesFrom::Copy));
        while let Some(change) = changes.next_now().unwrap() {
            if let Change::Row(row) | Change::Copied(row) = &change {
                apply(&sink, &row.cells);
            }
        }
        prop_assert_eq!(cells(&sink, false), cells(&store, false), "{:?}", seen);
        // Flushes drop delete markers that cover nothing.
        let is_flushed =
            |step: &Step| matches!(step, Step::Flush | Step::Split(_) | Step::Reopen | Step::Roll);
        if !steps.iter().any(is_flushed) {
            prop_assert_eq!(cells(&sink, true), cells(&store, true), "{:?}", seen);
        }
    }

    /// Without restarts nothing is doubled at the seam: the follower is given each cell once.
    #[test]
    fn a_copy_and_the_changes_after_it_have_each_cell_once(
        before in prop::collection::vec(0..9u8, 0..20),
        after in prop::collection::vec(0..9u8, 0..20),
        reads in 0..30usize,
    ) {
        let (_dir, store) = store();
        for (at, row) in before.iter().enumerate() {
            write(&store, &row.to_string(), &format!("b{at}"));
        }
        let mut changes = follow(&store, ChangesFrom::Copy);
        let mut cells = Vec::new();
        let mut take = |change: Option<Change>| {
            if let Some(Change::Row(row) | Change::Copied(row)) = change {
                cells.extend(row.cells.iter().map(|cell| cell.value().to_vec()));
            }
        };
        for (at, row) in after.iter().enumerate() {
            if at < reads {
                take(changes.next_now().unwrap());
            }
            write(&store, &row.to_string(), &format!("a{at}"));
        }
        while let Some(change) = changes.next_now().unwrap() {
            take(Some(change));
        }
        cells.sort();
        let written = (0..before.len()).map(|at| format!("b{at}").into_bytes());
        let written = written.chain((0..after.len()).map(|at| format!("a{at}").into_bytes()));
        let mut written: Vec<_> = written.collect();
        written.sort();
        prop_assert_eq!(cells, written);
    }
}
