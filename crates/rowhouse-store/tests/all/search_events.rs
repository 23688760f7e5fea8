//! The store's part in full-text indexes: every change to a row brings the row key into the queue,
//! and the state shows when rows have changed otherwise.

use std::sync::Arc;

use rowhouse_model::{
    Append, Bytes, Cell, CellKind, Condition, Delete, Durability, ErrorKind, FamilyDescriptor, Get,
    Increment, Mutation, Put, Result, RowMutations, Scan, Snapshot, TableDescriptor, TableName,
    Timestamp,
};
use rowhouse_schema::{
    COLUMNS_ATTRIBUTE, INDEX_OF_ATTRIBUTE, INDEXES_ATTRIBUTE, IndexState, KEY_ATTRIBUTE,
    LIST_FAMILY, QUEUE_FAMILY, SEGMENT_FAMILY,
};
use rowhouse_store::{
    Clock, CompactionKind, ExportedCells, SearchIndex, Settings, Store, Table, files_to_load,
    salvage,
};

use crate::histories::copy_of_store;

const INDEXES: &str = "text search body english, tagged.tag keyword, size";
const BUILDING: IndexState = IndexState::Building { next_row: Bytes::new() };

fn name(name: &str) -> TableName {
    TableName::parse(name).unwrap()
}

fn mail(indexes: &str) -> TableDescriptor {
    let family = |name: &'static str| FamilyDescriptor::new(name).unwrap();
    TableDescriptor::new(name("mail"))
        .family(family("d").versions(3))
        .family(family("t"))
        .family(family("x"))
        .attribute(KEY_ATTRIBUTE, "1 [user text]")
        .attribute(
            COLUMNS_ATTRIBUTE,
            "1 d:b body string; d:z size i64; t:[tag string] tagged u8; d:s sender string",
        )
        .attribute(INDEXES_ATTRIBUTE, format!("1 {indexes}"))
}

struct Mail {
    dir: tempfile::TempDir,
    store: Store,
}

impl Mail {
    fn new() -> Self {
        Self::with(INDEXES)
    }

    fn with(indexes: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        store.create_table(mail(indexes), &["m".into()]).unwrap();
        Self { dir, store }
    }

    fn table(&self) -> Arc<Table> {
        self.store.table(&name("mail")).unwrap()
    }

    fn entries(&self) -> Arc<Table> {
        self.store.table(&name("mail.text")).unwrap()
    }

    fn state(&self) -> IndexState {
        self.store.index_state(&name("mail"), "text").unwrap()
    }

    /// Sets the state, which another thread might do.
    fn set(&self, to: &IndexState) {
        assert!(self.store.set_search_state(&self.entries(), &self.state(), to).unwrap());
    }

    fn queue(&self) -> Vec<(String, i64)> {
        let scan = Scan::all().family(QUEUE_FAMILY);
        let mut rows = self.entries().scan(scan).unwrap();
        let rows = std::iter::from_fn(|| rows.next().unwrap());
        let entry = |row: rowhouse_model::Row| {
            let cell = row.cells().next().unwrap();
            assert!(cell.qualifier().is_empty() && cell.value().is_empty());
            (String::from_utf8(row.key().to_vec()).unwrap(), cell.timestamp().as_millis())
        };
        rows.map(entry).collect()
    }

    fn queued(&self) -> String {
        let rows: Vec<_> = self.queue().into_iter().map(|(row, _)| row).collect();
        rows.join(" ")
    }

    /// Removes these queue entries.
    fn take(&self, entries: &[(String, i64)]) {
        let family = QUEUE_FAMILY.as_bytes();
        let marker = |(row, at): &(String, i64)| {
            let at = Timestamp::from_millis(*at).unwrap();
            Cell::new(row.clone(), family, b"", at, CellKind::DeleteColumn, b"").unwrap()
        };
        let cells = entries.iter().map(marker).collect();
        self.store.write_search_table(&self.entries(), cells).unwrap();
    }

    /// Empties the queue, and returns the rows.
    fn drain(&self) -> String {
        let queue = self.queue();
        self.take(&queue);
        assert_eq!(self.queued(), "");
        queue.into_iter().map(|(row, _)| row).collect::<Vec<_>>().join(" ")
    }

