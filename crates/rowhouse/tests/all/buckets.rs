//! Rows spread over buckets are returned in the same order as from a table without buckets.

use rowhouse::query::RowSequence;
use rowhouse::{Database, Mutation, Put, Table, TableSpec};

const PLAIN: &str = "[user string][at millis desc]";

/// Returns users and times: few users with many rows, many with few.
fn rows() -> impl Iterator<Item = (String, i64)> {
    (0..3_000i64).map(|nth| {
        let user = if nth % 3 == 0 { nth % 7 } else { nth % 401 };
        (format!("user{user}"), 1_669_852_800_000 + nth * 977)
    })
}

async fn filled(database: &Database, name: &str, template: &str) -> Table {
    let spec = TableSpec::new(name).family("d").key(template);
    let table = database.create_table(spec).await.unwrap();
    let puts: Vec<Mutation> = rows()
        .map(|(user, at)| {
            let key = [("user", user.as_str().into()), ("at", at.into())];
            let put: Put =
                table.row(&key).set("d", "text", format!("{user} {at}")).into_put().unwrap();
            put.into()
        })
        .collect();
    for outcome in table.batch(puts).await {
        outcome.unwrap();
    }
    table
}

/// Returns the texts in the rows that a query returns, in order.
async fn texts_of(table: &Table, query: &str, limit: Option<u64>) -> Vec<String> {
    let query = table.query(query);
    let query = match limit {
        Some(rows) => query.limit(rows),
        None => query,
    };
    let rows = query.rows().await.unwrap().collect().await.unwrap();
    rows.iter().map(|row| row.text("d", "text").unwrap().into_owned()).collect()
}

/// As [`texts_of`], in reverse; without a limit the result must be the forward result reversed.
async fn texts_backward(table: &Table, query: &str, limit: Option<u64>) -> Vec<String> {
    let backward = table.query(query).reversed().limit(limit.unwrap_or(u64::MAX));
    let rows = backward.rows().await.unwrap().collect().await.unwrap();
    let texts: Vec<_> =
        rows.iter().map(|row| row.text("d", "text").unwrap().into_owned()).collect();
    let mut forward = texts_of(table, query, None).await;
    forward.reverse();
    forward.truncate(limit.map_or(usize::MAX, |rows| rows as usize));
    assert_eq!(texts, forward, "{query}");
    texts
}

#[tokio::test]
async fn a_query_over_buckets_returns_the_rows_of_a_plain_table_in_the_same_order() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
    let plain = filled(&database, "plain", PLAIN).await;
    let buckets = filled(&database, "buckets", &format!("[bucket 16 of user]{PLAIN}")).await;
    let of_all = filled(&database, "of_all", &format!("[bucket 5]{PLAIN}")).await;
    let salted = filled(&database, "salted", &format!("[salt 4 a-d]-{PLAIN}")).await;
    for query in [
        "user >= 'user'",
        "user = 'user3'",
        "user starts with 'user1' and at >= 2022-12-01T00:10",
        "user in ('user1', 'user5', 'user100', 'nobody')",
        "user = 'user5' and at < 2022-12-01T00:20",
        "at during 2022-12-01T00:30",
    ] {
        for limit in [None, Some(1), Some(50)] {
            let expected = texts_of(&plain, query, limit).await;
            let backward = texts_backward(&plain, query, limit).await;
            for table in [&buckets, &of_all, &salted] {
                assert_eq!(
                    texts_backward(table, query, limit).await,
                    backward,
                    "{query} {limit:?}"
                );
            }
            assert_eq!(texts_of(&buckets, query, limit).await, expected, "{query} {limit:?}");
            assert_eq!(texts_of(&of_all, query, limit).await, expected, "{query} {limit:?}");
            assert_eq!(texts_of(&salted, query, limit).await, expected, "{query} {limit:?}");
        }
    }
    let merged = buckets.query("user >= 'user'").explain().unwrap();
    assert_eq!(merged.order().sequence(), RowSequence::Merged);
    assert_eq!(merged.streams().count(), 16);
    database.close().await.unwrap();
}

