//! Table writers and readers never see an error about a table that they did not name, whatever is
//! altered meanwhile: all kinds of indexes, families, regions, and the table layout.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rowhouse_model::{
    Append, Bytes, Columns, Condition, Delete, Error, ErrorKind, FamilyDescriptor, Get, Increment,
    Mutation, Put, Result, RowCondition, RowMutations, Scan, Snapshot, TableDescriptor, TableName,
    TableState, Timestamp,
};
use rowhouse_query::{QueryScan, scan_region};
use rowhouse_schema::{COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE, IndexState, KEY_ATTRIBUTE, KeySchema};
use rowhouse_store::{
    Additions, CompactionKind, NonBlocking, Observer, Region, RowChange, Settings, Store, Table,
    WaitMode,
};

const KEY: &str = "[user text]-[n digits 2]";
const COLUMNS: &str = "d:s sender text; d:t subject text; d:e email text; d:n size i64; \
                       t:[tag string] tagged blob";
/// One index for each kind, and two more.
const INDEXES: [&str; 8] = [
    "by_sender [sender]",
    "covering [subject] covers sender, size",
    "partial [size desc] where size > 3",
    "one_email [email] unique",
    "by_tag [tagged.tag]",
    "texts search subject simple",
    "sized [size] covers sender",
    COPY,
];
const COPY: &str = "copied [n][user] covers *";
/// The same index after the promotion.
const PROMOTED: &str = "copied [user text]-[n digits 2] covers *";
const USERS: [&str; 4] = ["ann", "bob", "mia", "zoe"];
const WRITERS: usize = 3;

fn name() -> TableName {
    TableName::parse("mail").unwrap()
}

fn temporary() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn mail() -> TableDescriptor {
    let family = |name: &'static str| FamilyDescriptor::new(name).unwrap();
    TableDescriptor::new(name())
        .family(family("d").versions(2))
        .family(family("t"))
        .family(family("x"))
        .attribute(KEY_ATTRIBUTE, format!("1 {KEY}"))
        .attribute(COLUMNS_ATTRIBUTE, format!("1 {COLUMNS}"))
        .attribute(INDEXES_ATTRIBUTE, format!("1 {}", INDEXES.join("; ")))
}

/// Random numbers: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % bound
    }

    fn of<T: Copy>(&mut self, them: &[T]) -> T {
        them[self.below(them.len())]
    }
}

/// A table and the threads that use it.
struct Mail {
    store: Store,
    is_over: AtomicBool,
    writes: AtomicUsize,
    refusals: AtomicUsize,
}

/// A caller: it names the table, and the family `x` in some calls.
struct Caller<'m> {
    mail: &'m Mail,
    number: usize,
    random: Random,
    table: Arc<Table>,
}

impl Mail {
    fn table(&self) -> Arc<Table> {
        self.store.table(&name()).unwrap()
    }

    fn caller(&self, number: usize, seed: u64) -> Caller<'_> {
        let random = Random(seed * 1_000_003 + 77 * number as u64 + 1);
        Caller { mail: self, number, random, table: self.table() }
    }
}

/// Panics if an error is about something that a caller who names the table did not name, or is not
/// an error that a table alteration may cause.
fn check_refusal(error: &Error, names_x: bool) {
    let text = error.to_string();
    // It says where the rows are now.
    let is_promoted = error.kind() == ErrorKind::LayoutChanged;
    assert!(is_promoted || !text.contains("mail."), "an error about an index: {text}");
    let is_due = match error.kind() {
        // Disabled, truncated, restored, or promoted.
        ErrorKind::NotServingRegion
        | ErrorKind::TableNotEnabled
        | ErrorKind::WrongRegion
        | ErrorKind::LayoutChanged => true,
        ErrorKind::NoSuchColumnFamily => names_x && text.contains(" x "),
        _ => false,
    };
    assert!(is_due, "an error that no caller may see: {text}");
}

