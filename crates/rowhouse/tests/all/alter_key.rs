//! Changing the key template on a table with rows, embedded and on a server.

use crate::support::on_both;
use rowhouse::{Database, ErrorKind, Mutation, Put, Table, TableSpec};

async fn filled(database: &Database, keys: impl Iterator<Item = String>) -> Table {
    let spec = TableSpec::new("t").family("f").splits(["m"]);
    let table = database.create_table(spec).await.unwrap();
    let put = |key: String| Put::new(key).unwrap().add("f", "q", "v").unwrap();
    let puts: Vec<Mutation> = keys.map(|key| put(key).into()).collect();
    for outcome in table.batch(puts).await {
        outcome.unwrap();
    }
    table
}

#[tokio::test]
async fn a_template_that_every_row_fits_is_taken() {
    on_both(|database, _| async move {
        filled(&database, (0..40).map(|n| format!("user{n}_{n:03}"))).await;
        let fit = database.admin().alter_key("t", "[user text]_[n digits 3]").await.unwrap();
        assert_eq!((fit.rows, fit.misfits), (40, 0));
        assert_eq!(fit.to_string(), "all checked rows fit: rows=40");
        let table = database.table("t").await.unwrap();
        let rows = table.query("user = 'user7'").rows().await.unwrap().collect().await.unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].key("n").unwrap().as_u64(), Some(7));
    })
    .await;
}

#[tokio::test]
async fn rows_that_do_not_fit_are_reported_and_the_table_is_unchanged() {
    on_both(|database, _| async move {
        filled(&database, ["a_1", "b_2", "about", "z_x"].map(String::from).into_iter()).await;
        database.admin().alter_key("t", "[all text]").await.unwrap();
        let refused = database.admin().alter_key("t", "[user text]_[n digits 1]").await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidRequest);
        assert_eq!(
            refused.message(),
            "the key of table t is unchanged, rows do not fit the template: 2 of 4 checked rows do \
             not fit, the first is about: key does not fit: field `user`: the literal `_` is missing: at=5"
        );
        let unchanged = database.table("t").await.unwrap();
        assert_eq!(unchanged.key_schema().unwrap().to_string(), "[all text]");

        database.admin().alter_key_unchecked("t", "[user text]_[n digits 1]").await.unwrap();
        let table = database.table("t").await.unwrap();
        let mut rows = table.query("user >= 'a'").with_misfits().rows().await.unwrap();
        let mut fitting = 0;
        while let Some(row) = rows.next().await.unwrap() {
            fitting += u32::from(row.values().is_ok());
        }
        assert_eq!((fitting, rows.not_fitting()), (2, 2), "none of them fails a query");
        let unread = database.admin().alter_key("t", "[user").await.unwrap_err();
        assert_eq!(unread.kind(), ErrorKind::InvalidRequest);
        let nowhere = database.admin().alter_key("nosuch", "[user text]").await.unwrap_err();
        assert_eq!(nowhere.kind(), ErrorKind::TableNotFound);
    })
    .await;
}

#[tokio::test]
async fn of_many_rows_some_are_looked_at_from_every_region_and_first_byte() {
    on_both(|database, _| async move {
        let head = (0..700).map(|n| format!("a{n:04}"));
        let rest = ["m_first", "pa", "p_", "x"].map(String::from);
        filled(&database, head.chain(rest)).await;
        let refused = database.admin().alter_key("t", "[user text]_").await.unwrap_err();
        assert!(refused.message().contains(": 503 of 504 checked rows"), "{refused}");
        let error = database.admin().alter_key("t", "a[n digits 4]").await.unwrap_err();
        assert!(error.message().contains("the first is m_first"), "{error}");
    })
    .await;
}
