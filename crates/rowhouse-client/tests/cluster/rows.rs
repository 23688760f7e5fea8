//! Single-row calls.

use std::time::Duration;

use rowhouse_client::Settings;
use rowhouse_model::{
    Append, CompareOperator, Condition, Delete, Get, Increment, Mutation, Put, Row, RowMutations,
    Timestamp,
};

use crate::{connect_with, create, drop_table, on_cluster};

/// A row key with a comma, a zero byte and a byte that is not text.
const ROW: &[u8] = b"r,\0\xff";

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

#[test]
fn cells_are_put_read_and_deleted() {
    on_cluster(|client| async move {
        let table = create(&client, "rows", &[]).await;
        let get = || Get::new(ROW).unwrap();
        assert!(table.get(&get()).await.unwrap().is_empty());
        assert!(!table.exists(&get()).await.unwrap());

        let put = Put::new(ROW).unwrap();
        let put = put.add_at("cf", "b", at(5), "five").unwrap();
        let put = put.add_at("cf", "a", at(6), "六").unwrap();
        table.mutate(put).await.unwrap();
        let put = Put::new(ROW).unwrap().add_at("cf", "b", at(7), "seven").unwrap();
        table.mutate(put).await.unwrap();

        let row = table.get(&get()).await.unwrap();
        assert_eq!(row.len(), 2);
        assert_eq!(row.value("cf", "a").as_deref(), Some("六".as_bytes()));
        assert_eq!(row.value("cf", "b").as_deref(), Some(&b"seven"[..]));
        let versions = table.get(&get().column("cf", "b").versions(3)).await.unwrap();
        let stamps: Vec<_> = versions.cells().map(|cell| cell.timestamp()).collect();
        assert_eq!(stamps, [at(7), at(5)]);
        assert!(table.exists(&get().column("cf", "a")).await.unwrap());
        assert!(!table.exists(&get().column("cf", "c")).await.unwrap());

        let newest = Delete::new(ROW).unwrap();
        let newest = newest.version("cf", "b", Timestamp::LATEST).unwrap();
        table.mutate(newest).await.unwrap();
        let row = table.get(&get()).await.unwrap();
        assert_eq!(row.value("cf", "b").as_deref(), Some(&b"five"[..]));
        let column = Delete::new(ROW).unwrap().column("cf", "b", Timestamp::LATEST).unwrap();
        table.mutate(column).await.unwrap();
        assert_eq!(table.get(&get()).await.unwrap().len(), 1);
        table.mutate(Delete::new(ROW).unwrap()).await.unwrap();
        assert!(table.get(&get()).await.unwrap().is_empty());
        drop_table(&client, &table).await;
    });
}

#[test]
fn counters_count() {
    on_cluster(|client| async move {
        let table = create(&client, "counters", &[]).await;
        let increment = |by| Increment::new("r").unwrap().add("cf", "n", by).unwrap();
        for (by, expected) in [(1, 1), (41, 42), (-50, -8)] {
            let outcome = table.mutate(increment(by)).await.unwrap();
            assert_eq!(outcome.row.counter("cf", "n").unwrap(), Some(expected));
        }
        let mut silent = increment(8);
        silent.return_results = false;
        assert!(table.mutate(silent).await.unwrap().row.is_empty());
        let two = increment(1).add("cf", "m", 7).unwrap();
        let outcome = table.mutate(two).await.unwrap();
        assert_eq!(outcome.row.counter("cf", "n").unwrap(), Some(1));
        assert_eq!(outcome.row.counter("cf", "m").unwrap(), Some(7));
        drop_table(&client, &table).await;
    });
}

fn append(value: &str) -> Append {
    Append::new("r").unwrap().add("cf", "a", value).unwrap()
}

fn put(value: &str) -> Put {
    Put::new("r").unwrap().add("cf", "q", value).unwrap()
}

fn value(row: &Row, qualifier: &str) -> Option<String> {
    row.value("cf", qualifier).map(|value| String::from_utf8(value.to_vec()).unwrap())
}

#[test]
fn values_grow() {
    on_cluster(|client| async move {
        let table = create(&client, "values", &[]).await;
        for (more, expected) in [("x", "x"), ("yz", "xyz"), ("", "xyz")] {
            let outcome = table.mutate(append(more)).await.unwrap();
            assert_eq!(value(&outcome.row, "a").as_deref(), Some(expected));
        }
        let mut silent = append("!");
        silent.return_results = false;
        silent.ttl_millis = Some(86_400_000);
        assert!(table.mutate(silent).await.unwrap().row.is_empty());
        let outcomes = table.batch(vec![append("?").into(), put("1").into()]).await;
        assert_eq!(value(&outcomes[0].as_ref().unwrap().row, "a").as_deref(), Some("xyz!?"));
        assert!(outcomes[1].is_ok());
        drop_table(&client, &table).await;
    });
}

