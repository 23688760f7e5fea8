//! A search copy from a table on a real cluster whose address is in `ROWHOUSE_TEST_CLUSTER`.
//! Without it this test prints that it is skipped, and passes.

#![cfg(feature = "search")]

use rowhouse::{Bytes, Columns, Delete, TableSpec, search_copy};

#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_apache_hbase_is_searched_by_a_copy_and_its_rows_are_read_there() {
    let Ok(url) = std::env::var("ROWHOUSE_TEST_CLUSTER") else {
        eprintln!("skipped: ROWHOUSE_TEST_CLUSTER is not set");
        return;
    };
    let cluster = rowhouse::open(url).await.unwrap();
    if cluster.table_exists("searched_mail").await.unwrap() {
        cluster.admin().disable_table("searched_mail").await.unwrap();
        cluster.admin().drop_table("searched_mail").await.unwrap();
    }
    let spec = TableSpec::new("searched_mail").family("d").key("[user string][n u32]");
    let spec = spec.columns("d:b body string; d:s sender string").splits(["user3", "user6"]);
    let mail = cluster.create_table(spec).await.unwrap();
    let key = |n: u32| [("user", format!("user{}", n % 9).into()), ("n", n.into())];
    for n in 0..600 {
        let body = if n % 7 == 0 { "Designing row keys" } else { "nothing of note" };
        mail.row(&key(n)).set_named("body", body).set_named("sender", "eve").put().await.unwrap();
    }

    let dir = tempfile::tempdir().unwrap();
    let here = rowhouse::open(dir.path().to_string_lossy()).await.unwrap();
    let build = || {
        let build = search_copy::build(&cluster, "searched_mail", &here);
        build.index("text search body english").run()
    };
    let built = build().await.unwrap();
    assert_eq!((built.rows, built.misfits, built.has_replaced), (600, 0, false));
    let copy = here.table("searched_mail").await.unwrap();
    let keys = copy.query("body matches 'key'").keys().await.unwrap();
    assert_eq!(keys.len(), 86);
    let in_one = copy.query("user = 'user0' and body matches 'design'").count().await.unwrap();
    assert_eq!(in_one, (0..600).filter(|n| n % 7 == 0 && n % 9 == 0).count() as u64);

    let gone: Bytes = mail.key(&key(7)).unwrap();
    mail.delete(Delete::new(gone.clone()).unwrap()).await.unwrap();
    let rows = search_copy::fetch(&mail, keys.clone(), &Columns::all()).await.unwrap();
    for (key, row) in keys.iter().zip(rows) {
        assert_eq!(row.is_none(), *key == gone);
        assert!(row.is_none_or(|row| row.value("d", "s").is_some()));
    }
    assert!(build().await.unwrap().has_replaced);
    assert_eq!(copy.query("body matches 'key'").count().await.unwrap(), 85);
    here.close().await.unwrap();
    cluster.admin().disable_table("searched_mail").await.unwrap();
    cluster.admin().drop_table("searched_mail").await.unwrap();
    cluster.close().await.unwrap();
}
