//! Options of `query` for words and for other answers than rows: BY_SCORE, BY_FIELD and SNIPPETS,
//! COUNT, FACETS and KEYS_ONLY.

use std::io::Write;

use rowhouse::key::escape;
use rowhouse::query::{Predicate, Query, QueryRow, Snippet};
use rowhouse::{Columns, ErrorKind, Table, Value};
use rowhouse_model::escape_line;
use rowhouse_schema::SearchPlan;

use super::decode::{self, Declared};
use super::query::{check, using_index};
use super::scan::{say_cells, say_key};
use crate::shell::call::{self, Options};
use crate::shell::failure::{Result, said};
use crate::shell::session::Session;

/// The most characters of a snippet.
const SNIPPET_CHARS: usize = 160;

/// The answer to a query.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Rows,
    Keys,
    Count,
    /// The values of a field.
    Facets(String),
}

impl Answer {
    /// Takes the options that ask for another answer than rows.
    pub(super) fn take(options: &mut Options) -> Result<Self> {
        let keys = options.take_truth("KEYS_ONLY")?.then_some(Self::Keys);
        let count = options.take_truth("COUNT")?.then_some(Self::Count);
        let facets = options.take_text("FACETS")?.map(Self::Facets);
        let mut asked = [keys, count, facets].into_iter().flatten();
        let answer = asked.next().unwrap_or(Self::Rows);
        match asked.next() {
            None => Ok(answer),
            Some(other) => {
                said(format!("{} and {} exclude each other", answer.option(), other.option()))
            }
        }
    }

    /// The name of its option.
    fn option(&self) -> &'static str {
        match self {
            Self::Rows => "",
            Self::Keys => "KEYS_ONLY",
            Self::Count => "COUNT",
            Self::Facets(_) => "FACETS",
        }
    }
}

/// What is shown of a row beside its key and cells.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) order: Order,
    /// The names of the columns of which parts are shown.
    snippets: Vec<String>,
    /// The columns to show, if snippets need others as well.
    columns: Option<Columns>,
}

impl Shown {
    pub(super) fn take(options: &mut Options) -> Result<Self> {
        let order = Order::take(options)?;
        let snippets = options.take_list("SNIPPETS");
        let snippets = snippets.iter().map(|name| call::text("SNIPPETS", name));
        Ok(Self { order, snippets: snippets.collect::<Result<_>>()?, columns: None })
    }

    /// Returns the columns to read: those to show, and those of snippets.
    pub(super) fn columns(&mut self, table: &Table, wanted: Columns) -> Result<Columns> {
        let mut read = wanted.clone();
        for name in &self.snippets {
            let column = mistake(table.column_schema().and_then(|schema| schema.column(name)))?;
            let Some(qualifier) = column.qualifier() else {
                return said(format!("SNIPPETS are of columns with one qualifier: {name}"));
            };
            if !wanted.is_all() && !read.has_column(column.family(), qualifier) {
                read.add_column(column.family().to_vec(), qualifier.to_vec());
            }
        }
        self.columns = (read != wanted).then_some(wanted);
        Ok(read)
    }

    /// Checks that the query has words for scores and snippets.
    pub(super) fn check(&self, plan: Option<&SearchPlan>) -> Result<()> {
        self.order.check(plan)?;
        let fields = plan.and_then(|plan| plan.index().search()).map_or(&[][..], |it| it.fields());
        let texts = plan.map_or(&[][..], SearchPlan::texts);
        let is_searched = |name: &&String| {
            texts.iter().any(|(at, _)| fields.get(*at).is_some_and(|field| field.name() == *name))
        };
        match self.snippets.iter().find(|name| !is_searched(name)) {
            None => Ok(()),
            Some(name) => said(format!("SNIPPETS of `{name}` need a condition `{name} matches …`")),
        }
    }

    /// Prints a row: the fields of its key, its score, its snippets, its cells.
    pub(super) fn say<W: Write>(
        &self,
        session: &mut Session<W>,
        declared: Declared<'_>,
        row: &QueryRow,
    ) -> Result<()> {
        say_key(session, declared, row.row().key())?;
        if let Some(score) = row.score() {
            session.say(format_args!(" # score: {score:.3}"))?;
        }
        for name in &self.snippets {
            if let Some(snippet) = mistake(row.snippet(name, SNIPPET_CHARS))? {
                session.say(format_args!(" # {name}: {}", marked(&snippet)))?;
            }
        }
        let is_shown = |family: &[u8], qualifier: &[u8]| {
            self.columns.as_ref().is_none_or(|columns| columns.has_column(family, qualifier))
        };
        say_cells(session, declared, row.row(), is_shown)
    }
}

/// The order of the rows.
#[derive(Default)]
pub(super) enum Order {
    #[default]
    Key,
    Score,
    Field(String),
}

