//! Commands about indexes.

use std::io::Write;

use rowhouse::key::escape;

use crate::counted::counted;
use crate::shell::call::Call;
use crate::shell::failure::{Result, said};
use crate::shell::session::Session;

pub(super) async fn verify<W: Write>(session: &mut Session<W>, mut call: Call) -> Result<()> {
    let (table, index) = (call.text(0)?, call.text(1)?);
    let mut options = call.take_options()?;
    let by_hand = options.take_text("AGAINST")?;
    options.finish()?;
    if let Some(by_hand) = by_hand {
        return compare(session, &table, &index, &by_hand).await;
    }
    let report = session.database.admin().verify_index(&table, &index).await?;
    session.say(format_args!(
        "{}, {}, {} missing, {} stale",
        counted(report.rows, "row"),
        counted(report.entries, "entry"),
        report.missing,
        report.stale
    ))?;
    if report.unfit_rows > 0 {
        say_unfit(session, report.unfit_rows)?;
    }
    Ok(())
}

/// Compares a table that programs keep with the index that it stands for.
async fn compare<W: Write>(
    session: &mut Session<W>,
    table: &str,
    index: &str,
    by_hand: &str,
) -> Result<()> {
    if !session.database.table_exists(by_hand).await? {
        return said(format!("Unknown table {by_hand}!"));
    }
    let compared = session.database.admin().compare_index(table, index, by_hand).await?;
    session.say(format_args!(
        "{}, {} in {by_hand}, {} missing, {} stale",
        counted(compared.rows, "row"),
        counted(compared.entries, "row"),
        compared.missing,
        compared.stale
    ))?;
    for (entry, row) in &compared.first_missing {
        session.say(format_args!("missing: {} of row {}", escape(entry), escape(row)))?;
    }
    for entry in &compared.first_stale {
        session.say(format_args!("stale: {}", escape(entry)))?;
    }
    if compared.unfit_rows > 0 {
        say_unfit(session, compared.unfit_rows)?;
    }
    Ok(())
}

fn say_unfit<W: Write>(session: &mut Session<W>, rows: u64) -> Result<()> {
    let rows = counted(rows, "row");
    session.say(format_args!("{rows} without entries: the keys do not fit the template"))?;
    Ok(())
}

pub(super) async fn repair<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let (table, index) = (call.text(0)?, call.text(1)?);
    session.database.admin().repair_index(&table, &index).await?;
    Ok(())
}

pub(super) async fn promote<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let (table, index) = (call.text(0)?, call.text(1)?);
    session.database.admin().promote_index(&table, &index).await?;
    Ok(())
}
