//! Indexes whose entries lie in tables: their declaration, their life beside the base table, unique
//! values, and concurrent writers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rowhouse_model::{
    Bytes, Delete, Durability, ErrorKind, FamilyDescriptor, Get, Mutation, Put, Result, Scan,
    Snapshot, TableDescriptor, TableName, Timestamp,
};
use rowhouse_schema::{COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE, IndexState, KEY_ATTRIBUTE};
use rowhouse_store::{CompactionKind, Settings, Store, Table};

use crate::histories::copy_of_store;

fn name(name: &str) -> TableName {
    TableName::parse(name).unwrap()
}

fn mail(indexes: &str) -> TableDescriptor {
    let family = |name: &str| FamilyDescriptor::new(name.to_owned()).unwrap();
    TableDescriptor::new(name("mail"))
        .family(family("d"))
        .family(family("x"))
        .attribute(KEY_ATTRIBUTE, "1 [user text]")
        .attribute(COLUMNS_ATTRIBUTE, "1 d:s sender text; d:t subject text; d:e email text")
        .attribute(INDEXES_ATTRIBUTE, format!("1 {indexes}"))
}

fn open(indexes: &str) -> (tempfile::TempDir, Store, Arc<Table>) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.create_table(mail(indexes), &["m".into()]).unwrap();
    let table = store.table(&name("mail")).unwrap();
    (dir, store, table)
}

fn put(row: &str, qualifier: &str, value: &str) -> Mutation {
    Put::new(row.to_owned()).unwrap().add("d", qualifier, value).unwrap().into()
}

fn keys(store: &Store, table: &str) -> Vec<String> {
    let mut scanner = store.table(&name(table)).unwrap().scan(Scan::all()).unwrap();
    let rows = std::iter::from_fn(|| scanner.next().unwrap());
    rows.map(|row| row.key().escape_ascii().to_string().replace("\\x00\\x01", "|")).collect()
}

fn settle(store: &Store, index: &str) -> IndexState {
    loop {
        match store.index_state(&name("mail"), index).unwrap() {
            IndexState::Building { .. } | IndexState::Repairing => {
                std::thread::sleep(Duration::from_millis(1));
            }
            state => return state,
        }
    }
}

fn alter(store: &Store, indexes: &str) -> Result<()> {
    store.change_table(&name("mail"), |table| {
        Ok(table.clone().attribute(INDEXES_ATTRIBUTE, format!("1 {indexes}")))
    })
}

#[test]
fn entries_follow_their_rows_and_go_with_them() {
    let (_dir, store, table) = open("by_sender [sender]");
    table.mutate(&put("ann", "s", "eve")).unwrap();
    table.mutate(&put("bob", "s", "eve")).unwrap();
    table.mutate(&put("zoe", "s", "dan")).unwrap();
    assert_eq!(keys(&store, "mail.by_sender"), ["dan|zoe|", "eve|ann|", "eve|bob|"]);
    table.mutate(&put("bob", "s", "dan")).unwrap();
    table.mutate(&Delete::new("ann").unwrap().into()).unwrap();
    assert_eq!(keys(&store, "mail.by_sender"), ["dan|bob|", "dan|zoe|"]);
    assert!(store.verify_index(&name("mail"), "by_sender", |_| {}).unwrap().is_clean());
}

