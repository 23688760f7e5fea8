//! What an index costs: rowhouse's, and one written by hand on fjall and redb (two trees, one batch,
//! read before write). CPU time of the whole process; the median of the rounds.
//!
//! ```sh
//! cargo bench --manifest-path bench/Cargo.toml --bench indexes
//! cargo bench --manifest-path bench/Cargo.toml --bench indexes -- fjall 'one index'
//! ```

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use redb::{ReadableDatabase, ReadableTable, TableDefinition};
use rowhouse_model::{
    Bytes, FamilyDescriptor, Get, Mutation, Put, RowRange, Scan, TableDescriptor, TableName,
};
use rowhouse_schema::{COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE, IndexState, KEY_ATTRIBUTE};
use rowhouse_store::{CompactionKind, Settings, Store, Table};
use rustix::time::{ClockId, clock_gettime};

const ROWS: u64 = 100_000;
const SENDERS: u64 = 1_000;
const ROUNDS: usize = 3;
const BATCH: usize = 100;

/// A row of about 100 bytes: a key of 16, a sender of 12, and 72 of something else.
struct Mail {
    key: [u8; 16],
    sender: String,
    body: [u8; 72],
}

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Returns mails in random order; `round` changes their senders.
fn mails(round: u64) -> Vec<Mail> {
    let mut state = 0x2545_F491_4F6C_DD1D;
    let mut order: Vec<u64> = (0..ROWS).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, random(&mut state) as usize % (at + 1));
    }
    let mail = |number: u64| {
        let mut body = [0; 72];
        body.iter_mut().for_each(|byte| *byte = b'a' + (random(&mut state) % 26) as u8);
        let mut key = [b'0'; 16];
        key.copy_from_slice(format!("user{number:012}").as_bytes());
        Mail { key, sender: format!("sender{:06}", (number * 7 + round * 13) % SENDERS), body }
    };
    order.into_iter().map(mail).collect()
}

fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns the microseconds of CPU for each of `count` operations.
fn cost(count: u64, work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begun = cpu();
    work()?;
    Ok((cpu() - begun).as_secs_f64() * 1e6 / count as f64)
}

/// The operations that are compared.
trait Indexed {
    fn put(&self, mails: &[Mail]) -> Result<()>;
    fn finish(&self) -> Result<()>;
}

struct Rowhouse {
    store: Store,
    table: Arc<Table>,
}

impl Rowhouse {
    fn open(dir: &Path, indexes: Option<&str>) -> Result<Self> {
        Self::open_with(dir, indexes, Settings::default())
    }

    fn open_with(dir: &Path, indexes: Option<&str>, mut settings: Settings) -> Result<Self> {
        settings.split.automatic = false;
        let store = Store::builder(dir).settings(settings).open()?;
        let name = TableName::parse("mail")?;
        let mut table = TableDescriptor::new(name.clone())
            .family(FamilyDescriptor::new("d")?)
            .attribute(KEY_ATTRIBUTE, "1 [user text]")
            .attribute(COLUMNS_ATTRIBUTE, "1 d:s sender text; d:b body text");
        if let Some(indexes) = indexes {
            table = table.attribute(INDEXES_ATTRIBUTE, format!("1 {indexes}"));
        }
        store.create_table(table, &[])?;
        let table = store.table(&name)?;
        Ok(Self { store, table })
    }

    fn mutation(mail: &Mail) -> Result<Mutation> {
        let put = Put::new(Bytes::copy_from_slice(&mail.key))?;
        Ok(put.add("d", "b", &mail.body[..])?.add("d", "s", mail.sender.as_bytes())?.into())
    }
}

impl Indexed for Rowhouse {
    fn put(&self, mails: &[Mail]) -> Result<()> {
        if let [mail] = mails {
            self.table.mutate(&Self::mutation(mail)?)?;
            return Ok(());
        }
        let mutations = mails.iter().map(Self::mutation).collect::<Result<Vec<_>>>()?;
        self.table.batch(mutations).into_iter().collect::<rowhouse_model::Result<Vec<_>>>()?;
        Ok(())
    }

    fn finish(&self) -> Result<()> {
        self.store.tables().iter().try_for_each(|table| table.flush())?;
        Ok(())
    }
}

