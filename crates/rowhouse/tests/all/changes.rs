//! All row mutation kinds, on an embedded database and on a server.

use crate::support::on_both;
use rowhouse::filter::CompareOperator;
use rowhouse::{
    Append, Condition, Database, Delete, ErrorKind, Get, Increment, Mutation, Put, RowMutations,
    Scan, Table, TableSpec, Timestamp,
};
use tokio::task::JoinSet;

async fn table(database: &Database, name: &str) -> Table {
    let spec = TableSpec::new(name).family("a").family("b").splits(["m"]);
    database.create_table(spec).await.unwrap()
}

fn put(row: &'static str, value: &str) -> Put {
    Put::new(row).unwrap().add("a", "q", value).unwrap()
}

fn count(row: &'static str) -> Increment {
    Increment::new(row).unwrap().add("a", "n", 5).unwrap()
}

async fn value(table: &Table, row: &'static str) -> Option<String> {
    let row = table.get(&Get::new(row).unwrap()).await.unwrap();
    row.value("a", "q").map(|value| String::from_utf8(value.to_vec()).unwrap())
}

#[tokio::test]
async fn values_grow_and_say_how() {
    on_both(|database, _| async move {
        let table = table(&database, "t").await;
        let append = |value| Append::new("r").unwrap().add("a", "q", value).unwrap();
        table.append(append("x")).await.unwrap();
        let row = table.append(append("y").add("b", "p", "1").unwrap()).await.unwrap();
        assert_eq!(row.value("a", "q").as_deref(), Some(&b"xy"[..]));
        assert_eq!(row.len(), 2);
        let mut silent = append("z");
        silent.return_results = false;
        assert!(table.append(silent).await.unwrap().is_empty());
        let outcomes = table.batch(vec![append("!").into(), count("r").into()]).await;
        let grown = &outcomes[0].as_ref().unwrap().row;
        assert_eq!(grown.value("a", "q").as_deref(), Some(&b"xyz!"[..]));
        assert_eq!(outcomes[1].as_ref().unwrap().row.counter("a", "n").unwrap(), Some(5));
    })
    .await;
}

