//! Searches in a full-text index: what is requested, and what is found.

use bytes::Bytes;

use crate::{Get, Row};

/// A query with `matches`, in the row-key template language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchText {
    /// The query. Times without a zone are UTC.
    pub query: String,
    /// The index that answers it; `None` for the only one that can.
    pub index: Option<String>,
}

/// An order for a search's rows, and the place in it after which rows are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchPlace {
    /// In key order.
    Key {
        /// After this row; `None` for the start.
        after: Option<Bytes>,
    },
    /// By the score, the highest first.
    Score {
        /// The view that the pages before retained; `None` for a new one.
        view: Option<u64>,
        /// After so many rows.
        skip: u64,
    },
    /// Ordered by a field. Rows without a value come last.
    Field {
        /// The field name.
        field: String,
        /// After this row; `None` for the start.
        after: Option<ValueRow>,
    },
}

/// A row and the value by which it is ordered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueRow {
    /// The value: the text for a `keyword`, or a value's order-preserving encoding. `None` if the
    /// row has none, or one that is too long for the index.
    pub value: Option<Bytes>,
    /// The row key.
    pub row: Bytes,
}

/// The key for a row that a search found.
#[derive(Clone, PartialEq, Debug)]
pub struct MatchingKey {
    /// The key.
    pub row: Bytes,
    /// The BM25 score, in score order.
    pub score: Option<f32>,
    /// The value by which it is ordered, if ordered by a field; `None` also if it has none.
    pub value: Option<Bytes>,
}

/// A request for a search's rows.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchRequest {
    /// The query.
    pub text: SearchText,
    /// Where to read from.
    pub place: SearchPlace,
    /// Whether the order is reversed. The score order cannot be.
    pub reversed: bool,
    /// The most rows to return.
    pub rows: u32,
    /// The columns and versions for each row; the row in it and all else have no effect. `None` for
    /// keys only.
    pub cells: Option<Get>,
    /// Whether the caller reads on to the end, so that the view by score can end there.
    pub ends_view: bool,
}

/// The rows that a server returns for a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MatchingRows {
    /// The rows in order, each with the cells. A row that has no such column is empty.
    pub rows: Vec<(MatchingKey, Row)>,
    /// Whether no rows follow.
    pub is_end: bool,
    /// The view by which rows by score continue.
    pub view: Option<u64>,
    /// Words that are too long to be indexed.
    pub long_words: u64,
}

/// A field value, and how many rows in a search have it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FacetCount {
    /// The value: the text for a `keyword`, or a value's order-preserving encoding.
    pub value: Bytes,
    /// The row count.
    pub rows: u64,
}

impl SearchPlace {
    /// Returns the place after the next row in this order.
    pub fn after(&self, key: &MatchingKey) -> Self {
        let MatchingKey { row, value, .. } = key.clone();
        match self {
            Self::Key { .. } => Self::Key { after: Some(row) },
            Self::Score { view, skip } => Self::Score { view: *view, skip: skip + 1 },
            Self::Field { field, .. } => {
                Self::Field { field: field.clone(), after: Some(ValueRow { value, row }) }
            }
        }
    }

    /// Whether no row comes before it.
    pub fn is_start(&self) -> bool {
        match self {
            Self::Key { after } => after.is_none(),
            Self::Score { skip, .. } => *skip == 0,
            Self::Field { after, .. } => after.is_none(),
        }
    }

    /// Returns the place with the view that continues rows by score.
    pub fn in_view(self, view: Option<u64>) -> Self {
        match self {
            Self::Score { skip, .. } => Self::Score { view, skip },
            other => other,
        }
    }
}