    fn alter(&self, change: impl FnOnce(TableDescriptor) -> TableDescriptor) -> Result<()> {
        self.store.change_table(&name("mail"), |table| Ok(change(table.clone())))
    }

    /// Returns a copy of the store as if it had been killed now.
    fn killed(&self) -> Self {
        let dir = copy_of_store(self.dir.path());
        let store = Store::open(dir.path()).unwrap();
        Self { dir, store }
    }
}

/// A clock that stands still.
struct SetTo(i64);

impl Clock for SetTo {
    fn now_millis(&self) -> i64 {
        self.0
    }
}

fn put(row: &str, family: &str, qualifier: &str, value: &str) -> Put {
    Put::new(row.to_owned()).unwrap().add(family, qualifier, value).unwrap()
}

fn body(row: &str) -> Mutation {
    put(row, "d", "b", "words").into()
}

#[test]
fn every_kind_of_write_queues_its_rows_and_a_kill_loses_none() {
    let mail = Mail::new();
    let table = mail.table();
    table.mutate(&body("put")).unwrap();
    table.batch(vec![body("batch-1"), body("z-batch-2")]).into_iter().for_each(|it| {
        it.unwrap();
    });
    let mutations = [body("rows-1"), body("rows-2")];
    table.regions()[1].mutate_rows(&[], &mutations).unwrap();
    let commit = [(Arc::clone(&table), body("commit-1")), (table.clone(), body("commit-2"))];
    mail.store.commit(&commit).unwrap();
    mail.store.transact(|it| it.mutate(&table, body("transaction")).map(|_| ())).unwrap();
    let absent = Condition::no_value("d", "b");
    assert!(table.mutate_if(&absent, &body("condition")).unwrap().is_some());
    assert!(table.mutate_if(&absent, &body("put")).unwrap().is_none());
    let rows = RowMutations::new("row-mutations").unwrap().with(body("row-mutations")).unwrap();
    table.mutate_row(&rows).unwrap();
    let increment = Increment::new("increment").unwrap().add("d", "z", 1).unwrap();
    table.mutate(&increment.into()).unwrap();
    let append = Append::new("append").unwrap().add("d", "b", "more").unwrap();
    table.mutate(&append.into()).unwrap();
    let mut unlogged = put("unlogged", "d", "b", "words");
    unlogged.durability = Durability::SkipWal;
    table.mutate(&unlogged.into()).unwrap();
    table.mutate(&put("tag", "t", "new", "1").into()).unwrap();
    let all = "append batch-1 commit-1 commit-2 condition increment put row-mutations rows-1 \
               rows-2 tag transaction unlogged z-batch-2";
    assert_eq!(mail.queued(), all);
    let killed = mail.killed();
    assert_eq!(killed.queued(), all);
    assert!(!killed.table().get(&Get::new("unlogged").unwrap()).unwrap().is_empty());
    mail.entries().flush().unwrap();
    assert_eq!(mail.killed().queued(), all);
    assert_eq!(mail.drain(), all);
    assert_eq!(mail.killed().queued(), "");
}

#[test]
fn a_queue_is_a_task_until_it_is_empty() {
    let mail = Mail::new();
    let queues = || {
        let tasks = mail.store.tasks().into_iter();
        tasks.filter(|task| task.description.starts_with("Queue")).collect::<Vec<_>>()
    };
    assert_eq!(queues(), []);
    mail.table().mutate(&body("a")).unwrap();
    let queued = mail.queue();
    let [task] = &queues()[..] else { panic!("{:?}", queues()) };
    assert_eq!(task.description, "Queue of index text of table mail");
    assert_eq!(task.status, "1 row waits to be written to a segment");
    assert_eq!(task.started_millis, queued[0].1);
    mail.table().mutate(&body("b")).unwrap();
    assert_eq!(queues()[0].status, "2 rows wait to be written to a segment");
    mail.take(&mail.queue());
    assert_eq!(queues(), []);
}

