//! How are posts found by their words, Chinese and English, inside one blogger and one month? The
//! best come first, with snippets; or keys alone, for a batch get.

use rowhouse::query::QueryRow;
use rowhouse::{Get, Result, Table, TableSpec};

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    let posts = TableSpec::new("posts").family("p").family("t");
    let posts = posts
        .key("[blogger string][at millis desc]")
        .columns("p:t title string; p:b body string; t:[tag text] tagged u8")
        .indexes("text search title chinese, body english chinese, tagged.tag keyword");
    let posts = database.create_table(posts).await?;
    write(&posts).await?;

    // Blogger and month are one document range: the index is in key order.
    let december = |blogger: &str, words: &str| {
        format!("blogger = '{blogger}' and at during 2022-12 and body matches '{words}'")
    };
    let best = posts.query(&december("小明", "行键")).by_score().page(10).await?.rows;
    let best: Vec<_> = best.iter().map(marked).collect::<Result<_>>()?;
    assert_eq!(
        best,
        ["先定[行键]，再写程序：[行键]错了，程序白写。", "今天不谈[行键]设计，只包饺子。"]
    );

    // A stem finds all word forms; a phrase finds words side by side.
    let best = posts.query(&december("ann", r#""row key" OR design"#)).by_score().page(10).await?;
    let best: Vec<_> = best.rows.iter().map(marked).collect::<Result<_>>()?;
    assert_eq!(best, ["[Designing] [row keys]: begin with the field that queries name."]);

    // How many posts with these words have each tag, and how many posts have a tag.
    let tags = posts.query("body matches '行键'").facets("tagged.tag", 10).await?;
    let tags: Vec<_> = tags.iter().map(|tag| format!("{}: {}", tag.value, tag.rows)).collect();
    println!("posts with 行键 by their tags: {tags:?}");
    assert_eq!(tags, ["db: 2", "life: 1"]);
    assert_eq!(posts.query("tagged.tag matches 'db'").count().await?, 4);

    // Keys come from the index alone. The batch get reads one column from these rows.
    let keys = posts.query("body matches '行键 OR \"row keys\"'").keys().await?;
    let gets = keys.into_iter().map(|key| Ok(Get::new(key)?.column("p", "t")));
    let mut titles = Vec::new();
    for post in posts.get_many(gets.collect::<Result<_>>()?).await {
        let title = post?.value("p", "t").unwrap_or_default();
        titles.push(String::from_utf8_lossy(&title).into_owned());
    }
    println!("in the order of the keys: {titles:?}");
    assert_eq!(titles, ["Full regions", "Keys", "冬至", "设计", "旧的设计"]);
    database.close().await
}

/// Writes the posts: blogger, time, tag, title and body.
async fn write(posts: &Table) -> Result<()> {
    for (blogger, at, tag, title, body) in [
        ("小明", "2022-11-30T23:59:59.999Z", "db", "旧的设计", "行键里先放时间。"),
        ("小明", "2022-12-05T09:00", "db", "设计", "先定行键，再写程序：行键错了，程序白写。"),
        ("小明", "2022-12-22T18:00", "life", "冬至", "今天不谈行键设计，只包饺子。"),
        ("小明", "2022-12-31T20:00", "life", "一年", "走行人道，也按键盘。"),
        (
            "ann",
            "2022-12-05T10:00",
            "db",
            "Keys",
            "Designing row keys: begin with the field that queries name.",
        ),
        ("ann", "2022-12-20T10:00", "life", "Winter", "The key of a warm house opens the door."),
        ("ann", "2023-01-02T10:00", "db", "Full regions", "Row keys that count up fill one."),
    ] {
        let row = posts.row(&[("blogger", blogger.into()), ("at", at.into())]);
        let row = row.set_named("title", title).set_named("body", body);
        row.set("t", tag, "1").put().await?;
    }
    Ok(())
}

/// Prints a post with its score; returns a snippet from it, with the words found in brackets.
fn marked(post: &QueryRow) -> Result<String> {
    let snippet = post.snippet("body", 80)?.expect("the query searches the body");
    let mut text = snippet.text;
    for range in snippet.matches.iter().rev() {
        text.insert(range.end, ']');
        text.insert(range.start, '[');
    }
    println!("{:.2} {post}: {text}", post.score().unwrap_or_default());
    Ok(text)
}
