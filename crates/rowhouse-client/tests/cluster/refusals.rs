//! Refused calls and their errors: `compat/FACTS.md`, "Refusals".

use std::time::{Duration, Instant};

use rowhouse_model::{
    Error, ErrorKind, FamilyDescriptor, Get, Increment, Namespace, Put, Scan, TableDescriptor,
    TableName,
};

use crate::{create, drop_table, on_cluster, unique};

fn is(error: Error, kind: ErrorKind, message: &str) {
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.message().contains(message), "{error}");
}

#[test]
fn tables_that_do_not_exist() {
    on_cluster(|client| async move {
        let name = TableName::parse(&unique("unknown")).unwrap();
        let table = client.table(&name);
        let admin = client.admin();
        let text = name.to_string();
        let not_found = |error| is(error, ErrorKind::TableNotFound, &text);
        let put = || Put::new("r").unwrap().add("cf", "q", "v").unwrap();
        not_found(table.get(&Get::new("r").unwrap()).await.unwrap_err());
        not_found(table.mutate(put()).await.unwrap_err());
        not_found(table.batch(vec![put().into()]).await.remove(0).unwrap_err());
        not_found(table.scan(Scan::all()).next().await.unwrap_err());
        not_found(table.regions().await.unwrap_err());
        not_found(admin.descriptor(&name).await.unwrap_err());
        not_found(admin.is_enabled(&name).await.unwrap_err());
        not_found(admin.disable_table(&name).await.unwrap_err());
        not_found(admin.enable_table(&name).await.unwrap_err());
        not_found(admin.delete_table(&name).await.unwrap_err());
        not_found(admin.flush_table(&name).await.unwrap_err());
    });
}

#[test]
fn tables_in_the_wrong_state() {
    on_cluster(|client| async move {
        let table = create(&client, "state", &[]).await;
        let admin = client.admin();
        let name = table.name().clone();
        let put = || Put::new("r").unwrap().add("cf", "q", "v").unwrap();
        table.mutate(put()).await.unwrap();
        let again = TableDescriptor::new(name.clone());
        let again = again.family(FamilyDescriptor::new("cf").unwrap());
        let text = name.to_string();
        is(admin.create_table(&again, &[]).await.unwrap_err(), ErrorKind::TableExists, &text);
        is(admin.delete_table(&name).await.unwrap_err(), ErrorKind::TableNotDisabled, &text);
        is(admin.enable_table(&name).await.unwrap_err(), ErrorKind::TableNotDisabled, &text);
        admin.disable_table(&name).await.unwrap();
        let started = Instant::now();
        let disabled = |error| is(error, ErrorKind::TableNotEnabled, &text);
        disabled(admin.disable_table(&name).await.unwrap_err());
        disabled(admin.flush_table(&name).await.unwrap_err());
        disabled(table.get(&Get::new("r").unwrap()).await.unwrap_err());
        disabled(table.mutate(put()).await.unwrap_err());
        disabled(table.scan(Scan::all()).next().await.unwrap_err());
        for outcome in table.batch(vec![put().into(), put().into()]).await {
            disabled(outcome.unwrap_err());
        }
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
        admin.enable_table(&name).await.unwrap();
        assert!(table.exists(&Get::new("r").unwrap()).await.unwrap());
        drop_table(&client, &table).await;
    });
}

#[test]
fn requests_that_can_never_succeed() {
    on_cluster(|client| async move {
        let table = create(&client, "wrong", &[]).await;
        let admin = client.admin();
        let family = ErrorKind::NoSuchColumnFamily;
        let get = Get::new("r").unwrap().family("nope");
        is(table.get(&get).await.unwrap_err(), family, "nope");
        let put = Put::new("r").unwrap().add("nope", "q", "v").unwrap();
        is(table.mutate(put).await.unwrap_err(), family, "nope");
        is(table.scan(Scan::all().family("nope")).next().await.unwrap_err(), family, "nope");
        table.mutate(Put::new("r").unwrap().add("cf", "q", "12345").unwrap()).await.unwrap();
        let increment = Increment::new("r").unwrap().add("cf", "q", 1).unwrap();
        let error = table.mutate(increment).await.unwrap_err();
        is(error, ErrorKind::InvalidRequest, "Field is not a long, it's 5 bytes wide");

        let bare = TableDescriptor::new(TableName::parse(&unique("bare")).unwrap());
        let error = admin.create_table(&bare, &[]).await.unwrap_err();
        is(error, ErrorKind::InvalidRequest, "at least one column family");
        let twice = bare.family(FamilyDescriptor::new("cf").unwrap());
        let error = admin.create_table(&twice, &["b".into(), "b".into()]).await.unwrap_err();
        is(error, ErrorKind::InvalidRequest, "duplicate=b");
        let missing = unique("nowhere");
        let homeless = TableDescriptor::new(TableName::new(&missing, "t").unwrap());
        let homeless = homeless.family(FamilyDescriptor::new("cf").unwrap());
        let not_found = ErrorKind::NamespaceNotFound;
        is(admin.create_table(&homeless, &[]).await.unwrap_err(), not_found, &missing);
        is(admin.namespace(&missing).await.unwrap_err(), not_found, &missing);
        is(admin.delete_namespace(&missing).await.unwrap_err(), not_found, &missing);
        is(admin.tables_in(&missing).await.unwrap_err(), not_found, &missing);
        let default = Namespace::new("default").unwrap();
        let error = admin.create_namespace(&default).await.unwrap_err();
        is(error, ErrorKind::NamespaceExists, "default");
        let error = admin.delete_namespace("default").await.unwrap_err();
        is(error, ErrorKind::NamespaceConstraint, "default");
        drop_table(&client, &table).await;
    });
}
