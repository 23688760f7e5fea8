//! A mailbox in one row, read by sender: with an index family in the row that the program writes,
//! and with a declared index. Through HBase's protocol, and in this process.

use rowhouse::filter::{ColumnOffset, Filter};
use rowhouse::{Bytes, Database, Get, Put, Row, Scan, TableSpec};

use crate::support::on_both;

/// Sender, time and id of each mail, in the order of their times.
const MAILS: [(&str, u64, u32); 6] = [
    ("eve", 100, 1),
    ("zoe", 110, 2),
    ("ann", 120, 3),
    ("eve", 130, 4),
    ("eva", 140, 5),
    ("eve", 150, 6),
];
/// The ids by sender, the newest first.
const BY_SENDER: [u32; 6] = [3, 5, 6, 4, 1, 2];

/// A qualifier of the index family: the sender, the reversed time, the id.
fn entry(sender: &str, at: u64, id: u32) -> Vec<u8> {
    let reversed = i64::MAX as u64 - at;
    [sender.as_bytes(), &[0], &reversed.to_be_bytes(), &id.to_be_bytes()].concat()
}

fn ids(row: &Row, family: &[u8]) -> Vec<u32> {
    assert!(row.cells().all(|cell| cell.family() == family), "no other family is read");
    let last = |qualifier: &[u8]| qualifier[qualifier.len() - 4..].try_into().unwrap();
    row.cells().map(|cell| u32::from_be_bytes(last(cell.qualifier()))).collect()
}

async fn hand_made(database: &Database) -> rowhouse::Table {
    let spec = TableSpec::new("mailboxes").family("m").family("s");
    let table = database.create_table(spec).await.unwrap();
    for user in ["bo", "bob", "bobby"] {
        for (sender, at, id) in MAILS {
            // One put, so no mail lacks an entry.
            let put = Put::new(user).unwrap().add("m", id.to_be_bytes(), "Subject").unwrap();
            table.put(put.add("s", entry(sender, at, id), "").unwrap()).await.unwrap();
        }
    }
    table
}

#[tokio::test]
async fn an_index_family_in_the_row_is_read_alone_in_order_and_by_pages() {
    on_both(async |database, _| {
        let table = hand_made(&database).await;
        let read = async |filter: Option<Filter>| {
            let mut get = Get::new("bob").unwrap().family("s");
            get.filter = filter.map(Box::new);
            ids(&table.get(&get).await.unwrap(), b"s")
        };
        assert_eq!(read(None).await, BY_SENDER);
        let of = |min: Vec<u8>, inclusive: bool, max: Option<&'static str>| Filter::ColumnRange {
            min: Some(min.into()),
            min_inclusive: inclusive,
            max: max.map(Bytes::from),
            max_inclusive: false,
        };
        assert_eq!(read(Some(of(b"eve\0".to_vec(), true, Some("eve\u{1}")))).await, [6, 4, 1]);
        // Pages by numbers, which pass over the entries before.
        for (page, expected) in BY_SENDER.chunks(4).enumerate() {
            let from = ColumnOffset::Skip(page as u32 * 4);
            assert_eq!(read(Some(Filter::ColumnPagination { limit: 4, from })).await, expected);
        }
        // Pages from the last entry on.
        let rest = read(Some(of(entry("eve", 130, 4), false, None))).await;
        assert_eq!(rest, [1, 2]);
        let from = ColumnOffset::Qualifier(entry("eve", 130, 4).into());
        assert_eq!(read(Some(Filter::ColumnPagination { limit: 2, from })).await, [4, 1]);
        database.close().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn an_index_of_the_cells_of_a_row_gives_the_same_reads() {
    on_both(async |database, _| {
        let spec = TableSpec::new("mailboxes").family("m").key("[user string]");
        let spec = spec.columns("m:[at millis desc][id u32][sender text] mail string");
        let spec = spec.index("by_sender [user][mail.sender]");
        let table = database.create_table(spec).await.unwrap();
        for user in ["bo", "bob", "bobby"] {
            for (sender, at, id) in MAILS {
                let fields = [("at", at.into()), ("id", id.into()), ("sender", sender.into())];
                let row = table.row(&[("user", user.into())]);
                row.set_named_with("mail", &fields, "Subject").put().await.unwrap();
            }
        }
        // One sender: the cells, read by the index.
        let query = table.query("user = 'bob' and mail.sender = 'eve'").family("m");
        let rows = query.using("by_sender").rows().await.unwrap().collect().await.unwrap();
        assert_eq!(rows.len(), 1);
        let id_of = |qualifier: &[u8]| u32::from_be_bytes(qualifier[8..12].try_into().unwrap());
        let ids: Vec<_> = rows[0].row().cells().map(|cell| id_of(cell.qualifier())).collect();
        assert_eq!(ids, [6, 4, 1]);
        // The senders in order, and pages of them: a range of rows of the index table.
        let entries = database.table("mailboxes.by_sender").await.unwrap();
        let page = async |after: Option<Bytes>, rows: u64| {
            let mut scan = Scan::new(rowhouse::RowRange::prefix(b"bob\0"));
            if let Some(after) = after {
                scan.range.start = [&after[..], &[0]].concat().into();
            }
            let rows = entries.scan(scan.limit(rows)).await.unwrap().collect().await.unwrap();
            let last = rows.last().map(|row| Bytes::copy_from_slice(row.key()));
            let senders = rows.iter().map(|row| {
                let values = entries.key_schema().unwrap().decode(row.key()).unwrap();
                values["mail.sender"].to_string()
            });
            (senders.collect::<Vec<_>>(), last)
        };
        let in_order = ["ann", "eva", "eve", "zoe"];
        let (first, last) = page(None, 3).await;
        let (second, _) = page(last, 3).await;
        assert_eq!([first, second].concat(), in_order);
        database.close().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_row_for_each_mail_gives_the_same_reads_with_page_tokens() {
    on_both(async |database, _| {
        let spec = TableSpec::new("mails").family("m").key("[user string][at millis desc][id u32]");
        let spec = spec.columns("m:s sender string; m:t subject string");
        let spec = spec.index("by_sender [user][sender]");
        let table = database.create_table(spec).await.unwrap();
        for user in ["bo", "bob", "bobby"] {
            for (sender, at, id) in MAILS {
                let key = [("user", user.into()), ("at", at.into()), ("id", id.into())];
                let row = table.row(&key).set_named("sender", sender);
                row.set_named("subject", "Subject").put().await.unwrap();
            }
        }
        let page = async |query: &str, after: Option<String>| {
            let query = table.query(query).using("by_sender");
            let query = after.iter().fold(query, |query, token| query.after(token));
            let page = query.page(4).await.unwrap();
            let ids = page.rows.iter().map(|row| row.key("id").unwrap().as_i64().unwrap() as u32);
            (ids.collect::<Vec<_>>(), page.next)
        };
        let (one, rest) = page("user = 'bob' and sender = 'eve'", None).await;
        assert_eq!((&one[..], rest), (&[6, 4, 1][..], None));
        let all = "user = 'bob' and sender >= ''";
        let (first, token) = page(all, None).await;
        let (second, end) = page(all, Some(token.unwrap())).await;
        assert_eq!([first, second].concat(), BY_SENDER);
        assert_eq!(end, None);
        database.close().await.unwrap();
    })
    .await;
}
