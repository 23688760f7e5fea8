//! Regions that have moved.

use rowhouse_model::{
    FamilyDescriptor, Get, Increment, Mutation, Put, Row, Scan, TableDescriptor, TableName,
};

use crate::{connect, create, directions, drop_table, on_cluster, unique};

#[test]
fn cached_locations_are_refreshed_after_regions_move() {
    on_cluster(|client| async move {
        let table = create(&client, "anew", &[b"5"]).await;
        let admin = client.admin();
        let row = |at: usize| format!("{at:02}");
        let put = |at| Mutation::from(Put::new(row(at)).unwrap().add("cf", "q", row(at)).unwrap());
        for outcome in table.batch((0..100).map(put).collect()).await {
            outcome.unwrap();
        }
        // A scan that is halfway while the table's regions close and reopen.
        let mut rows = table.scan(Scan::all().caching(10));
        let mut seen = Vec::new();
        for _ in 0..15 {
            seen.extend(rows.next().await.unwrap());
        }
        admin.disable_table(table.name()).await.unwrap();
        admin.enable_table(table.name()).await.unwrap();
        while let Some(row) = rows.next().await.unwrap() {
            seen.push(row);
        }
        let keys: Vec<_> = seen.iter().map(|row| String::from_utf8_lossy(row.key())).collect();
        assert_eq!(keys, (0..100).map(row).collect::<Vec<_>>());

        // Another table with the same name: regions with other names.
        let descriptor = admin.descriptor(table.name()).await.unwrap();
        let other = connect().await;
        drop_table(&other, &other.table(table.name())).await;
        other.admin().create_table(&descriptor, &["3".into()]).await.unwrap();
        assert!(!table.exists(&Get::new("07").unwrap()).await.unwrap());
        let increment = Increment::new("99").unwrap().add("cf", "n", 1).unwrap();
        let outcome = table.mutate(increment).await.unwrap();
        assert_eq!(outcome.row.counter("cf", "n").unwrap(), Some(1));
        for outcome in table.batch((0..100).map(put).collect()).await {
            outcome.unwrap();
        }
        assert_eq!(table.scan(Scan::all()).collect().await.unwrap().len(), 100);
        drop_table(&client, &table).await;
    });
}

/// Writes and reads a table that Apache HBase splits repeatedly meanwhile. A server without
/// automatic splits is only written and read.
#[test]
fn regions_that_split_are_followed() {
    on_cluster(|client| async move {
        let admin = client.admin();
        let name = TableName::parse(&unique("split")).unwrap();
        let descriptor = TableDescriptor::new(name.clone())
            .family(FamilyDescriptor::new("cf").unwrap())
            .attribute("MAX_FILESIZE", (2 << 20).to_string())
            .attribute("MEMSTORE_FLUSHSIZE", (1 << 20).to_string())
            .attribute(
                "SPLIT_POLICY",
                "org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy",
            );
        admin.create_table(&descriptor, &[]).await.unwrap();
        let table = client.table(&name);
        let row = |at: usize| format!("{:04}", at * 37 % 1000);
        let value = vec![7; 20_000];
        let mut regions = 1;
        for round in 0..25 {
            let put = |at| {
                let put = Put::new(row(at)).unwrap().add("cf", "v", &value).unwrap();
                Mutation::from(put)
            };
            let puts = (0..200).map(|at| put((round * 40 + at) % 1000)).collect();
            for outcome in table.batch(puts).await {
                outcome.unwrap();
            }
            let counter = Increment::new("0500").unwrap().add("cf", "n", 1).unwrap();
            let outcome = table.mutate(counter).await.unwrap();
            assert_eq!(outcome.row.counter("cf", "n").unwrap(), Some(round as i64 + 1));
            let rows = table.scan(Scan::all().column("cf", "v").caching(20)).collect().await;
            let rows = rows.unwrap();
            let written = (200 + round * 40).min(1000);
            assert_eq!(rows.len(), written, "round {round}");
            assert!(rows.windows(2).all(|pair| pair[0].key() < pair[1].key()));
            if directions(&table).await.contains(&true) {
                let back = Scan { reversed: true, ..Scan::all().column("cf", "v") };
                let back = table.scan(back).collect().await.unwrap();
                assert!(back.iter().rev().map(Row::key).eq(rows.iter().map(Row::key)));
            }
            for read in table.get_many((0..20).map(|at| Get::new(row(at)).unwrap()).collect()).await
            {
                assert_eq!(read.unwrap().value("cf", "v").unwrap().len(), 20_000);
            }
            regions = table.regions().await.unwrap().len();
        }
        println!("{regions} regions");
        drop_table(&client, &table).await;
    });
}