#[test]
fn only_the_store_writes_and_changes_the_table_of_an_index() {
    let (_dir, store, table) = open("by_sender [sender]");
    table.mutate(&put("ann", "s", "eve")).unwrap();
    let entries = store.table(&name("mail.by_sender")).unwrap();
    let entry = Put::new("x").unwrap().add("e", "", "").unwrap();
    let refused = |result: Result<()>| {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{error}");
        assert!(error.message().contains("entries of index by_sender of mail"), "{error}");
    };
    refused(entries.mutate(&entry.clone().into()).map(|_| ()));
    refused(entries.batch(vec![entry.clone().into()]).swap_remove(0).map(|_| ()));
    refused(store.commit(&[(Arc::clone(&entries), entry.clone().into())]).map(|_| ()));
    refused(store.transact(|it| it.mutate(&entries, entry.clone()).map(|_| ())));
    refused(store.load_rows(&name("mail.by_sender"), || Ok(None)).map(|_| ()));
    refused(store.disable_table(&name("mail.by_sender")));
    refused(store.change_table(&name("mail.by_sender"), |table| Ok(table.clone())));
    refused(store.truncate_region(&entries.regions()[0].name().full));
    let of = "1 mail by_sender";
    let family = FamilyDescriptor::new("e").unwrap();
    let other = TableDescriptor::new(name("other")).family(family);
    refused(store.create_table(other.attribute("rowhouse.index_of", of), &[]));
    // What does not change the rows is allowed.
    entries.flush().unwrap();
    entries.compact(CompactionKind::Major).unwrap();
    let region = entries.regions()[0].name().full.clone();
    store.split_region(&region, Some("f".into())).unwrap();
    store.take_snapshot(Snapshot::new("s", name("mail.by_sender")).unwrap()).unwrap();
    store.clone_snapshot("s", &name("copy")).unwrap();
    let copy = store.table(&name("copy")).unwrap();
    copy.mutate(&entry.into()).unwrap();
    assert_eq!(keys(&store, "copy"), ["eve|ann|", "x"]);
}

#[test]
fn tables_of_indexes_are_created_disabled_truncated_and_dropped_with_their_table() {
    let (_dir, store, table) = open("by_sender [sender]; by_subject [subject]");
    table.mutate(&put("ann", "s", "eve")).unwrap();
    store.disable_table(&name("mail")).unwrap();
    let entries = store.table(&name("mail.by_sender")).unwrap();
    assert_eq!(entries.check_enabled().unwrap_err().kind(), ErrorKind::TableNotEnabled);
    store.truncate_table(&name("mail"), true).unwrap();
    assert!(keys(&store, "mail.by_sender").is_empty());
    assert_eq!(store.index_state(&name("mail"), "by_sender").unwrap(), IndexState::Ready);
    store.disable_table(&name("mail")).unwrap();
    store.drop_table(&name("mail")).unwrap();
    assert!(store.tables().is_empty());
    // A name that is taken.
    let family = FamilyDescriptor::new("f").unwrap();
    let taken = TableDescriptor::new(name("mail.by_sender")).family(family);
    store.create_table(taken, &[]).unwrap();
    let error = store.create_table(mail("by_sender [sender]"), &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TableExists, "{error}");
    assert!(store.table(&name("mail")).is_err(), "neither table was created");
}

#[test]
fn an_invalid_declaration_is_refused_and_nothing_changes() {
    let (_dir, store, _table) = open("by_sender [sender]");
    for (indexes, part) in [
        ("by_sendr [sendr]", "did you mean `sender`"),
        ("a [sender]; a [subject]", "`a`"),
        ("a memory [sender]", "not memory"),
        ("a [sender", "never closed"),
    ] {
        let error = alter(&store, indexes).unwrap_err();
        assert!(error.message().contains(part), "{indexes}: {error}");
    }
    assert_eq!(store.tables().len(), 2);
}

#[test]
fn an_index_declared_later_is_built_and_one_dropped_is_gone() {
    let (dir, store, table) = open("by_sender [sender]");
    for row in 0..1000 {
        table.mutate(&put(&format!("{row:04}"), "t", &format!("{}", row % 7))).unwrap();
    }
    alter(&store, "by_subject [subject] covers sender").unwrap();
    assert!(store.table(&name("mail.by_sender")).is_err());
    assert_eq!(settle(&store, "by_subject"), IndexState::Ready);
    assert_eq!(keys(&store, "mail.by_subject").len(), 1000);
    let report = store.verify_index(&name("mail"), "by_subject", |_| {}).unwrap();
    assert_eq!((report.rows, report.entries, report.is_clean()), (1000, 1000, true));
    store.close().unwrap();
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(store.index_state(&name("mail"), "by_subject").unwrap(), IndexState::Ready);
    assert_eq!(keys(&store, "mail.by_subject").len(), 1000);
}

