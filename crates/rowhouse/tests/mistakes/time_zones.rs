//! December in Beijing is not December in UTC: it starts eight hours earlier.

use rowhouse::key::TimeZone;

use super::{Scratch, put, query, scan};

const POSTS: [(&str, &str); 4] = [
    ("2022-11-30T23:59:59.999+08:00", "November in Beijing"),
    ("2022-12-01T07:00+08:00", "December in Beijing, November in UTC"),
    ("2022-12-31T23:59:59.999+08:00", "December in both"),
    ("2023-01-01T07:00+08:00", "January in Beijing, December in UTC"),
];
const IN_BEIJING: [&str; 2] = ["December in both", "December in Beijing, November in UTC"];

#[tokio::test]
async fn local_time_taken_for_utc_finds_eight_hours_too_many_and_too_few() {
    let scratch = Scratch::new().await;
    let template = "[blogger text]_[at millis digits desc]";
    let by_hand = scratch.by_hand().await;
    let posts = scratch.by_template(template).await;
    for (at, text) in POSTS {
        let key = posts.key(&[("blogger", "123".into()), ("at", at.into())]).unwrap();
        put(&by_hand, key.clone(), text).await;
        put(&posts, key, text).await;
    }
    // "2022-12-01" and "2023-01-01" as parsed on a machine with time zone UTC.
    let key = |millis: i64| format!("123_{}", i64::MAX - millis);
    let first = 1_669_852_800_000;
    let end = 1_672_531_200_000;
    let texts = scan(&by_hand, key(end - 1), key(first - 1)).await;
    assert_eq!(texts, ["January in Beijing, December in UTC", "December in both"]);

    // The time zone is set in the query, for all times that name none …
    let beijing = TimeZone::posix("<+08>-8").unwrap();
    let question = posts.query("blogger = '123' and at during 2022-12").zone(beijing);
    let rows = question.rows().await.unwrap().collect().await.unwrap();
    let texts: Vec<_> = rows.iter().map(|row| row.text("d", "text").unwrap()).collect();
    assert_eq!(texts, IN_BEIJING);
    // … or with each time.
    let question =
        "blogger = '123' and at >= 2022-12-01T00:00+08:00 and at < 2023-01-01T00:00+08:00";
    assert_eq!(query(&posts, question).await, IN_BEIJING);
    // A time without a zone is UTC on every machine.
    assert_eq!(query(&posts, "blogger = '123' and at during 2022-12").await[0], POSTS[3].1);
}
