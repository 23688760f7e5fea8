//! How do you store a blog whose posts are read newest first? The key is declared; the program
//! never builds key bytes.

use rowhouse::{Result, TableSpec};

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    let spec = TableSpec::new("blog").family("cf").key("[blogger text]_[at millis digits desc]");
    let blog = database.create_table(spec).await?;

    for (at, title, column) in [
        ("2022-11-30T23:59:59.999Z", "十一月的最后一刻", "随笔"),
        ("2022-12-01T00:00:00.000Z", "十二月的第一刻", "随笔"),
        ("2022-12-24T18:00:00.000Z", "圣诞快乐", "节日"),
        ("2022-12-31T23:59:59.999Z", "一年的最后一刻", "随笔"),
        ("2023-01-01T00:00:00.000Z", "新年快乐", "节日"),
    ] {
        let post = blog.row(&[("blogger", "123".into()), ("at", at.into())]);
        let post = post.set("cf", "title", title).set("cf", "content", format!("{title}。"));
        post.set("cf", "分栏", column).put().await?;
    }

    let query = blog.query("blogger = '123' and at during 2022-12");
    print!("{}", query.explain()?);
    let mut posts = query.rows().await?;
    let mut titles = Vec::new();
    while let Some(post) = posts.next().await? {
        let text = |qualifier| post.text("cf", qualifier).unwrap_or_default().into_owned();
        println!("{post} 《{}》 {} [{}]", text("title"), text("content"), text("分栏"));
        titles.push(text("title"));
    }
    assert_eq!(titles, ["一年的最后一刻", "圣诞快乐", "十二月的第一刻"]);
    database.close().await
}
