//! The posts in December under keys made from `123_` and `Long.MAX_VALUE - ts`, newest first.

use super::{Scratch, put, query, scan};

const TEMPLATE: &str = "[blogger text]_[at millis digits desc]";
const QUESTION: &str = "blogger = '123' and at during 2022-12";

/// 2022-12-01T00:00:00Z and 2022-12-31T23:59:59Z, in seconds.
const FIRST_SECOND: i64 = 1_669_852_800;
const LAST_SECOND: i64 = 1_672_531_199;

const POSTS: [(i64, &str); 5] = [
    (FIRST_SECOND * 1000 - 1, "last of November"),
    (FIRST_SECOND * 1000, "first of December"),
    (LAST_SECOND * 1000, "last second begins"),
    (LAST_SECOND * 1000 + 999, "last second ends"),
    (LAST_SECOND * 1000 + 1000, "first of January"),
];
const DECEMBER: [&str; 3] = ["last second ends", "last second begins", "first of December"];

fn key(millis: i64) -> String {
    format!("123_{}", i64::MAX - millis)
}

#[tokio::test]
async fn a_reversed_time_scanned_from_its_begin_to_its_end_finds_nothing() {
    let scratch = Scratch::new().await;
    let by_hand = scratch.by_hand().await;
    let posts = scratch.by_template(TEMPLATE).await;
    for (at, text) in POSTS {
        put(&by_hand, key(at), text).await;
        put(&posts, key(at), text).await;
    }
    let first = key(FIRST_SECOND * 1000);
    let last = key(LAST_SECOND * 1000);
    assert!(first > last);
    assert!(scan(&by_hand, first, last).await.is_empty());
    assert_eq!(query(&posts, QUESTION).await, DECEMBER);
}

#[tokio::test]
async fn a_scan_that_ends_before_the_boundary_loses_the_row_on_it() {
    let scratch = Scratch::new().await;
    let by_hand = scratch.by_hand().await;
    let posts = scratch.by_template(TEMPLATE).await;
    for (at, text) in POSTS {
        put(&by_hand, key(at), text).await;
        put(&posts, key(at), text).await;
    }
    // From the end of December to its start: the stop row is excluded from the scan, and it is the
    // first post.
    let newest = key(LAST_SECOND * 1000 + 999);
    let oldest = key(FIRST_SECOND * 1000);
    let texts = scan(&by_hand, newest.clone(), oldest.clone()).await;
    assert_eq!(texts, ["last second ends", "last second begins"]);
    // By hand, one additional byte at the stop row fixes it.
    assert_eq!(scan(&by_hand, newest, oldest + "\0").await, DECEMBER);
    assert_eq!(query(&posts, QUESTION).await, DECEMBER);
}

#[tokio::test]
async fn an_end_in_whole_seconds_loses_the_last_999_milliseconds() {
    let scratch = Scratch::new().await;
    let by_hand = scratch.by_hand().await;
    let posts = scratch.by_template(TEMPLATE).await;
    for (at, text) in POSTS {
        put(&by_hand, key(at), text).await;
        put(&posts, key(at), text).await;
    }
    // Both ends as parsed from "2022-12-31 23:59:59" and "2022-12-01 00:00:00".
    let newest = key(LAST_SECOND * 1000);
    let oldest = key(FIRST_SECOND * 1000);
    assert_eq!(scan(&by_hand, newest, oldest).await, ["last second begins"]);
    assert_eq!(query(&posts, QUESTION).await, DECEMBER);
    // A whole second, if the query requests it.
    let second = query(&posts, "blogger = '123' and at during 2022-12-31T23:59:59").await;
    assert_eq!(second, ["last second ends", "last second begins"]);
}
