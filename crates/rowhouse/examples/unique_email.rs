//! How is an e-mail address given to one user only, even if two request it at the same time?

use rowhouse::{Delete, ErrorKind, Result, TableSpec};

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    let users = TableSpec::new("users").family("u").key("[id u32]").columns("u:m email string");
    let users = database.create_table(users.index("one_email [email] unique")).await?;
    let user = |id: u32| users.row(&[("id", id.into())]);

    // Eight users request one address at once.
    let puts: Vec<_> = (0..8)
        .map(|id| user(id).set_named("email", "eve@example.com").into_put())
        .collect::<Result<_>>()?;
    let tasks = puts.into_iter().map(|put| {
        let users = users.clone();
        tokio::spawn(async move { users.put(put).await })
    });
    let mut given = 0;
    let mut refused = None;
    for task in tasks.collect::<Vec<_>>() {
        match task.await.expect("a put does not panic") {
            Ok(()) => given += 1,
            Err(error) => refused = Some(error),
        }
    }
    let refused = refused.expect("seven are refused");
    println!("{refused}");
    assert_eq!((given, refused.kind()), (1, ErrorKind::InvalidRequest));

    // A lookup by the address, and how it moves from one user to another in one step.
    let owner = users.query("email = 'eve@example.com'").page(2).await?.rows;
    assert_eq!(owner.len(), 1);
    let inside = users.clone();
    let old = Delete::new(owner[0].key_bytes().to_vec())?;
    let new = user(99).set_named("email", "eve@example.com").into_put()?;
    let moved = database.transact(move |transaction| {
        transaction.delete(&inside, old.clone())?;
        transaction.put(&inside, new.clone())
    });
    moved.await?;
    let owner = users.query("email = 'eve@example.com'").page(2).await?.rows;
    println!("now of user {}", owner[0]);
    assert_eq!(owner[0].key("id").and_then(|id| id.as_u64()), Some(99));
    database.close().await
}