/// The value of a row in the other engines: the sender, then the rest.
fn value(mail: &Mail) -> Vec<u8> {
    [mail.sender.as_bytes(), &mail.body].concat()
}

/// The key of an entry in the other engines.
fn entry(sender: &[u8], key: &[u8]) -> Vec<u8> {
    [sender, key].concat()
}

struct Fjall {
    database: fjall::Database,
    rows: fjall::Keyspace,
    entries: fjall::Keyspace,
}

impl Fjall {
    fn open(dir: &Path) -> Result<Self> {
        let database = fjall::Database::builder(dir).open()?;
        let rows = database.keyspace("rows", fjall::KeyspaceCreateOptions::default)?;
        let entries = database.keyspace("entries", fjall::KeyspaceCreateOptions::default)?;
        Ok(Self { database, rows, entries })
    }
}

impl Indexed for Fjall {
    fn put(&self, mails: &[Mail]) -> Result<()> {
        let mut batch = self.database.batch();
        for mail in mails {
            let sender = mail.sender.as_bytes();
            match self.rows.get(mail.key)? {
                Some(old) if old[..sender.len()] == *sender => {}
                old => {
                    if let Some(old) = old {
                        batch.remove(&self.entries, entry(&old[..sender.len()], &mail.key));
                    }
                    batch.insert(&self.entries, entry(sender, &mail.key), b"");
                }
            }
            batch.insert(&self.rows, mail.key, value(mail));
        }
        Ok(batch.commit()?)
    }

    fn finish(&self) -> Result<()> {
        self.rows.rotate_memtable_and_wait()?;
        Ok(self.entries.rotate_memtable_and_wait()?)
    }
}

const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("rows");
const ENTRIES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("entries");

struct Redb(redb::Database);

impl Indexed for Redb {
    fn put(&self, mails: &[Mail]) -> Result<()> {
        let mut write = self.0.begin_write()?;
        write.set_durability(redb::Durability::None)?;
        {
            let mut rows = write.open_table(TABLE)?;
            let mut entries = write.open_table(ENTRIES)?;
            for mail in mails {
                let sender = mail.sender.as_bytes();
                let old = rows.get(&mail.key[..])?;
                let old = old.map(|old| old.value()[..sender.len()].to_vec());
                if old.as_deref() != Some(sender) {
                    if let Some(old) = old {
                        entries.remove(&entry(&old, &mail.key)[..])?;
                    }
                    entries.insert(&entry(sender, &mail.key)[..], &b""[..])?;
                }
                rows.insert(&mail.key[..], &value(mail)[..])?;
            }
        }
        Ok(write.commit()?)
    }

    fn finish(&self) -> Result<()> {
        // Commits what is not durable yet.
        self.0.begin_write()?.commit()?;
        std::hint::black_box(self.0.begin_read()?);
        Ok(())
    }
}

