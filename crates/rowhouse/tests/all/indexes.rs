//! Declared indexes: queries that read by them, pages, what they cover, and why they cannot serve.

use std::time::Duration;

use rowhouse::query::{Query, QueryRow};
use rowhouse::schema::{IndexSchema, IndexState};
use rowhouse::{Database, Delete, ErrorKind, Mutation, Table, TableSpec, Timestamp};
use rowhouse_client::{Client, Target};
use rowhouse_model::TableName;
use rowhouse_server::Server;

use crate::support::{loopback, on_both};

const COLUMNS: &str =
    "d:s sender string; d:t subject string; d:z size u32; f:[tag string] tagged u8";
const INDEXES: &str = "by_sender [sender]; large [size desc] covers subject, size where size > 1000; \
                       none_first [sender null first]; by_tag [tagged.tag]";

fn spec() -> TableSpec {
    let spec = TableSpec::new("mail").family("d").family("f").key("[user string][n u32]");
    spec.columns(COLUMNS).indexes(INDEXES)
}

/// Writes 600 mails to twenty users: every thirtieth is by eve, every fortieth has no sender, each
/// has the size `100 * (n % 20)`.
async fn mails(database: &Database) -> Table {
    let mail = database.create_table(spec()).await.unwrap();
    let puts = (0..600_u32).map(|n| -> Mutation {
        let key = [("user", format!("user{:02}", n % 20).into()), ("n", n.into())];
        let row = mail.row(&key).set_named("subject", format!("mail {n}"));
        let row = row.set_named("size", 100 * (n % 20));
        let row = match n {
            _ if n % 40 == 7 => row,
            _ if n % 30 == 3 => row.set_named("sender", "eve"),
            _ => row.set_named("sender", format!("sender{}", n % 9)),
        };
        row.into_put().unwrap().into()
    });
    for outcome in mail.batch(puts.collect()).await {
        outcome.unwrap();
    }
    mail
}

async fn embedded() -> (tempfile::TempDir, Database) {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
    (dir, database)
}

async fn rows(query: Query<'_>) -> Vec<QueryRow> {
    query.rows().await.unwrap().collect().await.unwrap()
}

fn n(row: &QueryRow) -> u64 {
    row.key("n").unwrap().as_u64().unwrap()
}

async fn ns(query: Query<'_>) -> Vec<u64> {
    rows(query).await.iter().map(n).collect()
}

/// The mails by eve, in key order.
fn by_eve() -> Vec<u64> {
    let mut by_eve: Vec<_> = (0..600).filter(|n| n % 30 == 3 && n % 40 != 7).collect();
    by_eve.sort_by_key(|n| (n % 20, *n));
    by_eve
}

#[tokio::test]
async fn a_query_reads_by_the_index_by_default_and_in_key_order() {
    let (_dir, database) = embedded().await;
    let mail = mails(&database).await;
    let eves = || mail.query("sender = 'eve'").named("subject").limit(8);
    let result = eves().rows().await.unwrap();
    assert_eq!(result.index(), Some("by_sender"));
    let numbers: Vec<_> = result.collect().await.unwrap().iter().map(n).collect();
    assert_eq!(numbers, by_eve()[..8]);

    let mut backward = by_eve();
    backward.reverse();
    assert_eq!(ns(eves().reversed()).await, backward[..8]);
    assert_eq!(ns(eves().offset(3)).await, by_eve()[3..11]);
    assert_eq!(eves().using_key().rows().await.unwrap().index(), None);
    assert_eq!(ns(eves().using_key()).await, by_eve()[..8]);
    database.close().await.unwrap();
}

