//! `query`: rows by their key fields, by declared columns and by words; and `explain`: how a query
//! is answered.

use rowhouse::query::{Page, QueryRows, Statistics};

use super::analyze::{ANALYZE, Analyze, SVG};
use super::answer::{Answer, COUNT, FACETS, KEYS_ONLY, say_answer};
use super::column::{COLUMN, COLUMNS, WrittenColumns};
use super::converter::{FORMATTER, FORMATTER_CLASS, MAXLENGTH};
use super::decode::{self, DECODE, Declared};
use super::query_parts::{
    TZ, USING, check, check_index, has_matches, mistake, say_hints, say_next, say_skipped,
    searched, using_index, zone,
};
use super::read::{LIMIT, REVERSED, TIMERANGE, TIMESTAMP, VERSIONS, time_range};
use super::search::{BY_FIELD, BY_SCORE, SNIPPETS, Shown};
use crate::explained::explained;
use crate::shell::command::Action::Reads;
use crate::shell::command::{Call, Command, Group, OPTIONS, TABLE, required};
use crate::shell::failure::{Result, usage_error};
use crate::shell::options::OptionText;
use crate::shell::session::{Session, boxed};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        names: &["explain"],
        group: Group::Data,
        arguments: &[TABLE, required("QUERY"), OPTIONS],
        options: &[LIMIT, REVERSED, USING, TZ, COLUMN, COLUMNS, ANALYZE, SVG],
        about: "Shows the plan of a query: ranges of rows, buckets, regions, filters, indexes.",
        details: "Of a table with indexes, it also shows whether the query is read by the key or \
                  by an index, and why not by the others. With `matches`, it shows the search by \
                  the full-text index. With ANALYZE it runs the query and shows what that read.",
        examples: &[
            "explain 'mail', \"user = 'bob' and at >= 2022-12-01\"",
            "explain 'mail', \"user = 'bob'\", LIMIT => 20, ANALYZE => true",
        ],
        run: Reads(|session, call| boxed(explain(session, call))),
    },
    Command {
        names: &["query"],
        group: Group::Data,
        arguments: &[TABLE, required("QUERY"), OPTIONS],
        options: &[
            LIMIT,
            PAGE,
            OFFSET,
            REVERSED,
            USING,
            TZ,
            MISFITS,
            BY_SCORE,
            BY_FIELD,
            SNIPPETS,
            KEYS_ONLY,
            COUNT,
            FACETS,
            COLUMN,
            COLUMNS,
            VERSIONS,
            TIMESTAMP,
            TIMERANGE,
            FORMATTER,
            FORMATTER_CLASS,
            MAXLENGTH,
            DECODE,
        ],
        about: "Reads rows by the fields of their keys, by declared columns, and by words.",
        details: "The table must declare its key. With LIMIT, a token for the next page is \
                  printed below the rows. Rows come in the order of the key, whether they are \
                  read by it or by an index; USING decides. Words are searched with `matches`, by \
                  a full-text index.",
        examples: &[
            "query 'mail', \"user = 'bob' and at >= 2022-12-01\"",
            "query 'mail', \"user = 'bob' and at during 2022-12\", TZ => '+08:00'",
            "query 'mail', \"user = 'bob'\", LIMIT => 50, COLUMN => 'd:subject'",
            "query 'mail', \"user = 'bob'\", LIMIT => 50, REVERSED => true",
            "query 'mail', \"size > 10000\", LIMIT => 50, USING => 'by_size'",
            "query 'mail', \"body matches 'row keys'\", LIMIT => 10, BY_SCORE => true, SNIPPETS => 'body'",
            "query 'mail', \"body matches 'row keys'\", LIMIT => 10, FACETS => 'sender'",
        ],
        run: Reads(|session, call| boxed(query(session, call))),
    },
];

const MISFITS: OptionText =
    ("MISFITS", "true: rows whose keys do not fit the template too, if no buckets are merged");
const OFFSET: OptionText = ("OFFSET", "rows to skip first; they are still read");
const PAGE: OptionText = ("PAGE", "the token printed below a page; returns the next page");

/// The heading for rows.
const HEADING: &str = "ROW  COLUMN+CELL";

