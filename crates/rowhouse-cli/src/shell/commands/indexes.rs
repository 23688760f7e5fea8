//! Commands about indexes.

use rowhouse::key::{KeySchema, escape};
use rowhouse::schema::{IndexSchema, IndexState, is_former_key};

use crate::counted::counted;
use crate::shell::command::Action::{Changes, Reads};
use crate::shell::command::{Call, Command, Group, OPTIONS, TABLE, required};
use crate::shell::failure::{Result, usage_error};
use crate::shell::session::{Session, boxed};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        names: &["promote_index"],
        group: Group::Tables,
        arguments: &[TABLE, required("INDEX"), OPTIONS],
        options: &[("BACK", "true: promotes an index that holds the key before a promotion")],
        about: "Swaps a table with an index that covers *: each gets the key and rows of the other.",
        details: "Reads and writes go on. The index keeps its name; promoting it again swaps back, \
                  which needs BACK. Programs that write keys of the old layout must be stopped \
                  before. Not on Apache HBase.",
        examples: &[
            "promote_index 'mail', 'by_user'",
            "promote_index 'mail', 'by_user', BACK => true",
        ],
        run: Changes(|session, call| boxed(promote(session, call))),
    },
    Command {
        names: &["repair_index"],
        group: Group::Tables,
        arguments: &[TABLE, required("INDEX")],
        options: &[],
        about: "Requests that every row gets its entries in an index, and no entry is without row.",
        details: "Queries are read by the key until `describe` shows the index as ready. An index \
                  whose data is damaged is built anew, without a read of it.",
        examples: &["repair_index 'mail', 'by_sender'"],
        run: Changes(|session, call| boxed(repair(session, call))),
    },
    Command {
        names: &["verify_index"],
        group: Group::Tables,
        arguments: &[TABLE, required("INDEX"), OPTIONS],
        options: &[(
            "AGAINST",
            "a table that programs keep as this index: its keys are compared instead",
        )],
        about: "Compares every row of a table with its entries in an index, and the other way.",
        details: "A full-text index has a document for each row, which must have the row's words \
                  and values.\nWith AGAINST, the index may be one that is not declared, given \
                  by its declaration; the other table declares a key with the same fields.",
        examples: &[
            "verify_index 'mail', 'by_sender'",
            "verify_index 'follow', 'by_star [star]', AGAINST => 'fans'",
        ],
        run: Reads(|session, call| boxed(verify(session, call))),
    },
];

async fn verify(session: &mut Session, mut call: Call) -> Result<()> {
    let table = call.text(0)?;
    let index = call.text(1)?;
    let mut options = call.take_options()?;
    let by_hand = options.take_text("AGAINST")?;
    options.finish()?;
    if let Some(by_hand) = by_hand {
        return compare(session, &table, &index, &by_hand).await;
    }
    let report = session.database.admin().verify_index(&table, &index).await?;
    let state = session.database.admin().index_state(&table, &index).await?;
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
    if state != IndexState::Ready {
        session.say(format_args!(
            "The index is not ready, so entries may be missing or stale: state={state}"
        ))?;
    }
    Ok(())
}

/// Compares a table that programs maintain with the index that it stands for.
async fn compare(session: &mut Session, table: &str, index: &str, by_hand: &str) -> Result<()> {
    if !session.database.table_exists(by_hand).await? {
        return usage_error(format!("Unknown table {by_hand}!"));
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

fn say_unfit(session: &mut Session, rows: u64) -> Result<()> {
    let rows = counted(rows, "row");
    session.say(format_args!("{rows} without entries: the keys do not fit the template"))?;
    Ok(())
}

async fn repair(session: &mut Session, call: Call) -> Result<()> {
    let table = call.text(0)?;
    let index = call.text(1)?;
    session.database.admin().repair_index(&table, &index).await?;
    Ok(())
}

/// Promotes an index, and prints how the keys changed. An index that holds the old key is promoted
/// only with BACK: a command that is repeated does not swap back.
async fn promote(session: &mut Session, mut call: Call) -> Result<()> {
    let mut options = call.take_options()?;
    call.no_more_than(2)?;
    let table = call.table()?;
    let index = call.text(1)?;
    let is_back = options.take_truth("BACK")?;
    options.finish()?;
    let before = session.database.admin().describe(&table).await?;
    let declared = IndexSchema::of_table(&before)?;
    let named = declared.as_ref().and_then(|declared| declared.index(&index).ok());
    if named.is_some_and(|named| is_former_key(&before, named)) && !is_back {
        return usage_error(format!(
            "index {index} holds the key that table {table} had before it was promoted: \
             promote_index '{table}', '{index}', BACK => true swaps back"
        ));
    }
    session.database.admin().promote_index(&table, &index).await?;
    say_promoted(session, &table, &index).await
}

async fn say_promoted(session: &mut Session, table: &str, index: &str) -> Result<()> {
    let after = session.database.admin().describe(table).await?;
    let key = KeySchema::of_table(&after)?;
    let indexes = IndexSchema::of_table(&after)?;
    let (Some(key), Some(indexes)) = (key, indexes) else { return Ok(()) };
    let old = indexes.index(index)?.template();
    session.say(format_args!("Table {table} has the key {key} now"))?;
    session.say(format_args!("Index {index} has the old key {old}, and all rows"))?;
    let others = indexes.indexes().iter().filter(|other| other.name() != index);
    let others: Vec<String> = others.map(ToString::to_string).collect();
    if !others.is_empty() {
        session.say(format_args!("Built anew: {}", others.join("; ")))?;
    }
    session.say(format_args!(
        "To drop it: alter '{table}', INDEXES => '{}'\n\
         To swap back: promote_index '{table}', '{index}', BACK => true",
        others.join("; ")
    ))
}
