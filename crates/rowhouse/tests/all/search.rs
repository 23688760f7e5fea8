//! Full-text search: what was just written, changed and deleted is found as it is; rows by key and
//! by score, pages, counts, facets and snippets.

use rowhouse::admin::Snapshot;
use rowhouse::query::{Query, QueryRow};
use rowhouse::schema::{IndexState, TableName};
use rowhouse::{Database, Delete, ErrorKind, Mutation, Table, TableSpec};
use rowhouse_server::Server;

use crate::support::{loopback, on_both};

const COLUMNS: &str = "d:b body string; d:s sender string; d:z size u32; d:x folder string; \
                       t:[tag string] tagged u8";
const INDEXES: &str = "text search body english chinese, sender keyword, tagged.tag keyword, size";

fn spec(name: &str) -> TableSpec {
    let spec = TableSpec::new(name).family("d").family("t").key("[user string][n u32]");
    spec.columns(COLUMNS).indexes(INDEXES)
}

struct Opened {
    _dir: tempfile::TempDir,
    path: String,
    database: Database,
}

async fn opened() -> Opened {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data").to_str().unwrap().to_owned();
    let database = rowhouse::open(&path).await.unwrap();
    Opened { _dir: dir, path, database }
}

fn mail(table: &Table, user: &str, n: u32, body: &str) -> Mutation {
    let row = table.row(&[("user", user.into()), ("n", n.into())]);
    row.set_named("body", body).set_named("size", n * 10).into_put().unwrap().into()
}

async fn write(table: &Table, user: &str, n: u32, body: &str) {
    table.mutate(mail(table, user, n, body)).await.unwrap();
}

async fn rows(query: Query<'_>) -> Vec<QueryRow> {
    query.rows().await.unwrap().collect().await.unwrap()
}

async fn keys(query: Query<'_>) -> Vec<String> {
    rows(query).await.iter().map(short).collect()
}

fn short(row: &QueryRow) -> String {
    format!("{}{}", row.key("user").unwrap(), row.key("n").unwrap())
}

/// Runs a test on the table `mail` in an embedded database, and through a server.
async fn on_mails<T: Future<Output = ()>>(test: impl Fn(Table) -> T) {
    on_both(async |database, _| {
        let mails = database.create_table(spec("mail")).await.unwrap();
        ready(&database, "mail").await;
        test(mails).await;
        database.close().await.unwrap();
    })
    .await;
}