#[test]
fn only_changes_of_columns_that_a_field_reads_are_queued() {
    let mail = Mail::new();
    let table = mail.table();
    table.mutate(&put("sender", "d", "s", "ann").into()).unwrap();
    table.mutate(&put("other", "x", "q", "v").into()).unwrap();
    let delete = |row: &str| Delete::new(row.to_owned()).unwrap();
    let latest = Timestamp::LATEST;
    table.mutate(&delete("other").family("x", latest).unwrap().into()).unwrap();
    table.mutate(&delete("sender").column("d", "s", latest).unwrap().into()).unwrap();
    assert_eq!(mail.drain(), "");
    // Also what is not there: it may have been.
    table.mutate(&delete("row").into()).unwrap();
    table.mutate(&delete("family").family("d", latest).unwrap().into()).unwrap();
    table.mutate(&delete("tag").column("t", "new", latest).unwrap().into()).unwrap();
    table.mutate(&delete("version").version("d", "b", latest).unwrap().into()).unwrap();
    let at = Timestamp::from_millis(5).unwrap();
    table.mutate(&delete("family-version").family_version("t", at).unwrap().into()).unwrap();
    assert_eq!(mail.drain(), "family family-version row tag version");
    // Beside cells that no field reads.
    let both = put("both", "d", "s", "ann").add("x", "q", "v").unwrap();
    table.mutate(&both.add("d", "z", "\0\0\0\0\0\0\0\x01").unwrap().into()).unwrap();
    assert_eq!(mail.drain(), "both");
}

#[test]
fn each_index_has_the_rows_that_its_own_fields_read() {
    let mail = Mail::with("text search body english; tags search tagged.tag keyword; by [sender]");
    let tags = || {
        let mut rows = mail.store.table(&name("mail.tags")).unwrap().scan(Scan::all()).unwrap();
        std::iter::from_fn(|| rows.next().unwrap()).count()
    };
    let table = mail.table();
    table.mutate(&put("tag", "t", "new", "1").into()).unwrap();
    assert_eq!((mail.drain(), tags()), (String::new(), 1));
    table.mutate(&put("by", "d", "s", "ann").into()).unwrap();
    assert_eq!((mail.drain(), tags()), (String::new(), 1));
    table.mutate(&body("body")).unwrap();
    table.mutate(&Delete::new("by").unwrap().into()).unwrap();
    assert_eq!((mail.drain(), tags()), ("body by".to_owned(), 2));
    assert!(mail.store.verify_index(&name("mail"), "by", |_| {}).unwrap().is_clean());
}

#[test]
fn a_change_that_came_later_stays_in_the_queue() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::builder(dir.path()).with_clock(SetTo(1_000_000)).open().unwrap();
    store.create_table(mail(INDEXES), &[]).unwrap();
    let mail = Mail { dir, store };
    let table = mail.table();
    // More than the row locks can tell apart.
    let rows: Vec<_> = (0..8_000).map(|row| format!("row{row}")).collect();
    let write = || table.batch(rows.iter().map(|row| body(row)).collect());
    for round in 0..4 {
        write();
        let before = mail.queue();
        write();
        let after = mail.queue();
        assert_eq!((before.len(), after.len()), (8_000, 8_000));
        assert!(before.iter().zip(&after).all(|(one, two)| one.0 == two.0 && one.1 < two.1));
        mail.take(&before);
        assert_eq!(mail.queue(), after, "round {round}");
        mail.take(&after);
        // Nor are the rows' earlier entries uncovered.
        assert_eq!(mail.queued(), "", "round {round}");
        if round == 1 {
            let region = table.regions()[0].name().full.clone();
            mail.store.split_region(&region, Some("row4".into())).unwrap();
        }
    }
    mail.entries().flush().unwrap();
    let family = QUEUE_FAMILY.as_bytes();
    mail.entries().compact_family(family, CompactionKind::Major).unwrap();
    let mut raw = Scan::all();
    raw.raw = true;
    assert!(mail.entries().scan(raw).unwrap().next().unwrap().is_none());
    write();
    assert_eq!(mail.queue().len(), 8_000);
}