#[test]
fn a_second_row_with_a_unique_value_is_refused_until_the_first_gives_it_up() {
    let (_dir, store, table) = open("one_email [email] unique");
    table.mutate(&put("ann", "e", "a@x")).unwrap();
    let error = table.mutate(&put("bob", "e", "a@x")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(error.message().contains("one_email is unique"), "{error}");
    assert!(table.get(&Get::new("bob").unwrap()).unwrap().is_empty());
    table.mutate(&put("ann", "e", "a@x")).unwrap();
    table.mutate(&put("ann", "t", "hello")).unwrap();
    table.mutate(&put("ann", "e", "b@x")).unwrap();
    table.mutate(&put("bob", "e", "a@x")).unwrap();
    // In one record a value may move to another row.
    let swap = [put("ann", "e", "a@x"), put("bob", "e", "b@x")];
    let swap: Vec<_> = swap.into_iter().map(|put| (Arc::clone(&table), put)).collect();
    store.commit(&swap).unwrap();
    assert_eq!(keys(&store, "mail.one_email"), ["a@x|ann|", "b@x|bob|"]);
    let both: Vec<_> =
        [put("c", "e", "c@x"), put("d", "e", "c@x")].map(|put| (Arc::clone(&table), put)).into();
    assert!(store.commit(&both).is_err());
    assert_eq!(keys(&store, "mail.one_email").len(), 2);
}

#[test]
fn of_a_batch_only_the_rows_with_taken_values_are_refused() {
    let (_dir, store, table) = open("one_email [email] unique");
    table.mutate(&put("ann", "e", "a@x")).unwrap();
    let outcomes = table.batch(vec![
        put("b", "e", "b@x"),
        put("c", "e", "a@x"),
        put("d", "e", "b@x"),
        put("e", "e", "e@x"),
    ]);
    let failed: Vec<_> = outcomes.iter().map(Result::is_err).collect();
    assert_eq!(failed, [false, true, true, false]);
    assert_eq!(keys(&store, "mail.one_email"), ["a@x|ann|", "b@x|b|", "e@x|e|"]);
}

#[test]
fn a_unique_index_over_duplicates_is_off_and_names_them() {
    let (_dir, store, table) = open("by_sender [sender]");
    for row in 0..30 {
        table.mutate(&put(&format!("{row:02}"), "e", &format!("{}@x", row % 20))).unwrap();
    }
    alter(&store, "one_email [email] unique").unwrap();
    let IndexState::Off(why) = settle(&store, "one_email") else { panic!("it is not off") };
    assert_eq!(why.matches("refused row=").count(), 10, "{why}");
    for row in 20..30 {
        table.mutate(&Delete::new(format!("{row:02}")).unwrap().into()).unwrap();
    }
    store.request_index_repair(&name("mail"), "one_email").unwrap();
    assert_eq!(settle(&store, "one_email"), IndexState::Ready);
    assert_eq!(keys(&store, "mail.one_email").len(), 20);
}

#[test]
fn of_writers_that_race_for_a_unique_value_one_gets_it() {
    let (_dir, store, table) = open("one_email [email] unique");
    for round in 0..40 {
        let won = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let table = &table;
                let won = &won;
                scope.spawn(move || {
                    let row = format!("{round}-{writer}");
                    let done = table.mutate(&put(&row, "e", &format!("{round}@x")));
                    won.fetch_add(usize::from(done.is_ok()), Ordering::Relaxed);
                });
            }
        });
        assert_eq!(won.into_inner(), 1);
    }
    assert_eq!(keys(&store, "mail.one_email").len(), 40);
}

#[test]
fn a_change_that_skips_the_log_is_logged_with_its_entries() {
    let (dir, store, table) = open("by_sender [sender]");
    let mut put = Put::new("ann").unwrap().add("d", "s", "eve").unwrap();
    put.durability = Durability::SkipWal;
    table.mutate(&put.into()).unwrap();
    let copy = copy_of_store(dir.path());
    drop(store);
    let store = Store::open(copy.path()).unwrap();
    assert_eq!(keys(&store, "mail"), ["ann"]);
    assert_eq!(keys(&store, "mail.by_sender"), ["eve|ann|"]);
}

