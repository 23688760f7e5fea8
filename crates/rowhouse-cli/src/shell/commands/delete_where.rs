//! `delete_where`: deletes the rows of a query.

use rowhouse_model::DeleteRows;

use super::query_parts::{TZ, USING, check, mistake, say_hints, searched, using_index, zone};
use crate::shell::command::Action::Changes;
use crate::shell::command::{Call, Command, Group, OPTIONS, TABLE, required};
use crate::shell::failure::Result;
use crate::shell::options::OptionText;
use crate::shell::session::{Session, boxed};

pub(super) const COMMANDS: &[Command] = &[Command {
    names: &["delete_where"],
    group: Group::Data,
    arguments: &[TABLE, required("QUERY"), OPTIONS],
    options: &[DRY_RUN, BATCH, TZ, USING],
    about: "Deletes the rows that a query returns.",
    details: "Each row is deleted as by deleteall, if it matches then; rows whose keys do not fit \
              the template stay. If it is interrupted, the same command goes on with the rows that \
              are left. It says where truncating or a TTL would do the same at less cost. USING \
              names an index on Apache HBase alone: elsewhere the index is chosen, and USING is \
              refused.",
    examples: &[
        "delete_where 'mail', \"user = 'bob' and at < 2020\"",
        "delete_where 'mail', \"user = 'bob' and at < 2020\", DRY_RUN => true",
        "delete_where 'mail', \"at < 2020\", TZ => '+08:00', BATCH => 1000",
    ],
    run: Changes(|session, call| boxed(delete_where(session, call))),
}];

const DRY_RUN: OptionText = ("DRY_RUN", "true: counts the rows, and deletes none");
const BATCH: OptionText = ("BATCH", "rows to delete at once; 500 by default, at most 10000");

async fn delete_where(session: &mut Session, mut call: Call) -> Result<u64> {
    let mut options = call.take_options()?;
    call.no_more_than(2)?;
    let table = call.table()?;
    let text = call.text(1)?;
    let is_dry = options.take_truth("DRY_RUN")?;
    let batch = options.take_count("BATCH")?.unwrap_or(DeleteRows::BATCH_ROWS);
    let zone = zone(&mut options)?;
    let using = options.take_text("USING")?;
    options.finish()?;

    let table = session.database.table(&table).await?;
    let query = || using_index(table.query(&text).zone(zone.clone()), using.clone());
    check(&query(), &text).await?;
    let mut deletion = query().delete().batch_rows(batch);
    for advice in mistake(deletion.advice().await)? {
        session.say(format_args!("HINT: {advice}"))?;
    }
    say_hints(session, &table, &text)?;
    if is_dry {
        let rows = searched(&text, query().count().await)?;
        session.say(format_args!("{rows} row(s) would be deleted"))?;
        return Ok(rows);
    }
    while mistake(deletion.step().await)? {
        session.say(format_args!("{} row(s) so far", deletion.deleted()))?;
    }
    session.say(format_args!("{} row(s) deleted", deletion.deleted()))?;
    Ok(deletion.deleted())
}