impl Caller<'_> {
    /// Returns a row's key in the table layout.
    fn key(&mut self) -> (String, Bytes) {
        let schema = KeySchema::of_table(self.table.descriptor()).unwrap().unwrap();
        // Rows that this caller alone writes, and rows that all write.
        let user = self.random.of(&USERS);
        let own = self.random.below(2);
        let n = self.random.below(8) as u64 + (own * 10 * (self.number + 1)) as u64;
        let key = schema.encode(&[("user", user.into()), ("n", n.into())]).unwrap();
        (format!("{user}-{n}"), key.to_vec().into())
    }

    /// Returns a mutation, and whether it names the family `x`.
    fn mutation(&mut self) -> (Mutation, bool) {
        let (row, key) = self.key();
        let value = format!("v{}", self.random.below(6));
        let put = |qualifier: &'static str, value: Vec<u8>| {
            Put::new(key.clone()).unwrap().add("d", qualifier, value).unwrap()
        };
        let delete = || Delete::new(key.clone()).unwrap();
        let latest = Timestamp::LATEST;
        match self.random.below(13) {
            0 => (put("s", value.into()).into(), false),
            1 => (put("t", format!("{value} words").into()).into(), false),
            2 => (put("e", format!("{row}@{value}").into()).into(), false),
            3 => {
                let size = self.random.below(9) as i64 ^ i64::MIN;
                (put("n", size.to_be_bytes().into()).into(), false)
            }
            4 => {
                let tag = format!("{value}\0\x01");
                (put("s", value.into()).add("t", tag, "x").unwrap().into(), false)
            }
            5 => (put("s", value.into()).add("x", "q", "x").unwrap().into(), true),
            // Has a marker for each table family, and names none.
            6 | 7 => (delete().into(), false),
            8 => (delete().column("d", "s", latest).unwrap().into(), false),
            9 => (delete().version("d", "t", latest).unwrap().into(), false),
            10 => (delete().family("d", latest).unwrap().into(), false),
            11 => (Increment::new(key).unwrap().add("d", "n", 1).unwrap().into(), false),
            _ => (Append::new(key).unwrap().add("d", "s", "y").unwrap().into(), false),
        }
    }

    /// Returns mutations in the region that holds the first, and whether they name the family `x`.
    fn mutations(&mut self) -> (Vec<Mutation>, bool) {
        let mut names_x = false;
        let count = 1 + self.random.below(5);
        let mut mutations = Vec::new();
        for _ in 0..count {
            let (mutation, names_it) = self.mutation();
            names_x |= names_it;
            mutations.push(mutation);
        }
        (mutations, names_x)
    }

    fn of_one_region(&self, mutations: Vec<Mutation>) -> Vec<Mutation> {
        let range = self.table.region_of(mutations[0].row()).info().range.clone();
        mutations.into_iter().filter(|it| range.contains(it.row())).collect()
    }

    /// Returns the region that holds a row, unless the table handle leads to another one since a
    /// promotion.
    fn region_of(&mut self, row: &[u8]) -> Option<Arc<Region>> {
        let region = Arc::clone(self.table.region_of(row));
        if region.info().table == name() {
            return Some(region);
        }
        self.table = self.mail.table();
        None
    }

    /// Makes a call that writes.
    fn write(&mut self) {
        match self.random.below(9) {
            0 | 1 => {
                let (mutation, names_x) = self.mutation();
                let done = self.table.mutate(&mutation);
                self.ended(done, names_x);
            }
            2 => {
                let (mutation, names_x) = self.mutation();
                let done = self.table.mutate_if(&Condition::NoRow, &mutation);
                self.ended(done, names_x);
            }
            3 => {
                let (mutations, names_x) = self.mutations();
                for done in self.table.batch(mutations) {
                    self.ended(done, names_x);
                }
            }
            4 => {
                let (mutations, names_x) = self.mutations();
                let mutations = self.of_one_region(mutations);
                let Some(region) = self.region_of(mutations[0].row()) else { return };
                let row = mutations[0].row().clone();
                let condition = RowCondition { row, condition: Condition::NoRow };
                let conditions = if self.random.below(2) == 0 { vec![] } else { vec![condition] };
                self.ended(region.mutate_rows(&conditions, &mutations), names_x);
            }
            5 => {
                let (mutations, names_x) = self.mutations();
                let row = mutations[0].row().clone();
                let of_row = mutations.into_iter().filter(|it| *it.row() == row);
                let of_row = of_row
                    .fold(RowMutations::new(row.clone()).unwrap(), |all, it| all.with(it).unwrap());
                let done = self.table.mutate_row(&of_row);
                self.ended(done, names_x);
            }
            6 => {
                let (mutations, names_x) = self.mutations();
                let of_table = |it| (Arc::clone(&self.table), it);
                let mutations: Vec<_> = mutations.into_iter().map(of_table).collect();
                self.ended(self.mail.store.commit(&mutations), names_x);
            }
            7 => self.transact(),
            _ => self.write_without_waiting(),
        }
    }

    fn transact(&mut self) {
        let (mutations, names_x) = self.mutations();
        let table = &self.table;
        let done = self.mail.store.transact(|transaction| {
            for mutation in &mutations {
                transaction.get(table, &Get::new(mutation.row().clone())?)?;
                transaction.mutate(table, mutation.clone())?;
            }
            Ok(())
        });
        self.ended(done, names_x);
    }

    /// As a server that serves many connections on one thread.
    fn write_without_waiting(&mut self) {
        let (mutations, names_x) = self.mutations();
        let mutations = self.of_one_region(mutations);
        let Some(region) = self.region_of(mutations[0].row()) else { return };
        let outcomes = match region.in_mode(WaitMode::NonBlocking).batch(&mutations) {
            NonBlocking::Done(outcomes) => outcomes,
            NonBlocking::WouldBlock => region.batch(&mutations),
        };
        for done in outcomes {
            self.ended(done, names_x);
        }
    }

    fn ended<T>(&mut self, done: Result<T>, names_x: bool) {
        match done {
            Ok(_) => _ = self.mail.writes.fetch_add(1, Ordering::Relaxed),
            Err(error) => self.refused(&error, names_x),
        }
    }

    fn refused(&mut self, error: &Error, names_x: bool) {
        check_refusal(error, names_x);
        self.mail.refusals.fetch_add(1, Ordering::Relaxed);
        self.table = self.mail.table();
    }

    fn read(&mut self) {
        let (_, key) = self.key();
        let read = match self.random.below(3) {
            0 => self.table.get(&Get::new(key).unwrap()).map(|_| ()),
            1 => self.table.scan(Scan::all()).and_then(|mut rows| {
                while rows.next()?.is_some() {}
                Ok(())
            }),
            _ => {
                let query = self.random.of(&["sender = 'v1'", "subject = 'v2 words'", "size > 4"]);
                let Some(region) = self.region_of(&key) else { return };
                let scan = Scan::all();
                let query =
                    QueryScan { query, scan: &scan, limit: None, as_of: 0, ignores_tags: true };
                scan_region(&self.mail.store, None, &region, &query).and_then(|mut rows| {
                    while rows.next()?.is_some() {}
                    Ok(())
                })
            }
        };
        if let Err(error) = read {
            self.refused(&error, false);
        }
    }
}

