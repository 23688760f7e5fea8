//! Queries over documents: which rows are documents, deadlines, values that the index does not
//! hold, and fields that are not there.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use rowhouse_model::{Bytes, ErrorKind, FamilyDescriptor, Put, Result, TableDescriptor, TableName};
use rowhouse_schema::{
    COLUMNS_ATTRIBUTE, ColumnSchema, Direction, INDEXES_ATTRIBUTE, KEY_ATTRIBUTE, KeySchema,
};
use rowhouse_search::{
    DocumentQuery, LuceneQuery, Matches, Operator, OrderKey, PagePart, SearchEngine,
};
use rowhouse_store::{Clock, Store};

const KEY: &str = "1 [user text md5 2]-[id text]";
const COLUMNS: &str = "1 d:b body string; d:s sender string; d:z size u32";
const INDEX: &str = "1 text search body simple, sender, size";

/// A clock that advances only when set, in milliseconds.
#[derive(Clone)]
struct TurnedClock(Arc<AtomicI64>);

impl Clock for TurnedClock {
    fn now_millis(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

struct Mail {
    _dir: tempfile::TempDir,
    clock: TurnedClock,
    store: Store,
    engine: SearchEngine,
}

fn name() -> TableName {
    TableName::parse("mail").unwrap()
}

impl Mail {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = TurnedClock(Arc::new(AtomicI64::new(1_000_000)));
        let store = Store::builder(dir.path()).with_clock(clock.clone()).open().unwrap();
        let table = TableDescriptor::new(name())
            .family(FamilyDescriptor::new("d").unwrap())
            .attribute(KEY_ATTRIBUTE, KEY)
            .attribute(COLUMNS_ATTRIBUTE, COLUMNS)
            .attribute(INDEXES_ATTRIBUTE, INDEX);
        store.create_table(table, &[]).unwrap();
        let engine = SearchEngine::without_thread(&store);
        engine.work(&name(), "text").unwrap();
        Self { _dir: dir, clock, store, engine }
    }

    fn put(&self, row: &str, qualifier: &str, value: &[u8], ttl: Option<Duration>) {
        let value = Bytes::copy_from_slice(value);
        let mut put = Put::new(row.to_owned()).unwrap().add("d", qualifier, value).unwrap();
        put.ttl_millis = ttl.map(|ttl| ttl.as_millis() as i64);
        self.store.table(&name()).unwrap().mutate(&put.into()).unwrap();
    }

    fn find(&self, query: &str, deadline: Option<Instant>) -> Result<Matches> {
        let table = self.store.table(&name()).unwrap();
        let key = KeySchema::of_table(table.descriptor()).unwrap();
        let columns = ColumnSchema::of_table(table.descriptor()).unwrap().unwrap();
        let indexes = table.indexes().unwrap().unwrap();
        let plan = indexes.all_documents(key.as_ref(), &columns, "text")?;
        let query = LuceneQuery::parse(query, Operator::Or)?;
        let index = indexes.index("text")?;
        let documents = DocumentQuery::new(index, key.as_ref(), &query, &[], Some("body"))?;
        self.engine.find_documents(&name(), &plan, &documents, deadline)
    }

    fn rows(&self, query: &str) -> String {
        let rows = self.find(query, None).unwrap().by_key(Direction::Forward, None, 100).unwrap();
        let rows = rows.iter().map(|row| String::from_utf8_lossy(&row[3..]).into_owned());
        rows.collect::<Vec<_>>().join(" ")
    }

    fn refused(&self, query: &str) -> (ErrorKind, String) {
        let error = self.find(query, None).err().unwrap();
        (error.kind(), error.message().lines().next().unwrap().to_owned())
    }
}

#[test]
fn documents_are_rows_that_show_a_value_while_they_do() {
    let mail = Mail::new();
    let short = Duration::from_millis(300);
    let long = Duration::from_secs(3_600);
    mail.put("aa-1", "b", b"a text", None);
    mail.put("aa-2", "z", b"not a number", Some(long));
    mail.put("aa-3", "z", b"not a number", None);
    mail.put("aa-4", "x", b"of no field", None);
    mail.put("aa-5", "b", b"", None);
    mail.put("aa-6", "z", &[0, 0, 0, 9], Some(short));
    mail.put("a", "b", b"its key does not fit", None);
    assert_eq!(mail.rows("*:*"), "1 5 6");
    mail.engine.work(&name(), "text").unwrap();
    assert_eq!(mail.rows("*:* -size:[5 TO 8]"), "1 5 6");
    assert_eq!(mail.rows("-text"), "5 6");
    assert_eq!(mail.rows("body:*"), "1");
    mail.clock.0.fetch_add(short.as_millis() as i64 + 1, Ordering::Relaxed);
    assert_eq!(mail.rows("*:*"), "1 5");
    mail.engine.work(&name(), "text").unwrap();
    assert_eq!(mail.rows("*:*"), "1 5");
    mail.put("aa-2", "z", &[0, 0, 0, 9], None);
    assert_eq!(mail.rows("*:*"), "1 2 5");
}

#[test]
fn conditions_that_the_index_does_not_decide_are_refused() {
    let mail = Mail::new();
    mail.put("aa-1", "s", "x".repeat(2_000).as_bytes(), None);
    mail.put("aa-2", "s", b"eve", None);
    let too_long =
        "a value is too long for conditions on its field: field=sender, max=1024 bytes".to_owned();
    for _ in 0..2 {
        assert_eq!(mail.rows("sender:*"), "1 2");
        assert_eq!(mail.refused("sender:eve"), (ErrorKind::Unsupported, too_long.clone()));
        mail.engine.work(&name(), "text").unwrap();
    }
    mail.put("aa-1", "s", b"bob", None);
    assert_eq!(mail.rows("sender:eve"), "2");
    let hash = "the key holds only a hash or a part of the value: field=user: offset=5";
    assert_eq!(mail.refused("user:bob"), (ErrorKind::InvalidRequest, hash.to_owned()));
    let undefined = "undefined field to: fields=id, user, id_, body, sender, size";
    assert_eq!(mail.refused("to:bob"), (ErrorKind::InvalidRequest, undefined.to_owned()));
    // The key has a separate field with the whole key's name.
    assert_eq!(mail.rows("id_:2"), "2");
    assert_eq!(mail.rows("id:aa\\-2"), "2");
}

#[test]
fn a_search_ends_at_its_deadline_and_goes_on_with_another() {
    let mail = Mail::new();
    for n in 0..2_000 {
        mail.put(&format!("aa-{n:04}"), "b", format!("common w{n}").as_bytes(), None);
    }
    for query in ["common", "*:*", "id_:0*", "common OR w5", "body:*", "-w7"] {
        let mut matches = mail.find(query, Some(Instant::now())).unwrap();
        let part = PagePart { limit: 10, ..PagePart::default() };
        let timed_out = |error: Option<rowhouse_model::Error>| {
            assert_eq!(error.map(|it| it.kind()), Some(ErrorKind::Timeout), "{query}");
        };
        timed_out(matches.count().err());
        timed_out(matches.by_score(0, 10).err());
        timed_out(matches.by_key(Direction::Reverse, None, 10).err());
        timed_out(matches.facets("size", 10).err());
        timed_out(matches.ordered(&[OrderKey::Score(Direction::Reverse)], true, part).err());
        matches.renew(Some(Instant::now() + Duration::from_secs(60)));
        assert!(matches.count().unwrap() >= 1_000, "{query}");
        assert_eq!(matches.ordered(&[], false, part).unwrap().rows.len(), 10, "{query}");
    }
}
