//! Names that match a pattern, and name lists.

use regex::Regex;
use rowhouse::schema::TableName;

use crate::shell::failure::{Result, usage_error};
use crate::shell::session::Session;

/// Prints names under a heading, and their number.
pub(super) fn say_names(session: &mut Session, heading: &str, names: &[String]) -> Result<()> {
    session.say(heading)?;
    for name in names {
        session.say(name)?;
    }
    session.say(format_args!("{} row(s)", names.len()))
}

/// Compiles a pattern that must match a whole name, like Java's `matches`.
pub(super) fn pattern(text: Option<String>) -> Result<Regex> {
    let text = text.unwrap_or(".*".into());
    match Regex::new(&format!("^(?:{text})$")) {
        Ok(pattern) => Ok(pattern),
        Err(error) => {
            let error = error.to_string();
            // The lines before show the expression with the additions made above.
            let why = error.lines().last().unwrap_or_default();
            let why = why.strip_prefix("error: ").unwrap_or(why);
            usage_error(format!("not a regular expression: {why}: {text}"))
        }
    }
}

/// Returns the tables whose whole names match.
pub(super) async fn tables_matching(session: &Session, pattern: &Regex) -> Result<Vec<TableName>> {
    let mut tables = session.database.tables().await?;
    tables.retain(|name| {
        pattern.is_match(&name.to_string())
            || name.namespace() == TableName::DEFAULT_NAMESPACE
                && pattern.is_match(&format!("default:{name}"))
    });
    Ok(tables)
}
