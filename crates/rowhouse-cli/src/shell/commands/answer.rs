//! `query` answers other than rows: KEYS_ONLY, COUNT and FACETS.

use rowhouse::key::{KeySchema, escape};
use rowhouse::query::Query;
use rowhouse::{Bytes, Value};
use rowhouse_model::escape_line;

use super::decode;
use super::query_parts::{
    check, mistake, say_hints, say_next, say_skipped, searched, using_index, zone,
};
use super::search::Order;
use crate::shell::failure::{Result, usage_error};
use crate::shell::options::{OptionText, Options};
use crate::shell::session::Session;

pub(super) const KEYS_ONLY: OptionText = ("KEYS_ONLY", "true: only the keys of the rows");
pub(super) const COUNT: OptionText = ("COUNT", "true: only the number of rows");
pub(super) const FACETS: OptionText =
    ("FACETS", "with `matches`, a field: only its values, and how many rows have each");

/// The answer to a query.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Rows,
    Keys,
    Count,
    /// A field's values.
    Facets(String),
}

impl Answer {
    /// Takes the options that request another answer than rows.
    pub(super) fn take(options: &mut Options) -> Result<Self> {
        let keys = options.take_truth("KEYS_ONLY")?.then_some(Self::Keys);
        let count = options.take_truth("COUNT")?.then_some(Self::Count);
        let facets = options.take_text("FACETS")?.map(Self::Facets);
        let mut requested = [keys, count, facets].into_iter().flatten();
        let answer = requested.next().unwrap_or(Self::Rows);
        match requested.next() {
            None => Ok(answer),
            Some(other) => usage_error(format!(
                "{} and {} exclude each other",
                answer.option(),
                other.option()
            )),
        }
    }

    /// The option name.
    fn option(&self) -> &'static str {
        match self {
            Self::Rows => "",
            Self::Keys => "KEYS_ONLY",
            Self::Count => "COUNT",
            Self::Facets(_) => "FACETS",
        }
    }
}

/// Prints another answer than rows.
pub(super) async fn say_answer(
    session: &mut Session,
    table: &str,
    text: &str,
    answer: Answer,
    mut options: Options,
) -> Result<()> {
    let using = options.take_text("USING")?;
    let limit = match answer {
        Answer::Count => None,
        _ => options.take_count("LIMIT")?,
    };
    let zone = zone(&mut options)?;
    let keys = match answer {
        Answer::Keys => KeysOptions::take(&mut options)?,
        _ => KeysOptions::default(),
    };
    if let Some(other) = options.first() {
        return usage_error(format!("{} and {other} exclude each other", answer.option()));
    }

    let table = session.database.table(table).await?;
    let query = keys.of(using_index(table.query(text).zone(zone), using));
    let search = check(&query, text).await?;
    keys.order.check(search.as_ref())?;
    match answer {
        Answer::Rows => {}
        Answer::Count => {
            let count = searched(text, query.count().await)?;
            session.say(format_args!("{count} row(s)"))?;
        }
        Answer::Keys => {
            let schema = decode::schema(keys.decode, &table)?;
            match limit {
                None => say_keys(session, schema, &searched(text, query.keys().await)?)?,
                Some(rows) => {
                    let page = searched(text, query.keys_page(rows as usize).await)?;
                    say_keys(session, schema, &page.keys)?;
                    say_skipped(session, page.left_out, page.unreadable)?;
                    say_next(session, page.next.as_deref())?;
                }
            }
        }
        Answer::Facets(field) => {
            let values = limit.map_or(usize::MAX, |limit| limit as usize);
            let facets = mistake(query.facets(&field, values).await)?;
            session.say("VALUE  ROWS")?;
            for facet in &facets {
                let value = escape_line(&quoted(&facet.value));
                session.say(format_args!(" {field}={value}, rows={}", facet.rows))?;
            }
            session.say(format_args!("{} value(s)", facets.len()))?;
        }
    }
    say_hints(session, &table, text)
}

/// The options that go with KEYS_ONLY.
#[derive(Default)]
struct KeysOptions {
    order: Order,
    offset: u32,
    page: Option<String>,
    reversed: bool,
    decode: Option<bool>,
}

impl KeysOptions {
    fn take(options: &mut Options) -> Result<Self> {
        Ok(Self {
            order: Order::take(options)?,
            offset: options.take_number("OFFSET")?.unwrap_or(0),
            page: options.take_text("PAGE")?,
            reversed: options.take_truth("REVERSED")?,
            decode: decode::take(options)?,
        })
    }

    /// Returns a query with these options.
    fn of<'t>(&self, query: Query<'t>) -> Query<'t> {
        let query = self.order.of(query.offset(self.offset.into()));
        let query = if self.reversed { query.reversed() } else { query };
        match &self.page {
            Some(token) => query.after(token),
            None => query,
        }
    }
}

fn say_keys(session: &mut Session, schema: Option<&KeySchema>, keys: &[Bytes]) -> Result<()> {
    session.say("ROW")?;
    for key in keys {
        if let Some(schema) = schema {
            session.say(format_args!(" # {}", decode::fields(schema, key)))?;
        }
        session.say(format_args!(" {}", escape(key)))?;
    }
    session.say(format_args!("{} row(s)", keys.len()))
}

/// Returns a value as queries write it.
fn quoted(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted_as_in_queries() {
        assert_eq!(quoted(&Value::from("it's")), "'it''s'");
        assert_eq!(quoted(&Value::from(7u32)), "7");
    }
}