#[test]
fn entries_are_later_than_those_of_an_earlier_open_though_the_clock_was_set_back() {
    let dir = tempfile::tempdir().unwrap();
    let open = |millis: i64| {
        let store = Store::builder(dir.path()).with_clock(SetTo(millis)).open().unwrap();
        if store.tables().is_empty() {
            store.create_table(mail(INDEXES), &[]).unwrap();
        }
        store.table(&name("mail")).unwrap().mutate(&body("row")).unwrap();
        let entries = store.table(&name("mail.text")).unwrap();
        let row = entries.get(&Get::new("row").unwrap()).unwrap();
        let at = row.cells().next().unwrap().timestamp().as_millis();
        (store, at)
    };
    let (store, first) = open(1_000_000);
    drop(store);
    let (store, second) = open(1_000);
    assert!(second > first, "{second} {first}");
    store.table(&name("mail.text")).unwrap().flush().unwrap();
    drop(store);
    let (_, third) = open(2_000);
    assert!(third > second, "{third} {second}");
}

#[test]
fn the_table_of_a_full_text_index_is_written_as_one_record() {
    let mail = Mail::new();
    let entries = mail.entries();
    let cell = |family: &'static str, row: &str, at| {
        let family = family.as_bytes();
        Cell::new(row, family, b"p", at, CellKind::Put, b"value").unwrap()
    };
    let at = Timestamp::from_millis(7).unwrap();
    let cells = vec![
        cell(SEGMENT_FAMILY, "z", at),
        cell(LIST_FAMILY, "m", at),
        cell(SEGMENT_FAMILY, "a", at),
    ];
    let region = entries.regions()[0].name().full.clone();
    mail.store.split_region(&region, Some("k".into())).unwrap();
    // By the table as it was before the split.
    mail.store.write_search_table(&entries, cells.clone()).unwrap();
    mail.store.write_search_table(&entries, Vec::new()).unwrap();
    let killed = mail.killed();
    for mail in [&mail, &killed] {
        let mut rows = mail.entries().scan(Scan::all()).unwrap();
        let rows: Vec<_> = std::iter::from_fn(|| rows.next().unwrap()).collect();
        let shown = rows.iter().map(|row| (row.key(), row.cells().next().unwrap().timestamp()));
        assert!(shown.eq([(&b"a"[..], at), (b"m", at), (b"z", at)]));
    }
    let refused = |entries: &Arc<Table>, cells: Vec<Cell>| {
        mail.store.write_search_table(entries, cells).unwrap_err().kind()
    };
    let unknown = vec![cell(SEGMENT_FAMILY, "a", at), cell("x", "a", at)];
    assert_eq!(refused(&entries, unknown), ErrorKind::NoSuchColumnFamily);
    let latest = vec![cell(SEGMENT_FAMILY, "a", Timestamp::LATEST)];
    assert_eq!(refused(&entries, latest), ErrorKind::InvalidRequest);
    assert_eq!(refused(&mail.table(), cells.clone()), ErrorKind::InvalidRequest);
    mail.alter(|table| table.attribute(INDEXES_ATTRIBUTE, "1 by [sender]")).unwrap();
    let other = mail.store.table(&name("mail.by")).unwrap();
    assert_eq!(refused(&other, cells.clone()), ErrorKind::InvalidRequest);
    assert_eq!(refused(&entries, cells.clone()), ErrorKind::TableNotFound);
    mail.alter(|table| table.attribute(INDEXES_ATTRIBUTE, format!("1 {INDEXES}"))).unwrap();
    assert_eq!(refused(&entries, cells.clone()), ErrorKind::TableNotFound);
    let entries = mail.entries();
    mail.store.disable_table(&name("mail")).unwrap();
    assert_eq!(refused(&entries, cells.clone()), ErrorKind::TableNotEnabled);
    mail.store.truncate_table(&name("mail"), false).unwrap();
    let gone = refused(&entries, cells.clone());
    assert!([ErrorKind::NoSuchColumnFamily, ErrorKind::NotServingRegion].contains(&gone));
    mail.store.write_search_table(&mail.entries(), cells).unwrap();
}

