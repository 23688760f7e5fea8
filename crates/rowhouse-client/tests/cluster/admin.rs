//! Tables, namespaces and the cluster.

use rowhouse_model::{
    ErrorKind, FamilyDescriptor, Namespace, Put, TableDescriptor, TableName, TableState,
};

use crate::{create, drop_table, on_cluster, unique};

#[test]
fn cluster_status_describes_the_cluster() {
    on_cluster(|client| async move {
        let status = client.admin().cluster_status().await.unwrap();
        assert_eq!(client.cluster_id().len(), 36);
        assert_eq!(status.cluster_id, client.cluster_id());
        assert!(status.version.starts_with(|c: char| c.is_ascii_digit()), "{}", status.version);
        assert!(status.master.is_some());
        assert!(!status.live_servers.is_empty());
        println!("{status:?}");
    });
}

#[test]
fn a_table_lives_from_create_to_delete() {
    on_cluster(|client| async move {
        let admin = client.admin();
        let table = create(&client, "life", &[b"b", b"a,b\xff"]).await;
        let name = table.name().clone();
        assert!(admin.table_exists(&name).await.unwrap());
        assert!(admin.is_enabled(&name).await.unwrap());
        assert!(!admin.is_disabled(&name).await.unwrap());
        assert!(admin.tables().await.unwrap().contains(&name));
        let descriptor = admin.descriptor(&name).await.unwrap();
        assert_eq!(descriptor.families()[0].versions_max(), 3);
        assert!(admin.descriptors().await.unwrap().iter().any(|other| *other.name() == name));

        let regions = table.regions().await.unwrap();
        let starts: Vec<_> = regions.iter().map(|(region, _)| region.range.start.clone()).collect();
        assert_eq!(starts, [&b""[..], b"a,b\xff", b"b"]);
        assert!(regions.iter().all(|(_, server)| server.is_some()));

        table.mutate(Put::new("r").unwrap().add("cf", "q", "v").unwrap()).await.unwrap();
        admin.flush_table(&name).await.unwrap();

        admin.disable_table(&name).await.unwrap();
        assert_eq!(admin.table_state(&name).await.unwrap(), TableState::Disabled);
        admin.enable_table(&name).await.unwrap();
        assert_eq!(admin.table_state(&name).await.unwrap(), TableState::Enabled);
        drop_table(&client, &table).await;
        assert!(!admin.table_exists(&name).await.unwrap());
        let error = admin.descriptor(&name).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TableNotFound);
    });
}

#[test]
fn a_namespace_lives_from_create_to_delete() {
    on_cluster(|client| async move {
        let admin = client.admin();
        let mut namespace = Namespace::new(&unique("space")).unwrap();
        namespace.configuration.insert("a".into(), "b".into());
        admin.create_namespace(&namespace).await.unwrap();
        assert_eq!(admin.namespace(namespace.name()).await.unwrap(), namespace);
        let names: Vec<_> =
            admin.namespaces().await.unwrap().iter().map(|one| one.name().to_owned()).collect();
        assert!(names.contains(&namespace.name().to_owned()));
        assert!(names.contains(&"default".to_owned()) && names.contains(&"hbase".to_owned()));

        let name = TableName::new(namespace.name(), "t").unwrap();
        let family = FamilyDescriptor::new("cf").unwrap();
        let descriptor = TableDescriptor::new(name.clone()).family(family);
        admin.create_table(&descriptor, &[]).await.unwrap();
        assert_eq!(admin.tables_in(namespace.name()).await.unwrap(), std::slice::from_ref(&name));
        let table = client.table(&name);
        table.mutate(Put::new("r").unwrap().add("cf", "q", "v").unwrap()).await.unwrap();
        assert_eq!(table.regions().await.unwrap().len(), 1);

        let error = admin.delete_namespace(namespace.name()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NamespaceConstraint, "{error}");
        drop_table(&client, &table).await;
        admin.delete_namespace(namespace.name()).await.unwrap();
        let error = admin.namespace(namespace.name()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NamespaceNotFound, "{error}");
    });
}

#[test]
fn requests_are_counted_by_region() {
    on_cluster(|client| async move {
        let table = create(&client, "counted", &[b"m"]).await;
        for number in 0..20 {
            let put = Put::new(format!("a{number}")).unwrap().add("cf", "q", "v").unwrap();
            table.mutate(put).await.unwrap();
        }
        // HBase's region servers report to the master every three seconds.
        let mut writes = Vec::new();
        for _ in 0..60 {
            let heat = client.admin().heat_by_region(table.name()).await.unwrap();
            assert!(heat.is_by_region);
            let buckets = &heat.columns[0].buckets;
            let starts: Vec<_> = buckets.iter().map(|bucket| bucket.start.clone()).collect();
            assert_eq!(starts, [&b""[..], b"m"]);
            writes = buckets.iter().map(|bucket| bucket.writes).collect();
            if writes[0] >= 20 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(250)).await;
        }
        assert_eq!(writes, [20, 0]);
        drop_table(&client, &table).await;
    });
}
