//! Many gets in one call: one result for each, in get order; and rows that exist.

use rowhouse::{ErrorKind, Get, Mutation, Put, TableSpec};

use crate::support::on_both;

#[tokio::test]
async fn results_come_in_the_order_of_the_gets_and_fail_one_by_one() {
    on_both(async |database, _| {
        let spec = TableSpec::new("t").family("cf").splits(["0250", "0500", "0750"]);
        let table = database.create_table(spec).await.unwrap();
        let row = |n: usize| format!("{n:04}");
        let put = |n| Mutation::from(Put::new(row(n)).unwrap().add("cf", "q", row(n)).unwrap());
        for outcome in table.batch((0..1_000).map(put).collect()).await {
            outcome.unwrap();
        }
        assert!(table.get_many(Vec::new()).await.is_empty());

        // Few, and more than one call takes; not in key order, some twice, some missing.
        for count in [5, 2_500] {
            let numbers: Vec<usize> = (0..count).map(|n| n * 7 % 1_200).collect();
            let gets = numbers.iter().map(|&n| Get::new(row(n)).unwrap()).collect();
            let rows = table.get_many(gets).await;
            assert_eq!(rows.len(), count);
            for (n, read) in numbers.into_iter().zip(rows) {
                let value = read.unwrap().value("cf", "q");
                let expected = (n < 1_000).then(|| row(n).into_bytes());
                assert_eq!(value.as_deref(), expected.as_deref(), "{n}");
            }
        }

        let get = |n| Get::new(row(n)).unwrap();
        let gets = vec![get(1), get(2).family("none"), get(800).column("cf", "q"), get(3)];
        let rows = table.get_many(gets).await;
        let counts: Vec<_> = rows.iter().map(|row| row.as_ref().map(|row| row.len())).collect();
        assert_eq!(counts[1].unwrap_err().kind(), ErrorKind::NoSuchColumnFamily);
        assert!([0, 2, 3].iter().all(|&at| counts[at].is_ok_and(|cells| cells == 1)), "{counts:?}");

        for (n, is_there) in [(7, true), (1_100, false)] {
            assert_eq!(table.exists(&get(n)).await.unwrap(), is_there);
        }
        let mut only = get(7);
        only.existence_only = true;
        assert_eq!(table.get(&only).await.unwrap_err().kind(), ErrorKind::InvalidRequest);
        let rows = table.get_many(vec![only, get(7)]).await;
        assert!(rows[0].is_err() && rows[1].is_ok());

        database.admin().disable_table("t").await.unwrap();
        for count in [2, 100] {
            for row in table.get_many((0..count).map(get).collect()).await {
                assert_eq!(row.unwrap_err().kind(), ErrorKind::TableNotEnabled);
            }
        }
    })
    .await;
}