#[test]
fn clients_neither_write_nor_verify_it() {
    let mail = Mail::new();
    let entries = mail.entries();
    let refused = |result: Result<()>, text: &str| {
        let error = result.unwrap_err();
        assert!(error.message().contains(text), "{error}");
        error.kind()
    };
    let write = entries.mutate(&put("x", "q", "", "").into()).map(|_| ());
    let kind = refused(write, "entries of index text of mail");
    assert_eq!(kind, ErrorKind::InvalidRequest);
    let verified = mail.store.verify_index(&name("mail"), "text", |_| {}).map(|_| ());
    let kind =
        refused(verified, "`matches` needs a program that is built with the feature `search`");
    assert_eq!(kind, ErrorKind::Unsupported);
    let error = mail.store.search_read(&name("mail"), "none").map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    let mail = Mail::with("by [sender]");
    refused(mail.store.search_read(&name("mail"), "by").map(|_| ()), "is no full-text index");
    assert!(mail.store.search_indexes().unwrap().is_empty());
}

#[test]
fn a_read_has_tables_state_and_read_point_of_one_moment() {
    let mail = Mail::new();
    mail.set(&BUILDING);
    mail.table().mutate(&body("ann")).unwrap();
    let read = mail.store.search_read(&name("mail"), "text").unwrap();
    mail.table().mutate(&body("bob")).unwrap();
    mail.drain();
    mail.set(&IndexState::Ready);
    assert_eq!(read.state, BUILDING);
    assert_eq!(read.index.search().unwrap().fields().len(), 3);
    let keys = |table: &Arc<Table>| {
        let mut rows = table.scan_at(Scan::all(), &read.point).unwrap();
        let rows = std::iter::from_fn(|| rows.next().unwrap());
        rows.map(|row| String::from_utf8(row.key().to_vec()).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((keys(&read.table), keys(&read.entries)), (vec!["ann".into()], vec!["ann".into()]));
    let get = Get::new("bob").unwrap();
    assert!(read.table.get_at(&get, &read.point).unwrap().is_empty());
    assert_eq!(mail.store.search_read(&name("mail"), "text").unwrap().state, IndexState::Ready);
    let indexes = mail.store.search_indexes().unwrap();
    let [SearchIndex { table, index, entries, state, is_enabled: true, .. }] = &indexes[..] else {
        panic!("one index")
    };
    assert_eq!((table, index.name(), state), (&name("mail"), "text", &IndexState::Ready));
    assert_eq!(entries.name(), &name("mail.text"));
    mail.store.disable_table(&name("mail")).unwrap();
    assert!(!mail.store.search_indexes().unwrap()[0].is_enabled);
}

#[test]
fn a_state_is_set_only_in_place_of_the_one_that_is_meant() {
    let mail = Mail::new();
    assert_eq!(mail.state(), IndexState::Ready, "that of an empty table");
    mail.set(&BUILDING);
    let entries = mail.entries();
    let set = |from: &IndexState, to: &IndexState| {
        mail.store.set_search_state(&entries, from, to).unwrap()
    };
    let at_b = IndexState::Building { next_row: "b".into() };
    assert_eq!(mail.state(), BUILDING);
    assert!(!set(&IndexState::Repairing, &IndexState::Ready));
    assert!(set(&BUILDING, &at_b));
    assert!(!set(&BUILDING, &IndexState::Ready), "it is further");
    assert_eq!(mail.killed().state(), at_b);
    assert!(set(&at_b, &IndexState::Ready));
    assert_eq!(mail.killed().state(), IndexState::Ready);
    let off = IndexState::Off("no room".to_owned());
    assert!(set(&IndexState::Ready, &off));
    mail.store.request_index_repair(&name("mail"), "text").unwrap();
    assert_eq!(mail.state(), IndexState::Repairing);
    let other = mail.table();
    let error = mail.store.set_search_state(&other, &BUILDING, &off).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    // Nobody else sets it: not the thread that builds other indexes, nor an open.
    let killed = mail.killed();
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!((mail.state(), killed.state()), (IndexState::Repairing, IndexState::Repairing));
    // A new table with the same name has the same state, and is not meant.
    mail.alter(|table| table.attribute(INDEXES_ATTRIBUTE, "1 ")).unwrap();
    assert!(!set(&IndexState::Repairing, &IndexState::Ready));
    mail.alter(|table| table.attribute(INDEXES_ATTRIBUTE, format!("1 {INDEXES}"))).unwrap();
    assert!(!set(&BUILDING, &IndexState::Ready));
    assert_eq!(mail.state(), BUILDING);
}

#[test]
fn an_alteration_that_may_change_documents_has_the_index_built_anew() {
    let mail = Mail::new();
    mail.table().mutate(&body("ann")).unwrap();
    mail.set(&IndexState::Ready);
    // In columns that no field reads.
    let family = |name: &'static str| FamilyDescriptor::new(name).unwrap();
    mail.alter(|table| table.family(family("x").versions(9))).unwrap();
    mail.alter(|table| table.family(family("y"))).unwrap();
    mail.alter(|table| table.attribute(INDEXES_ATTRIBUTE, format!("1 {INDEXES}; by [sender]")))
        .unwrap();
    assert_eq!((mail.state(), mail.queued()), (IndexState::Ready, "ann".to_owned()));
    let changes: [fn(TableDescriptor) -> TableDescriptor; 4] = [
        |table| table.family(FamilyDescriptor::new("d").unwrap().versions(1)),
        |table| table.family(FamilyDescriptor::new("t").unwrap().attribute("TTL", "1000")),
        |table| table.attribute(INDEXES_ATTRIBUTE, "1 text search body english chinese"),
        |table| {
            let columns = "1 d:b body blob; d:s sender string";
            table.attribute(COLUMNS_ATTRIBUTE, columns)
        },
    ];
    for (nth, change) in changes.into_iter().enumerate() {
        mail.alter(change).unwrap();
        assert_eq!((mail.state(), mail.queued()), (BUILDING, String::new()), "{nth}");
        mail.table().mutate(&body("bob")).unwrap();
        assert_eq!(mail.queued(), "bob", "{nth}");
        mail.set(&IndexState::Ready);
    }
}

#[test]
fn tables_of_full_text_indexes_go_with_their_tables() {
    let mail = Mail::new();
    mail.table().mutate(&body("ann")).unwrap();
    mail.set(&IndexState::Ready);
    mail.store.take_snapshot(Snapshot::new("s", name("mail")).unwrap()).unwrap();
    mail.store.clone_snapshot("s", &name("clone")).unwrap();
    assert_eq!(mail.store.index_state(&name("clone"), "text").unwrap(), BUILDING);
    mail.store.table(&name("clone")).unwrap().mutate(&body("bob")).unwrap();
    assert_eq!(mail.queued(), "ann");
    let cloned = mail.store.table(&name("clone.text")).unwrap();
    assert!(!cloned.get(&Get::new("bob").unwrap()).unwrap().is_empty());
    mail.store.disable_table(&name("mail")).unwrap();
    assert_eq!(mail.entries().check_enabled().unwrap_err().kind(), ErrorKind::TableNotEnabled);
    mail.store.restore_snapshot("s").unwrap();
    mail.store.enable_table(&name("mail")).unwrap();
    assert_eq!((mail.state(), mail.queued()), (BUILDING, String::new()));
    mail.table().mutate(&body("bob")).unwrap();
    mail.set(&IndexState::Ready);
    mail.store.disable_table(&name("mail")).unwrap();
    mail.store.truncate_table(&name("mail"), true).unwrap();
    assert_eq!((mail.state(), mail.queued()), (IndexState::Ready, String::new()));
    mail.table().mutate(&body("eve")).unwrap();
    assert_eq!(mail.killed().queued(), "eve");
    mail.store.disable_table(&name("mail")).unwrap();
    mail.store.drop_table(&name("mail")).unwrap();
    assert_eq!(mail.store.search_indexes().unwrap().len(), 1, "that of the clone");
}

#[test]
fn the_truncation_of_a_region_has_the_index_repaired() {
    let mail = Mail::new();
    mail.table().mutate(&body("ann")).unwrap();
    mail.set(&IndexState::Ready);
    let truncate = || {
        let region = mail.table().regions()[0].name().full.clone();
        mail.store.truncate_region(&region).unwrap();
    };
    truncate();
    assert_eq!(mail.state(), IndexState::Repairing);
    assert_eq!(mail.killed().state(), IndexState::Repairing);
    // A repair that began before the next one must not end it.
    let entries = mail.entries();
    truncate();
    assert_eq!(mail.state(), BUILDING);
    let repairing = IndexState::Repairing;
    let ready = IndexState::Ready;
    assert!(!mail.store.set_search_state(&entries, &repairing, &ready).unwrap());
    mail.table().mutate(&body("bob")).unwrap();
    assert_eq!(mail.queued(), "bob");
}

#[test]
fn splits_and_merges_keep_the_queue() {
    let mail = Mail::new();
    let table = mail.table();
    table.mutate(&body("ann")).unwrap();
    let split = |table: &Arc<Table>, at: &'static str| {
        let region = table.region_of(at.as_bytes()).name().full.clone();
        mail.store.split_region(&region, Some(at.into())).unwrap();
    };
    split(&table, "c");
    split(&mail.entries(), "d");
    for row in ["ann", "eve", "zoe"] {
        table.mutate(&body(row)).unwrap();
    }
    let regions = mail.table().regions()[..2].to_vec();
    let names: Vec<_> = regions.iter().map(|region| &region.name().full[..]).collect();
    mail.store.merge_regions(&names).unwrap();
    table.mutate(&body("bob")).unwrap();
    assert_eq!(mail.killed().queued(), "ann bob eve zoe");
    assert_eq!(mail.drain(), "ann bob eve zoe");
    assert_eq!(mail.state(), IndexState::Ready);
}

/// Returns a directory with HFiles that hold table rows.
fn hfiles(rows: impl Iterator<Item = String>) -> tempfile::TempDir {
    let mail = Mail::with("by [sender]");
    let rows =
        rows.map(|row| put(&row, "d", "b", "loaded").add("t", "new", "\x01").unwrap().into());
    for outcome in mail.table().batch(rows.collect()) {
        outcome.unwrap();
    }
    let hfiles = tempfile::tempdir().unwrap();
    mail.store
        .export_hfiles(&name("mail"), hfiles.path(), ExportedCells::Retained, |_| {})
        .unwrap();
    hfiles
}

#[test]
fn the_rows_of_a_load_are_queued() {
    let hfiles = hfiles(["ann", "bob", "zoe"].map(str::to_owned).into_iter());
    let files = files_to_load(hfiles.path()).unwrap();
    let mail = Mail::new();
    let load = || mail.store.bulk_load(&name("mail"), &files, |_| {}).unwrap();
    mail.table().mutate(&body("ann")).unwrap();
    let before = mail.queue();
    let off = IndexState::Off("no room".to_owned());
    for state in [IndexState::Ready, BUILDING, off] {
        mail.set(&state);
        load();
        assert_eq!(mail.state(), state);
        match state {
            IndexState::Off(_) => assert_eq!(mail.queued(), "", "it is of no use"),
            _ => {
                // A document that was written for the row before the load is not right.
                mail.take(&before);
                assert_eq!(mail.killed().queued(), "ann bob zoe");
                assert_eq!(mail.drain(), "ann bob zoe");
            }
        }
    }
    // A repair that began before the load may have missed the loaded rows.
    mail.store.request_index_repair(&name("mail"), "text").unwrap();
    let entries = mail.entries();
    load();
    assert_eq!((mail.state(), mail.queued()), (BUILDING, "ann bob zoe".to_owned()));
    let repairing = IndexState::Repairing;
    let ready = IndexState::Ready;
    assert!(!mail.store.set_search_state(&entries, &repairing, &ready).unwrap());
}

#[test]
fn a_load_of_many_rows_has_the_index_repaired() {
    let mail = Mail::new();
    mail.set(&IndexState::Ready);
    let mut rows = 0..100_001u32;
    let next = || {
        let Some(row) = rows.next() else { return Ok(None) };
        let at = Timestamp::from_millis(5)?;
        let kind = CellKind::Put;
        let cell = Cell::new(format!("{row:06}"), b"d", b"b", at, kind, b"loaded")?;
        Ok(Some(vec![cell]))
    };
    mail.store.load_rows(&name("mail"), next).unwrap();
    assert_eq!((mail.state(), mail.queued()), (IndexState::Repairing, String::new()));
}

#[test]
fn a_salvage_leaves_the_index_to_be_built() {
    let mail = Mail::new();
    mail.table().mutate(&body("ann")).unwrap();
    mail.set(&IndexState::Ready);
    let Mail { dir, store } = mail;
    store.close().unwrap();
    drop(store);
    let into = tempfile::tempdir().unwrap();
    let report = salvage(dir.path(), into.path(), |_| {}).unwrap();
    assert!(report.lost.is_empty(), "{report:?}");
    let store = Store::open(into.path()).unwrap();
    let mail = Mail { dir: into, store };
    assert_eq!((mail.state(), mail.queued()), (BUILDING, String::new()));
    assert!(!mail.table().get(&Get::new("ann").unwrap()).unwrap().is_empty());
    mail.table().mutate(&body("bob")).unwrap();
    assert_eq!(mail.queued(), "bob");
}

#[test]
fn a_promoted_copy_has_the_index_built_anew() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let declared = mail("text search body english; copied [n][user] covers *");
    let declared = declared.attribute(KEY_ATTRIBUTE, "1 [user string][n u8]");
    store.create_table(declared, &[]).unwrap();
    let mail = Mail { dir, store };
    mail.table().mutate(&body("ann\0\u{1}\u{7}")).unwrap();
    mail.set(&IndexState::Ready);
    mail.store.promote_index(&name("mail"), "copied").unwrap();
    assert_eq!((mail.state(), mail.queued()), (BUILDING, String::new()));
    mail.table().mutate(&body("\u{8}bob\0\u{1}")).unwrap();
    assert_eq!(mail.queued(), "\u{8}bob\0\u{1}");
}