#[tokio::test]
async fn a_condition_compares_the_value_that_is_there() {
    on_both(|database, _| async move {
        let table = table(&database, "t").await;
        table.put(put("r", "5")).await.unwrap();
        for (operator, values) in [
            (CompareOperator::Less, ["6"].as_slice()),
            (CompareOperator::LessOrEqual, &["5", "6"]),
            (CompareOperator::Equal, &["5"]),
            (CompareOperator::NotEqual, &["4", "6"]),
            (CompareOperator::GreaterOrEqual, &["4", "5"]),
            (CompareOperator::Greater, &["4"]),
        ] {
            let mut held = Vec::new();
            for value in ["4", "5", "6"] {
                let condition = Condition::value("a", "q", operator, value);
                let other = Put::new("r").unwrap().add("b", "q", "x").unwrap();
                if table.mutate_if(&condition, other.into()).await.unwrap().is_some() {
                    held.push(value);
                }
            }
            assert_eq!(held, values, "{operator:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn every_kind_of_change_can_be_under_a_condition() {
    on_both(|database, is_cluster| async move {
        let table = table(&database, "t").await;
        let five = Condition::value("a", "q", CompareOperator::Equal, "5");
        let made = |mutation: Mutation| {
            let table = table.clone();
            let five = five.clone();
            async move { table.mutate_if(&five, mutation).await.unwrap() }
        };
        assert!(made(count("r").into()).await.is_none());
        table.put(put("r", "5")).await.unwrap();
        let counted = made(count("r").into()).await.unwrap();
        assert_eq!(counted.row.counter("a", "n").unwrap(), Some(5));
        let append = Append::new("r").unwrap().add("b", "q", "x").unwrap();
        assert_eq!(made(append.into()).await.unwrap().row.len(), 1);
        let delete = Delete::new("r").unwrap().column("b", "q", Timestamp::LATEST).unwrap();
        assert!(made(delete.into()).await.unwrap().row.is_empty());
        assert!(made(put("r", "6").into()).await.is_some());
        assert_eq!(value(&table, "r").await.as_deref(), Some("6"));
        let no_row = table.mutate_if(&Condition::NoRow, put("new", "x").into()).await;
        if is_cluster {
            assert_eq!(no_row.unwrap_err().kind(), ErrorKind::Unsupported);
        } else {
            assert!(no_row.unwrap().is_some());
        }
    })
    .await;
}

#[tokio::test]
async fn changes_of_one_row_are_one() {
    on_both(|database, _| async move {
        let table = table(&database, "t").await;
        let both = || {
            let all = RowMutations::new("r").unwrap();
            let append = Append::new("r").unwrap().add("b", "q", "x").unwrap();
            all.with(append).unwrap().with(put("r", "5")).unwrap().with(count("r")).unwrap()
        };
        let outcome = table.mutate_row(both()).await.unwrap();
        let qualifiers: Vec<_> =
            outcome.row.cells().map(|cell| cell.qualifier().to_vec()).collect();
        assert_eq!(qualifiers, [b"q".to_vec(), b"n".to_vec()], "in their order");
        let failing = both().with(Put::new("r").unwrap().add("c", "q", "x").unwrap()).unwrap();
        let error = table.mutate_row(failing).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoSuchColumnFamily);
        let five = Condition::value("a", "q", CompareOperator::Equal, "5");
        let outcome = table.mutate_row_if(&five, both()).await.unwrap().unwrap();
        assert_eq!(outcome.row.counter("a", "n").unwrap(), Some(10));
        let six = Condition::value("a", "q", CompareOperator::Equal, "6");
        assert!(table.mutate_row_if(&six, both()).await.unwrap().is_none());
        let row = table.get(&Get::new("r").unwrap()).await.unwrap();
        assert_eq!(row.value("b", "q").as_deref(), Some(&b"xx"[..]));
    })
    .await;
}

#[tokio::test]
async fn rows_of_tables_change_as_one_where_that_can_be_had() {
    on_both(|database, is_cluster| async move {
        let a = table(&database, "a").await;
        let b = table(&database, "b").await;
        let both = [(a.clone(), put("r", "1").into()), (b.clone(), put("z", "2").into())];
        let committed = database.commit(both).await;
        let tables = (a.clone(), b.clone());
        let moved = database
            .transact(move |transaction| {
                let row = transaction.get(&tables.0, &Get::new("r")?)?;
                transaction.delete(&tables.0, Delete::new("r")?)?;
                let text = row.value("a", "q").unwrap_or_default();
                transaction.append(&tables.1, Append::new("z")?.add("a", "q", text)?)?;
                transaction.increment(&tables.1, count("z"))?;
                Ok(transaction.scan(&tables.1, Scan::all())?.len())
            })
            .await;
        if is_cluster {
            assert_eq!(committed.unwrap_err().kind(), ErrorKind::Unsupported);
            assert_eq!(moved.unwrap_err().kind(), ErrorKind::Unsupported);
            return;
        }
        assert_eq!(committed.unwrap().len(), 2);
        assert_eq!(moved.unwrap(), 1);
        assert_eq!(value(&a, "r").await, None);
        assert_eq!(value(&b, "z").await.as_deref(), Some("21"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_conditional_writers_exactly_one_succeeds() {
    on_both(|database, _| async move {
        let table = table(&database, "t").await;
        for round in 0..20 {
            let mut takers = JoinSet::new();
            for taker in 0..8 {
                let table = table.clone();
                takers.spawn(async move {
                    let row = format!("{round}");
                    let free = Condition::no_value("a", "owner");
                    let take = Put::new(row).unwrap().add("a", "owner", format!("{taker}"));
                    let taken = table.mutate_if(&free, take.unwrap().into()).await.unwrap();
                    taken.map(|_| taker)
                });
            }
            let takers: Vec<_> = takers.join_all().await.into_iter().flatten().collect();
            let row = table.get(&Get::new(format!("{round}")).unwrap()).await.unwrap();
            let owner = row.value("a", "owner").unwrap();
            assert_eq!(takers.len(), 1);
            assert_eq!(owner, takers[0].to_string().as_bytes());
        }
    })
    .await;
}
