//! How are mails found by their sender, and by words that their subject begins with? By the key, by
//! an index that leads to the mails, and by one that holds what is requested.

use rowhouse::query::Query;
use rowhouse::{Result, TableSpec};

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    let mail = TableSpec::new("mail").family("d").key("[user string][nr u32 desc]");
    let mail = mail.columns("d:f sender string; d:s subject string; d:t text string").indexes(
        "by_sender [sender]
         by_subject [user][subject]
         subjects_of_sender [sender] covers subject",
    );
    let mail = database.create_table(mail).await?;
    for nr in 0..600_u32 {
        let key = [("user", format!("user{}", nr % 20).into()), ("nr", nr.into())];
        let sender = if nr % 30 == 3 { "eve".to_owned() } else { format!("sender{}", nr % 9) };
        let row = mail.row(&key).set_named("sender", sender).set_named("text", "…");
        let subject = if nr % 30 == 3 { "Christmas" } else { "Monday" };
        row.set_named("subject", format!("{subject} {nr}")).put().await?;
    }

    let by_eve = || mail.query("sender = 'eve'");
    let by_key = show("by the key", by_eve().using_key()).await?;
    let by_index = show("by the index", by_eve()).await?;
    let covered = show("by the index with subjects", by_eve().named("subject")).await?;
    assert_eq!((by_key.len(), &by_index), (20, &by_key));
    assert_eq!(covered, by_key);

    // In index order: by subject.
    let christmas = mail.query("user = 'user3' and subject starts with 'Christmas'");
    let christmas = show("by subject", christmas.using("by_subject").limit(2)).await?;
    assert_eq!(christmas, ["user='user3', nr=123", "user='user3', nr=183"]);
    database.close().await
}

/// Prints how a query is read; returns the keys that it gives.
async fn show(what: &str, query: Query<'_>) -> Result<Vec<String>> {
    let access = query.explain_access().await?;
    println!("{what}: {}", access.to_string().lines().next().unwrap_or_default());
    let rows = query.rows().await?.collect().await?;
    println!("  {} rows", rows.len());
    Ok(rows.iter().map(ToString::to_string).collect())
}