async fn query(session: &mut Session, mut call: Call) -> Result<()> {
    let mut options = call.take_options()?;
    call.no_more_than(2)?;
    let table = call.table()?;
    let text = call.text(1)?;
    let answer = Answer::take(&mut options)?;
    if answer != Answer::Rows {
        return say_answer(session, &table, &text, answer, options).await;
    }
    let mut shown = Shown::take(&mut options)?;
    let columns = WrittenColumns::take(&mut options, Vec::new())?;
    let time_range = time_range(&mut options)?;
    let versions = options.take_count("VERSIONS")?.unwrap_or(1);
    let limit = options.take_count("LIMIT")?;
    let offset = options.take_number("OFFSET")?.unwrap_or(0);
    let page = options.take_text("PAGE")?;
    let reversed = options.take_truth("REVERSED")?;
    let misfits = options.take_truth("MISFITS")?;
    let using = options.take_text("USING")?;
    let zone = zone(&mut options)?;
    let is_decoded = decode::take(&mut options)?;
    options.finish()?;

    let table = session.database.table(&table).await?;
    let cells = columns.cells(session, &table).await?;
    let declared = decode::declared(is_decoded, &table, columns.converters())?.only(&cells);
    let columns = shown.columns(&table, columns.of(session, &table).await?)?;
    let query = table.query(&text).columns(columns).time_range(time_range).versions(versions);
    let query = query.offset(offset.into()).zone(zone);
    let query = if reversed { query.reversed() } else { query };
    let query = if misfits { query.with_misfits() } else { query };
    let query = shown.order.of(query);
    let query = match &page {
        Some(token) => query.after(token),
        None => query,
    };
    let query = using_index(query, using);
    let search = check(&query, &text).await?;
    shown.check(search.as_ref())?;
    match limit {
        Some(rows) => {
            let page = searched(&text, query.page(rows as usize).await)?;
            say_page(session, declared, &shown, &page)?;
        }
        None => {
            let rows = searched(&text, query.rows().await)?;
            say_all(session, declared, &shown, rows, misfits).await?;
        }
    }
    say_hints(session, &table, &text)
}

/// Prints a page, and how to continue after it.
fn say_page(
    session: &mut Session,
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
    say_next(session, page.next.as_deref())
}

/// Prints all rows, as they are read.
async fn say_all(
    session: &mut Session,
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

async fn explain(session: &mut Session, mut call: Call) -> Result<()> {
    let mut options = call.take_options()?;
    call.no_more_than(2)?;
    let table = call.table()?;
    let text = call.text(1)?;
    let columns = WrittenColumns::take(&mut options, Vec::new())?;
    let limit = options.take_count("LIMIT")?;
    let reversed = options.take_truth("REVERSED")?;
    let using = options.take_text("USING")?;
    let zone = zone(&mut options)?;
    let analyze = Analyze::take(&mut options)?;
    options.finish()?;

    let table = session.database.table(&table).await?;
    let columns = columns.of(session, &table).await?;
    let query = using_index(table.query(&text).columns(columns).zone(zone), using);
    if has_matches(&text) {
        if analyze.is_some() {
            return Ok(query.analyze().await.map(|_| ())?);
        }
        let plan = mistake(query.explain_search().await)?;
        return session.say(plan.to_string().trim_end());
    }
    let query = if reversed { query.reversed() } else { query };
    let query = limit.into_iter().fold(query, |query, rows| query.limit(rows.into()));
    let plan = match query.explain() {
        Ok(plan) => plan,
        Err(error) => return usage_error(error.message()),
    };
    check_index(&query).await?;
    if let Some(analyze) = analyze {
        return analyze.say(session, &query.analyze().await?);
    }
    let access = query.explain_access().await?;
    if access.paths().len() > 1 {
        session.say(access.to_string().trim_end())?;
        session.say(match access.index_plan() {
            Some(_) => "by the key instead:",
            None => "by the key:",
        })?;
    }
    let regions = table.regions().await?;
    let known = Statistics::regions(regions.iter().map(|region| region.range.start.to_vec()))?;
    let explained = explained(&plan, table.key_schema()?);
    session.say(format_args!("{plan}{}{}", plan.estimate(&known), explained.trim_end()))?;
    say_hints(session, &table, &text)
}
