//! Queries with `matches`: rows, pages and counts by a full-text index.

mod order;
mod page;
mod rows;
mod searched;
mod texts;

use std::sync::Arc;

use rowhouse_model::{Bytes, Error, FacetCount, Result, TimeRange};
use rowhouse_schema::{Direction, Predicate, SearchPlan, Value};

use super::rows::RowsOf;
use super::{By, KeysPage, Page, Query, QueryRow, QueryRows};

pub(super) use order::SearchOrder;
pub(super) use rows::SearchRows;
use searched::Searched;
pub(super) use texts::SearchTexts;

/// A field value, and how many rows in a search have it: see [`Query::facets`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Facet {
    /// The value.
    pub value: Value,
    /// The row count.
    pub rows: u64,
}

/// A part of a text around the words that a search found: see [`QueryRow::snippet`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snippet {
    /// The part of the text.
    pub text: String,
    /// The words found, as byte ranges in `text`, in order.
    pub matches: Vec<std::ops::Range<usize>>,
}

impl Query<'_> {
    /// Returns the rows by their score, the highest first. The score is BM25, over the words in all
    /// conditions `matches`. Pages retain the rows as they were at the first page, for five minutes
    /// from the last one.
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// let query = "user = 'bob' and body matches 'row keys'";
    /// for mail in mail.query(query).by_score().page(10).await?.rows {
    ///     println!("{:?} {mail}", mail.score());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn by_score(mut self) -> Self {
        self.search_order = SearchOrder::Score;
        self
    }

    /// Returns the rows ordered by a field in the full-text index, which has no analyser or the
    /// analyser `keyword`. Rows with one value are in key order; rows without a value come last,
    /// also in reverse. Each page takes time for all rows that match.
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// let largest = mail.query("body matches 'hbase'").by_field("size").reversed();
    /// let page = largest.page(10).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn by_field(mut self, field: &str) -> Self {
        self.search_order = SearchOrder::Field(field.to_owned());
        self
    }

    /// Returns how many of the query's rows have each value of a field, the most frequent value
    /// first, at most `values` values. The field is in the full-text index, and has no analyser or
    /// the analyser `keyword`.
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// for facet in mail.query("body matches 'hbase'").facets("sender", 10).await? {
    ///     println!("{:?}: {} mails", facet.value, facet.rows);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Query::rows`]; `InvalidRequest` for another field, and for a query without `matches`.
    pub async fn facets(self, field: &str, values: usize) -> Result<Vec<Facet>> {
        let mut searched = self.search().await?;
        let counts = match searched.clone().facets(field, values).await {
            Err(error) if searched.is_to_be_made_again(&error) => {
                searched = searched.again(self.table).await?;
                searched.clone().facets(field, values).await?
            }
            counts => counts?,
        };
        counts.iter().map(|count| facet(searched.plan(), field, count)).collect()
    }

    /// Returns the plan for a query with `matches`, which can be printed.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let plan = mail.query("user = 'bob' and body matches 'hbase'").explain_search().await?;
    /// println!("{plan}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Query::rows`]; `InvalidRequest` for a query without `matches`.
    pub async fn explain_search(&self) -> Result<SearchPlan> {
        let (_, predicate) = self.asked.as_ref().map_err(Clone::clone)?;
        self.search_plan_of(predicate).await
    }

    /// Returns the plan that the query has with another predicate.
    async fn search_plan_of(&self, predicate: &Predicate) -> Result<SearchPlan> {
        let schema = self.table.key_schema()?;
        let using = match &self.by {
            By::Any => None,
            By::Index(name) => Some(&name[..]),
            By::Key => {
                return Err(Error::invalid("`matches` is answered by an index, not by the key"));
            }
        };
        let indexes = self.table.backend().indexes(self.table.name()).await?;
        let Some(indexes) = indexes else {
            return Err(Error::invalid(format!(
                "`matches` needs a full-text index, and table {} declares no indexes",
                self.table.name()
            )));
        };
        let columns = self.table.column_schema()?;
        indexes.search_plan(Some(schema), columns, predicate, &self.zone, using)
    }

    /// Whether the query has a condition with `matches`.
    pub(super) fn has_matches(&self) -> bool {
        self.asked.as_ref().is_ok_and(|(_, predicate)| predicate.has_matches())
    }

    /// Runs the search at the current read point, or leaves it to the server.
    async fn search(&self) -> Result<Searched> {
        self.search_in(self.plan_search().await?, None).await
    }

    /// As [`Query::search`]; with a view, it is the search that an earlier page by score retained.
    async fn search_in(&self, plan: SearchPlan, view: Option<u64>) -> Result<Searched> {
        let backend = self.table.backend();
        if let Some(table) = backend.server_table(self.table.name()) {
            return Searched::by_server(self, table, plan).await;
        }
        Ok(Searched::Here(match view {
            Some(view) => backend.pinned(view)?,
            None => Arc::new(backend.find(self.table.id(), plan).await?),
        }))
    }

    /// Plans the search, if all options go with it.
    async fn plan_search(&self) -> Result<SearchPlan> {
        self.check_search()?;
        let plan = self.explain_search().await?;
        if plan.row_plan().is_some_and(|rows| !rows.qualifiers().is_empty()) {
            return Err(Error::unsupported(
                "a query with `matches` cannot have conditions on fields of qualifiers",
            ));
        }
        Ok(plan)
    }

    /// Refuses options that do not go with `matches`.
    fn check_search(&self) -> Result<()> {
        if self.scan.time_range != TimeRange::ALL || !self.scan.family_time_ranges.is_empty() {
            return Err(Error::unsupported("a query with `matches` cannot have a time range"));
        }
        if self.with_misfits {
            return Err(Error::unsupported(
                "a query with `matches` returns no rows whose keys do not fit the template",
            ));
        }
        if self.search_order == SearchOrder::Score && self.direction == Direction::Reverse {
            return Err(Error::unsupported("rows by score are not returned in reverse"));
        }
        Ok(())
    }

    /// Opens the rows for a query with `matches`.
    pub(super) async fn search_rows(self) -> Result<QueryRows> {
        let table = self.table;
        let offset = self.offset;
        let mut rows = SearchRows::open(self).await?;
        rows.skip(offset).await?;
        Ok(QueryRows::new(table, RowsOf::Search(Box::new(rows))))
    }

    /// Returns how many rows a query with `matches` has.
    pub(super) async fn search_count(self) -> Result<u64> {
        let searched = self.search().await?;
        match searched.clone().count().await {
            Err(error) if searched.is_to_be_made_again(&error) => {
                searched.again(self.table).await?.count().await
            }
            count => count,
        }
    }

    /// Returns the row keys for a query with `matches`.
    pub(super) async fn search_keys(self) -> Result<Vec<Bytes>> {
        let offset = self.offset;
        let mut keys = SearchRows::open(self).await?.into_keys();
        keys.skip(offset).await?;
        keys.read(usize::MAX).await
    }

    /// Reads a page with keys for a query with `matches`.
    pub(super) async fn search_keys_page(self, rows: usize) -> Result<KeysPage> {
        let offset = self.offset;
        let mut reading = SearchRows::open_page(self, rows).await?.into_keys();
        reading.skip(offset).await?;
        let keys = reading.read(rows).await?;
        let next = if keys.len() == rows { reading.token().await? } else { None };
        Ok(KeysPage { keys, next, left_out: 0, unreadable: 0 })
    }

    /// Reads a page for a query with `matches`.
    pub(super) async fn search_page(self, rows: usize) -> Result<Page> {
        let offset = self.offset;
        let mut reading = SearchRows::open_page(self, rows).await?;
        reading.skip(offset).await?;
        let mut found = Vec::new();
        while found.len() < rows
            && let Some(row) = std::future::poll_fn(|context| reading.poll_row(context)).await?
        {
            found.push(row);
        }
        let next = if found.len() == rows { reading.token().await? } else { None };
        Ok(Page { rows: found, next, left_out: 0, unreadable: 0 })
    }
}

