//! Queries on a real cluster whose address is in `ROWHOUSE_TEST_CLUSTER`. Without it these tests
//! print that they are skipped, and pass.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::collections::BTreeSet;

use rowhouse::cell::CellKind;
use rowhouse::{Database, Delete, Put, Row, Scan, TableSpec, Timestamp};

async fn database() -> Option<Database> {
    let Ok(url) = std::env::var("ROWHOUSE_TEST_CLUSTER") else {
        eprintln!("skipped: ROWHOUSE_TEST_CLUSTER is not set");
        return None;
    };
    Some(rowhouse::open(url).await.unwrap())
}

/// Drops a table that an earlier run may have left.
async fn drop_table(database: &Database, name: &str) {
    if database.table_exists(name).await.unwrap() {
        database.admin().disable_table(name).await.unwrap();
        database.admin().drop_table(name).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_on_qualifiers_show_no_cell_that_a_marker_of_the_family_covers() {
    let Some(database) = database().await else { return };
    drop_table(&database, "tagged").await;
    let spec = TableSpec::new("tagged").family("f").key("[user text]");
    let table = database.create_table(spec.columns("f:[tag text] tagged u8")).await.unwrap();
    let put = |qualifier: &'static str, millis: i64| {
        let at = Timestamp::from_millis(millis).unwrap();
        Put::new("bob").unwrap().add_at("f", qualifier, at, [1]).unwrap()
    };
    table.put(put("ab", 5)).await.unwrap();
    table.put(put("b", 9)).await.unwrap();
    let marker = Delete::new("bob").unwrap().family("f", Timestamp::from_millis(6).unwrap());
    table.delete(marker.unwrap()).await.unwrap();
    table.put(put("", 9)).await.unwrap();
    for flushed in [false, true] {
        if flushed {
            database.admin().flush("tagged").await.unwrap();
        }
        for (query, expected) in [
            ("tagged.tag = 'ab'", &[][..]),
            ("tagged.tag >= 'ab'", &["b"]),
            ("tagged.tag in ('ab', 'b')", &["b"]),
        ] {
            for reversed in [false, true] {
                let rows = table.query(query);
                let rows = if reversed { rows.reversed() } else { rows };
                let rows = rows.rows().await.unwrap().collect().await.unwrap();
                let cells = rows.iter().flat_map(|row| row.row().to_cells());
                let shown: Vec<_> = cells.map(|cell| cell.qualifier().to_vec()).collect();
                assert_eq!(
                    shown,
                    expected.iter().map(|it| it.as_bytes()).collect::<Vec<_>>(),
                    "{query}, reversed={reversed}, flushed={flushed}"
                );
            }
        }
    }
    drop_table(&database, "tagged").await;
    database.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_removes_the_rows_of_its_query_and_marks_no_other() {
    let Some(database) = database().await else { return };
    for key in ["[user text]#[n u8]", "[bucket 4 of user][user text]#[n u8]"] {
        drop_table(&database, "deleted").await;
        let spec = TableSpec::new("deleted").key(key).columns("d:s sender string");
        let table = database.create_table(spec.family("d")).await.unwrap();
        for n in 0..30u32 {
            let user = ["ann", "bob"][n as usize % 2];
            let row = table.row(&[("user", user.into()), ("n", n.into())]);
            let row = row.set_named("sender", ["eve", "zoe", "al"][n as usize % 3]);
            table.put(row.into_put().unwrap()).await.unwrap();
        }
        let keys = async |scan: Scan| {
            let rows = table.scan(scan).await.unwrap().collect().await.unwrap();
            rows.iter().map(|row| row.key().to_vec()).collect::<BTreeSet<_>>()
        };
        let mut deleted = BTreeSet::new();
        for query in ["user = 'bob' and n < 9", "sender = 'eve'", "user = 'ann'"] {
            let before = keys(Scan::all()).await;
            let selected = table.query(query).keys().await.unwrap();
            let selected: BTreeSet<_> = selected.iter().map(|key| key.to_vec()).collect();
            let count = table.query(query).delete().batch_rows(3).run().await.unwrap();
            assert_eq!(count, selected.len() as u64, "{key}, {query}");
            let left: BTreeSet<_> = before.difference(&selected).cloned().collect();
            assert_eq!(keys(Scan::all()).await, left, "{key}, {query}");
            deleted.extend(selected);
        }
        let mut raw = Scan::all();
        raw.raw = true;
        let rows = table.scan(raw).await.unwrap().collect().await.unwrap();
        let is_marked = |row: &&Row| row.to_cells().iter().any(|it| it.kind() != CellKind::Put);
        let marked = rows.iter().filter(is_marked).map(|row| row.key().to_vec());
        assert_eq!(marked.collect::<BTreeSet<_>>(), deleted, "{key}");
        drop_table(&database, "deleted").await;
    }
    database.close().await.unwrap();
}
