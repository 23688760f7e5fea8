//! How are posts found by their tags? A tag is a cell's qualifier, and an index has an entry for
//! each.

use rowhouse::{Delete, Result, TableSpec, Timestamp};

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    let posts = TableSpec::new("posts").family("p").family("t").key("[blogger string][nr u32]");
    let posts = posts.columns("p:t title string; t:[tag text] tagged u8");
    let posts = database.create_table(posts.index("by_tag [tagged.tag]")).await?;
    for (nr, tags) in [(1_u32, "rust db"), (2, "rust"), (3, "cooking"), (4, "db cooking")] {
        let key = [("blogger", "eve".into()), ("nr", nr.into())];
        let row = posts.row(&key).set_named("title", format!("Post {nr}"));
        tags.split(' ').fold(row, |row, tag| row.set("t", tag, "1")).put().await?;
    }

    let tagged = async |tag: &str| {
        let query = posts.query(&format!("tagged.tag = '{tag}'")).family("t").using("by_tag");
        let rows = query.rows().await?.collect().await?;
        let nrs: Vec<_> = rows.iter().filter_map(|row| row.key("nr")?.as_u64()).collect();
        println!("{tag}: {nrs:?}");
        Ok::<_, rowhouse::Error>(nrs)
    };
    assert_eq!(tagged("rust").await?, [1, 2]);
    assert_eq!(tagged("db").await?, [1, 4]);

    // A tag is taken away: the entry goes with the cell.
    let post = posts.key(&[("blogger", "eve".into()), ("nr", 1_u32.into())])?;
    posts.delete(Delete::new(post)?.column("t", "rust", Timestamp::LATEST)?).await?;
    assert_eq!(tagged("rust").await?, [2]);
    database.close().await
}