#[tokio::test]
async fn a_row_whose_key_does_not_fit_comes_among_merged_ones_and_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
    let table = filled(&database, "buckets", &format!("[bucket 4 of user]{PLAIN}")).await;
    let stranger = Put::new(b"\x02user".as_slice()).unwrap().add("d", "text", "?").unwrap();
    table.put(stranger).await.unwrap();
    let mut rows = table.query("user >= 'a'").with_misfits().rows().await.unwrap();
    let mut fitting = 0;
    let mut strangers = 0;
    while let Some(row) = rows.next().await.unwrap() {
        *(if row.values().is_ok() { &mut fitting } else { &mut strangers }) += 1;
    }
    assert_eq!((fitting, strangers, rows.not_fitting()), (3_000, 1, 1));
    let fitting = table.query("user >= 'a'");
    assert_eq!(fitting.rows().await.unwrap().collect().await.unwrap().len(), 3_000);
    database.close().await.unwrap();
}

/// Reads all query pages; returns the texts and the page count.
async fn paged(table: &Table, query: &str, rows: usize, reversed: bool) -> (Vec<String>, usize) {
    let mut texts = Vec::new();
    let mut pages = 0;
    let mut token = None::<String>;
    loop {
        let request = table.query(query);
        let request = if reversed { request.reversed() } else { request };
        let request = match &token {
            Some(token) => request.after(token),
            None => request,
        };
        let page = request.page(rows).await.unwrap();
        assert!(page.rows.len() <= rows);
        texts.extend(page.rows.iter().map(|row| row.text("d", "text").unwrap().into_owned()));
        pages += 1;
        token = page.next;
        if token.is_none() {
            return (texts, pages);
        }
    }
}

#[tokio::test]
async fn pages_by_token_and_by_offset_are_the_whole_result_with_and_without_buckets() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
    let plain = filled(&database, "plain", PLAIN).await;
    let buckets = filled(&database, "buckets", &format!("[bucket 16 of user]{PLAIN}")).await;
    let query = "user starts with 'user1' and at >= 2022-12-01T00:10";
    let whole = texts_of(&plain, query, None).await;
    for table in [&plain, &buckets] {
        for rows in [7, 50, whole.len() - 1, whole.len(), whole.len() + 1] {
            for reversed in [false, true] {
                let (mut texts, pages) = paged(table, query, rows, reversed).await;
                if reversed {
                    texts.reverse();
                }
                assert_eq!(texts, whole, "{rows} {reversed}");
                assert_eq!(pages, whole.len().div_ceil(rows), "{rows} {reversed}");
            }
        }
        // Rows 51 to 100.
        let second = table.query(query).offset(50).limit(50).rows().await.unwrap();
        let second = second.collect().await.unwrap();
        let texts = second.iter().map(|row| row.text("d", "text").unwrap().into_owned());
        assert_eq!(texts.collect::<Vec<_>>(), whole[50..100]);
        assert!(table.query(query).offset(1 << 40).page(5).await.unwrap().rows.is_empty());
    }
    database.close().await.unwrap();
}

#[tokio::test]
async fn a_page_begins_at_the_end_of_the_previous_one_despite_writes() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
    let table = filled(&database, "buckets", &format!("[bucket 16 of user]{PLAIN}")).await;
    let whole = texts_of(&table, "user >= 'user'", None).await;
    let first = table.query("user >= 'user'").page(100).await.unwrap();
    let token = first.next.unwrap();
    for user in ["user0", "user", "a"] {
        let key = [("user", user.into()), ("at", "2022-12-31".into())];
        table.row(&key).set("d", "text", "in front").put().await.unwrap();
    }
    let second = table.query("user >= 'user'").after(&token).page(100).await.unwrap();
    let texts = second.rows.iter().map(|row| row.text("d", "text").unwrap().into_owned());
    assert_eq!(texts.collect::<Vec<_>>(), whole[100..200]);
    let other = table.query("user >= 'use'").after(&token).page(100).await.unwrap_err();
    assert_eq!(other.message(), "the page token is of another query");
    database.close().await.unwrap();
}