/// Waits until the index is built.
async fn ready(database: &Database, table: &str) {
    for _ in 0..600 {
        let state = database.admin().index_state(table, "text").await.unwrap();
        if state == IndexState::Ready {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("the index is not built");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_returns_new_rows_and_no_changed_or_deleted_rows() {
    on_mails(async |mails| {
        write(&mails, "ann", 1, "Designing row keys").await;
        write(&mails, "bob", 2, "行键设计 for HBase").await;
        write(&mails, "bob", 3, "the key to a door").await;
        let q = |text: &str| mails.query(text);
        assert_eq!(keys(q("body matches 'key'")).await, ["ann1", "bob3"]);
        assert_eq!(keys(q("body matches '\"row key\"'")).await, ["ann1"]);
        assert_eq!(keys(q("body matches '行键'")).await, ["bob2"]);
        assert_eq!(keys(q("body matches '键设'")).await, ["bob2"]);
        assert_eq!(keys(q("user = 'bob' and body matches 'key OR hbase'")).await, ["bob2", "bob3"]);
        assert_eq!(
            keys(q("body matches 'key OR hbase'").reversed()).await,
            ["bob3", "bob2", "ann1"]
        );

        write(&mails, "ann", 1, "nothing").await;
        assert_eq!(keys(q("body matches 'key'")).await, ["bob3"]);
        let bob3 = mails.key(&[("user", "bob".into()), ("n", 3.into())]).unwrap();
        mails.delete(Delete::new(bob3).unwrap()).await.unwrap();
        assert_eq!(keys(q("body matches 'key'")).await, [""; 0]);
        assert_eq!(q("body matches 'hbase'").count().await.unwrap(), 1);
    })
    .await;
}

#[tokio::test]
async fn rows_that_were_there_are_indexed_and_the_index_survives_a_restart() {
    let Opened { _dir, path, database } = opened().await;
    let plain = spec("mail").indexes("");
    let mails = database.create_table(plain).await.unwrap();
    let puts = (0..3_000).map(|n| mail(&mails, "ann", n, &format!("word{} common", n % 10)));
    for outcome in mails.batch(puts.collect()).await {
        outcome.unwrap();
    }
    database.admin().alter_indexes("mail", INDEXES).await.unwrap();
    ready(&database, "mail").await;
    let mails = database.table("mail").await.unwrap();
    assert_eq!(mails.query("body matches 'common'").count().await.unwrap(), 3_000);
    write(&mails, "zoe", 1, "common and late").await;
    database.close().await.unwrap();

    let database = rowhouse::open(&path).await.unwrap();
    let mails = database.table("mail").await.unwrap();
    assert_eq!(mails.query("body matches 'common'").count().await.unwrap(), 3_001);
    assert_eq!(mails.query("body matches 'word3'").count().await.unwrap(), 300);
    assert_eq!(keys(mails.query("body matches 'late'")).await, ["zoe1"]);
    // The thread writes the changed rows to segments; the answers stay.
    tokio::time::sleep(std::time::Duration::from_millis(2_500)).await;
    assert_eq!(mails.query("body matches 'common'").count().await.unwrap(), 3_001);
    assert_eq!(keys(mails.query("body matches 'late'")).await, ["zoe1"]);
    database.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn values_and_other_columns_narrow_a_search() {
    on_mails(async |mails| {
        for n in 0..50_u32 {
            let row = mails.row(&[("user", "ann".into()), ("n", n.into())]);
            let row = row.set_named("body", "same words").set_named("size", n);
            let folder = if n % 2 == 0 { "in" } else { "out" };
            let row = row.set_named("folder", folder).set_named("sender", format!("s{}", n % 3));
            mails.put(row.into_put().unwrap()).await.unwrap();
        }
        let count = async |text: &str| mails.query(text).count().await.unwrap();
        assert_eq!(count("body matches 'words'").await, 50);
        assert_eq!(count("body matches 'words' and size >= 40").await, 10);
        assert_eq!(count("body matches 'words' and size >= 40 and folder = 'in'").await, 5);
        assert_eq!(count("body matches 'words' and sender matches 's1'").await, 17);
        assert_eq!(count("body matches 'words' and n < 5").await, 5);
        let facets = mails.query("body matches 'words' and size < 10").facets("sender", 2).await;
        let facets: Vec<_> =
            facets.unwrap().iter().map(|it| (it.value.to_string(), it.rows)).collect();
        assert_eq!(facets, [("s0".to_owned(), 4), ("s1".to_owned(), 3)]);
        let sizes = mails.query("body matches 'words' and n = 7").facets("size", 2).await.unwrap();
        assert_eq!(sizes[0].value.as_u64(), Some(7));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_by_key_go_on_while_others_write_and_pages_by_score_keep_their_view() {
    on_mails(async |mails| {
        for n in 0..20_u32 {
            write(&mails, "ann", n, &format!("{} end", "key ".repeat(n as usize + 1))).await;
        }
        let query = || mails.query("body matches 'key'");
        let first = query().page(8).await.unwrap();
        write(&mails, "ann", 15, "nothing").await;
        let second = query().after(first.next.as_ref().unwrap()).page(8).await.unwrap();
        let third = query().after(second.next.as_ref().unwrap()).page(8).await.unwrap();
        assert_eq!(third.next, None);
        let all = [first.rows, second.rows, third.rows].concat();
        let expected: Vec<_> = (0..20).filter(|n| *n != 15).map(|n| format!("ann{n}")).collect();
        assert_eq!(all.iter().map(short).collect::<Vec<_>>(), expected);

        let best = query().by_score().page(5).await.unwrap();
        let scores: Vec<_> = best.rows.iter().map(|row| row.score().unwrap()).collect();
        assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]), "{scores:?}");
        write(&mails, "ann", 100, "key key key key").await;
        let mut seen: Vec<_> = best.rows.iter().map(short).collect();
        let mut next = best.next;
        while let Some(token) = next {
            let page = query().by_score().after(&token).page(5).await.unwrap();
            seen.extend(page.rows.iter().map(short));
            next = page.next;
        }
        seen.sort_by_key(|row| row[3..].parse::<u32>().unwrap());
        assert_eq!(seen, expected);

        let other =
            mails.query("body matches 'end'").after(first.next.as_ref().unwrap()).page(1).await;
        assert_eq!(other.unwrap_err().kind(), ErrorKind::InvalidRequest);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_snippets_are_answers_too() {
    on_mails(async |mails| {
        write(&mails, "ann", 1, "A long text about other things, and then the row keys of HBase")
            .await;
        let keys = mails.query("body matches 'key'").keys().await.unwrap();
        assert_eq!(keys, [mails.key(&[("user", "ann".into()), ("n", 1.into())]).unwrap()]);
        let row = rows(mails.query("body matches 'key'")).await.remove(0);
        let snippet = row.snippet("body", 20).unwrap().unwrap();
        assert_eq!(
            snippet.matches.iter().map(|at| &snippet.text[at.clone()]).collect::<Vec<_>>(),
            ["keys"]
        );
        assert!(snippet.text.chars().count() <= 20, "{}", snippet.text);
        assert_eq!(row.snippet("sender", 20).unwrap(), None);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_come_in_the_order_of_a_field_in_both_directions_and_in_pages() {
    on_mails(async |mails| {
        for n in 0..10_u32 {
            let row =
                mails.row(&[("user", "ann".into()), ("n", n.into())]).set_named("body", "words");
            let row = if n == 4 { row } else { row.set_named("size", (n * 7) % 5) };
            mails.put(row.into_put().unwrap()).await.unwrap();
        }
        let mut sorted: Vec<_> = (0..10_u32).filter(|n| *n != 4).collect();
        sorted.sort_by_key(|n| ((n * 7) % 5, *n));
        let named = |n: &u32| format!("ann{n}");
        let forward: Vec<_> = sorted.iter().chain([&4]).map(named).collect();
        let reverse: Vec<_> = sorted.iter().rev().chain([&4]).map(named).collect();
        let query = || mails.query("body matches 'words'").by_field("size");
        assert_eq!(keys(query()).await, forward);
        assert_eq!(keys(query().reversed()).await, reverse);
        let mut paged = Vec::new();
        let mut next: Option<String> = None;
        loop {
            let query = query().reversed();
            let query = match &next {
                Some(token) => query.after(token),
                None => query,
            };
            let page = query.page(3).await.unwrap();
            paged.extend(page.rows.iter().map(short));
            next = page.next;
            if next.is_none() {
                break;
            }
        }
        assert_eq!(paged, reverse);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_are_refused_by_name() {
    on_mails(async |mails| {
        // A server reports some with the first row.
        let refused = async |query: Query<'_>| match query.rows().await {
            Ok(rows) => rows.collect().await.unwrap_err(),
            Err(error) => error,
        };
        let error = refused(mails.query("folder matches 'in'")).await;
        assert!(error.message().contains("needs a full-text index of `folder`"), "{error}");
        let error = refused(mails.query("body matches 'a OR'")).await;
        assert!(error.message().contains("offset="), "{error}");
        let error = refused(mails.query("body matches '...'")).await;
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        let error = refused(mails.query("user = 'ann'").by_score()).await;
        assert!(error.message().contains("only a query with `matches`"), "{error}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_rows_by_score_and_by_field_are_read_in_many_batches_also_of_large_rows() {
    on_mails(async |mails| {
        let folder = "x".repeat(30_000);
        let puts = (0..300_u32).map(|n| {
            let row = mails.row(&[("user", "ann".into()), ("n", n.into())]).set_named("size", n);
            let row = row.set_named("body", format!("{} end", "key ".repeat(n as usize % 50 + 1)));
            row.set_named("folder", folder.clone()).into_put().unwrap().into()
        });
        for outcome in mails.batch(puts.collect()).await {
            outcome.unwrap();
        }
        let all: Vec<_> = (0..300).map(|n| format!("ann{n}")).collect();
        let scores =
            |rows: &[QueryRow]| rows.iter().map(|row| row.score().unwrap()).collect::<Vec<_>>();
        // Segments that are written between two searches change scores, until all are.
        let mut tries = 0..1_000;
        let mut by_score = loop {
            let by_score = rows(mails.query("body matches 'key'").by_score()).await;
            assert!(scores(&by_score).is_sorted_by(|one, other| one >= other));
            let keys_by_score = mails.query("body matches 'key'").by_score().keys().await.unwrap();
            let of_rows: Vec<_> = by_score.iter().map(|row| row.row().key().to_vec()).collect();
            if keys_by_score == of_rows {
                break by_score;
            }
            assert!(tries.next().is_some(), "keys by score are not in the order of the rows");
        };
        by_score.sort_by_key(|row| row.key("n").unwrap().as_u64());
        assert_eq!(by_score.iter().map(short).collect::<Vec<_>>(), all);
        assert_eq!(keys(mails.query("body matches 'key'").by_field("size")).await, all);
        assert_eq!(keys(mails.query("body matches 'key'")).await, all);
        let some = mails.query("body matches 'key'").by_field("size").offset(5).limit(80);
        assert_eq!(keys(some).await, all[5..85]);
        assert_eq!(mails.query("body matches 'key'").page(0).await.unwrap().next, None);
        let none = mails.query("body matches 'key'").by_score().column("d", "s").page(9).await;
        assert!(none.unwrap().rows.is_empty(), "no row has the column");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_keys_are_those_of_rows_and_offsets_count_for_both() {
    on_mails(async |mails| {
        for n in 0..30_u32 {
            write(&mails, "ann", n, &"key ".repeat(n as usize % 7 + 1)).await;
        }
        let all = || mails.query("body matches 'key'");
        for order in [0, 1, 2, 3] {
            let query = || match order {
                0 => all(),
                1 => all().by_score(),
                2 => all().by_field("size").reversed(),
                _ => mails.query("user = 'ann' and n < 30"),
            };
            let keys = query().keys().await.unwrap();
            assert_eq!(keys.len(), 30);
            let page = query().offset(3).page(5).await.unwrap();
            let of_rows: Vec<_> = page.rows.iter().map(|row| row.row().key().to_vec()).collect();
            assert_eq!(of_rows, keys[3..8], "{order}");
            let page = query().offset(3).keys_page(5).await.unwrap();
            assert_eq!(page.keys, keys[3..8], "{order}");
            // A key page's token continues rows.
            let token = page.next.unwrap();
            let page = query().after(&token).page(4).await.unwrap();
            let of_rows: Vec<_> = page.rows.iter().map(|row| row.row().key().to_vec()).collect();
            assert_eq!(of_rows, keys[8..12], "{order}");
            let page = query().after(&page.next.unwrap()).keys_page(18).await.unwrap();
            assert_eq!((&page.keys[..], page.next), (&keys[12..], None), "{order}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_by_score_end_with_the_table() {
    on_both(async |database, _| {
        let mails = database.create_table(spec("mail")).await.unwrap();
        ready(&database, "mail").await;
        for n in 0..9 {
            write(&mails, "ann", n, "key").await;
        }
        let admin = || database.admin();
        admin()
            .take_snapshot(Snapshot::new("before", TableName::parse("mail").unwrap()).unwrap())
            .await
            .unwrap();
        for change in ["restore", "truncate", "create"] {
            let mails = database.table("mail").await.unwrap();
            for n in 0..9 {
                write(&mails, "ann", n, "key").await;
            }
            let first = mails.query("body matches 'key'").by_score().page(2).await.unwrap();
            admin().disable_table("mail").await.unwrap();
            match change {
                "restore" => {
                    admin().restore_snapshot("before").await.unwrap();
                    admin().enable_table("mail").await.unwrap();
                }
                "truncate" => admin().truncate_table("mail", true).await.unwrap(),
                _ => {
                    admin().drop_table("mail").await.unwrap();
                    database.create_table(spec("mail")).await.unwrap();
                }
            }
            ready(&database, "mail").await;
            let mails = database.table("mail").await.unwrap();
            let query = mails.query("body matches 'key'").by_score();
            let ended = query.after(&first.next.unwrap()).page(2).await.unwrap_err();
            assert_eq!(ended.kind(), ErrorKind::UnknownScanner, "{change}: {ended}");
            assert!(ended.message().contains("ended"), "{change}: {ended}");
        }
        database.close().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_token_by_score_of_an_earlier_process_reaches_no_other_search() {
    let Opened { _dir, path, database } = opened().await;
    let mails = database.create_table(spec("mail")).await.unwrap();
    ready(&database, "mail").await;
    for n in 0..9 {
        write(&mails, "ann", n, if n % 2 == 0 { "even key" } else { "odd key" }).await;
    }
    let even = mails.query("body matches 'even'").by_score().page(2).await.unwrap().next.unwrap();
    database.close().await.unwrap();
    let database = rowhouse::open(&path).await.unwrap();
    let mails = database.table("mail").await.unwrap();
    mails.query("body matches 'odd'").by_score().page(2).await.unwrap().next.unwrap();
    let page = mails.query("body matches 'even'").by_score().after(&even).page(2).await;
    assert_eq!(page.unwrap_err().kind(), ErrorKind::UnknownScanner);
    database.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_by_score_of_a_server_ends_with_it_and_the_error_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let start = async || Server::start(loopback(dir.path())).await.unwrap();
    let server = start().await;
    let open = async |server: &Server| {
        rowhouse::open(format!("hbase://{}", server.address())).await.unwrap()
    };
    let database = open(&server).await;
    let mails = database.create_table(spec("mail")).await.unwrap();
    ready(&database, "mail").await;
    for n in 0..9 {
        write(&mails, "ann", n, "key").await;
    }
    let query = || mails.query("body matches 'key'");
    let by_score = query().by_score().page(2).await.unwrap().next.unwrap();
    let by_field = query().by_field("size").page(2).await.unwrap().next.unwrap();
    server.stop().await.unwrap();
    let server = start().await;
    let database = open(&server).await;
    let mails = database.table("mail").await.unwrap();
    let query = || mails.query("body matches 'key'");
    let ended = query().by_score().after(&by_score).page(2).await.unwrap_err();
    assert_eq!(ended.kind(), ErrorKind::UnknownScanner);
    let next = query().by_field("size").after(&by_field).page(2).await.unwrap();
    assert_eq!(next.rows.iter().map(short).collect::<Vec<_>>(), ["ann2", "ann3"]);
    server.stop().await.unwrap();
}