impl QueryRow {
    /// Returns the BM25 score, if the query requested rows [by score](Query::by_score). It compares
    /// rows from one query only.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let page = mail.query("body matches 'hbase'").by_score().page(10).await?;
    /// println!("{:?}", page.rows.first().and_then(|best| best.score()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn score(&self) -> Option<f32> {
        self.score
    }

    /// Returns a part of the text in a declared column, with at most `chars` characters, around the
    /// words that the query looked for there. `None` if the row has no such cell, if it was not
    /// read, or if the query has no `matches` for this column.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// for row in mail.query("body matches 'hbase'").page(10).await?.rows {
    ///     if let Some(snippet) = row.snippet("body", 100)? {
    ///         println!("{} {:?}", snippet.text, snippet.matches);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` if `name` is not a declared column with a single qualifier.
    pub fn snippet(&self, name: &str, chars: usize) -> Result<Option<Snippet>> {
        let column = self.columns.schema()?.column(name)?;
        let qualifier = column.qualifier().ok_or_else(|| {
            Error::invalid(format!("column `{name}` has many qualifiers: take its cells"))
        })?;
        let fields = self.texts.iter().flat_map(|texts| &texts.fields);
        let Some((_, highlighter)) = fields.into_iter().find(|(field, _)| field == name) else {
            return Ok(None);
        };
        let Some(value) = self.found.row.value(column.family(), qualifier) else { return Ok(None) };
        let text = rowhouse_search::text_of(&value);
        let part = highlighter.snippet(&text, chars);
        let begin = part.bytes.start;
        let matches = part.matches.iter().map(|at| at.start - begin..at.end - begin).collect();
        Ok(Some(Snippet { text: text[part.bytes].to_owned(), matches }))
    }
}

/// Decodes a facet value.
fn facet(plan: &SearchPlan, field: &str, count: &FacetCount) -> Result<Facet> {
    let declared = plan.index().search().and_then(|search| search.field(field));
    let order = declared.and_then(|(_, field)| field.order());
    let value = match order {
        None => Value::from(String::from_utf8_lossy(&count.value).into_owned()),
        Some(order) => {
            let values = order.decode(&count.value).map_err(|why| {
                Error::corruption(format!("a value of a full-text index: {why}: field={field}"))
            })?;
            values.iter().next().map_or(Value::Null, |(_, value)| value.clone())
        }
    };
    Ok(Facet { value, rows: count.rows })
}