#[tokio::test]
async fn a_page_token_is_valid_whichever_way_the_next_page_is_read() {
    let (_dir, database) = embedded().await;
    let mail = mails(&database).await;
    for reversed in [false, true] {
        let mut expected = by_eve();
        if reversed {
            expected.reverse();
        }
        let mut numbers = Vec::new();
        let mut token = None::<String>;
        for nth in 0.. {
            let query = mail.query("sender = 'eve'");
            let query = if reversed { query.reversed() } else { query };
            let query = if nth % 2 == 0 { query.using_key() } else { query };
            let query = token.iter().fold(query, |query, token| query.after(token));
            let page = query.page(7).await.unwrap();
            numbers.extend(page.rows.iter().map(n));
            token = page.next;
            if token.is_none() {
                break;
            }
        }
        assert_eq!(numbers, expected);
    }
    let page = mail.query("sender = 'eve'").page(7).await.unwrap();
    let other = mail.query("sender = 'eve'").using("by_sender").after(&page.next.unwrap());
    assert!(other.page(7).await.is_err());
    database.close().await.unwrap();
}

#[tokio::test]
async fn using_an_index_gives_its_order_and_pages() {
    on_both(|database, _| async move {
        let mail = mails(&database).await;
        let large = || mail.query("size > 1500").using("large").named("size");
        let mut expected: Vec<u64> = (0..600).filter(|n| n % 20 > 15).collect();
        expected.sort_by_key(|n| (20 - n % 20, *n));
        assert_eq!(ns(large()).await, expected);
        assert_eq!(ns(large().limit(5).offset(2)).await, expected[2..7]);

        let first = large().page(40).await.unwrap();
        let second = large().after(&first.next.unwrap()).page(1000).await.unwrap();
        let numbers: Vec<_> = first.rows.iter().chain(&second.rows).map(n).collect();
        assert_eq!((numbers, second.next), (expected.clone(), None));

        expected.reverse();
        assert_eq!(ns(large().reversed()).await, expected);
    })
    .await;
}

#[tokio::test]
async fn a_covered_query_returns_the_cells_of_the_rows() {
    let (_dir, database) = embedded().await;
    let mail = mails(&database).await;
    let large = || mail.query("size > 1800").named("size").named("subject");
    let access = large().using("large").explain_access().await.unwrap();
    assert!(access.chosen().is_covered);
    let by_index = rows(large()).await;
    let by_key = rows(large().using_key()).await;
    assert_eq!(by_index.len(), 30);
    for (one, two) in by_index.iter().zip(&by_key) {
        let cells = |row: &QueryRow| -> Vec<_> {
            let cells = row.row().to_cells();
            let cell = |cell: rowhouse::cell::Cell| {
                (cell.qualifier().to_vec(), cell.timestamp(), cell.value().to_vec())
            };
            cells.into_iter().map(cell).collect()
        };
        assert_eq!(cells(one), cells(two));
        assert_eq!(one.key_bytes(), two.key_bytes());
    }
    database.close().await.unwrap();
}

#[tokio::test]
async fn entries_of_rows_that_changed_are_not_returned() {
    on_both(|database, _| async move {
        let mail = mails(&database).await;
        let key = [("user", "user03".into()), ("n", 3.into())];
        let eves = || mail.query("sender = 'eve'").using("by_sender");
        assert!(ns(eves()).await.contains(&3));
        mail.row(&key).set_named("sender", "ann").put().await.unwrap();
        assert!(!ns(eves()).await.contains(&3));
        assert_eq!(ns(mail.query("sender = 'ann'").using("by_sender")).await, [3]);
        let newest = Delete::new(mail.key(&key).unwrap()).unwrap();
        mail.delete(newest.column("d", "s", Timestamp::LATEST).unwrap()).await.unwrap();
        assert_eq!(ns(mail.query("sender = 'ann'").using("by_sender")).await, [0; 0]);
        mail.delete(Delete::new(mail.key(&key).unwrap()).unwrap()).await.unwrap();
        assert!(!ns(mail.query("size = 300").using_key()).await.contains(&3));
    })
    .await;
}

#[tokio::test]
async fn rows_without_a_value_come_where_the_template_says() {
    on_both(|database, _| async move {
        let mail = mails(&database).await;
        let none = ns(mail.query("sender is null").using("none_first")).await;
        let mut expected: Vec<u64> = (0..600).filter(|n| n % 40 == 7).collect();
        expected.sort_by_key(|n| (n % 20, *n));
        assert_eq!(none, expected);
        // All rows have an entry, so the index orders any query; those without a sender are first.
        let all = ns(mail.query("n >= 0").using("none_first")).await;
        assert_eq!((all.len(), &all[..expected.len()]), (600, &expected[..]));
    })
    .await;
}

