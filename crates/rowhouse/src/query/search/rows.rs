//! The rows of a search, read in batches.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rowhouse_model::{Bytes, Get, Result, Row, Scan};
use rowhouse_schema::{Direction, KeyMismatch, KeySchema, Plan, Values};
use rowhouse_search::ValueRow;

use super::page::{Pinned, Token};
use super::searched::Searched;
use super::{SearchOrder, SearchTexts};
use crate::backend::blocking;
use crate::declared::DeclaredColumns;
use crate::query::{Query, QueryRow};
use crate::table::Table;

/// The number of rows of the first batch; each later one is twice as large.
const BATCH_MIN: usize = 64;

/// The most rows of a batch.
const BATCH_MAX: usize = 4_096;

/// The rows of a search.
pub(in crate::query) struct SearchRows {
    table: Table,
    reader: Arc<Reader>,
    /// The place after the last row that was returned.
    place: Place,
    batch: VecDeque<(QueryRow, Place)>,
    reading: Option<Pin<Box<dyn Future<Output = Result<Batch>> + Send + Sync>>>,
    /// The place after the last row that was read.
    read_to: Place,
    batch_rows: usize,
    is_end: bool,
    left: u64,
    /// The view that a page by score keeps.
    pinned: Option<Pinned>,
}

/// A place in the order of the rows.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Start,
    /// After this row, in key order.
    After(Bytes),
    /// After so many rows, by score.
    Rows(usize),
    /// After this row, in the order of a field.
    AfterValue(ValueRow),
}

impl Place {
    /// The row after which it is in key order.
    fn row(&self) -> Option<&Bytes> {
        match self {
            Self::After(row) => Some(row),
            Self::Start | Self::Rows(_) | Self::AfterValue(_) => None,
        }
    }
}

/// Reads batches of rows: all at the read point of the search, or each by a scan of its own on a
/// server.
struct Reader {
    searched: Searched,
    order: SearchOrder,
    direction: Direction,
    scan: Scan,
    schema: KeySchema,
    columns: Arc<DeclaredColumns>,
    texts: Arc<SearchTexts>,
}

struct Batch {
    rows: Vec<(QueryRow, Place)>,
    read_to: Place,
    is_end: bool,
}

impl SearchRows {
    pub(super) async fn open(query: Query<'_>) -> Result<Self> {
        match query.after.clone() {
            None => {
                let searched = query.search().await?;
                Self::at(query, searched, Place::Start, None)
            }
            Some(_) => Self::open_page(query, BATCH_MIN).await,
        }
    }

    /// Opens the rows of a page, from the place of its token on.
    pub(super) async fn open_page(query: Query<'_>, rows: usize) -> Result<Self> {
        let text = query.after.clone().unwrap_or_default();
        let token = query.after.as_deref().map(|token| Token::parse(token, &query)).transpose()?;
        let mut opened = match token {
            None => {
                let searched = query.search().await?;
                Self::at(query, searched, Place::Start, None)?
            }
            Some(Token::AfterRow(row)) => {
                let searched = query.search().await?;
                Token::check(&text, searched.plan())?;
                Self::at(query, searched, Place::After(row), None)?
            }
            Some(Token::AfterValue(after)) => {
                let searched = query.search().await?;
                Token::check(&text, searched.plan())?;
                Self::at(query, searched, Place::AfterValue(after), None)?
            }
            Some(Token::Pinned { id, rows }) => {
                Token::check(&text, &query.explain_search().await?)?;
                let pinned = query.table.backend().pinned(id)?;
                let searched = Searched::Here(Arc::clone(&pinned.found));
                Self::at(query, searched, Place::Rows(rows), Some(pinned))?
            }
        };
        opened.batch_rows = rows.clamp(1, BATCH_MAX);
        Ok(opened)
    }

    fn at(
        query: Query<'_>,
        searched: Searched,
        place: Place,
        pinned: Option<Pinned>,
    ) -> Result<Self> {
        let left = query.rows_max();
        let texts = Arc::new(SearchTexts::of(searched.plan())?);
        let reader = Reader {
            searched,
            order: query.search_order,
            direction: query.direction,
            scan: query.scan,
            schema: query.table.key_schema()?.clone(),
            columns: Arc::clone(query.table.declared_columns()),
            texts,
        };
        Ok(Self {
            table: query.table.clone(),
            reader: Arc::new(reader),
            read_to: place.clone(),
            place,
            batch: VecDeque::new(),
            reading: None,
            batch_rows: BATCH_MIN,
            is_end: false,
            left,
            pinned,
        })
    }

    pub(in crate::query) fn plan(&self) -> &Plan {
        let plan = self.reader.searched.plan().row_plan();
        plan.expect("a table with queries has a key template")
    }

    pub(in crate::query) fn long_words(&self) -> u64 {
        self.reader.searched.long_words()
    }

