//! A cell is found by row, family, qualifier, time and value. What is read for a condition on each?
//! The further to the right it stands, the more. One table is queried five times, and each answer
//! is analyzed. `DRAWINGS=DIR` draws the analyses into a directory.

use rowhouse::filter::Filter;
use rowhouse::query::Analysis;
use rowhouse::{
    Database, Get, Mutation, Put, Result, Scan, Table, TableSpec, TimeRange, Timestamp,
};

/// A day's mails, which are flushed to a separate file in each family.
const MAILS: i64 = 2_500;
const DAYS: i64 = 2;
const DAY_MILLIS: i64 = 86_400_000;

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    let mail = fill(&database).await?;

    let row = mail.analyze_get(&Get::new("mail000700")?).await?;
    let row_and_family = mail.analyze_get(&Get::new("mail000700")?.family("head")).await?;
    let family = mail.analyze_scan(Scan::all().family("head")).await?;
    let qualifier = mail.analyze_scan(Scan::all().column("body", "text")).await?;
    let since = TimeRange::new(Timestamp::from_millis(DAY_MILLIS)?, Timestamp::LATEST)?;
    let time = mail.analyze_scan(Scan::all().time_range(since)).await?;
    let value = Filter::parse("ValueFilter(=, 'substring:unicorn')")?;
    let value = mail.analyze_scan(Scan { filter: Some(Box::new(value)), ..Scan::all() }).await?;

    let analyses = [
        ("row and family", &row_and_family),
        ("row", &row),
        ("family", &family),
        ("qualifier", &qualifier),
        ("time", &time),
        ("value", &value),
    ];
    let drawings = std::env::var_os("DRAWINGS").map(std::path::PathBuf::from);
    for (condition, analysis) in &analyses {
        println!(
            "{condition:<15} {:>8} bytes in {:>2} files, {:>5} cells read, {:>5} returned",
            bytes_read(analysis),
            analysis.total().files_read,
            analysis.total().cells_read,
            analysis.cells_returned()
        );
        if let Some(drawings) = &drawings {
            let path = drawings.join(format!("{}.svg", condition.replace(' ', "-")));
            std::fs::write(path, analysis.to_svg()).expect("the directory can be written");
        }
    }
    println!("\n{time}");

    // Each condition reads more than the one before it.
    let read: Vec<u64> = analyses.iter().map(|(_, analysis)| bytes_read(analysis)).collect();
    assert!(read.is_sorted_by(|less, more| less < more), "{read:?}");
    // A filter on values spares no read: nothing is returned, and everything is read.
    assert_eq!((value.cells_returned(), value.total().files_read), (0, 6));
    // The first day's files are left out by their times.
    assert_eq!((time.total().files_read, time.total().files_left_out), (3, 3));
    database.close().await
}

/// Bytes in the blocks that were read, from the cache or the disk.
fn bytes_read(analysis: &Analysis) -> u64 {
    analysis.total().bytes_cached + analysis.total().bytes_from_disk
}

async fn fill(database: &Database) -> Result<Table> {
    let spec = TableSpec::new("mail").family("head").family("body").family("files");
    let mail = database.create_table(spec).await?;
    for day in 0..DAYS {
        let at = Timestamp::from_millis(day * DAY_MILLIS)?;
        let mut puts: Vec<Mutation> = Vec::new();
        for nth in 0..MAILS {
            let put = Put::new(format!("mail{:06}", day * MAILS + nth))?;
            let put = put.add_at("head", "subject", at, format!("subject of {nth}"))?;
            let put = put.add_at("body", "text", at, "text ".repeat(20))?;
            let put = put.add_at("body", "html", at, "<p>".repeat(30))?;
            puts.push(put.add_at("files", "0", at, "0".repeat(500))?.into());
        }
        for outcome in mail.batch(puts).await {
            outcome?;
        }
        database.admin().flush("mail").await?;
    }
    Ok(mail)
}