type Costs = Vec<(&'static str, f64)>;

/// Writes new rows and changes all of them, in batches and one at a time.
fn writes(open: &dyn Fn(&Path) -> Result<Box<dyn Indexed>>) -> Result<Costs> {
    let mut costs = Vec::new();
    for (size, new, changed) in [
        (BATCH, "new rows, batches of 100", "changed rows, batches of 100"),
        (1, "new rows, one at a time", "changed rows, one at a time"),
    ] {
        let dir = tempfile::tempdir()?;
        let engine = open(dir.path())?;
        for (what, mails) in [(new, mails(0)), (changed, mails(1))] {
            let run = || {
                mails.chunks(size).try_for_each(|mails| engine.put(mails))?;
                engine.finish()
            };
            costs.push((what, cost(ROWS, run)?));
        }
    }
    Ok(costs)
}

fn scanned(table: &Arc<Table>, scan: Scan) -> Result<Vec<Bytes>> {
    let mut rows = table.scan(scan)?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next()? {
        keys.push(Bytes::copy_from_slice(row.key()));
    }
    Ok(keys)
}

/// Reads the 100 mails of each sender through the index, and as many rows by their keys.
fn reads() -> Result<Costs> {
    let dir = tempfile::tempdir()?;
    let rowhouse = Rowhouse::open(dir.path(), Some("by_sender [sender] covers body"))?;
    mails(0).chunks(BATCH).try_for_each(|mails| rowhouse.put(mails))?;
    rowhouse.finish()?;
    let entries = rowhouse.store.table(&TableName::parse("mail.by_sender")?)?;
    let schema = rowhouse.table.indexes()?.expect("it is declared").clone();
    let index = schema.index("by_sender")?;
    let entries_of = |sender: u64| {
        let start = [format!("sender{sender:06}").as_bytes(), b"\0\x01"].concat();
        scanned(&entries, Scan::new(RowRange::prefix(&start)))
    };
    let rows_of = |sender: u64| -> Result<Vec<Bytes>> {
        entries_of(sender)?.iter().map(|entry| Ok(index.row_key(entry)?.into())).collect()
    };
    let get_all = |rows: &[Bytes]| -> Result<()> {
        for row in rows {
            std::hint::black_box(rowhouse.table.get(&Get::new(row.clone())?)?);
        }
        Ok(())
    };
    let keys: Vec<Vec<Bytes>> = (0..SENDERS).map(rows_of).collect::<Result<_>>()?;
    let each = |read: &dyn Fn(u64) -> Result<()>| cost(SENDERS, || (0..SENDERS).try_for_each(read));
    each(&|sender| get_all(&keys[sender as usize]))?;
    Ok(vec![
        ("100 gets", each(&|sender| get_all(&keys[sender as usize]))?),
        ("100 rows by reference", each(&|sender| get_all(&rows_of(sender)?))?),
        ("100 entries, covered", each(&|sender| entries_of(sender).map(|_| ()))?),
        (
            "100 rows by key, in a scan",
            each(&|sender| {
                let start = format!("user{:012}", sender * (ROWS / SENDERS));
                let mut scan = Scan::new(RowRange::new(start, Bytes::new()));
                scan.limit = Some(100);
                scanned(&rowhouse.table, scan).map(|_| ())
            })?,
        ),
    ])
}

fn bytes_in(dir: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(dir)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}

/// The time until an index of so many rows is built.
const BUILT_ROWS: u64 = 1_000_000;

/// Prints the cost of an index on disk and in memory: bytes of the log, of files and of memory for each row
/// of a hundred thousand, CPU of a put, of updates, of flushes and compactions, the time of a build
/// for a million rows, and CPU of a read.
fn places(indexes: Option<&str>) -> Result<()> {
    let place = indexes.unwrap_or("no index");
    let dir = tempfile::tempdir()?;
    let settings = Settings {
        memstore_flush_bytes: 1 << 30,
        memstore_bytes_max: 4 << 30,
        wal_segment_bytes: 1 << 30,
        index_memory_bytes_max: 1 << 30,
        ..Settings::default()
    };
    let rowhouse = Rowhouse::open_with(dir.path(), indexes, settings.clone())?;
    let say = |what: &str, number: f64| println!("{place:28} {what:34} {number:10.2}");
    let put = |mails: &[Mail], len: usize| {
        cost(mails.len() as u64, || mails.chunks(len).try_for_each(|mails| rowhouse.put(mails)))
    };
    say("new rows in batches, µs CPU", put(&mails(0), BATCH)?);
    say("bytes of log per row", bytes_in(&dir.path().join("wal"))? as f64 / ROWS as f64);
    let (used, _) = rowhouse.store.index_memory_bytes();
    say("bytes of index memory per entry", used as f64 / ROWS as f64);
    say("flush, µs CPU per row", cost(ROWS, || rowhouse.finish())?);
    say("bytes of files per row", bytes_in(&dir.path().join("files"))? as f64 / ROWS as f64);
    say("changed rows in batches, µs CPU", put(&mails(1), BATCH)?);
    say("changed rows one at a time, µs CPU", put(&mails(2), 1)?);
    let compacted = cost(ROWS, || {
        rowhouse.finish()?;
        let tables = rowhouse.store.tables();
        Ok(tables.iter().try_for_each(|table| table.compact(CompactionKind::Major))?)
    });
    say("flush and compaction, µs CPU per row", compacted?);
    let (used, _) = rowhouse.store.index_memory_bytes();
    say("index memory after 3 rounds, per entry", used as f64 / ROWS as f64);
    if indexes.is_none() {
        return Ok(());
    }
    let entries = rowhouse.store.table(&TableName::parse("mail.by_sender")?)?;
    let read = |sender: u64| {
        let start = [format!("sender{sender:06}").as_bytes(), b"\0\x01"].concat();
        scanned(&entries, Scan::new(RowRange::prefix(&start))).map(|_| ())
    };
    (0..SENDERS).try_for_each(read)?;
    say("100 entries, µs CPU", cost(SENDERS, || (0..SENDERS).try_for_each(read))?);
    drop(entries);
    rowhouse.store.close()?;
    drop(rowhouse);
    build(indexes, settings, say)
}

/// Declares an index on a million rows, and for an index in memory opens the store again.
fn build(indexes: Option<&str>, settings: Settings, say: impl Fn(&str, f64)) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let rowhouse = Rowhouse::open_with(dir.path(), None, settings.clone())?;
    for nth in 0..BUILT_ROWS / ROWS {
        let mut mails = mails(nth);
        mails.iter_mut().for_each(|mail| mail.key[4] = b'0' + nth as u8);
        mails.chunks(BATCH).try_for_each(|mails| rowhouse.put(mails))?;
    }
    rowhouse.finish()?;
    let name = TableName::parse("mail")?;
    let wait = |store: &Store| -> Result<()> {
        loop {
            match store.index_state(&name, "by_sender")? {
                IndexState::Ready => return Ok(()),
                IndexState::Off(why) => anyhow::bail!("off: {why}"),
                _ => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    };
    let begun = Instant::now();
    let cpu = cost(BUILT_ROWS, || {
        rowhouse.store.change_table(&name, |table| {
            let declared = format!("1 {}", indexes.expect("it is built"));
            Ok(table.clone().attribute(INDEXES_ATTRIBUTE, declared))
        })?;
        wait(&rowhouse.store)
    })?;
    say("build of a million, s", begun.elapsed().as_secs_f64());
    say("build, µs CPU per entry", cpu);
    let (used, _) = rowhouse.store.index_memory_bytes();
    say("index memory after a build, per entry", used as f64 / BUILT_ROWS as f64);
    rowhouse.store.close()?;
    drop(rowhouse);
    let begun = Instant::now();
    let store = Store::builder(dir.path()).settings(settings).open()?;
    say("open, s", begun.elapsed().as_secs_f64());
    wait(&store)?;
    say("open until the index is ready, s", begun.elapsed().as_secs_f64());
    Ok(())
}

fn main() -> Result<()> {
    let rowhouse = |indexes: Option<&'static str>| {
        move |dir: &Path| -> Result<Box<dyn Indexed>> {
            Ok(Box::new(Rowhouse::open(dir, indexes)?))
        }
    };
    let runs: [(&str, Box<dyn Fn() -> Result<Costs>>); 6] = [
        ("rowhouse, no index", Box::new(move || writes(&rowhouse(None)))),
        ("rowhouse, one index", Box::new(move || writes(&rowhouse(Some("by_sender [sender]"))))),
        (
            "rowhouse, in memory",
            Box::new(move || writes(&rowhouse(Some("by_sender [sender] memory")))),
        ),
        ("fjall, by hand", Box::new(|| writes(&|dir| Ok(Box::new(Fjall::open(dir)?))))),
        (
            "redb, by hand",
            Box::new(|| {
                writes(&|dir| Ok(Box::new(Redb(redb::Database::create(dir.join("redb"))?))))
            }),
        ),
        ("rowhouse, reads", Box::new(reads)),
    ];
    let wanted: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let is_wanted = |engine: &str| wanted.is_empty() || wanted.iter().any(|it| engine.contains(it));
    for index in [None, Some("by_sender [sender]"), Some("by_sender [sender] memory")] {
        if is_wanted("places") {
            places(index)?;
        }
    }
    for (engine, run) in runs.into_iter().filter(|(engine, _)| is_wanted(engine)) {
        let rounds = (0..ROUNDS).map(|_| run()).collect::<Result<Vec<_>>>()?;
        for (at, (what, _)) in rounds[0].iter().enumerate() {
            let mut costs: Vec<f64> = rounds.iter().map(|round| round[at].1).collect();
            costs.sort_by(f64::total_cmp);
            println!("{engine:20} {what:32} {:7.2} µs CPU", costs[ROUNDS / 2]);
        }
    }
    Ok(())
}
