//! A put with an existing key adds a new version to the row instead of a second row.

use rowhouse::Get;

use super::{Scratch, put, query, scan, warnings};

#[tokio::test]
async fn of_two_writes_in_one_millisecond_the_second_takes_the_place_of_the_first() {
    let scratch = Scratch::new().await;
    let by_hand = scratch.by_hand().await;
    let key = format!("bob_{}", i64::MAX - 1_671_904_800_000);
    put(&by_hand, key.clone(), "login").await;
    put(&by_hand, key.clone(), "pay").await;
    assert_eq!(scan(&by_hand, "", "").await, ["pay"]);
    // The first value is not retained as a version either: families retain one version by default.
    let versions = by_hand.get(&Get::new(key).unwrap().versions(10)).await.unwrap();
    assert_eq!(versions.len(), 1);

    // The template alone shows the problem, and an id after the time distinguishes the two.
    assert!(warnings("[user string][at millis desc]").contains(&"K8".to_owned()));
    let template = "[user string][at millis desc][request u64]";
    assert!(!warnings(template).contains(&"K8".to_owned()));
    let log = scratch.by_template(template).await;
    for (request, text) in [(1_u64, "login"), (2, "pay")] {
        let key = [
            ("user", "bob".into()),
            ("at", 1_671_904_800_000_i64.into()),
            ("request", request.into()),
        ];
        log.row(&key).set("d", "text", text).put().await.unwrap();
    }
    assert_eq!(query(&log, "user = 'bob'").await, ["login", "pay"]);
}