/// Declares the indexes that `is_declared` accepts by their numbers.
fn declare(store: &Store, is_declared: impl Fn(usize) -> bool) {
    let change = |table: &TableDescriptor| {
        let key = KeySchema::of_table(table)?.unwrap().to_string();
        let declared = INDEXES.iter().enumerate().filter(|(nth, _)| is_declared(*nth));
        let declared = declared.map(|(_, index)| match *index {
            COPY if key != KEY => PROMOTED,
            index => index,
        });
        let indexes = declared.collect::<Vec<_>>().join("; ");
        Ok(table.clone().attribute(INDEXES_ATTRIBUTE, format!("1 {indexes}")))
    };
    store.change_table(&name(), change).unwrap();
}

/// Alters the table and everything around it.
struct Alterer<'m> {
    mail: &'m Mail,
    random: Random,
}

impl Alterer<'_> {
    fn step(&mut self) {
        let store = &self.mail.store;
        let table = self.mail.table();
        match self.random.below(22) {
            0..6 => {
                let declared = self.random.below(1 << INDEXES.len());
                declare(store, |nth| declared & 1 << nth != 0);
            }
            6 | 7 => declare(store, |_| true),
            8 | 9 => {
                let x = FamilyDescriptor::new("x").unwrap();
                let has_x = table.descriptor().find_family(b"x").is_ok();
                if has_x {
                    store.drop_family(&name(), b"x").unwrap();
                } else {
                    store.add_family(&name(), x).unwrap();
                }
            }
            10 => {
                let versions = 1 + self.random.below(3) as u32;
                let family = FamilyDescriptor::new("d").unwrap().versions(versions);
                store.alter_family(&name(), family).unwrap();
            }
            11 | 12 => self.split(),
            13 | 14 => self.merge(),
            15 => {
                let tables = self.tables();
                let of = &tables[self.random.below(tables.len())];
                of.flush().unwrap();
                of.compact(CompactionKind::Major).unwrap();
            }
            16 => {
                let key = [self.random.of(b"abmz")];
                store.truncate_region(&table.region_of(&key).name().full).unwrap();
            }
            17 => {
                store.disable_table(&name()).unwrap();
                store.enable_table(&name()).unwrap();
            }
            18 => {
                store.disable_table(&name()).unwrap();
                match self.random.below(2) {
                    0 => store.truncate_table(&name(), true).unwrap(),
                    _ => {
                        let _ = store.restore_snapshot("s");
                        store.enable_table(&name()).unwrap();
                    }
                }
            }
            19 => {
                let _ = store.delete_snapshot("s");
                store.take_snapshot(Snapshot::new("s", name()).unwrap()).unwrap();
            }
            20 => {
                let indexes = table.indexes().unwrap().unwrap().indexes();
                if let Some(index) = indexes.iter().find(|index| index.search().is_none()) {
                    store.request_index_repair(&name(), index.name()).unwrap();
                }
            }
            _ => {
                // It may be declared and ready.
                let _ = store.promote_index(&name(), "copied");
            }
        }
    }

    /// Returns the table and the index tables.
    fn tables(&self) -> Vec<Arc<Table>> {
        self.mail.store.tables()
    }

    fn split(&mut self) {
        let tables = self.tables();
        let of = &tables[self.random.below(tables.len())];
        if of.regions().len() < 4 {
            let at = self.random.of(&["b", "m", "v2", "v3", "0", "\u{1}"]);
            let region = of.region_of(at.as_bytes()).name().full.clone();
            // It may begin there.
            let _ = self.mail.store.split_region(&region, Some(at.into()));
        }
    }

    fn merge(&mut self) {
        let tables = self.tables();
        let of = &tables[self.random.below(tables.len())];
        if let [first, second, ..] = of.regions() {
            let names = [&first.name().full[..], &second.name().full];
            self.mail.store.merge_regions(&names).unwrap();
        }
    }
}

