//! Regions that are not where they were.

use rowhouse_model::{Get, Increment, Mutation, Put, Scan};

use crate::{connect, create, drop_table, on_cluster};

#[test]
fn what_was_learned_of_a_table_is_learned_anew() {
    on_cluster(|client| async move {
        let (table, admin) = (create(&client, "anew", &[b"5"]).await, client.admin());
        let row = |at: usize| format!("{at:02}");
        let put = |at| Mutation::from(Put::new(row(at)).unwrap().add("cf", "q", row(at)).unwrap());
        for outcome in table.batch((0..100).map(put).collect()).await {
            outcome.unwrap();
        }
        // A scan that is half-way while its regions close and open again.
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

        // Another table of the same name: regions with other names.
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
