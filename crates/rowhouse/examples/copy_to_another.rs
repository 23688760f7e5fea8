//! How does a table go to a second database, and follow the first?

use std::time::Duration;

use rowhouse::changes::{ChangesFrom, TableChange, TableChanges};
use rowhouse::{Database, Delete, Durability, Put, Result, Scan, Table, TableSpec};

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dirs =
        [(); 2].map(|()| tempfile::tempdir().expect("the temporary directory can be written"));
    let first = rowhouse::open(dirs[0].path().to_string_lossy()).await?;
    let second = rowhouse::open(dirs[1].path().to_string_lossy()).await?;
    let spec = || TableSpec::new("notes").family("n");
    let source = first.create_table(spec()).await?;
    let target = second.create_table(spec()).await?;
    for row in ["a", "b", "c"] {
        source.put(Put::new(row)?.add("n", "text", "before")?).await?;
    }

    // The follower has a name: the log is retained while it does not run.
    let mut changes = source.changes_as("copy", ChangesFrom::Copy).await?;
    source.put(Put::new("b")?.add("n", "text", "after")?).await?;
    let mut last = Delete::new("c")?;
    last.durability = Durability::FsyncWal;
    source.delete(last).await?;
    let applied = follow(&mut changes, &second, &target).await?;
    println!("{applied} changes were applied");

    let rows = target.scan(Scan::all()).await?.collect().await?;
    let texts: Vec<_> =
        rows.iter().map(|row| row.value("n", "text").expect("each row has a text")).collect();
    assert_eq!(texts, ["before", "after"]);
    drop(changes);
    first.close().await?;
    second.close().await
}

/// Applies changes until none comes for a second. A program that goes on for ever does the same.
pub(crate) async fn follow(
    changes: &mut TableChanges,
    second: &Database,
    target: &Table,
) -> Result<u32> {
    let mut applied = 0;
    while let Some(change) = changes.next_within(Duration::from_secs(1)).await? {
        match &change {
            TableChange::Row(row) | TableChange::Copied(row) => {
                // Cells keep their timestamps, so that one that is applied twice changes nothing.
                for cell in row.puts() {
                    target.put(Put::new(row.key_bytes().clone())?.add_cell(cell.clone())?).await?;
                }
                for marker in row.deletes() {
                    let delete = Delete::new(row.key_bytes().clone())?;
                    target.delete(delete.add_cell(marker.clone())?).await?;
                }
                applied += 1;
            }
            TableChange::CopyEnded(_) => println!("the copy is complete"),
            // A copy follows. Delete markers here would hide what it has of older times.
            TableChange::Whole { .. } => {
                let _ = second.admin().disable_table("notes").await;
                second.admin().truncate_table("notes", false).await?;
            }
        }
        changes.save(change.position()).await?;
    }
    Ok(applied)
}
