//! `query` options for words: BY_SCORE, BY_FIELD and SNIPPETS.

use rowhouse::query::{Query, QueryRow, Snippet};
use rowhouse::{Columns, Table};
use rowhouse_model::escape_line;
use rowhouse_schema::SearchPlan;

use super::decode::Declared;
use super::query_parts::mistake;
use super::scan::{say_cells, say_key};
use crate::shell::argument;
use crate::shell::failure::{Result, usage_error};
use crate::shell::options::{OptionText, Options};
use crate::shell::session::Session;

pub(super) const BY_SCORE: OptionText =
    ("BY_SCORE", "true: with `matches`, the rows with the highest scores first");
pub(super) const BY_FIELD: OptionText =
    ("BY_FIELD", "with `matches`, a keyword or value of the full-text index: rows in its order");
pub(super) const SNIPPETS: OptionText =
    ("SNIPPETS", "columns that `matches` searches: parts of their texts, the words found in [ ]");

/// The most characters in a snippet.
const SNIPPET_CHARS: usize = 160;

/// What is shown from a row beside the key and cells.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) order: Order,
    /// The columns, by name, from which parts are shown.
    snippets: Vec<String>,
    /// The columns to show, if snippets need others as well.
    columns: Option<Columns>,
}

impl Shown {
    pub(super) fn take(options: &mut Options) -> Result<Self> {
        let order = Order::take(options)?;
        let snippets = options.take_list("SNIPPETS");
        let snippets = snippets.iter().map(|name| argument::text("SNIPPETS", name));
        Ok(Self { order, snippets: snippets.collect::<Result<_>>()?, columns: None })
    }

    /// Returns the columns to read: those to show, and those for snippets.
    pub(super) fn columns(&mut self, table: &Table, selected: Columns) -> Result<Columns> {
        let mut read = selected.clone();
        for name in &self.snippets {
            let column = mistake(table.column_schema().and_then(|schema| schema.column(name)))?;
            let Some(qualifier) = column.qualifier() else {
                return usage_error(format!("SNIPPETS are of columns with one qualifier: {name}"));
            };
            if !selected.is_all() && !read.has_column(column.family(), qualifier) {
                read.add_column(column.family().to_vec(), qualifier.to_vec());
            }
        }
        self.columns = (read != selected).then_some(selected);
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
            Some(name) => {
                usage_error(format!("SNIPPETS of `{name}` need a condition `{name} matches …`"))
            }
        }
    }

    /// Prints a row: the key fields, the score, the snippets, the cells.
    pub(super) fn say(
        &self,
        session: &mut Session,
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

/// The row order.
#[derive(Default)]
pub(super) enum Order {
    #[default]
    Key,
    Score,
    Field(String),
}

impl Order {
    pub(super) fn take(options: &mut Options) -> Result<Self> {
        let by_score = options.take_truth("BY_SCORE")?;
        match (by_score, options.take_text("BY_FIELD")?) {
            (false, None) => Ok(Self::Key),
            (true, None) => Ok(Self::Score),
            (false, Some(field)) => Ok(Self::Field(field)),
            (true, Some(_)) => usage_error("BY_SCORE and BY_FIELD exclude each other"),
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
    pub(super) fn check(&self, plan: Option<&SearchPlan>) -> Result<()> {
        match (self, plan) {
            (Self::Score, None) => usage_error("BY_SCORE needs a condition with `matches`"),
            (Self::Field(_), None) => usage_error("BY_FIELD needs a condition with `matches`"),
            _ => Ok(()),
        }
    }
}

/// Returns a snippet in one line, with the words found in brackets.
fn marked(snippet: &Snippet) -> String {
    let mut text = String::new();
    let mut end = 0;
    for range in &snippet.matches {
        let before = snippet.text.get(end..range.start);
        let word = snippet.text.get(range.clone());
        text.extend([before.unwrap_or_default(), "[", word.unwrap_or_default(), "]"]);
        end = range.end;
    }
    text.push_str(snippet.text.get(end..).unwrap_or_default());
    escape_line(&text)
}
