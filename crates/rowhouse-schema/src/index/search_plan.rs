//! Queries by a full-text index: the search texts, the value ranges, and the key ranges.

use std::fmt;

use rowhouse_model::{Error, Result, Row, RowRange};

use super::declaration::Index;
use super::names::Source;
use super::schema::IndexSchema;
use super::search::{Search, SearchField};
use crate::columns::{CellMismatch, ColumnSchema};
use crate::key::KeySchema;
use crate::plan::{Condition, Plan, Predicate, RANGES_SHOWN, ShownAs, Test};
use crate::spelling::closest;
use crate::time::TimeZone;

/// The plan for a query by a full-text index. An answer row passes all search texts, has a value in
/// the ranges for every field in [`SearchPlan::values`], and has a key in the key ranges.
///
/// # Example: how is a search answered?
///
/// ```
/// use rowhouse_schema::{ColumnSchema, IndexSchema, KeySchema, Predicate, TimeZone};
///
/// let key = KeySchema::parse("[user string][n u8]")?;
/// let columns = ColumnSchema::parse("d:b body string; d:s sender string; d:z size u32")?;
/// let indexes =
///     IndexSchema::parse("text search body english, size", Some(&key), Some(&columns))?;
///
/// let plan = |query: &str| {
///     let query = Predicate::parse(query)?;
///     indexes.search_plan(Some(&key), &columns, &query, &TimeZone::UTC, None)
/// };
/// let decided = plan("user = 'bob' and size > 5 and body matches 'row keys'")?;
/// assert_eq!(decided.to_string(), "\
/// index: text
/// search: body matches 'row keys'
/// values of size: 1 range
///   [\\x00\\x00\\x00\\x06, …)
/// keys: 1 range
///   [bob\\x00\\x01, bob\\x00\\x02)
/// rows: decided by the index
/// ");
/// assert!(decided.is_decided());
///
/// let open = plan("sender = 'eve' and body matches 'row keys'")?;
/// assert!(open.to_string().ends_with("rows: judged by sender = 'eve'\n"));
/// assert!(open.needs_cells());
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SearchPlan {
    index: Index,
    searches: Predicate,
    texts: Vec<(usize, String)>,
    key_ranges: Vec<RowRange>,
    values: Vec<(usize, Vec<RowRange>)>,
    /// The plan for the other conditions by the key; `None` without a key template.
    rows: Option<Plan>,
    /// The conditions that neither the index nor the key decides.
    undecided: Predicate,
}

impl IndexSchema {
    /// Plans a query with `matches` by a full-text index: by the one with this name, or else by the
    /// first declared one that has the texts for all conditions with `matches`. `key` and `columns`
    /// are the table's key and columns.
    ///
    /// A table without a key template is searched by conditions that the index decides, and no
    /// others.
    ///
    /// # Errors
    /// `InvalidRequest` for a query without `matches`, if no such index has the texts, and for an
    /// invalid query.
    pub fn search_plan(
        &self,
        key: Option<&KeySchema>,
        columns: &ColumnSchema,
        predicate: &Predicate,
        zone: &TimeZone,
        index: Option<&str>,
    ) -> Result<SearchPlan> {
        let (index, search) = self.find_search(predicate, index)?;
        check_declared(index, key, columns)?;
        let rest = predicate.without_matches();
        let rows = key.map(|key| Plan::new(key, Some(columns), &rest, zone)).transpose()?;
        if rows.is_none() {
            check_without_key(search, columns, &rest)?;
        }
        let mut values = Vec::new();
        let mut decided = Vec::new();
        for (at, field) in search.fields().iter().enumerate() {
            let Some(plan) = plan_values(field, key, &rest, zone)? else { continue };
            if plan.is_exact() && plan.candidates().next().is_none() {
                decided.push(field.name());
            }
            values.push((at, plan.ranges().to_vec()));
        }
        let undecided = rest.filtered(|condition| {
            let is_value = || decided.contains(&&condition.field[..]) && is_of_values(condition);
            !is_value() && !rows.as_ref().is_some_and(|rows| is_decided_by_key(rows, condition))
        });
        if let (None, Some(condition)) = (&rows, undecided.conditions().first()) {
            return Err(condition.error(NOT_WITHOUT_KEY));
        }
        Ok(SearchPlan {
            index: index.clone(),
            searches: predicate.filtered(|condition| condition.searched().is_some()),
            texts: texts(search, predicate),
            key_ranges: rows.as_ref().map_or(vec![RowRange::all()], |rows| rows.ranges().to_vec()),
            values,
            rows,
            undecided,
        })
    }

