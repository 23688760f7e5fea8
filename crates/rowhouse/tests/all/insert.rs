//! A row can be inserted only once, embedded and on a server.

use crate::support::on_both;
use rowhouse::{Database, ErrorKind, Put, Table, TableSpec};
use tokio::task::JoinSet;

async fn blog(database: &Database) -> Table {
    let spec = TableSpec::new("blog").family("cf").key("[blogger text]_[at millis digits desc]");
    database.create_table(spec).await.unwrap()
}

#[tokio::test]
async fn the_second_post_of_a_millisecond_is_refused_by_the_fields_of_its_key() {
    on_both(|database, _| async move {
        let blog = blog(&database).await;
        let key = [("blogger", "123".into()), ("at", "2022-12-24T18:00".into())];
        blog.row(&key).set("cf", "title", "first").insert().await.unwrap();
        let refused = blog.row(&key).set("cf", "title", "second").insert().await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::RowExists);
        assert_eq!(
            refused.message(),
            "the row exists already: table=blog, row=123_9223370364949975807 \
             (blogger='123', at=2022-12-24T18:00:00.000Z)"
        );
        let other = blog.row(&key).set("cf", "author", "second").insert().await.unwrap_err();
        assert_eq!(other.kind(), ErrorKind::RowExists, "whichever column it has");
        let rows = blog.query("blogger = '123'").rows().await.unwrap().collect().await.unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].text("cf", "title").as_deref(), Some("first"));
        assert_eq!(rows[0].bytes("cf", "author"), None);
    })
    .await;
}

#[tokio::test]
async fn a_key_without_a_template_is_named_by_its_bytes() {
    on_both(|database, _| async move {
        let plain = database.create_table(TableSpec::new("plain").family("cf")).await.unwrap();
        let put = || Put::new(&b"a\x00"[..]).unwrap().add("cf", "q", "x").unwrap();
        plain.insert(put()).await.unwrap();
        let refused = plain.insert(put()).await.unwrap_err();
        assert_eq!(refused.message(), r"the row exists already: table=plain, row=a\x00");
        assert_eq!(
            plain.insert(Put::new("b").unwrap()).await.unwrap_err().message(),
            "No columns to insert"
        );
    })
    .await;
}

#[tokio::test]
async fn an_empty_value_in_the_first_column_is_refused_where_it_could_not_be_checked() {
    on_both(|database, is_cluster| async move {
        let blog = blog(&database).await;
        let key = [("blogger", "1".into()), ("at", 5.into())];
        let row = || blog.row(&key).set("cf", "b", "x").set("cf", "a", "");
        let inserted = row().insert().await;
        if is_cluster {
            let refused = inserted.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Unsupported);
            assert!(refused.message().ends_with("column=cf:a"), "{refused}");
        } else {
            inserted.unwrap();
            assert_eq!(row().insert().await.unwrap_err().kind(), ErrorKind::RowExists);
        }
    })
    .await;
}

#[tokio::test]
async fn a_key_with_a_random_salt_is_inserted_only_with_the_salt_given() {
    on_both(|database, _| async move {
        let spec = TableSpec::new("salted").family("cf").key("[salt 4 a-d as shard]-[id text]");
        let salted = database.create_table(spec).await.unwrap();
        let id = [("id", "foo".into())];
        let refused = salted.row(&id).set("cf", "q", "x").insert().await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidRequest);
        assert!(refused.message().contains("use bucket, or give the salt"), "{refused}");
        let given = [("shard", "b".into()), ("id", "foo".into())];
        salted.row(&given).set("cf", "q", "x").insert().await.unwrap();
        let again = salted.row(&given).set("cf", "q", "x").insert().await.unwrap_err();
        assert_eq!(again.kind(), ErrorKind::RowExists);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_inserts_of_one_key_exactly_one_succeeds() {
    const WRITERS: i64 = 16;
    on_both(|database, _| async move {
        let blog = blog(&database).await;
        for nth in 0..20_i64 {
            let mut writers = JoinSet::new();
            for writer in 0..WRITERS {
                let blog = blog.clone();
                writers.spawn(async move {
                    let key = [("blogger", "123".into()), ("at", nth.into())];
                    let row = blog.row(&key).set("cf", "writer", writer.to_string());
                    (writer, row.insert().await)
                });
            }
            let mut winners = Vec::new();
            while let Some(ended) = writers.join_next().await {
                match ended.unwrap() {
                    (writer, Ok(())) => winners.push(writer.to_string()),
                    (_, Err(error)) => assert_eq!(error.kind(), ErrorKind::RowExists),
                }
            }
            let query = blog
                .query_where(rowhouse::query::Predicate::parse(&format!("at = {nth}")).unwrap());
            let rows = query.rows().await.unwrap().collect().await.unwrap();
            let stored: Vec<_> = rows.iter().map(|row| row.text("cf", "writer").unwrap()).collect();
            assert_eq!(stored, winners, "round {nth}");
            assert_eq!(stored.len(), 1);
        }
    })
    .await;
}
