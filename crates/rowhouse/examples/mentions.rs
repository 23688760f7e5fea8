//! When is a key unique? A user's mentions under three keys: the first two silently lose some,
//! because a put with an existing key adds a new version to that row.

use rowhouse::{Result, TableSpec};

/// Mentions of bob: author, time and post. Two are by the same author, two in the same millisecond.
const MENTIONS: [(&str, &str, u64); 4] = [
    ("alice", "2022-12-24T18:00:00.000Z", 71),
    ("alice", "2022-12-24T18:05:00.000Z", 72),
    ("carol", "2022-12-24T18:07:00.000Z", 73),
    ("dave", "2022-12-24T18:07:00.000Z", 74),
];

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    for (name, template, expected) in [
        ("by_author", "[user string][author string]", &[72, 73, 74][..]),
        ("by_time", "[user string][at millis desc]", &[71, 72, 74]),
        ("by_post", "[user string][at millis desc][post u64]", &[71, 72, 73, 74]),
    ] {
        let table = database.create_table(TableSpec::new(name).family("d").key(template)).await?;
        let schema = table.key_schema()?;
        for (author, at, post) in MENTIONS {
            let all = [
                ("user", "bob".into()),
                ("author", author.into()),
                ("at", at.into()),
                ("post", post.into()),
            ];
            let key: Vec<_> =
                all.into_iter().filter(|(field, _)| schema.field(field).is_some()).collect();
            let text = format!("{author} in post {post}");
            table.row(&key).set("d", "text", text).set("d", "post", post.to_string()).put().await?;
        }

        let rows = table.query("user = 'bob'").rows().await?.collect().await?;
        println!("{template}: {} of {} mentions", rows.len(), MENTIONS.len());
        for row in &rows {
            println!("  {row}: {}", row.text("d", "text").unwrap_or_default());
        }
        // Rule K8 derives from the template alone that such keys are not unique.
        schema.check().iter().for_each(|finding| println!("  {finding}"));

        let mut posts: Vec<u64> =
            rows.iter().filter_map(|row| row.text("d", "post")?.parse().ok()).collect();
        posts.sort_unstable();
        assert_eq!(posts, expected);
    }
    database.close().await
}