#[test]
fn an_index_is_right_after_concurrent_writers_splits_flushes_compactions_builds_and_loads() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings { memstore_flush_bytes: 64 << 10, ..Settings::default() };
    let store = Store::builder(dir.path()).settings(settings).open().unwrap();
    store.create_table(mail("by_sender [sender] covers subject"), &["m".into()]).unwrap();
    let table = store.table(&name("mail")).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                let store = &store;
                let table = &table;
                scope.spawn(move || {
                    for step in 0..600 {
                        let row = format!("{:02}", (step * 7 + writer * 13) % 50);
                        let sender = format!("s{}", (step + writer) % 5);
                        match step % 5 {
                            0 => _ = table.mutate(&Delete::new(row).unwrap().into()),
                            1 => {
                                let _ = store.transact(|it| {
                                    it.mutate(table, put(&row, "s", &sender))?;
                                    it.mutate(table, put(&row, "t", "in a transaction")).map(|_| ())
                                });
                            }
                            2 => {
                                let other = format!("z{row}");
                                _ = table
                                    .batch(vec![put(&row, "t", "x"), put(&other, "s", &sender)]);
                            }
                            _ => _ = table.mutate(&put(&row, "s", &sender)),
                        }
                    }
                })
            })
            .collect();
        let is_over = &is_over;
        let store = &store;
        scope.spawn(move || {
            let mut step = 0;
            while !is_over.load(Ordering::Relaxed) {
                step += 1;
                for table in store.tables() {
                    let region = &table.regions()[step % table.regions().len()];
                    match step % 6 {
                        0 => _ = table.flush(),
                        1 => _ = table.compact(CompactionKind::Minor),
                        2 => _ = table.compact(CompactionKind::Major),
                        3 if table.regions().len() < 6 => {
                            _ = store.split_region(&region.name().full, None);
                        }
                        4 if table.regions().len() > 3 => {
                            let names: Vec<Bytes> = table.regions()[1..3]
                                .iter()
                                .map(|region| region.name().full.clone())
                                .collect();
                            _ = store.merge_regions(&[&names[0], &names[1]]);
                        }
                        _ => {}
                    }
                }
                match step % 9 {
                    0 => store.request_index_repair(&name("mail"), "by_sender").unwrap(),
                    4 => {
                        let Mutation::Put(put) = put("20", "s", "loaded") else { unreachable!() };
                        let mut rows = vec![put.cells().to_vec()];
                        store.load_rows(&name("mail"), || Ok(rows.pop())).unwrap();
                    }
                    _ => {}
                }
            }
        });
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(settle(&store, "by_sender"), IndexState::Ready);
    let report = store.verify_index(&name("mail"), "by_sender", |_| {}).unwrap();
    assert!(report.is_clean() && report.entries > 0, "{report:?}");
}

/// A plain and covering index, a unique one, and a copy.
const COMPARED: &str = "by_sender [sender] covers subject; one_email [email] unique; \
                        copied [bucket 4 of user][user] covers *";

#[test]
fn an_index_that_is_compared_beside_writers_shows_no_difference() {
    let (_dir, store, table) = open(COMPARED);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let table = &table;
            let is_over = &is_over;
            scope.spawn(move || {
                for step in (0u32..).take_while(|_| !is_over.load(Ordering::Relaxed)) {
                    let row = format!("{}{writer}-{}", ["a", "z"][step as usize % 2], step % 40);
                    let put = Put::new(row.clone()).unwrap();
                    let put = put.add("d", "s", format!("s{}", step % 7)).unwrap();
                    let put = put.add("d", "e", format!("{row}@{}", step % 3)).unwrap();
                    let mut put = put.add("d", "t", format!("t{step}")).unwrap();
                    // Entries expire, too.
                    put.ttl_millis = (step % 5 == 0).then_some(i64::from(step % 9));
                    table.mutate(&put.into()).unwrap();
                    if step % 11 == 0 {
                        table.mutate(&Delete::new(row).unwrap().into()).unwrap();
                    }
                }
            });
        }
        let mut reports = Vec::new();
        for _ in 0..40 {
            for index in ["by_sender", "one_email", "copied"] {
                reports.push((index, store.verify_index(&name("mail"), index, |_| {})));
            }
        }
        is_over.store(true, Ordering::Relaxed);
        for (index, report) in reports {
            let report = report.unwrap();
            assert!(report.is_clean(), "{index}: {report:?}");
        }
    });
}

#[test]
fn an_index_that_is_altered_while_it_is_compared_is_no_difference() {
    let (_dir, store, table) = open("by_sender [sender]");
    for row in 0..600 {
        table.mutate(&put(&format!("{row:03}"), "s", "eve")).unwrap();
    }
    let mut is_altered = false;
    let compared = store.verify_index(&name("mail"), "by_sender", |_| {
        if !std::mem::replace(&mut is_altered, true) {
            alter(&store, "by_sender [sender] covers subject").unwrap();
        }
    });
    let error = compared.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(error.message().contains("was altered while it was compared"), "{error}");
}

