//! Region splits and merges requested by programs, embedded and on a server, during reads and
//! writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::support::on_both;
use rowhouse::{Bytes, Database, ErrorKind, TableSpec};

async fn put(database: &Database, number: u32) {
    let table = database.table("t").await.unwrap();
    let key = [("number", number.into())];
    table.row(&key).set("f", "q", number.to_string()).put().await.unwrap();
}

async fn rows(database: &Database) -> Vec<String> {
    let table = database.table("t").await.unwrap();
    let mut rows = table.query("").rows().await.unwrap();
    let mut numbers = Vec::new();
    while let Some(row) = rows.next().await.unwrap() {
        numbers.push(row.key("number").unwrap().to_string());
    }
    numbers
}

fn numbers(until: u32) -> Vec<String> {
    (0..until).map(|number| number.to_string()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_written_and_read_while_their_regions_are_split_and_merged() {
    on_both(|database, _| async move {
        let spec = TableSpec::new("t").key("[number digits 6]").family("f");
        database.create_table(spec).await.unwrap();
        let written = Arc::new(AtomicU32::new(0));
        let ended = Arc::new(AtomicBool::new(false));
        let writing = {
            let database = database.clone();
            let written = written.clone();
            let ended = ended.clone();
            tokio::spawn(async move {
                while !ended.load(Ordering::Relaxed) {
                    put(&database, written.load(Ordering::Relaxed)).await;
                    written.fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        let table = database.table("t").await.unwrap();
        for round in 1..=4 {
            while written.load(Ordering::Relaxed) < 20 * round {
                tokio::task::yield_now().await;
            }
            let regions = table.regions().await.unwrap();
            let at = Bytes::from(format!("{:06}", 10 * round));
            database.admin().split_region(&regions[0], Some(at)).await.unwrap();
            let least = written.load(Ordering::Relaxed);
            assert_eq!(rows(&database).await[..least as usize], numbers(least));
            // A split in the middle of the data.
            database.admin().flush("t").await.unwrap();
            let regions = table.regions().await.unwrap();
            assert_eq!(regions.len(), 2);
            database.admin().split_region(&regions[1], None).await.unwrap();
            let regions = table.regions().await.unwrap();
            assert_eq!(regions.len(), 3);
            database.admin().merge_regions(&regions[..2]).await.unwrap();
            let regions = table.regions().await.unwrap();
            database.admin().merge_regions(&regions).await.unwrap();
            assert_eq!(table.regions().await.unwrap().len(), 1);
        }
        ended.store(true, Ordering::Relaxed);
        writing.await.unwrap();
        assert_eq!(rows(&database).await, numbers(written.load(Ordering::Relaxed)));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn regions_that_are_gone_or_cannot_be_split_are_refused() {
    on_both(|database, _| async move {
        database.create_table(TableSpec::new("t").family("f")).await.unwrap();
        let table = database.table("t").await.unwrap();
        let whole = table.regions().await.unwrap().remove(0);
        let kind = |done: rowhouse::Result<()>| done.unwrap_err().kind();
        assert_eq!(
            kind(database.admin().split_region(&whole, None).await),
            ErrorKind::InvalidRequest
        );
        let empty = Some(Bytes::new());
        assert!(database.admin().split_region(&whole, empty).await.is_err());
        database.admin().split_region(&whole, Some("m".into())).await.unwrap();
        assert_eq!(
            kind(database.admin().split_region(&whole, Some("c".into())).await),
            ErrorKind::UnknownRegion
        );
        let regions = table.regions().await.unwrap();
        let alone = database.admin().merge_regions(&regions[..1]).await;
        assert_eq!(kind(alone), ErrorKind::InvalidRequest);
        let apart = [regions[0].clone(), whole];
        assert_eq!(kind(database.admin().merge_regions(&apart).await), ErrorKind::UnknownRegion);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn regions_are_taken_out_of_service_and_into_it() {
    on_both(|database, _| async move {
        let spec = TableSpec::new("t").key("[number digits 6]").family("f");
        let table = database.create_table(spec).await.unwrap();
        let region = table.regions().await.unwrap().remove(0);
        put(&database, 0).await;
        database.admin().unassign_region(&region).await.unwrap();
        // The call is idempotent.
        database.admin().unassign_region(&region).await.unwrap();
        database.admin().assign_region(&region).await.unwrap();
        put(&database, 1).await;
        database.admin().move_region(&region).await.unwrap();
        assert_eq!(rows(&database).await, numbers(2));
        // Other regions replaced it.
        database.admin().split_region(&region, Some("000001".into())).await.unwrap();
        for refused in [
            database.admin().assign_region(&region).await,
            database.admin().unassign_region(&region).await,
            database.admin().move_region(&region).await,
        ] {
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::UnknownRegion);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_truncated_region_loses_all_rows_and_other_regions_none() {
    on_both(|database, _| async move {
        let spec = TableSpec::new("t").key("[number digits 6]").family("f");
        let table = database.create_table(spec).await.unwrap();
        let whole = table.regions().await.unwrap().remove(0);
        for number in 0..4 {
            put(&database, number).await;
        }
        database.admin().split_region(&whole, Some("000002".into())).await.unwrap();
        let upper = table.regions().await.unwrap().remove(1);
        database.admin().truncate_region(&upper).await.unwrap();
        assert_eq!(rows(&database).await, numbers(2));
        put(&database, 2).await;
        assert_eq!(rows(&database).await, numbers(3));
        let refused = database.admin().truncate_region(&whole).await;
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::UnknownRegion);
    })
    .await;
}

#[tokio::test]
async fn a_region_out_of_service_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
    let spec = TableSpec::new("t").key("[number digits 6]").family("f");
    let table = database.create_table(spec).await.unwrap();
    put(&database, 0).await;
    let region = table.regions().await.unwrap().remove(0);
    database.admin().unassign_region(&region).await.unwrap();
    let get = rowhouse::Get::new("000000").unwrap();
    assert_eq!(table.get(&get).await.unwrap_err().kind(), ErrorKind::NotServingRegion);
    database.admin().assign_region(&region).await.unwrap();
    assert!(!table.get(&get).await.unwrap().is_empty());
}