impl Order {
    fn take(options: &mut Options) -> Result<Self> {
        let by_score = options.take_truth("BY_SCORE")?;
        match (by_score, options.take_text("BY_FIELD")?) {
            (false, None) => Ok(Self::Key),
            (true, None) => Ok(Self::Score),
            (false, Some(field)) => Ok(Self::Field(field)),
            (true, Some(_)) => said("BY_SCORE and BY_FIELD exclude each other"),
        }
    }

    /// Returns a query with this order.
    pub(super) fn of<'t>(&self, query: Query<'t>) -> Query<'t> {
        match self {
            Self::Key => query,
            Self::Score => query.by_score(),
            Self::Field(field) => query.by_field(field),
        }
    }

    /// Refuses an order that only searches have.
    fn check(&self, plan: Option<&SearchPlan>) -> Result<()> {
        match (self, plan) {
            (Self::Score, None) => said("BY_SCORE needs a condition with `matches`"),
            (Self::Field(_), None) => said("BY_FIELD needs a condition with `matches`"),
            _ => Ok(()),
        }
    }
}

/// Returns a snippet in one line, with the words found in brackets.
fn marked(snippet: &Snippet) -> String {
    let (mut text, mut end) = (String::new(), 0);
    for found in &snippet.matches {
        let (before, word) = (snippet.text.get(end..found.start), snippet.text.get(found.clone()));
        text.extend([before.unwrap_or_default(), "[", word.unwrap_or_default(), "]"]);
        end = found.end;
    }
    text.push_str(snippet.text.get(end..).unwrap_or_default());
    escape_line(&text)
}

/// Returns whether a query has a condition with `matches`.
pub(super) fn has_matches(query: &str) -> bool {
    Predicate::parse(query).is_ok_and(|predicate| predicate.has_matches())
}

/// Returns a result; a mistake in the query is one in the command.
pub(super) fn mistake<T>(result: rowhouse::Result<T>) -> Result<T> {
    match result {
        Err(error)
            if [ErrorKind::InvalidRequest, ErrorKind::Unsupported].contains(&error.kind()) =>
        {
            said(error.message())
        }
        result => Ok(result?),
    }
}

/// Prints another answer than rows.
pub(super) async fn say_answer<W: Write>(
    session: &mut Session<W>,
    table: &str,
    asked: &str,
    answer: Answer,
    mut options: Options,
) -> Result<()> {
    let using = options.take_text("USING")?;
    let limit = match answer {
        Answer::Count => None,
        _ => options.take_count("LIMIT")?,
    };
    let is_keys = answer == Answer::Keys;
    let offset = if is_keys { options.take_count("OFFSET")?.unwrap_or(0) } else { 0 };
    let reversed = is_keys && options.take_truth("REVERSED")?;
    let order = if is_keys { Order::take(&mut options)? } else { Order::Key };
    let wanted = if is_keys { decode::wanted(&mut options)? } else { None };
    if let Some(other) = options.first() {
        return said(format!("{} and {other} exclude each other", answer.option()));
    }

    let table = session.database.table(table).await?;
    let query = using_index(table.query(asked), using).offset(offset.into());
    let query = if reversed { query.reversed() } else { query };
    let query = order.of(query);
    let search = check(&query, asked).await?;
    order.check(search.as_ref())?;
    match answer {
        Answer::Rows => Ok(()),
        Answer::Count => {
            let count = searched(asked, query.count().await)?;
            session.say(format_args!("{count} row(s)"))
        }
        Answer::Keys => {
            let schema = decode::schema(wanted, &table)?;
            let query = limit.into_iter().fold(query, |query, rows| query.limit(rows.into()));
            let keys = searched(asked, query.keys().await)?;
            session.say("ROW")?;
            for key in &keys {
                if let Some(schema) = schema {
                    session.say(format_args!(" # {}", decode::fields(schema, key)))?;
                }
                session.say(format_args!(" {}", escape(key)))?;
            }
            session.say(format_args!("{} row(s)", keys.len()))
        }
        Answer::Facets(field) => {
            let values = limit.map_or(usize::MAX, |limit| limit as usize);
            let facets = mistake(query.facets(&field, values).await)?;
            session.say("VALUE  ROWS")?;
            for facet in &facets {
                let value = escape_line(&quoted(&facet.value));
                session.say(format_args!(" {field}={value}, rows={}", facet.rows))?;
            }
            session.say(format_args!("{} value(s)", facets.len()))
        }
    }
}

/// Returns the result of a query; of a search, its mistakes are those of the command.
pub(super) fn searched<T>(asked: &str, result: rowhouse::Result<T>) -> Result<T> {
    if has_matches(asked) { mistake(result) } else { Ok(result?) }
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
