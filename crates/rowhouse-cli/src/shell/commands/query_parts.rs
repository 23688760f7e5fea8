//! The query parts that `query` and `explain` share: options, the check before a query is read, and
//! the lines after the rows.

use rowhouse::ErrorKind;
use rowhouse::Table;
use rowhouse::key::TimeZone;
use rowhouse::query::{Predicate, Query};
use rowhouse_schema::{SearchPlan, parse_zone};

use crate::shell::failure::{Result, usage_error};
use crate::shell::options::{OptionText, Options};
use crate::shell::session::Session;

pub(super) const USING: OptionText =
    ("USING", "the index to read by, in its order; 'key' reads by the key");
pub(super) const TZ: OptionText =
    ("TZ", "the zone of times that name none, '+08:00' or 'Asia/Shanghai'; UTC by default");

/// Takes the zone for times that name none.
pub(super) fn zone(options: &mut Options) -> Result<TimeZone> {
    let Some(text) = options.take_text("TZ")? else { return Ok(TimeZone::UTC) };
    parse_zone(&text).or_else(|_| {
        usage_error(format!(
            "TZ must be an offset such as '+08:00' or a name such as 'Asia/Shanghai': {text}"
        ))
    })
}

/// Checks a query before it is read: mistakes do not come from a server. Returns the plan for a
/// search.
pub(super) async fn check(query: &Query<'_>, text: &str) -> Result<Option<SearchPlan>> {
    if has_matches(text) {
        return mistake(query.explain_search().await).map(Some);
    }
    if let Err(error) = query.explain() {
        return usage_error(error.message());
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
pub(super) async fn check_index(query: &Query<'_>) -> Result<()> {
    match query.explain_access().await {
        Err(error) if error.kind() == ErrorKind::InvalidRequest => usage_error(error.message()),
        access => Ok(access.map(|_| ())?),
    }
}

/// Returns true if a query has a condition with `matches`.
pub(super) fn has_matches(query: &str) -> bool {
    Predicate::parse(query).is_ok_and(|predicate| predicate.has_matches())
}

/// Returns a result; a mistake in the query is one in the command.
pub(super) fn mistake<T>(result: rowhouse::Result<T>) -> Result<T> {
    match result {
        Err(error)
            if [ErrorKind::InvalidRequest, ErrorKind::Unsupported].contains(&error.kind()) =>
        {
            usage_error(error.message())
        }
        result => Ok(result?),
    }
}

/// Returns a query result; mistakes in a search are reported as mistakes in the command.
pub(super) fn searched<T>(text: &str, result: rowhouse::Result<T>) -> Result<T> {
    if has_matches(text) { mistake(result) } else { Ok(result?) }
}

/// Prints how to continue after a page.
pub(super) fn say_next(session: &mut Session, next: Option<&str>) -> Result<()> {
    match next {
        Some(token) => session.say(format_args!("next page: PAGE => '{token}'")),
        None => Ok(()),
    }
}

/// Prints how many rows were skipped, and why.
pub(super) fn say_skipped(session: &mut Session, left_out: u64, unreadable: u64) -> Result<()> {
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

/// Prints hints about conditions that probably do not mean what was meant.
pub(super) fn say_hints(session: &mut Session, table: &Table, text: &str) -> Result<()> {
    let Ok(predicate) = Predicate::parse(text) else { return Ok(()) };
    let hints = predicate.hints(table.key_schema().ok(), table.column_schema().ok());
    hints.iter().try_for_each(|hint| session.say(format_args!("HINT: {hint}")))
}
