//! Rows with structs as keys: written, read, deleted and queried.

#![cfg(feature = "derive")]
use rowhouse::key::{FromRowKey, KeyMismatch, Time, escape};
use rowhouse::{Database, Delete, Get, Put, RowKey, TableSpec};

#[derive(RowKey, Clone, Debug, PartialEq)]
#[key("[bucket 4 of user][user text]_[at millis digits desc]")]
struct Post<'a> {
    user: &'a str,
    at: Time,
}

/// The same fields in a key without buckets.
#[derive(RowKey, Debug)]
#[key("[user text]_[at millis digits desc]")]
struct Elsewhere {
    user: String,
    at: i64,
}

#[derive(RowKey, Debug, PartialEq)]
#[key("[salt 8][id u32]")]
struct Salted {
    id: u32,
}

fn post(user: &str, at: i64) -> Post<'_> {
    Post { user, at: Time::from_millis(at) }
}

async fn open(dir: &tempfile::TempDir) -> Database {
    rowhouse::open(dir.path().join("data").to_str().unwrap()).await.unwrap()
}

#[tokio::test]
async fn rows_are_written_read_and_deleted_by_structs() {
    let dir = tempfile::tempdir().unwrap();
    let database = open(&dir).await;
    let spec = TableSpec::new("blog").family("cf").key_of::<Post<'_>>();
    let blog = database.create_table(spec).await.unwrap();
    for at in [1, 2, 3] {
        blog.row_of(&post("bob", at)).set("cf", "n", [at as u8]).put().await.unwrap();
    }

    let get = Get::new(blog.key_of(&post("bob", 2)).unwrap()).unwrap();
    assert_eq!(blog.get(&get).await.unwrap().value("cf", "n").unwrap(), [2].as_slice());
    let delete = Delete::new(blog.key_of(&post("bob", 2)).unwrap()).unwrap();
    blog.delete(delete).await.unwrap();

    blog.put(Put::new("\0rubbish").unwrap().add("cf", "n", "0").unwrap()).await.unwrap();
    let rows = blog.query("user = 'bob'").rows().await.unwrap().collect().await.unwrap();
    let keys: Vec<Post<'_>> = rows.iter().map(|row| row.key_as().unwrap()).collect();
    assert_eq!(keys, [post("bob", 3), post("bob", 1)]);

    let all = blog.query("at >= 0").with_misfits().rows().await.unwrap().collect().await.unwrap();
    let rubbish = all.iter().find(|row| row.key_bytes() == b"\0rubbish").unwrap();
    let error = rubbish.key_as::<Post<'_>>().unwrap_err();
    assert!(std::error::Error::source(&error).unwrap().is::<KeyMismatch>());
    database.close().await.unwrap();
}

#[tokio::test]
async fn a_struct_of_another_template_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let database = open(&dir).await;
    let spec = TableSpec::new("blog").family("cf").key_of::<Post<'_>>();
    let blog = database.create_table(spec).await.unwrap();
    blog.row_of(&post("bob", 1)).set("cf", "n", "1").put().await.unwrap();
    let templates = "struct=[user text]_[at millis digits desc], \
                     table=[bucket 4 of user][user text]_[at millis digits desc]";

    let elsewhere = Elsewhere { user: "bob".into(), at: 1 };
    let expected =
        format!("the struct is a key of another template than that of table blog: {templates}");
    let put = blog.row_of(&elsewhere).set("cf", "n", "1").put().await;
    assert_eq!(put.unwrap_err().to_string(), expected);
    assert_eq!(blog.key_of(&elsewhere).unwrap_err().to_string(), expected);

    let page = blog.query("user = 'bob'").page(1).await.unwrap();
    let error = page.rows[0].key_as::<Elsewhere>().unwrap_err();
    let expected = format!("the struct is a key of another template than the table's: {templates}");
    assert_eq!(error.to_string(), expected);
    database.close().await.unwrap();
}

#[tokio::test]
async fn a_salt_is_drawn_for_a_struct() {
    let dir = tempfile::tempdir().unwrap();
    let database = open(&dir).await;
    let spec = TableSpec::new("t").family("cf").key_of::<Salted>();
    let table = database.create_table(spec).await.unwrap();
    table.row_of(&Salted { id: 7 }).set("cf", "n", "1").put().await.unwrap();
    let rows = table.query("id = 7").rows().await.unwrap().collect().await.unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].key_as::<Salted>().unwrap(), Salted { id: 7 });
    assert!(table.key_of(&Salted { id: 7 }).is_err(), "which of eight rows is not known");
    let key = rows[0].key_bytes();
    assert!(Salted::decode_key(key).is_ok(), "{}", escape(key));
    database.close().await.unwrap();
}
