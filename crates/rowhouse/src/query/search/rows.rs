//! Search rows, read in batches.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rowhouse_model::{Bytes, Get, Result, SearchPlace};
use rowhouse_query::MatchingRow;
use rowhouse_schema::{KeySchema, Plan};

use super::order::SearchOrder;
use super::page::Token;
use super::searched::{MatchingBatch, Reading, Searched};
use super::texts::SearchTexts;
use crate::declared::DeclaredColumns;
use crate::query::{Query, QueryRow};
use crate::table::Table;

/// How many rows the first batch has; each later one is twice as large.
const BATCH_MIN: usize = 64;

/// The most rows in a batch.
const BATCH_MAX: usize = 4_096;

/// A batch being read, which returns the search.
type Running = Pin<Box<dyn Future<Output = Result<(Searched, MatchingBatch)>> + Send + Sync>>;

/// A search's rows.
pub(in crate::query) struct SearchRows {
    table: Table,
    searched: Searched,
    reading: Arc<Reading>,
    shape: Shape,
    /// The place after the last row that was returned.
    place: SearchPlace,
    batch: VecDeque<(QueryRow, SearchPlace)>,
    running: Option<Running>,
    /// Whether a batch has been read.
    has_read: bool,
    /// The place after the last row that was read.
    read_to: SearchPlace,
    batch_rows: usize,
    is_end: bool,
    left: u64,
}

/// What makes query rows from rows.
struct Shape {
    schema: KeySchema,
    columns: Arc<DeclaredColumns>,
    texts: Arc<SearchTexts>,
}

impl SearchOrder {
    /// The place before all rows.
    fn start(&self) -> SearchPlace {
        match self {
            Self::Key => SearchPlace::Key { after: None },
            Self::Score => SearchPlace::Score { view: None, skip: 0 },
            Self::Field(field) => SearchPlace::Field { field: field.clone(), after: None },
        }
    }
}

impl SearchRows {
    pub(super) async fn open(query: Query<'_>) -> Result<Self> {
        match query.after.clone() {
            None => {
                let searched = query.search().await?;
                let start = query.search_order.start();
                Self::at(query, searched, start, true)
            }
            Some(_) => Self::open_page(query, BATCH_MIN).await,
        }
    }

    /// Opens the rows on a page, from the place in the page token on.
    pub(super) async fn open_page(query: Query<'_>, rows: usize) -> Result<Self> {
        let text = query.after.clone().unwrap_or_default();
        let token = query
            .after
            .as_deref()
            .map(|token| Token::parse(token, query.direction, &query.search_order))
            .transpose()?;
        let (searched, place) = match token {
            None => (query.search().await?, query.search_order.start()),
            Some(Token(place)) => {
                let plan = query.plan_search().await?;
                Token::check(&text, &plan)?;
                let view = match place {
                    SearchPlace::Score { view, .. } => view,
                    SearchPlace::Key { .. } | SearchPlace::Field { .. } => None,
                };
                (query.search_in(plan, view).await?, place)
            }
        };
        let mut opened = Self::at(query, searched, place, false)?;
        opened.batch_rows = rows.clamp(1, BATCH_MAX);
        Ok(opened)
    }

    fn at(
        query: Query<'_>,
        searched: Searched,
        place: SearchPlace,
        ends_view: bool,
    ) -> Result<Self> {
        let left = query.rows_max();
        let texts = Arc::new(SearchTexts::of(searched.plan())?);
        // Any row stands for all.
        let mut cells = Get::new("?")?;
        cells.columns = query.scan.columns.clone();
        cells.versions = query.scan.versions;
        let reading = Reading { direction: query.direction, cells: Some(cells), ends_view };
        let shape = Shape {
            schema: query.table.key_schema()?.clone(),
            columns: Arc::clone(query.table.declared_columns()),
            texts,
        };
        Ok(Self {
            table: query.table.clone(),
            searched,
            reading: Arc::new(reading),
            shape,
            read_to: place.clone(),
            place,
            batch: VecDeque::new(),
            running: None,
            has_read: false,
            batch_rows: BATCH_MIN,
            is_end: false,
            left,
        })
    }

    pub(in crate::query) fn plan(&self) -> &Plan {
        let plan = self.searched.plan().row_plan();
        plan.expect("a table with queries has a key template")
    }

    pub(in crate::query) fn long_words(&self) -> u64 {
        self.searched.long_words()
    }

    pub(in crate::query) fn index(&self) -> &str {
        self.searched.plan().index().name()
    }