#[test]
fn flushes_and_compactions_do_not_change_rows_that_are_indexed() {
    let mail = Mail::with("text search body english");
    let table = mail.table();
    let at = |at| Timestamp::from_millis(at).unwrap();
    let version =
        |millis, value: &str| Put::new("ann").unwrap().add_at("d", "b", at(millis), value).unwrap();
    // Four versions, of which three are retained: the oldest would show again.
    for millis in 1..=4 {
        table.mutate(&version(millis, &format!("v{millis}")).into()).unwrap();
    }
    for millis in 2..=4 {
        let delete = Delete::new("ann").unwrap().version("d", "b", at(millis)).unwrap();
        table.mutate(&delete.into()).unwrap();
    }
    let shown = || table.get(&Get::new("ann").unwrap()).unwrap().value("d", "b");
    let before = shown();
    mail.drain();
    table.flush().unwrap();
    table.compact(CompactionKind::Major).unwrap();
    assert_eq!((shown(), mail.queued()), (before, String::new()));
}

#[test]
fn a_table_cannot_be_declared_to_be_that_of_an_index() {
    let mail = Mail::with("by [sender]");
    let table = TableDescriptor::new(name("mail.text"))
        .family(FamilyDescriptor::new(QUEUE_FAMILY).unwrap())
        .attribute(INDEX_OF_ATTRIBUTE, "1 mail text");
    let error = mail.store.create_table(table, &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
}

#[test]
fn writers_wait_for_room_in_the_queue() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings { memstore_flush_bytes: 256 << 10, ..Settings::default() };
    let store = Store::builder(dir.path()).settings(settings).open().unwrap();
    store.create_table(mail(INDEXES), &[]).unwrap();
    let mail = Mail { dir, store };
    for round in 0..20 {
        let rows = (0..1_000).map(|row| body(&format!("{round:02}{row:04}"))).collect();
        mail.table().batch(rows).into_iter().for_each(|it| {
            it.unwrap();
        });
    }
    assert_eq!(mail.queue().len(), 20_000);
    assert!(mail.entries().regions()[0].size().files > 0);
}
