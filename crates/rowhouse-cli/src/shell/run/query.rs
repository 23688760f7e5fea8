//! `query`: rows by the fields of their keys, by declared columns and by words; and `explain`: how
//! a query is answered.

use std::io::Write;

use rowhouse::ErrorKind;
use rowhouse::query::{Page, Query, QueryRows, Statistics};
use rowhouse_schema::SearchPlan;

use super::analyze::Analyze;
use super::column::WrittenColumns;
use super::decode::{self, Declared};
use super::read::time_range;
use super::search::{self, Answer, Shown, searched};
use crate::explained::explained;
use crate::shell::call::Call;
use crate::shell::failure::{Result, said};
use crate::shell::session::Session;

/// The heading of rows.
const HEADING: &str = "ROW  COLUMN+CELL";

pub(super) async fn query<W: Write>(session: &mut Session<W>, mut call: Call) -> Result<()> {
    let mut options = call.take_options()?;
    call.no_more_than(2)?;
    let (table, asked) = (call.table()?, call.text(1)?);
    let answer = Answer::take(&mut options)?;
    if answer != Answer::Rows {
        return search::say_answer(session, &table, &asked, answer, options).await;
    }
    let mut shown = Shown::take(&mut options)?;
    let columns = WrittenColumns::take(&mut options, Vec::new())?;
    let time_range = time_range(&mut options)?;
    let versions = options.take_count("VERSIONS")?.unwrap_or(1);
    let limit = options.take_count("LIMIT")?;
    let offset = options.take_count("OFFSET")?.unwrap_or(0);
    let page = options.take_text("PAGE")?;
    let reversed = options.take_truth("REVERSED")?;
    let misfits = options.take_truth("MISFITS")?;
    let using = options.take_text("USING")?;
    let wanted = decode::wanted(&mut options)?;
    options.finish()?;

    let table = session.database.table(&table).await?;
    let declared = decode::declared(wanted, &table, columns.converters())?;
    let columns = shown.columns(&table, columns.of(session, &table).await?)?;
    let query = table.query(&asked).columns(columns).time_range(time_range).versions(versions);
    let query = query.offset(offset.into());
    let query = if reversed { query.reversed() } else { query };
    let query = if misfits { query.with_misfits() } else { query };
    let query = shown.order.of(query);
    let query = match &page {
        Some(token) => query.after(token),
        None => query,
    };
    let query = using_index(query, using);
    let search = check(&query, &asked).await?;
    shown.check(search.as_ref())?;
    match limit {
        Some(rows) => {
            let page = searched(&asked, query.page(rows as usize).await)?;
            say_page(session, declared, &shown, &page)
        }
        None => {
            let rows = searched(&asked, query.rows().await)?;
            say_all(session, declared, &shown, rows, misfits).await
        }
    }
}

/// Checks a query before it is read: mistakes do not come from a server. Returns the plan of a
/// search.
pub(super) async fn check(query: &Query<'_>, asked: &str) -> Result<Option<SearchPlan>> {
    if search::has_matches(asked) {
        return search::mistake(query.explain_search().await).map(Some);
    }
    if let Err(error) = query.explain() {
        return said(error.message());
    }
    check_index(query).await.map(|()| None)
}

/// Adds the option USING to a query.
pub(super) fn using_index(query: Query<'_>, using: Option<String>) -> Query<'_> {
    match using.as_deref() {
        None => query,
        Some("key") => query.using_key(),
        Some(index) => query.using(index),
    }
}

/// Checks that the index can serve the query that names it. Mistakes do not come from a server.
async fn check_index(query: &Query<'_>) -> Result<()> {
    match query.explain_access().await {
        Err(error) if error.kind() == ErrorKind::InvalidRequest => said(error.message()),
        access => Ok(access.map(|_| ())?),
    }
}

/// Prints a page, and how to continue after it.
fn say_page<W: Write>(
    session: &mut Session<W>,
    declared: Declared<'_>,
    shown: &Shown,
    page: &Page,
) -> Result<()> {
    session.say(HEADING)?;
    for row in &page.rows {
        shown.say(session, declared, row)?;
    }
    session.say(format_args!("{} row(s)", page.rows.len()))?;
    say_skipped(session, page.left_out, page.unreadable)?;
    match &page.next {
        Some(token) => session.say(format_args!("next page: PAGE => '{token}'")),
        None => Ok(()),
    }
}

/// Prints all rows, as they are read.
async fn say_all<W: Write>(
    session: &mut Session<W>,
    declared: Declared<'_>,
    shown: &Shown,
    mut rows: QueryRows,
    misfits: bool,
) -> Result<()> {
    session.say(HEADING)?;
    let mut count = 0_u64;
    while let Some(row) = rows.next().await? {
        shown.say(session, declared, &row)?;
        count += 1;
    }
    session.say(format_args!("{count} row(s)"))?;
    let left_out = if misfits { 0 } else { rows.not_fitting() };
    say_skipped(session, left_out, rows.unreadable())
}

/// Prints how many rows were skipped, and why.
fn say_skipped<W: Write>(session: &mut Session<W>, left_out: u64, unreadable: u64) -> Result<()> {
    for (rows, why) in [
        (left_out, "keys that do not fit the template"),
        (unreadable, "queried columns that are not values of their type"),
    ] {
        if rows > 0 {
            session.say(format_args!("skipped, {why}: {rows}"))?;
        }
    }
    Ok(())
}

pub(super) async fn explain<W: Write>(session: &mut Session<W>, mut call: Call) -> Result<()> {
    let mut options = call.take_options()?;
    call.no_more_than(2)?;
    let (table, asked) = (call.table()?, call.text(1)?);
    let columns = WrittenColumns::take(&mut options, Vec::new())?;
    let limit = options.take_count("LIMIT")?;
    let reversed = options.take_truth("REVERSED")?;
    let using = options.take_text("USING")?;
    let analyze = Analyze::take(&mut options)?;
    options.finish()?;

    let table = session.database.table(&table).await?;
    let columns = columns.of(session, &table).await?;
    let query = using_index(table.query(&asked).columns(columns), using);
    if search::has_matches(&asked) {
        if analyze.is_some() {
            return Ok(query.analyze().await.map(|_| ())?);
        }
        let plan = search::mistake(query.explain_search().await)?;
        return session.say(plan.to_string().trim_end());
    }
    let query = if reversed { query.reversed() } else { query };
    let query = limit.into_iter().fold(query, |query, rows| query.limit(rows.into()));
    let plan = match query.explain() {
        Ok(plan) => plan,
        Err(error) => return said(error.message()),
    };
    check_index(&query).await?;
    if let Some(analyze) = analyze {
        return analyze.say(session, &query.analyze().await?);
    }
    let access = query.explain_access().await?;
    if access.paths().len() > 1 {
        session.say(access.to_string().trim_end())?;
        session.say("by the key:")?;
    }
    let regions = table.regions().await?;
    let known = Statistics::regions(regions.iter().map(|region| region.range.start.to_vec()))?;
    let explained = explained(&plan, table.key_schema()?);
    session.say(format_args!("{plan}{}{}", plan.estimate(&known), explained.trim_end()))
}