    pub(in crate::query) fn poll_row(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<QueryRow>>> {
        loop {
            if self.left == 0 {
                return Poll::Ready(Ok(None));
            }
            if let Some((row, place)) = self.batch.pop_front() {
                self.place = place;
                self.left -= 1;
                return Poll::Ready(Ok(Some(row)));
            }
            if self.is_end {
                return Poll::Ready(Ok(None));
            }
            let running = match &mut self.running {
                Some(running) => running,
                None => {
                    let place = self.read_to.clone();
                    let rows = self.batch_rows;
                    self.batch_rows = (rows * 2).min(BATCH_MAX);
                    let searched = self.searched.clone();
                    let reading = Arc::clone(&self.reading);
                    let table = (!self.has_read).then(|| self.table.clone());
                    let read = read_or_search_again(table, searched, place, reading, rows);
                    self.running.insert(Box::pin(read))
                }
            };
            let read = ready!(running.as_mut().poll(context));
            self.running = None;
            match read {
                Ok((searched, batch)) => {
                    (self.searched, self.has_read) = (searched, true);
                    self.is_end = batch.is_end;
                    self.read_to = batch.read_to;
                    for (key, cells, place) in batch.rows {
                        let values = self.shape.schema.decode(&key.row);
                        let columns = Arc::clone(&self.shape.columns);
                        let mut row = QueryRow::new(MatchingRow::new(cells, values), columns);
                        row.score = key.score;
                        row.texts = Some(Arc::clone(&self.shape.texts));
                        self.batch.push_back((row, place));
                    }
                }
                Err(error) => {
                    self.is_end = true;
                    return Poll::Ready(Err(error));
                }
            }
        }
    }

    /// Skips rows.
    pub(super) async fn skip(&mut self, rows: u64) -> Result<()> {
        for _ in 0..rows {
            if std::future::poll_fn(|context| self.poll_row(context)).await?.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Returns the row keys. No row was read before.
    pub(super) fn into_keys(mut self) -> SearchKeys {
        self.reading = Arc::new(Reading { cells: None, ..Reading::clone(&self.reading) });
        SearchKeys { table: Some(self.table.clone()), rows: self, batch: VecDeque::new() }
    }

    /// Returns the token for a page that ends with the last row returned; `None` if no row follows.
    pub(super) async fn token(&mut self) -> Result<Option<String>> {
        let place = self.place.clone();
        if std::future::poll_fn(|context| self.poll_row(context)).await?.is_none() {
            return Ok(None);
        }
        self.token_after(place)
    }

    /// Returns the token for a page that ends before a place; `None` for a page without rows.
    fn token_after(&self, place: SearchPlace) -> Result<Option<String>> {
        if place.is_start() {
            return Ok(None);
        }
        let place = match (place, &self.searched) {
            (SearchPlace::Score { view, skip }, Searched::Here(found)) => {
                let view = self.table.backend().pin(view, Arc::clone(found))?;
                SearchPlace::Score { view: Some(view), skip }
            }
            (place, _) => place,
        };
        Ok(Some(Token(place).write(self.searched.plan(), self.reading.direction)))
    }
}

/// Reads rows from a place on. If nothing has been read before, `table` is given: the search is
/// made again if the index was damaged and is built anew.
async fn read_or_search_again(
    table: Option<Table>,
    searched: Searched,
    place: SearchPlace,
    reading: Arc<Reading>,
    rows: usize,
) -> Result<(Searched, MatchingBatch)> {
    let read = searched.clone().read(place.clone(), Arc::clone(&reading), rows).await;
    let is_of_view = matches!(place, SearchPlace::Score { view: Some(_), .. });
    match (read, table) {
        (Err(error), Some(table)) if !is_of_view && searched.is_to_be_made_again(&error) => {
            let searched = searched.again(&table).await?;
            let batch = searched.clone().read(place, reading, rows).await?;
            Ok((searched, batch))
        }
        (read, _) => Ok((searched, read?)),
    }
}

/// The row keys from a search. It reads no cells.
pub(super) struct SearchKeys {
    /// Given until the first read.
    table: Option<Table>,
    rows: SearchRows,
    batch: VecDeque<(Bytes, SearchPlace)>,
}

impl SearchKeys {
    async fn next(&mut self) -> Result<Option<Bytes>> {
        let rows = &mut self.rows;
        loop {
            if rows.left == 0 {
                return Ok(None);
            }
            if let Some((key, place)) = self.batch.pop_front() {
                rows.place = place;
                rows.left -= 1;
                return Ok(Some(key));
            }
            if rows.is_end {
                return Ok(None);
            }
            let place = rows.read_to.clone();
            let reading = Arc::clone(&rows.reading);
            let table = self.table.take();
            let searched = rows.searched.clone();
            let read = read_or_search_again(table, searched, place, reading, rows.batch_rows);
            let batch;
            (rows.searched, batch) = read.await?;
            rows.batch_rows = (rows.batch_rows * 2).min(BATCH_MAX);
            rows.is_end = batch.is_end;
            rows.read_to = batch.read_to;
            self.batch.extend(batch.rows.into_iter().map(|(key, _, place)| (key.row, place)));
        }
    }

    /// Skips keys.
    pub(super) async fn skip(&mut self, keys: u64) -> Result<()> {
        for _ in 0..keys {
            if self.next().await?.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Reads the next keys, at most `limit`.
    pub(super) async fn read(&mut self, limit: usize) -> Result<Vec<Bytes>> {
        let mut keys = Vec::new();
        while keys.len() < limit
            && let Some(key) = self.next().await?
        {
            keys.push(key);
        }
        Ok(keys)
    }

    /// Returns the token for a page that ends with the last key read; `None` if no row follows.
    pub(super) async fn token(&mut self) -> Result<Option<String>> {
        let place = self.rows.place.clone();
        match self.next().await? {
            None => Ok(None),
            Some(_) => self.rows.token_after(place),
        }
    }
}