    /// Returns the plan for a search without conditions by the full-text index with this name, for
    /// a search engine that has its own query. `key` and `columns` are the table's key and columns.
    ///
    /// # Errors
    /// `InvalidRequest` if there is no such index, and if it is declared for another key or other
    /// columns.
    pub fn all_documents(
        &self,
        key: Option<&KeySchema>,
        columns: &ColumnSchema,
        index: &str,
    ) -> Result<SearchPlan> {
        let index = self.index(index)?;
        if index.search().is_none() {
            return Err(Error::invalid(format!("`{}` is no full-text index", index.name())));
        }
        check_declared(index, key, columns)?;
        let all = Predicate::all();
        let rows =
            key.map(|key| Plan::new(key, Some(columns), &all, &TimeZone::UTC)).transpose()?;
        Ok(SearchPlan {
            index: index.clone(),
            searches: all.clone(),
            texts: Vec::new(),
            key_ranges: vec![RowRange::all()],
            values: Vec::new(),
            rows,
            undecided: all,
        })
    }

    /// Returns the index that has the texts for all of a query's searches.
    fn find_search(&self, query: &Predicate, name: Option<&str>) -> Result<(&Index, &Search)> {
        let searches = || query.conditions().iter().filter(|it| it.searched().is_some());
        if !query.has_matches() {
            return Err(Error::invalid("a search needs a condition with `matches`"));
        }
        let named = name.map(|name| self.index(name)).transpose()?;
        if let Some(index) = named.filter(|index| index.search().is_none()) {
            return Err(Error::invalid(format!("`{}` is no full-text index", index.name())));
        }
        let indexes = match named {
            Some(index) => std::slice::from_ref(index),
            None => self.indexes(),
        };
        let candidates: Vec<_> =
            indexes.iter().filter_map(|index| Some((index, index.search()?))).collect();
        let has_all =
            |search: &Search| searches().all(|condition| search.has_text(&condition.field));
        if let Some(first) = candidates.iter().find(|(_, search)| has_all(search)) {
            return Ok(*first);
        }
        let is_nowhere = |condition: &&Condition| {
            !candidates.iter().any(|(_, search)| search.has_text(&condition.field))
        };
        Err(match searches().find(is_nowhere) {
            Some(condition) => no_text(condition, &candidates),
            None => {
                let fields: Vec<_> = searches().map(|condition| &condition.field[..]).collect();
                let fields = fields.join(", ");
                Error::invalid(format!("no full-text index has all of the texts: fields={fields}"))
            }
        })
    }
}

/// Checks that an index is declared for this key and these columns.
fn check_declared(index: &Index, key: Option<&KeySchema>, columns: &ColumnSchema) -> Result<()> {
    let declared = &*index.declaration;
    if declared.key.as_ref() == key && declared.columns.as_ref() == Some(columns) {
        return Ok(());
    }
    let name = index.name();
    let why = "is declared for another key or other columns";
    Err(Error::invalid(format!("the index `{name}` {why}")))
}

