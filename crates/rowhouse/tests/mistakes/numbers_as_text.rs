//! Numbers written as text, without leading zeros.

use super::{Scratch, put, query, scan, warnings};

#[tokio::test]
async fn decimal_text_of_varying_width_puts_10_before_9() {
    let scratch = Scratch::new().await;
    let by_hand = scratch.by_hand().await;
    for id in [9, 10, 100, 11] {
        put(&by_hand, id.to_string(), &id.to_string()).await;
    }
    assert_eq!(scan(&by_hand, "", "").await, ["10", "100", "11", "9"]);
    // The ids from 9 to 11 return nothing; those from 10 to 11 include 100.
    assert!(scan(&by_hand, "9", "12").await.is_empty());
    assert_eq!(scan(&by_hand, "10", "12").await, ["10", "100", "11"]);

    let padded = scratch.by_template("[id digits 4]").await;
    for id in [9_u32, 10, 100, 11] {
        let row = padded.row(&[("id", id.into())]);
        row.set("d", "text", id.to_string()).put().await.unwrap();
    }
    assert_eq!(query(&padded, "id >= 0").await, ["9", "10", "11", "100"]);
    assert_eq!(query(&padded, "id between 9 and 11").await, ["9", "10", "11"]);
}

#[tokio::test]
async fn keys_that_were_written_as_text_can_be_queried_by_the_number() {
    let scratch = Scratch::new().await;
    // An existing table: the template describes the keys.
    let table = scratch.by_template("[id decimal]").await;
    for id in [9, 10, 100, 11] {
        put(&table, id.to_string(), &id.to_string()).await;
    }
    assert_eq!(query(&table, "id between 9 and 11").await, ["10", "11", "9"]);
    assert!(warnings("[id decimal]").contains(&"K3".to_owned()));
}

#[tokio::test]
async fn a_time_in_milliseconds_has_a_digit_less_before_september_2001_and_comes_last() {
    let scratch = Scratch::new().await;
    let by_hand = scratch.by_hand().await;
    // 2001-09-09T01:46:40Z is the first time with thirteen digits.
    const TIMES: [(i64, &str); 3] =
        [(999_999_999_999, "1st"), (1_000_000_000_000, "2nd"), (1_425_330_757_685, "3rd")];
    for (at, text) in TIMES {
        put(&by_hand, format!("cpu#{at}"), text).await;
    }
    assert_eq!(scan(&by_hand, "cpu#", "cpu$").await, ["2nd", "3rd", "1st"]);

    let metrics = scratch.by_template("[metric text]#[at millis digits 13]").await;
    for (at, text) in TIMES {
        let row = metrics.row(&[("metric", "cpu".into()), ("at", at.into())]);
        row.set("d", "text", text).put().await.unwrap();
    }
    assert_eq!(query(&metrics, "metric = 'cpu'").await, ["1st", "2nd", "3rd"]);
}