#[test]
fn conditions_compare_the_value_that_is_there() {
    on_cluster(|client| async move {
        use CompareOperator::*;
        let table = create(&client, "conditions", &[]).await;
        table.mutate(put("5")).await.unwrap();
        for (operator, expected) in [
            (Less, "6"),
            (LessOrEqual, "5 6"),
            (Equal, "5"),
            (NotEqual, "4 6"),
            (GreaterOrEqual, "4 5"),
            (Greater, "4"),
        ] {
            let mut held = Vec::new();
            for value in ["4", "5", "6"] {
                let condition = Condition::value("cf", "q", operator, value);
                if table.mutate_if(&condition, append(value)).await.unwrap().is_some() {
                    held.push(value);
                }
            }
            assert_eq!(held.join(" "), expected, "{operator:?}");
        }
        let absent = Condition::no_value("cf", "new");
        let new = || Put::new("r").unwrap().add("cf", "new", "x").unwrap();
        assert!(table.mutate_if(&absent, new()).await.unwrap().is_some());
        assert!(table.mutate_if(&absent, new()).await.unwrap().is_none());
        let five = Condition::value("cf", "q", Equal, "5");
        let changes: [(Mutation, usize); 3] = [
            (Increment::new("r").unwrap().add("cf", "n", 2).unwrap().into(), 1),
            (Delete::new("r").unwrap().column("cf", "n", Timestamp::LATEST).unwrap().into(), 0),
            (put("6").into(), 0),
        ];
        for (change, cells) in changes {
            let outcome = table.mutate_if(&five, change).await.unwrap().unwrap();
            assert_eq!(outcome.row.len(), cells);
        }
        assert!(table.mutate_if(&five, put("7")).await.unwrap().is_none());
        drop_table(&client, &table).await;
    });
}

#[test]
fn changes_of_a_row_are_one() {
    on_cluster(|client| async move {
        let table = create(&client, "as_one", &[]).await;
        let count = Increment::new("r").unwrap().add("cf", "n", 2).unwrap();
        let all = RowMutations::new("r").unwrap().with(count).unwrap();
        let all = all.with(put("5")).unwrap().with(append("x")).unwrap();
        let outcome = table.mutate_row(&all).await.unwrap();
        let qualifiers: Vec<_> =
            outcome.row.cells().map(|cell| cell.qualifier().to_vec()).collect();
        assert_eq!(qualifiers, [b"n".to_vec(), b"a".to_vec()], "in their order");
        let five = Condition::value("cf", "q", CompareOperator::Equal, "5");
        let outcome = table.mutate_row_if(&five, &all).await.unwrap().unwrap();
        assert_eq!(value(&outcome.row, "a").as_deref(), Some("xx"));
        let six = Condition::value("cf", "q", CompareOperator::Equal, "6");
        assert!(table.mutate_row_if(&six, &all).await.unwrap().is_none());
        let failing = Put::new("r").unwrap().add("nope", "q", "x").unwrap();
        let error = table.mutate_row(&all.clone().with(failing).unwrap()).await.unwrap_err();
        assert!(error.message().contains("nope"), "{error}");
        let row = table.get(&Get::new("r").unwrap()).await.unwrap();
        assert_eq!(row.counter("cf", "n").unwrap(), Some(4));
        assert_eq!(value(&row, "a").as_deref(), Some("xx"));
        drop_table(&client, &table).await;
    });
}

#[test]
fn many_tasks_share_one_connection() {
    on_cluster(|client| async move {
        let table = create(&client, "tasks", &[b"5"]).await;
        let tasks = (0..200).map(|at| {
            let table = table.clone();
            tokio::spawn(async move {
                let row = format!("{:03}", at * 5 % 1000);
                let put = Put::new(row.clone()).unwrap().add("cf", "q", &row).unwrap();
                table.mutate(put).await.unwrap();
                let increment = Increment::new("all").unwrap().add("cf", "n", 1).unwrap();
                table.mutate(increment).await.unwrap();
                let read = table.get(&Get::new(row.clone()).unwrap()).await.unwrap();
                assert_eq!(read.value("cf", "q").as_deref(), Some(row.as_bytes()));
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap();
        }
        let all = table.get(&Get::new("all").unwrap()).await.unwrap();
        assert_eq!(all.counter("cf", "n").unwrap(), Some(200));
        drop_table(&client, &table).await;
    });
}

#[test]
fn large_values_pass_both_ways() {
    on_cluster(|client| async move {
        let table = create(&client, "large", &[]).await;
        let value: Vec<u8> = (0..6_000_000u32).map(|at| (at % 251) as u8).collect();
        table.mutate(Put::new("r").unwrap().add("cf", "q", &value).unwrap()).await.unwrap();
        let row = table.get(&Get::new("r").unwrap()).await.unwrap();
        assert!(row.value("cf", "q").unwrap() == value);
        drop_table(&client, &table).await;
    });
}

/// The call timeout is far too short, so many calls are executed and yet retried.
#[test]
fn an_increment_that_is_repeated_counts_once() {
    on_cluster(|client| async move {
        let table = create(&client, "once", &[]).await;
        let hasty = Settings {
            call_timeout: Duration::from_millis(4),
            retry_pause: Duration::from_millis(1),
            retries_max: 1000,
            ..Settings::default()
        };
        // Connecting and looking up locations may take longer than one call.
        let hasty = loop {
            if let Ok(client) = connect_with(hasty.clone()).await {
                break client.table(table.name());
            }
        };
        while hasty.exists(&Get::new("r").unwrap()).await.is_err() {}
        let tasks = (0..100).map(|_| {
            let hasty = hasty.clone();
            tokio::spawn(async move {
                let increment = Increment::new("r").unwrap().add("cf", "n", 1).unwrap();
                for _ in 0..20 {
                    hasty.mutate(increment.clone()).await.unwrap();
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap();
        }
        let row = table.get(&Get::new("r").unwrap()).await.unwrap();
        let counted = row.counter("cf", "n").unwrap();
        assert_eq!(counted, Some(2000), "the server does not know a nonce again");
        drop_table(&client, &table).await;
    });
}
