//! Counters that are gathered in memory.

use std::time::Duration;

use rowhouse::{CounterSettings, Database, ErrorKind, Put, Table, TableSpec};

use crate::support::on_both;

const LATER: CounterSettings = CounterSettings { interval: Duration::MAX, adds_max: 1000 };

async fn articles(database: &Database) -> Table {
    database.create_table(TableSpec::new("articles").family("n")).await.unwrap()
}

async fn reads(table: &Table, row: &'static str) -> i64 {
    table.counter(row, "n", "reads").await.unwrap().unwrap_or(0)
}

/// Waits until a counter has a value.
async fn until(table: &Table, row: &'static str, value: i64) {
    for _ in 0..1000 {
        if reads(table, row).await == value {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{} instead of {value}", reads(table, row).await);
}

#[tokio::test]
async fn adds_from_many_tasks_are_written_once_each() {
    on_both(|database, _| async move {
        let articles = articles(&database).await;
        let buffer = articles
            .counter_buffer(CounterSettings { interval: Duration::from_millis(5), adds_max: 100 });
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let buffer = buffer.clone();
                tokio::spawn(async move {
                    for nth in 0..500_i64 {
                        let row = if nth % 5 == 0 { "b" } else { "a" };
                        buffer.add(row, "n", "reads", 1).unwrap();
                        buffer.add(row, "n", "sum", nth).unwrap();
                        if nth % 50 == 0 {
                            buffer.flush().await.unwrap();
                        }
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        buffer.flush().await.unwrap();
        assert_eq!((reads(&articles, "a").await, reads(&articles, "b").await), (1600, 400));
        let sum = articles.counter("b", "n", "sum").await.unwrap();
        assert_eq!(sum, Some(4 * (0..500).filter(|nth| nth % 5 == 0).sum::<i64>()));
        database.close().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn adds_are_written_after_an_interval_or_a_number_of_them_or_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
    let articles = articles(&database).await;
    let interval = Duration::from_millis(20);
    let soon = articles.counter_buffer(CounterSettings { interval, ..LATER });
    soon.add("soon", "n", "reads", 1).unwrap();
    until(&articles, "soon", 1).await;
    soon.add("soon", "n", "reads", 1).unwrap();
    until(&articles, "soon", 2).await;

    let many = articles.counter_buffer(LATER);
    for _ in 0..999 {
        many.add("many", "n", "reads", 1).unwrap();
    }
    tokio::time::sleep(interval).await;
    assert_eq!(reads(&articles, "many").await, 0);
    many.add("many", "n", "reads", 1).unwrap();
    until(&articles, "many", 1000).await;
    many.add("many", "n", "reads", 5).unwrap();
    // The buffer waits until an interval ends when it is dropped.
    tokio::time::sleep(interval).await;
    drop(many);
    until(&articles, "many", 1005).await;

    let closed = articles.counter_buffer(LATER);
    closed.add("closed", "n", "reads", -3).unwrap();
    closed.close().await.unwrap();
    assert_eq!(reads(&articles, "closed").await, -3);
    let refused = closed.add("closed", "n", "reads", 1).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ServerNotRunning);

    let left = articles.counter_buffer(LATER);
    left.add("left", "n", "reads", 7).unwrap();
    database.close().await.unwrap();
    assert!(left.add("left", "n", "reads", 1).is_err());
    let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
    assert_eq!(reads(&database.table("articles").await.unwrap(), "left").await, 7);
    database.close().await.unwrap();
}

#[tokio::test]
async fn adds_that_are_refused_stay_and_those_that_cannot_be_written_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
    let articles = articles(&database).await;
    let buffer = articles.counter_buffer(CounterSettings { adds_max: 3, ..LATER });
    database.admin().disable_table("articles").await.unwrap();
    for row in ["a", "b"] {
        buffer.add(row, "n", "reads", 1).unwrap();
    }
    assert_eq!(buffer.flush().await.unwrap_err().kind(), ErrorKind::TableNotEnabled);
    buffer.add("c", "n", "reads", 1).unwrap();
    // Three counters are waiting, and it is known that they cannot be written.
    for _ in 0..1000 {
        if buffer.add("d", "n", "reads", 0).is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(buffer.add("e", "n", "reads", 1).unwrap_err().kind(), ErrorKind::TableNotEnabled);
    buffer.add("a", "n", "reads", 1).unwrap();
    database.admin().enable_table("articles").await.unwrap();
    buffer.flush().await.unwrap();
    assert_eq!((reads(&articles, "a").await, reads(&articles, "c").await), (2, 1));
    assert!(reads(&articles, "e").await == 0);

    articles.put(Put::new("text").unwrap().add("n", "reads", "none").unwrap()).await.unwrap();
    buffer.add("text", "n", "reads", 1).unwrap();
    buffer.add("a", "n", "reads", 1).unwrap();
    let error = buffer.flush().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{error}");
    assert!(error.message().contains("are lost: 1"), "{error}");
    buffer.flush().await.unwrap();
    assert_eq!(reads(&articles, "a").await, 3);
    assert!(buffer.add("", "n", "reads", 1).is_err());
    database.close().await.unwrap();
}