#[tokio::test]
async fn a_row_with_several_entries_is_returned_once() {
    on_both(|database, _| async move {
        let mail = mails(&database).await;
        for (nth, tags) in
            [&["red", "blue"][..], &["blue", "green", "red"], &["grey"]].iter().enumerate()
        {
            let key = [("user", "tagged".into()), ("n", nth.into())];
            let row = mail.row(&key);
            let row = tags.iter().fold(row, |row, tag| row.set("f", &format!("{tag}\0\u{1}"), "1"));
            row.put().await.unwrap();
        }
        let tagged = |query| mail.query(query).family("f").using("by_tag");
        assert_eq!(ns(tagged("tagged.tag in ('blue', 'red')")).await, [0, 1]);
        assert_eq!(ns(tagged("tagged.tag = 'red'").reversed()).await, [1, 0]);
        let red = rows(tagged("tagged.tag = 'red'")).await;
        assert!(red.iter().all(|row| row.row().len() == 1), "only the cells asked for");
        assert_eq!(ns(tagged("tagged.tag > 'f'").limit(2)).await, [1, 2]);
    })
    .await;
}

#[tokio::test]
async fn explain_has_the_reason_why_an_index_cannot_serve() {
    let (_dir, database) = embedded().await;
    let mail = mails(&database).await;
    let why = async |query: Query<'_>, index: &str| {
        let access = query.explain_access().await.unwrap();
        let path = access.paths().iter().find(|path| path.index.as_deref() == Some(index));
        path.unwrap().why_not.clone().unwrap_or_default()
    };
    assert_eq!(
        why(mail.query("size > 500"), "large").await,
        "its condition size > 1000 does not follow from the query"
    );
    assert_eq!(
        why(mail.query("size > 500"), "by_sender").await,
        "`sender` may be null, and the query has no condition on its value"
    );
    assert!(why(mail.query("sender = 'eve'"), "by_tag").await.contains("`tagged`"));
    let versions = mail.query("sender = 'eve'").versions(2);
    assert_eq!(why(versions, "by_sender").await, "entries are of the newest versions");
    let misfits = mail.query("sender = 'eve'").with_misfits();
    assert!(why(misfits, "by_sender").await.contains("do not fit the template"));
    assert_eq!(why(mail.query("sender = 'eve'"), "by_sender").await, "");

    let refused = mail.query("size > 500").using("by_sender").rows().await.map(|_| ()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidRequest);
    assert!(refused.message().starts_with("index by_sender cannot serve the query: `sender` may"));
    let unknown = mail.query("size > 500").using("by_size").rows().await.map(|_| ()).unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::InvalidRequest);
    database.close().await.unwrap();
}