    pub(in crate::query) fn index(&self) -> &str {
        self.reader.searched.plan().index().name()
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
            let reading = match &mut self.reading {
                Some(reading) => reading,
                None => {
                    let (reader, place) = (Arc::clone(&self.reader), self.read_to.clone());
                    let rows = self.batch_rows;
                    self.batch_rows = (rows * 2).min(BATCH_MAX);
                    let read = async move { reader.read(place, rows).await };
                    self.reading.insert(Box::pin(read))
                }
            };
            let read = ready!(reading.as_mut().poll(context));
            self.reading = None;
            match read {
                Ok(batch) => {
                    self.is_end = batch.is_end;
                    self.read_to = batch.read_to;
                    self.batch.extend(batch.rows);
                }
                Err(error) => {
                    self.is_end = true;
                    return Poll::Ready(Err(error));
                }
            }
        }
    }

    /// Returns the keys of all rows. It reads no cells.
    pub(super) async fn into_keys(self) -> Result<Vec<Bytes>> {
        let Self { reader, mut read_to, mut batch_rows, left, .. } = self;
        let (mut keys, mut is_end) = (Vec::new(), false);
        while !is_end && (keys.len() as u64) < left {
            let (reader, place) = (Arc::clone(&reader), read_to.clone());
            let (found, ended) = reader.read_keys(place, batch_rows).await?;
            batch_rows = (batch_rows * 2).min(BATCH_MAX);
            is_end = ended;
            if let Some((_, _, place)) = found.last() {
                read_to = place.clone();
            }
            keys.extend(found.into_iter().map(|(key, _, _)| key));
        }
        keys.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        Ok(keys)
    }

    /// Returns the token of a page that ends with the last row returned; `None` if no row follows.
    pub(super) async fn token(&mut self) -> Result<Option<String>> {
        let place = self.place.clone();
        if std::future::poll_fn(|context| self.poll_row(context)).await?.is_none() {
            return Ok(None);
        }
        let token = match place {
            Place::Start => return Ok(None),
            Place::After(row) => Token::AfterRow(row),
            Place::AfterValue(after) => Token::AfterValue(after),
            Place::Rows(rows) => {
                let backend = self.table.backend();
                let pinned = self.pinned.clone();
                let found = Arc::clone(self.reader.searched.here()?);
                Token::Pinned { id: backend.pin(pinned, found)?, rows }
            }
        };
        Ok(Some(token.write(self.reader.searched.plan(), self.reader.direction)))
    }
}

/// The key of a row, its score, and the place after it.
type FoundKey = (Bytes, Option<f32>, Place);

impl Reader {
    /// Reads rows from a place on, about so many.
    async fn read(self: Arc<Self>, place: Place, rows: usize) -> Result<Batch> {
        let Searched::Server(server) = &self.searched else {
            return blocking(move || self.read_found(&place, rows)).await;
        };
        let after = place.row();
        let found = server.rows(self.scan.clone(), after, rows).await?;
        let is_end = found.len() < rows;
        let mut batch = Batch { rows: Vec::new(), read_to: place, is_end };
        for row in found {
            batch.read_to = Place::After(Bytes::copy_from_slice(row.key()));
            let values = self.schema.decode(row.key());
            batch.rows.push((self.query_row(row, values, None), batch.read_to.clone()));
        }
        Ok(batch)
    }

    fn query_row(
        &self,
        row: Row,
        values: Result<Values, KeyMismatch>,
        score: Option<f32>,
    ) -> QueryRow {
        let mut row = QueryRow::new(row, values, Arc::clone(&self.columns), None);
        (row.score, row.texts) = (score, Some(Arc::clone(&self.texts)));
        row
    }

    /// Reads keys from a place on, as [`Reader::keys`].
    async fn read_keys(
        self: Arc<Self>,
        place: Place,
        rows: usize,
    ) -> Result<(Vec<FoundKey>, bool)> {
        let Searched::Server(server) = &self.searched else {
            return blocking(move || self.keys(&place, rows)).await;
        };
        let keys = server.keys(self.scan.reversed, place.row(), rows).await?;
        let is_end = keys.len() < rows;
        let keys = keys.into_iter().map(|key| (key.clone(), None, Place::After(key)));
        Ok((keys.collect(), is_end))
    }

    fn read_found(&self, place: &Place, rows: usize) -> Result<Batch> {
        let (keys, is_end) = self.keys(place, rows)?;
        let found = self.searched.here()?;
        let read_to = keys.last().map_or_else(|| place.clone(), |(_, _, place)| place.clone());
        let mut batch = Batch { rows: Vec::new(), read_to, is_end };
        for (key, score, place) in keys {
            let mut get = Get::new(key.clone())?;
            get.columns = self.scan.columns.clone();
            get.versions = self.scan.versions;
            let row = found.row(&get)?;
            if row.is_empty() {
                continue;
            }
            let values = self.schema.decode(&key);
            batch.rows.push((self.query_row(row, values, score), place));
        }
        Ok(batch)
    }

    /// Returns keys from a place on, each with its score and the place after it, and whether these
    /// are the last.
    fn keys(&self, place: &Place, rows: usize) -> Result<(Vec<FoundKey>, bool)> {
        let found = self.searched.here()?;
        match &self.order {
            SearchOrder::Key => {
                let after = place.row().map(|row| &row[..]);
                let keys = found.by_key(self.direction, after, rows)?;
                let is_end = keys.len() < rows;
                let keys = keys.into_iter().map(|key| (key.clone(), None, Place::After(key)));
                Ok((keys.collect(), is_end))
            }
            SearchOrder::Score => {
                let skip = match place {
                    Place::Rows(rows) => *rows,
                    Place::Start | Place::After(_) | Place::AfterValue(_) => 0,
                };
                let hits = found.by_score(skip, rows)?;
                let is_end = hits.len() < rows;
                let place = |nth: usize| Place::Rows(skip + nth + 1);
                let hits = hits.into_iter().enumerate();
                let hits = hits.map(|(nth, hit)| (hit.row, Some(hit.score), place(nth)));
                Ok((hits.collect(), is_end))
            }
            SearchOrder::Field(field) => {
                let after = match place {
                    Place::AfterValue(after) => Some(after),
                    Place::Start | Place::After(_) | Place::Rows(_) => None,
                };
                let found = found.by_value(field, self.direction, after, rows)?;
                let is_end = found.len() < rows;
                let found = found.into_iter();
                let keys = found.map(|it| (it.row.clone(), None, Place::AfterValue(it)));
                Ok((keys.collect(), is_end))
            }
        }
    }
}
