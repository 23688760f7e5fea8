//! A random number or letter at the start of the key.

use rowhouse::Get;
use rowhouse::key::KeySchema;

use super::{Scratch, put, query, scan, warnings};

#[test]
fn a_random_number_from_1_to_50_and_the_key_after_it_are_ambiguous() {
    let by_hand = |salt: u32, id: &str| format!("{salt}{id}");
    assert_eq!(by_hand(1, "2x"), by_hand(12, "x"));

    // With a fixed width, or with a delimiter, they can.
    let schema = KeySchema::parse("[salt 50 as salt][id text]").unwrap();
    let key =
        |salt: u32, id: &str| schema.encode(&[("salt", salt.into()), ("id", id.into())]).unwrap();
    assert_ne!(key(1, "2x"), key(12, "x"));
    assert_eq!(schema.decode(&key(1, "2x")).unwrap()["id"].as_str(), Some("2x"));
    assert_eq!(schema.decode(&key(12, "x")).unwrap()["id"].as_str(), Some("x"));
}

#[tokio::test]
async fn the_second_put_of_a_row_makes_a_second_row() {
    let scratch = Scratch::new().await;
    let by_hand = scratch.by_hand().await;
    put(&by_hand, "a-foo0003", "old address").await;
    put(&by_hand, "c-foo0003", "new address").await;
    assert_eq!(scan(&by_hand, "", "").await, ["old address", "new address"]);

    // A bucket is computed from the id, so the second put overwrites the first one's row.
    let table = scratch.by_template("[bucket 4 of id][id text]").await;
    for text in ["old address", "new address"] {
        let row = table.row(&[("id", "foo0003".into())]);
        row.set("d", "text", text).put().await.unwrap();
    }
    assert_eq!(query(&table, "id = 'foo0003'").await, ["new address"]);
}

#[tokio::test]
async fn a_get_of_a_salted_row_is_as_many_gets_as_there_are_salts() {
    let scratch = Scratch::new().await;
    let by_hand = scratch.by_hand().await;
    put(&by_hand, "c-foo0003", "here").await;
    let mut gets = 0;
    for salt in ["a", "b", "c", "d"] {
        gets += 1;
        let get = Get::new(format!("{salt}-foo0003")).unwrap();
        if !by_hand.get(&get).await.unwrap().is_empty() {
            break;
        }
    }
    // The third get finds the row; that a row is absent is known only after the fourth.
    assert_eq!(gets, 3);

    let ranges = |template: &str| {
        let schema = KeySchema::parse(template).unwrap();
        let question = rowhouse::query::Predicate::parse("id = 'foo0003'").unwrap();
        schema.plan(&question).unwrap().ranges().len()
    };
    assert_eq!(ranges("[salt 4 a-d]-[id text]"), 4);
    assert_eq!(ranges("[salt 50][id text]"), 50);
    assert_eq!(ranges("[bucket 50 of id][id text]"), 1);
    assert_eq!(warnings("[salt 4 a-d]-[id text]"), ["K5"]);

    // A table that already has a salt: the query covers all salts at once.
    let table = scratch.by_template("[salt 4 a-d]-[id text]").await;
    put(&table, "c-foo0003", "here").await;
    assert_eq!(query(&table, "id = 'foo0003'").await, ["here"]);
}