#[tokio::test]
async fn an_index_declared_later_serves_when_it_is_ready() {
    on_both(|database, _| async move {
        let mail = mails(&database).await;
        let admin = database.admin();
        admin.alter_indexes("mail", "by_subject [subject]; by_sender [sender]").await.unwrap();
        let declared = IndexSchema::of_table(&admin.describe("mail").await.unwrap()).unwrap();
        assert_eq!(declared.unwrap().indexes().len(), 2);
        while admin.index_state("mail", "by_subject").await.unwrap() != IndexState::Ready {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(ns(mail.query("subject = 'mail 77'").using("by_subject")).await, [77]);
        assert!(admin.index_state("mail", "large").await.is_err());
        admin.alter_indexes("mail", "").await.unwrap();
        assert_eq!(database.tables().await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn declarations_are_checked_with_key_and_columns() {
    let check = |index: &str| spec().index(index).check().map_err(|error| error.kind());
    assert_eq!(check("by_size [size]"), Ok(()));
    for mistake in [
        "by_size [sice]",
        "by_sender [size]",
        "by_size",
        "by_size [size] where sice > 5",
        "by_size memory [size]",
    ] {
        assert_eq!(check(mistake), Err(ErrorKind::InvalidRequest), "{mistake}");
    }
    // Key and columns may come after the index.
    let spec = TableSpec::new("t").index("by_n [n]").columns("d:n n u8").family("d");
    assert!(spec.check().is_ok());
    assert!(TableSpec::new("t").index("by_n [n]").family("d").check().is_err());
}

#[tokio::test]
async fn an_index_of_key_fields_needs_no_columns() {
    let (_dir, database) = embedded().await;
    let spec = TableSpec::new("t").family("d").key("[user string][day ymd]");
    let table = database.create_table(spec.index("by_day [day][user]")).await.unwrap();
    for user in ["ann", "bob"] {
        let key = [("user", user.into()), ("day", "2022-12-24".into())];
        table.row(&key).set("d", "x", "1").put().await.unwrap();
    }
    let by_day = rows(table.query("day = 2022-12-24").using("by_day")).await;
    assert_eq!(by_day.len(), 2);
    database.close().await.unwrap();
}

#[tokio::test]
async fn indexes_are_verified_and_repaired_embedded_and_by_a_server() {
    on_both(|database, _| async move {
        let mail = mails(&database).await;
        let admin = database.admin();
        mail.delete(
            Delete::new(mail.key(&[("user", "user03".into()), ("n", 3.into())]).unwrap()).unwrap(),
        )
        .await
        .unwrap();
        let report = admin.verify_index("mail", "by_sender").await.unwrap();
        // Every fortieth mail has no sender, and the deleted one had.
        assert_eq!((report.rows, report.entries), (599, 584));
        assert!(report.is_clean() && report.unfit_rows == 0, "{report:?}");
        admin.repair_index("mail", "by_sender").await.unwrap();
        while admin.index_state("mail", "by_sender").await.unwrap() != IndexState::Ready {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let both =
            [admin.verify_index("mail", "by_sender"), admin.verify_index("mail", "by_sender")];
        for report in futures_util::future::join_all(both).await {
            assert_eq!(report.unwrap().entries, 584);
        }
        for (table, index, kind) in [
            ("mail", "by_size", ErrorKind::InvalidRequest),
            ("post", "by_sender", ErrorKind::TableNotFound),
        ] {
            assert_eq!(admin.verify_index(table, index).await.unwrap_err().kind(), kind);
            assert_eq!(admin.repair_index(table, index).await.unwrap_err().kind(), kind);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_promotion_through_a_server_swaps_the_keys_and_another_one_swaps_them_back() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(loopback(dir.path())).await.unwrap();
    let url = format!("hbase://{}", server.address());
    let database = rowhouse::open(&url).await.unwrap();
    let spec = TableSpec::new("mail").family("d").key("[at u64][user string]");
    let mail = database.create_table(spec.index("by_user [user] covers *")).await.unwrap();
    for n in 0..20_u64 {
        let user = if n % 4 == 0 { "bob" } else { "eve" };
        let row = mail.row(&[("at", n.into()), ("user", user.into())]);
        row.set("d", "n", n.to_string()).put().await.unwrap();
    }
    let key = async || {
        let mail = database.table("mail").await.unwrap();
        let bobs = mail.query("user = 'bob'").page(9).await.unwrap().rows.len();
        assert_eq!(bobs, 5);
        mail.key_schema().unwrap().to_string()
    };
    let promote = async || database.admin().promote_index("mail", "by_user").await.unwrap();
    promote().await;
    assert_eq!(key().await, "[user string][at u64]");

    // From a client that has the layout from before.
    let client = Client::connect(&Target::parse(&url).unwrap()).await.unwrap();
    let name = TableName::parse("mail").unwrap();
    let late = client.admin().promote_index(&name, "by_user", None).await.unwrap_err();
    assert!(late.message().contains("read it again: table=mail"), "{late}");
    assert_eq!(key().await, "[user string][at u64]");

    promote().await;
    assert_eq!(key().await, "[at u64][user string]");
    server.stop().await.unwrap();
}