/// Returns the error for a search in a field whose words no full-text index has.
fn no_text(condition: &Condition, candidates: &[(&Index, &Search)]) -> Error {
    let name = &condition.field[..];
    let fields = || candidates.iter().flat_map(|(_, search)| search.fields());
    let texts = || fields().filter(|field| field.is_text()).map(SearchField::name);
    let hint = if fields().any(|field| field.name() == name) {
        "it is a value there, without an analyser".to_owned()
    } else if let Some(close) = closest(name, texts()) {
        format!("did you mean `{close}`?")
    } else if candidates.is_empty() {
        "the table has none".to_owned()
    } else {
        let mut names: Vec<_> = texts().collect();
        names.sort_unstable();
        names.dedup();
        format!("there are those of: {}", names.join(", "))
    };
    condition.error(&format!("`matches` needs a full-text index of `{name}`; {hint}"))
}

const NOT_WITHOUT_KEY: &str = "a table without a key template is searched by `matches`, and by \
                               values of its full-text index, compared with constants";

/// Checks the names in conditions on a table without a key template.
fn check_without_key(search: &Search, columns: &ColumnSchema, rest: &Predicate) -> Result<()> {
    for condition in rest.conditions() {
        let name = &condition.field;
        let is_declared = search.field(name).is_some() || condition.qualifier_field().is_some();
        if !is_declared && columns.position(name).is_none() {
            return Err(condition.error(&columns.no_column_message(name)));
        }
    }
    Ok(())
}

/// Returns the field and the search text for each condition with `matches`.
fn texts(search: &Search, predicate: &Predicate) -> Vec<(usize, String)> {
    let text = |condition: &Condition| {
        let (at, _) = search.field(&condition.field)?;
        Some((at, condition.searched()?.to_owned()))
    };
    predicate.conditions().iter().filter_map(text).collect()
}

/// Plans the conditions on a value field by the field's value template; `None` if there are none.
fn plan_values(
    field: &SearchField,
    key: Option<&KeySchema>,
    rest: &Predicate,
    zone: &TimeZone,
) -> Result<Option<Plan>> {
    let name = field.name();
    // Conditions on qualifier fields select cells. The key and a column with the same name decide
    // together.
    let is_column = matches!(field.source(), Source::Column(_));
    let (Some(order), true) = (field.order(), is_column) else { return Ok(None) };
    if key.is_some_and(|key| key.slot(name).is_some()) {
        return Ok(None);
    }
    let own = rest.filtered(|condition| condition.field == name && is_of_values(condition));
    if own.is_empty() {
        return Ok(None);
    }
    order.plan_in(&own, zone).map(Some)
}

/// Returns true if a column's value decides a condition on the column.
fn is_of_values(condition: &Condition) -> bool {
    match &condition.test {
        // A domain stands as a string.
        Test::Under(_) | Test::Matches(_) => false,
        // A cell whose value does not fit the type is there, and has no value in the index.
        Test::IsNull | Test::IsNotNull => false,
        test => !test.is_of_hashes(),
    }
}

/// Returns true if a row's key decides a condition.
fn is_decided_by_key(rows: &Plan, condition: &Condition) -> bool {
    let name = &condition.field[..];
    let mut columns = rows.column_filter().into_iter().flat_map(|filter| filter.columns());
    rows.schema().slot(name).is_some() && !columns.any(|column| column.name() == name)
}

impl SearchPlan {
    /// The index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The field for each condition with `matches`, by position in [`Search::fields`], and the
    /// search text, in query order. A field may have several.
    pub fn texts(&self) -> &[(usize, String)] {
        &self.texts
    }

    /// Returns true if another plan for the same table searches the same index for the same words
    /// and selects the same rows from the found ones.
    pub fn selects_as(&self, other: &Self) -> bool {
        let same_rows = match (&self.rows, &other.rows) {
            (Some(one), Some(other)) => one.selects_as(other),
            (None, None) => true,
            _ => false,
        };
        self.index == other.index
            && self.texts == other.texts
            && self.key_ranges == other.key_ranges
            && self.values == other.values
            && same_rows
    }