#[test]
fn a_row_whose_entry_is_too_long_turns_a_new_index_off_and_can_still_be_changed() {
    let (_dir, store, table) = open("by_sender [sender]");
    let long = "x".repeat(40_000);
    table.mutate(&put("ann", "t", &long)).unwrap();
    table.mutate(&put("bob", "t", "hello")).unwrap();
    alter(&store, "by_subject [subject]").unwrap();
    let IndexState::Off(why) = settle(&store, "by_subject") else { panic!("it is not off") };
    assert!(why.contains("ann") && why.contains("32767"), "{why}");
    let error = table.mutate(&put("zoe", "t", &long)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{error}");
    table.mutate(&put("ann", "s", "eve")).unwrap();
    table.mutate(&put("ann", "t", "short")).unwrap();
    store.request_index_repair(&name("mail"), "by_subject").unwrap();
    assert_eq!(settle(&store, "by_subject"), IndexState::Ready);
    assert_eq!(keys(&store, "mail.by_subject"), ["hello|bob|", "short|ann|"]);
}

#[test]
fn a_table_with_a_unique_index_is_disabled_and_altered_beside_writers() {
    let (_dir, store, table) = open("one_email [email] unique");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let table = &table;
            let is_over = &is_over;
            scope.spawn(move || {
                let mut step = 0;
                while !is_over.load(Ordering::Relaxed) {
                    step += 1;
                    let _ =
                        table.mutate(&put(&format!("{writer}"), "e", &format!("{}@x", step % 4)));
                }
            });
        }
        for step in 0..60 {
            match step % 3 {
                0 => {
                    store.disable_table(&name("mail")).unwrap();
                    store.enable_table(&name("mail")).unwrap();
                }
                1 => alter(&store, "one_email [email] unique; by_sender [sender]").unwrap(),
                _ => alter(&store, "one_email [email] unique").unwrap(),
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(settle(&store, "one_email"), IndexState::Ready);
    let report = store.verify_index(&name("mail"), "one_email", |_| {}).unwrap();
    assert!(report.is_clean(), "{report:?}");
    let taken = keys(&store, "mail.one_email");
    let values: std::collections::BTreeSet<_> =
        taken.iter().map(|entry| entry.split('|').next().unwrap()).collect();
    assert_eq!(values.len(), taken.len(), "{taken:?}");
}

#[test]
fn wide_row_of_expiring_cells_is_written_and_deleted_with_its_entries() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let family = FamilyDescriptor::new("t").unwrap().attribute("TTL", "1000000");
    let table = TableDescriptor::new(name("mail"))
        .family(family)
        .attribute(KEY_ATTRIBUTE, "1 [user text]")
        .attribute(COLUMNS_ATTRIBUTE, "1 t:[tag string] tagged blob")
        .attribute(INDEXES_ATTRIBUTE, "1 by_tag [tagged.tag]; by_user [user]");
    store.create_table(table, &[]).unwrap();
    let table = store.table(&name("mail")).unwrap();
    let now = store.now_millis();
    // Each ends at another time.
    let tags: Vec<_> = (0..3000).map(|tag| format!("{tag:04}\0\x01")).collect();
    for (nth, some) in tags.chunks(500).enumerate() {
        let mut put = Put::new("a").unwrap();
        for (at, tag) in some.iter().enumerate() {
            let at = Timestamp::from_millis(now - 10_000 + (nth * 500 + at) as i64).unwrap();
            put = put.add_at("t", tag.clone(), at, "1").unwrap();
        }
        table.mutate(&put.into()).unwrap();
    }
    let one = Put::new("a").unwrap().add("t", "0001\0\x01", "2").unwrap();
    table.mutate(&one.into()).unwrap();
    assert_eq!(keys(&store, "mail.by_tag").len(), tags.len());
    for index in ["by_tag", "by_user"] {
        assert!(store.verify_index(&name("mail"), index, |_| {}).unwrap().is_clean(), "{index}");
    }
    table.mutate(&Delete::new("a").unwrap().into()).unwrap();
    assert!(keys(&store, "mail.by_tag").is_empty() && keys(&store, "mail.by_user").is_empty());
}
