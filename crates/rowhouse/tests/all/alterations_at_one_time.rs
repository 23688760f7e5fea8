//! Concurrent table alterations, embedded and on a server: none is lost.

use crate::support::on_both;
use rowhouse::schema::FamilyDescriptor;
use rowhouse::{Bytes, Database, ErrorKind, TableSpec};

fn family(name: String) -> FamilyDescriptor {
    FamilyDescriptor::new(name).unwrap()
}

/// Alters family `f` in `t`: adds an attribute named after the number.
async fn number_family(database: Database, number: u32) {
    let change = move |table: &rowhouse::schema::TableDescriptor| {
        let family = table.find_family(b"f")?.clone();
        Ok(table.clone().family(family.attribute(format!("n{number}"), "x")))
    };
    database.admin().alter_table("t", change).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn families_and_attributes_all_come_to_stand() {
    on_both(|database, _| async move {
        database.create_table(TableSpec::new("t").family("f")).await.unwrap();
        let mut tasks = Vec::new();
        for number in 0..8 {
            let db = database.clone();
            tasks.push(tokio::spawn(number_family(db, number)));
            let db = database.clone();
            tasks.push(tokio::spawn(async move {
                let added = family(format!("g{number}"));
                let add = move |table: &rowhouse::schema::TableDescriptor| {
                    Ok(table.clone().family(added.clone()))
                };
                db.admin().alter_table("t", add).await.unwrap();
            }));
            let db = database.clone();
            tasks.push(tokio::spawn(async move {
                let set = move |table: &rowhouse::schema::TableDescriptor| {
                    Ok(table.clone().attribute(format!("a{number}"), "x"))
                };
                db.admin().alter_table("t", set).await.unwrap();
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        let table = database.admin().describe("t").await.unwrap();
        for number in 0..8 {
            assert!(table.find_family(format!("g{number}").as_bytes()).is_ok(), "g{number}");
            let has = |attributes: &std::collections::BTreeMap<Bytes, Bytes>, name: String| {
                assert!(attributes.contains_key(name.as_bytes()), "{name}");
            };
            has(&table.attributes, format!("a{number}"));
            has(&table.find_family(b"f").unwrap().attributes, format!("n{number}"));
        }
    })
    .await;
}

#[tokio::test]
async fn a_table_is_emptied_and_the_last_family_stays() {
    on_both(|database, _| async move {
        let spec = TableSpec::new("t").family("f").splits(["m"]);
        let table = database.create_table(spec).await.unwrap();
        table.put(rowhouse::Put::new("r").unwrap().add("f", "q", "v").unwrap()).await.unwrap();
        let refused = database.admin().truncate_table("t", true).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::TableNotDisabled);
        for (keep_splits, regions) in [(true, 2), (false, 1)] {
            database.admin().disable_table("t").await.unwrap();
            database.admin().truncate_table("t", keep_splits).await.unwrap();
            let table = database.table("t").await.unwrap();
            assert_eq!(table.regions().await.unwrap().len(), regions);
            assert!(table.get(&rowhouse::Get::new("r").unwrap()).await.unwrap().is_empty());
        }
        let none =
            database.admin().alter_table("t", |table| Ok(table.clone().without_family(b"f")));
        assert_eq!(none.await.unwrap_err().kind(), ErrorKind::InvalidRequest);
    })
    .await;
}
