//! Commands about indexes.

use std::io::Write;

use crate::counted::counted;
use crate::shell::call::Call;
use crate::shell::failure::Result;
use crate::shell::session::Session;

pub(super) async fn verify<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let (table, index) = (call.text(0)?, call.text(1)?);
    let report = session.database.admin().verify_index(&table, &index).await?;
    session.say(format_args!(
        "{}, {}, {} missing, {} stale",
        counted(report.rows, "row"),
        counted(report.entries, "entry"),
        report.missing,
        report.stale
    ))?;
    if report.unfit_rows > 0 {
        let rows = counted(report.unfit_rows, "row");
        session.say(format_args!("{rows} without entries: the keys do not fit the template"))?;
    }
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
