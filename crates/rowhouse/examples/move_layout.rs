//! How does a table get another key while programs write it?
//!
//! A key that begins with the time sends all writes to one region. Here the table is moved to a key
//! that begins with a bucket, while three writers go on, and nothing that they wrote is lost: an
//! index that `covers *` is the table under the new key, and a promotion swaps the two.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rowhouse::schema::IndexState;
use rowhouse::{Database, ErrorKind, Result, TableSpec};

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    let mail = TableSpec::new("mail").family("d").key("[at millis][user string]");
    database.create_table(mail).await?;

    let stop = Arc::new(AtomicBool::new(false));
    let writers = ["ann", "bob", "eve"]
        .map(|user| tokio::spawn(write_mails(database.clone(), user, Arc::clone(&stop))));
    tokio::time::sleep(Duration::from_millis(100)).await;

    // The table under the key that it is to have. It is filled in the background.
    let admin = database.admin();
    admin.alter_indexes("mail", "by_user [bucket 16 of user][user][at] covers *").await?;
    while admin.index_state("mail", "by_user").await? != IndexState::Ready {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // Queries use it already. Now each gets the key and the other's rows, at one point in time.
    admin.promote_index("mail", "by_user").await?;
    tokio::time::sleep(Duration::from_millis(100)).await;
    stop.store(true, Ordering::Relaxed);

    let mail = database.table("mail").await?;
    println!("the key is now {}", mail.key_schema()?);
    assert_eq!(mail.key_schema()?.to_string(), "[bucket 16 of user][user string][at millis]");
    for writer in writers {
        let (user, written) = writer.await.expect("no writer panics")?;
        let count = mail.query(&format!("user = '{user}'")).rows().await?.collect().await?.len();
        println!("{user} wrote {written} mails, and {count} are there");
        assert_eq!(count, written);
    }
    // The old key can still be read as an index, until it is dropped.
    let by_time = mail.query("at >= 2022").using("by_user").rows().await?.collect().await?;
    let text = |row: &rowhouse::query::QueryRow| row.key("at").map(ToString::to_string);
    assert!(by_time.windows(2).all(|two| text(&two[0]) <= text(&two[1])));
    admin.alter_indexes("mail", "").await?;
    database.close().await
}

/// Writes a user's mails until the caller stops it; returns how many were acknowledged.
async fn write_mails(
    database: Database,
    user: &'static str,
    stop: Arc<AtomicBool>,
) -> Result<(&'static str, usize)> {
    let mut mail = database.table("mail").await?;
    let mut written = 0;
    while !stop.load(Ordering::Relaxed) {
        let at = 1_671_904_800_000_i64 + written as i64;
        let key = [("at", at.into()), ("user", user.into())];
        match mail.row(&key).set("d", "subject", "hello").put().await {
            Ok(()) => written += 1,
            // This handle encodes keys in the old layout: nothing was written.
            Err(error) if error.kind() == ErrorKind::LayoutChanged => {
                mail = database.table("mail").await?;
            }
            Err(error) => return Err(error),
        }
        tokio::task::yield_now().await;
    }
    Ok((user, written))
}