/// Ends the callers, also where a test fails.
struct Over<'m>(&'m Mail);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

fn wait_until_ready(store: &Store, index: &str) {
    loop {
        match store.index_state(&name(), index).unwrap() {
            IndexState::Ready => return,
            IndexState::Off(why) => panic!("{index} is off: {why}"),
            _ => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Alters the table beside the callers, and then compares every index with the table.
fn alter_beside_callers(seed: u64, alterations: usize) {
    let dir = temporary();
    let settings = Settings { memstore_flush_bytes: 64 << 10, ..Settings::default() };
    let store = Store::builder(dir.path()).settings(settings).open().unwrap();
    store.create_table(mail(), &["m".into()]).unwrap();
    let writes = AtomicUsize::new(0);
    let refusals = AtomicUsize::new(0);
    let mail = Mail { store, is_over: AtomicBool::new(false), writes, refusals };
    std::thread::scope(|scope| {
        let mail = &mail;
        let _over = Over(mail);
        for number in 0..WRITERS {
            scope.spawn(move || {
                let _over = Over(mail);
                let mut caller = mail.caller(number, seed);
                while !mail.is_over.load(Ordering::Relaxed) {
                    caller.write();
                }
            });
        }
        scope.spawn(move || {
            let _over = Over(mail);
            let mut caller = mail.caller(WRITERS, seed);
            while !mail.is_over.load(Ordering::Relaxed) {
                caller.read();
            }
        });
        let mut alterer = Alterer { mail, random: Random(seed * 7_919 + 1) };
        for _ in 0..alterations {
            alterer.step();
            if mail.is_over.load(Ordering::Relaxed) {
                // A caller has failed.
                break;
            }
        }
    });
    let Mail { store, writes, .. } = mail;
    assert!(writes.into_inner() > alterations);
    assert_eq!(store.table(&name()).unwrap().state(), TableState::Enabled);
    check_indexes(&store);
    store.close().unwrap();
    check_indexes(&Store::open(dir.path()).unwrap());
}

fn check_indexes(store: &Store) {
    let table = store.table(&name()).unwrap();
    let indexes = table.indexes().unwrap().unwrap().indexes();
    // Without the engine, a full-text index is never built.
    for index in indexes.iter().filter(|index| index.search().is_none()) {
        wait_until_ready(store, index.name());
        let report = store.verify_index(&name(), index.name(), |_| {}).unwrap();
        assert!(report.is_clean(), "{}: {report:?}", index.name());
    }
}

/// Alters the table once, while a record is being planned.
#[derive(Default)]
struct Overtaking {
    alteration: Mutex<Option<Alteration>>,
    calls: AtomicUsize,
}

type Alteration = Box<dyn FnOnce() + Send>;

impl Observer for Overtaking {
    fn columns(&self) -> Columns {
        Columns::all()
    }

    fn row_changes(&self, _: &RowChange, _: &mut Additions) -> Result<()> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if let Some(alteration) = self.alteration.lock().unwrap().take() {
            std::thread::spawn(alteration).join().unwrap();
        }
        Ok(())
    }
}

/// An alteration and the name.
type Named = (&'static str, fn(&Store));

const DISABLED: &str = "the table is disabled and enabled";
/// Alterations that do not wait for a record that is planned, by what they alter. (One that
/// declares the first copy waits.)
const OVERTAKING: [Named; 10] = [
    ("indexes are dropped", |store| declare(store, |nth| INDEXES[nth] == COPY)),
    ("indexes are declared", |store| declare(store, |_| true)),
    ("a copy is built anew", |store| store.request_index_repair(&name(), "copied").unwrap()),
    ("a family is dropped", |store| store.drop_family(&name(), b"x").unwrap()),
    ("a family is added", |store| {
        store.add_family(&name(), FamilyDescriptor::new("x").unwrap()).unwrap();
    }),
    ("a family is altered", |store| {
        let versions = store.table(&name()).unwrap();
        let versions = versions.descriptor().find_family(b"d").unwrap().versions_max();
        let family = FamilyDescriptor::new("d").unwrap().versions(1 + versions % 3);
        store.alter_family(&name(), family).unwrap();
    }),
    ("the region of an index is split", |store| {
        let entries = store.table(&TableName::parse("mail.by_sender").unwrap()).unwrap();
        let at = entries.regions().len().to_string();
        let region = entries.region_of(at.as_bytes()).name().full.clone();
        store.split_region(&region, Some(at.into())).unwrap();
    }),
    ("regions of an index are merged", |store| {
        let entries = store.table(&TableName::parse("mail.by_sender").unwrap()).unwrap();
        let names: Vec<_> = entries.regions().iter().map(|it| it.name().full.clone()).collect();
        store.merge_regions(&[&names[0], &names[1]]).unwrap();
    }),
    ("a region is truncated", |store| {
        let region = store.table(&name()).unwrap().region_of(b"ann").name().full.clone();
        store.truncate_region(&region).unwrap();
    }),
    (DISABLED, |store| {
        store.disable_table(&name()).unwrap();
        store.enable_table(&name()).unwrap();
    }),
];

/// A call and the name.
type Call<'a> = (&'a str, &'a dyn Fn(&Table) -> Result<()>);

#[test]
fn a_record_that_an_alteration_overtakes_is_planned_anew() {
    let dir = temporary();
    let store = Store::open(dir.path()).unwrap();
    // The observer waits for the alteration, and so holds the record. A compaction that ends waits
    // for the record, and an alteration that drops the family would wait for the compaction.
    store.set_compactions(false);
    store.create_table(mail(), &["m".into()]).unwrap();
    let overtaking = Arc::new(Overtaking::default());
    store.observe(&name(), overtaking.clone()).unwrap();
    let put = |n: u32, value: &str| -> Mutation {
        let put = Put::new(format!("ann-{n:02}")).unwrap().add("d", "s", value);
        put.unwrap().add("d", "e", format!("{n}@{value}")).unwrap().into()
    };
    let of_table = |it: Mutation| (store.table(&name()).unwrap(), it);
    let calls: [Call<'_>; 6] = [
        ("put", &|table| table.mutate(&put(1, "a")).map(|_| ())),
        ("delete", &|table| {
            // Has a marker for each family.
            table.mutate(&Delete::new("ann-01").unwrap().into()).map(|_| ())
        }),
        ("batch", &|table| {
            let mutations = vec![put(2, "b"), Delete::new("ann-03").unwrap().into(), put(4, "b")];
            table.batch(mutations).into_iter().try_for_each(|done| done.map(|_| ()))
        }),
        ("conditional put", &|table| {
            let put = put(5, "c");
            let done = table.mutate_if(&Condition::NoRow, &put)?;
            assert!(done.is_some());
            table.mutate(&Delete::new("ann-05").unwrap().into()).map(|_| ())
        }),
        ("commit", &|_| {
            let both = [of_table(put(6, "d")), of_table(Delete::new("zoe-01").unwrap().into())];
            store.commit(&both).map(|_| ())
        }),
        ("transaction", &|table| {
            store.transact(|transaction| {
                transaction.mutate(table, put(7, "e"))?;
                transaction.mutate(table, Delete::new("ann-08")?).map(|_| ())
            })
        }),
    ];
    for (call, write) in calls {
        for (what, alter) in OVERTAKING {
            let table = store.table(&name()).unwrap();
            check_indexes(&store);
            // An alteration flushes, and flushing an observed table waits for the record.
            store.tables().iter().for_each(|table| table.flush().unwrap());
            let altered = store.clone();
            let alteration: Alteration = Box::new(move || alter(&altered));
            *overtaking.alteration.lock().unwrap() = Some(alteration);
            let before = overtaking.calls.load(Ordering::Relaxed);
            write(&table).unwrap_or_else(|error| panic!("{call}, {what}: {error}"));
            let calls = overtaking.calls.load(Ordering::Relaxed) - before;
            assert!(overtaking.alteration.lock().unwrap().is_none());
            // A table that is enabled again is the same.
            let is_anew = calls > 1 || what == DISABLED;
            assert!(is_anew, "{call}, {what}: calls of the observer: {calls}");
        }
    }
    check_indexes(&store);
    store.close().unwrap();
}

#[test]
fn callers_see_no_error_about_names_they_did_not_use() {
    let seeds = std::env::var("ALTERATIONS_SEED").ok().and_then(|seed| seed.parse().ok());
    for seed in seeds.map_or(1..4, |seed: u64| seed..seed + 1) {
        alter_beside_callers(seed, 60);
    }
}
