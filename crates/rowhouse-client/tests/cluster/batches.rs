//! Row batches.

use rowhouse_model::{Delete, ErrorKind, Get, Increment, Mutation, Put, Scan, Timestamp};

use crate::{create, drop_table, on_cluster};

const SPLITS: [&[u8]; 3] = [b"0250", b"0500", b"0750"];

fn row(at: usize) -> String {
    format!("{at:04}")
}

fn put(at: usize, value: &str) -> Mutation {
    Put::new(row(at)).unwrap().add("cf", "q", value).unwrap().into()
}

#[test]
fn batches_reach_all_regions_and_come_back_in_order() {
    on_cluster(|client| async move {
        let table = create(&client, "batch", &SPLITS).await;
        // Not in key order.
        let order: Vec<usize> = (0..1000).map(|at| at * 7 % 1000).collect();
        let puts = order.iter().map(|&at| put(at, &row(at))).collect();
        let outcomes = table.batch(puts).await;
        assert_eq!(outcomes.len(), 1000);
        outcomes.into_iter().for_each(|outcome| assert!(outcome.unwrap().row.is_empty()));

        let gets: Vec<Get> = order.iter().map(|&at| Get::new(row(at)).unwrap()).collect();
        let rows = table.get_many(gets.clone()).await;
        for (&at, read) in order.iter().zip(rows) {
            assert_eq!(read.unwrap().value("cf", "q").unwrap(), row(at));
        }
        let mut missing = gets;
        missing.push(Get::new("nothing").unwrap());
        let exist: Vec<bool> =
            table.exists_many(missing).await.into_iter().map(|one| one.unwrap()).collect();
        assert_eq!(exist.iter().filter(|&&exists| exists).count(), 1000);
        assert!(!exist[1000]);
        let none = table.get_many(vec![Get::new("nothing").unwrap()]).await.remove(0);
        assert!(none.unwrap().is_empty());

        let deletes = (0..1000).step_by(2).map(|at| Delete::new(row(at)).unwrap().into());
        for outcome in table.batch(deletes.collect()).await {
            outcome.unwrap();
        }
        assert_eq!(table.scan(Scan::all()).collect().await.unwrap().len(), 500);
        assert!(table.batch(Vec::new()).await.is_empty());
        drop_table(&client, &table).await;
    });
}

#[test]
fn one_bad_action_fails_alone() {
    on_cluster(|client| async move {
        let table = create(&client, "bad", &SPLITS).await;
        table.batch(vec![put(1, "not a counter")]).await.remove(0).unwrap();
        let increment =
            |at| Mutation::from(Increment::new(row(at)).unwrap().add("cf", "q", 3).unwrap());
        let nowhere = Put::new(row(800)).unwrap().add("nope", "q", "v").unwrap();
        let batch = vec![
            put(300, "good"),
            nowhere.into(),
            increment(900),
            increment(1),
            put(801, "good"),
            Delete::new(row(400)).unwrap().into(),
        ];
        let mut outcomes = table.batch(batch).await;
        let mut fails = |at: usize, kind| {
            let outcome = std::mem::replace(&mut outcomes[at], Ok(Default::default()));
            assert_eq!(outcome.unwrap_err().kind(), kind, "action {at}");
        };
        fails(1, ErrorKind::NoSuchColumnFamily);
        fails(3, ErrorKind::InvalidRequest);
        let outcomes: Vec<_> = outcomes.into_iter().map(|outcome| outcome.unwrap()).collect();
        assert_eq!(outcomes[2].row.counter("cf", "q").unwrap(), Some(3));
        assert!(table.exists(&Get::new(row(801)).unwrap()).await.unwrap());
        drop_table(&client, &table).await;
    });
}

#[test]
fn mutations_of_one_row_are_made_in_order() {
    on_cluster(|client| async move {
        let table = create(&client, "order", &SPLITS).await;
        let at = |millis| Timestamp::from_millis(millis).unwrap();
        let mut batch: Vec<Mutation> = Vec::new();
        for n in 0..50 {
            for r in [100, 600] {
                let put = Put::new(row(r)).unwrap();
                batch.push(put.add_at("cf", "v", at(1), n.to_string()).unwrap().into());
                let increment = Increment::new(row(r)).unwrap();
                batch.push(increment.add("cf", "n", 1).unwrap().into());
            }
        }
        let outcomes = table.batch(batch).await;
        for (n, four) in outcomes.chunks(4).enumerate() {
            for at in [1, 3] {
                let outcome = four[at].as_ref().unwrap();
                assert_eq!(outcome.row.counter("cf", "n").unwrap(), Some(n as i64 + 1));
            }
        }
        for r in [100, 600] {
            let read = table.get(&Get::new(row(r)).unwrap()).await.unwrap();
            assert_eq!(read.value("cf", "v").as_deref(), Some(&b"49"[..]));
        }
        drop_table(&client, &table).await;
    });
}

#[test]
fn batches_larger_than_one_call_are_cut() {
    on_cluster(|client| async move {
        let table = create(&client, "cut", &SPLITS).await;
        let value = "x".repeat(20_000);
        let puts = (0..1000).map(|at| put(at, &value)).collect();
        for outcome in table.batch(puts).await {
            outcome.unwrap();
        }
        let gets = (0..1000).map(|at| Get::new(row(at)).unwrap()).collect();
        for read in table.get_many(gets).await {
            assert_eq!(read.unwrap().value("cf", "q").unwrap().len(), 20_000);
        }
        drop_table(&client, &table).await;
    });
}