    /// The key ranges that hold every answer row, in key order, without overlaps.
    pub fn key_ranges(&self) -> &[RowRange] {
        &self.key_ranges
    }

    /// The byte ranges for each value field with conditions, by position in [`Search::fields`]: in
    /// order, without overlaps, and empty if no value can match. An answer row has a value in them,
    /// as [`SearchField::order`] encodes it.
    pub fn values(&self) -> &[(usize, Vec<RowRange>)] {
        &self.values
    }

    /// Returns true if search texts, values and key ranges decide every condition. A row that
    /// passes them is in the answer, if the key fits the table's template: [`Index::fits`].
    pub fn is_decided(&self) -> bool {
        let has_residual = self.rows.as_ref().is_some_and(|rows| rows.residual().is_some());
        self.undecided.is_empty() && !has_residual
    }

    /// Returns true if a row's cells must be read to judge it. Otherwise
    /// [`SearchPlan::matches_key`] judges it.
    pub fn needs_cells(&self) -> bool {
        !self.undecided.is_empty()
    }

    /// The plan for the query without `matches`, by the key and the columns, which judges rows;
    /// `None` for a table without a key template.
    pub fn row_plan(&self) -> Option<&Plan> {
        self.rows.as_ref()
    }

    /// Returns true if a row is in the key ranges, and the key fits the template and matches as far
    /// as it tells.
    pub fn matches_key(&self, row: &[u8]) -> bool {
        self.rows.as_ref().is_none_or(|rows| rows.matches_key(row))
    }

    /// Returns true if a row with these cells matches the query, apart from the search texts.
    /// Without a key template, the index's values decide, and every row passes.
    ///
    /// # Errors
    /// As [`ColumnFilter::matches`](crate::ColumnFilter::matches).
    pub fn matches_row(&self, row: &[u8], cells: &Row) -> Result<bool, CellMismatch> {
        if !self.matches_key(row) {
            return Ok(false);
        }
        let filter = self.rows.as_ref().and_then(Plan::column_filter);
        filter.map_or(Ok(true), |filter| filter.matches(cells))
    }
}

impl fmt::Display for SearchPlan {
    /// Explains the plan: the index, the search texts, the value ranges and key ranges, and how
    /// rows are judged.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "index: {}", self.index.name())?;
        writeln!(f, "search: {}", self.searches)?;
        let fields = self.index.search().map_or(&[][..], Search::fields);
        for (at, ranges) in &self.values {
            write!(f, "values of {}: ", fields[*at].name())?;
            write_ranges(f, "value", ranges)?;
        }
        write!(f, "keys: ")?;
        write_ranges(f, "row", &self.key_ranges)?;
        let residual = self.rows.as_ref().and_then(Plan::residual);
        if let Some(residual) = residual {
            writeln!(f, "residual: {residual}")?;
        }
        if !self.undecided.is_empty() {
            writeln!(f, "rows: judged by {}", self.undecided)
        } else if residual.is_some() {
            writeln!(f, "rows: decided by the index and their keys")
        } else {
            writeln!(f, "rows: decided by the index")
        }
    }
}

fn write_ranges(f: &mut fmt::Formatter<'_>, one: &'static str, ranges: &[RowRange]) -> fmt::Result {
    match ranges {
        [] => return writeln!(f, "none, no row can match"),
        [range] if *range == RowRange::all() => return writeln!(f, "all"),
        [_] => writeln!(f, "1 range")?,
        _ => writeln!(f, "{} ranges", ranges.len())?,
    }
    for range in ranges.iter().take(RANGES_SHOWN) {
        writeln!(f, "  {}", ShownAs(one, range))?;
    }
    match ranges.len().checked_sub(RANGES_SHOWN) {
        Some(more @ 1..) => writeln!(f, "  and {more} more"),
        _ => Ok(()),
    }
}
