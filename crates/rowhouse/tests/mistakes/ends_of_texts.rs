//! Where the key range ends for keys that start with a text.

use super::{Scratch, put, query, scan, warnings};

#[tokio::test]
async fn the_stop_row_user_id_plus_1_is_a_longer_text_and_ends_too_early() {
    let scratch = Scratch::new().await;
    let by_hand = scratch.by_hand().await;
    for text in ["login", "pay"] {
        put(&by_hand, format!("123-{text}"), text).await;
    }
    put(&by_hand, "124-login", "of 124").await;
    // Java: `userId + 1` with a String is "1231". It is greater than "123-…" only by chance: `-` is
    // less than `1`.
    let stop = |user: &str| format!("{user}{}", 1);
    assert_eq!(scan(&by_hand, "123", stop("123")).await, ["login", "pay"]);
    put(&by_hand, "123_pay", "with another delimiter").await;
    assert_eq!(scan(&by_hand, "123", stop("123")).await, ["login", "pay"]);
    assert_eq!(scan(&by_hand, "123", "124").await.len(), 3);

    // Arithmetic on numbers is wrong for their text: "10" is less than "9".
    put(&by_hand, "9-login", "of 9").await;
    assert!(scan(&by_hand, "9", (9 + 1).to_string()).await.is_empty());

    let table = scratch.by_template("[user text]_[what text]").await;
    for (key, text) in [("123_pay", "pay"), ("1231_pay", "of 1231"), ("9_login", "of 9")] {
        put(&table, key, text).await;
    }
    assert_eq!(query(&table, "user = '123'").await, ["pay"]);
    assert_eq!(query(&table, "user = '9'").await, ["of 9"]);
}

#[tokio::test]
async fn one_more_in_the_last_byte_overflows_where_that_is_ff() {
    let scratch = Scratch::new().await;
    let by_hand = scratch.by_hand().await;
    put(&by_hand, [7, 0xFF, 1].as_slice(), "inside").await;
    put(&by_hand, [8].as_slice(), "behind").await;
    // Java: `stop[stop.length - 1]++`.
    let start = [7, 0xFF];
    let mut stop = [7, 0xFF_u8];
    stop[1] = stop[1].wrapping_add(1);
    assert!(scan(&by_hand, start.to_vec(), stop.to_vec()).await.is_empty());

    // The next prefix is one byte shorter; after FF FF there is none.
    let table = scratch.by_template("[shop u16][order u8]").await;
    for (key, text) in [(&[7, 0xFF, 1][..], "inside"), (&[8, 0, 0], "behind")] {
        put(&table, key.to_vec(), text).await;
    }
    put(&table, [0xFF, 0xFF, 9].as_slice(), "last").await;
    assert_eq!(query(&table, "shop = 2047").await, ["inside"]);
    assert_eq!(query(&table, "shop = 65535").await, ["last"]);
    let stop_of = |question| table.query(question).explain().unwrap().ranges()[0].stop.clone();
    assert_eq!(stop_of("shop = 2047"), [8].as_slice());
    assert_eq!(stop_of("shop = 65535"), "");
}

#[tokio::test]
async fn a_scan_of_csdn_1_finds_csdn_10_too() {
    let scratch = Scratch::new().await;
    let by_hand = scratch.by_hand().await;
    let key = |blogger: &str, delimiter: &str| {
        format!("{blogger}{delimiter}{}", i64::MAX - 1_669_852_800_000)
    };
    for blogger in ["CSDN_1", "CSDN_10", "CSDN_2"] {
        put(&by_hand, key(blogger, ""), blogger).await;
    }
    assert_eq!(scan(&by_hand, "CSDN_1", "CSDN_2").await, ["CSDN_10", "CSDN_1"]);

    // With the existing keys, they are distinguished by length, which costs reading both bloggers'
    // rows.
    let template = "[blogger text][at millis digits desc]";
    let table = scratch.by_template(template).await;
    for blogger in ["CSDN_1", "CSDN_10", "CSDN_2"] {
        put(&table, key(blogger, ""), blogger).await;
    }
    assert_eq!(query(&table, "blogger = 'CSDN_1'").await, ["CSDN_1"]);
    assert!(!table.query("blogger = 'CSDN_1'").explain().unwrap().is_exact());
    assert_eq!(warnings(template)[0], "K4");

    // With a delimiter between name and time that no name contains, only the requested rows are
    // read.
    let schema = rowhouse::key::KeySchema::parse("[blogger text]#[at millis digits desc]").unwrap();
    let question = rowhouse::query::Predicate::parse("blogger = 'CSDN_1'").unwrap();
    let plan = schema.plan(&question).unwrap();
    assert!(plan.is_exact());
    assert!(plan.ranges()[0].contains(key("CSDN_1", "#").as_bytes()));
    assert!(!plan.ranges()[0].contains(key("CSDN_10", "#").as_bytes()));
}
