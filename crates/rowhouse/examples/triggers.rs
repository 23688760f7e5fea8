//! What does a trigger do? Observers on one table count the posts by each blogger, refuse posts by
//! bloggers that do not exist, and note every change in another table: in the same log record as
//! the change itself.

use rowhouse::observer::{Additions, Observer, RowChange};
use rowhouse::{Append, Delete, Error, Get, Increment, Result, Row, Table, TableSpec};

/// Counts posts in their bloggers' rows. A row for a blogger without a name does not exist.
struct Posts {
    posts: Table,
    bloggers: Table,
}

impl Observer for Posts {
    fn name(&self) -> &str {
        "posts"
    }

    fn row_changes(&self, change: &RowChange, additions: &mut Additions<'_>) -> Result<()> {
        let more = i64::from(!change.after.is_empty()) - i64::from(!change.before.is_empty());
        if more == 0 {
            return Ok(());
        }
        let key = self.posts.key_schema()?.decode(&change.row)?;
        let blogger = self.bloggers.key(&[("name", key["blogger"].clone())])?;
        // Changing the counter locks the blogger's row, so nobody removes it meanwhile.
        additions
            .mutate(&self.bloggers, Increment::new(blogger.clone())?.add("b", "posts", more)?)?;
        if more > 0
            && additions.get(&self.bloggers, &Get::new(blogger)?)?.value("b", "about").is_none()
        {
            return Err(Error::invalid(format!("there is no blogger {}", key["blogger"])));
        }
        Ok(())
    }
}

/// Notes what was changed.
struct Audit(Table);

impl Observer for Audit {
    fn name(&self) -> &str {
        "audit"
    }

    fn row_changes(&self, change: &RowChange, additions: &mut Additions<'_>) -> Result<()> {
        let text = |row: &Row| {
            let title = row.value("p", "title").unwrap_or_default();
            String::from_utf8_lossy(&title).into_owned()
        };
        let line = format!("{} > {};", text(&change.before), text(&change.after));
        let note = Append::new(change.row.clone())?.add("a", "titles", line)?;
        additions.mutate(&self.0, note)
    }
}

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    let bloggers = TableSpec::new("bloggers").family("b").key("[name string]");
    let bloggers = database.create_table(bloggers).await?;
    let audit = database.create_table(TableSpec::new("audit").family("a")).await?;
    let posts = TableSpec::new("posts").family("p").key("[blogger string][nr u32]");
    let posts = database.create_table(posts.observers(["posts", "audit"])).await?;
    let counts = Posts { posts: posts.clone(), bloggers: bloggers.clone() };
    database.observe("posts", counts).await?;
    database.observe("posts", Audit(audit.clone())).await?;

    bloggers.row(&[("name", "eve".into())]).set("b", "about", "mail").put().await?;
    let row = |blogger: &str, nr: u32| posts.row(&[("blogger", blogger.into()), ("nr", nr.into())]);
    row("eve", 1).set("p", "title", "First").put().await?;
    row("eve", 1).set("p", "title", "The first").put().await?;
    row("eve", 2).set("p", "title", "Second").put().await?;
    let refused = row("bob", 1).set("p", "title", "Hello").put().await;
    println!("{refused:?}");
    assert!(refused.is_err());
    posts
        .delete(Delete::new(posts.key(&[("blogger", "eve".into()), ("nr", 2_u32.into())])?)?)
        .await?;

    let eve = bloggers.key(&[("name", "eve".into())])?;
    let count = bloggers.counter(eve, "b", "posts").await?;
    println!("posts of eve: {count:?}");
    assert_eq!(count, Some(1));
    let first = posts.key(&[("blogger", "eve".into()), ("nr", 1_u32.into())])?;
    let noted = audit.get(&Get::new(first)?).await?.value("a", "titles").unwrap_or_default();
    println!("{}", String::from_utf8_lossy(&noted));
    assert_eq!(noted, " > First;First > The first;");
    database.close().await
}
