//! Tokens of pages of a search.
//!
//! ```text
//! in key order   "k" direction "." fingerprint "." key in hexadecimal     no state is kept
//! by a field     "v" direction "." fingerprint "." value "." key          no state is kept; value:
//!                                                 hexadecimal, or "-" for none
//! by score       "s." fingerprint "." number of the view "." rows before  the view is kept
//! ```

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rowhouse_model::{Bytes, Error, ErrorKind, Result, hex, unhex};
use rowhouse_schema::{Direction, SearchPlan};
use rowhouse_search::{Found, ValueRow};

use crate::query::Query;
use crate::query::search::SearchOrder;

/// The time for which a view is kept after the last page of it.
const KEPT: Duration = Duration::from_secs(300);

/// The most views that are kept. One more ends the oldest.
const KEPT_MAX: usize = 256;

/// A place in a search, in a token.
pub(super) enum Token {
    AfterRow(Bytes),
    AfterValue(ValueRow),
    Pinned { id: u64, rows: usize },
}

impl Token {
    pub(super) fn write(&self, plan: &SearchPlan, direction: Direction) -> String {
        let fingerprint = fingerprint(plan);
        match self {
            Self::AfterRow(row) => {
                format!("k{}.{fingerprint:016x}.{}", letter(direction), hex(row))
            }
            Self::AfterValue(ValueRow { value, row }) => {
                let value = value.as_ref().map_or_else(|| "-".to_owned(), |value| hex(value));
                format!("v{}.{fingerprint:016x}.{value}.{}", letter(direction), hex(row))
            }
            Self::Pinned { id, rows } => format!("s.{fingerprint:016x}.{id}.{rows}"),
        }
    }

    /// Reads a token. [`Token::check`] checks that it belongs to the query.
    pub(super) fn parse(text: &str, query: &Query<'_>) -> Result<Self> {
        let bad = || Error::invalid(format!("not a page token of a search: token={text}"));
        let mut parts = text.split('.');
        let kind = parts.next().unwrap_or_default();
        let _fingerprint = parts.next().ok_or_else(bad)?;
        let letter = letter(query.direction);
        let due = match &query.search_order {
            SearchOrder::Key => format!("k{letter}"),
            SearchOrder::Score => "s".to_owned(),
            SearchOrder::Field(_) => format!("v{letter}"),
        };
        if kind != due {
            return Err(Error::invalid(format!(
                "the page token belongs to another order or direction: token={text}"
            )));
        }
        let token = match query.search_order {
            SearchOrder::Key => {
                let row = parts.next().and_then(unhex).filter(|row| !row.is_empty());
                Self::AfterRow(row.ok_or_else(bad)?.into())
            }
            SearchOrder::Field(_) => {
                let value = match parts.next().ok_or_else(bad)? {
                    "-" => None,
                    value => Some(unhex(value).ok_or_else(bad)?.into()),
                };
                let row = parts.next().and_then(unhex).filter(|row| !row.is_empty());
                Self::AfterValue(ValueRow { value, row: row.ok_or_else(bad)?.into() })
            }
            SearchOrder::Score => {
                let mut number = || parts.next().and_then(|part| part.parse::<u64>().ok());
                let (id, rows) = (number().ok_or_else(bad)?, number().ok_or_else(bad)?);
                Self::Pinned { id, rows: usize::try_from(rows).map_err(|_| bad())? }
            }
        };
        match parts.next() {
            None => Ok(token),
            Some(_) => Err(bad()),
        }
    }

    /// Checks that a token belongs to a query.
    pub(super) fn check(text: &str, plan: &SearchPlan) -> Result<()> {
        let own = format!("{:016x}", fingerprint(plan));
        match text.split('.').nth(1) {
            Some(other) if other == own => Ok(()),
            _ => Err(Error::invalid(format!(
                "the page token belongs to another query: token={text}"
            ))),
        }
    }
}

fn letter(direction: Direction) -> char {
    match direction {
        Direction::Forward => 'f',
        Direction::Reverse => 'r',
    }
}

/// A number that differs between queries. A program of another version may have another one.
fn fingerprint(plan: &SearchPlan) -> u64 {
    let mut hasher = DefaultHasher::new();
    plan.to_string().hash(&mut hasher);
    for range in plan.key_ranges() {
        (&range.start[..], &range.stop[..]).hash(&mut hasher);
    }
    hasher.finish()
}

/// A view that pages by score keep.
#[derive(Clone)]
pub(crate) struct Pinned {
    id: u64,
    pub(crate) found: Arc<Found>,
}

/// The views that pages by score keep.
#[derive(Default)]
pub(crate) struct PinnedViews {
    views: Mutex<Views>,
}

#[derive(Default)]
struct Views {
    next_id: u64,
    /// By the time of the last page, the oldest first.
    kept: VecDeque<(Instant, Pinned)>,
}

impl PinnedViews {
    /// Keeps a view from now on. One that is kept already keeps its number.
    pub(crate) fn pin(&self, pinned: Option<Pinned>, found: Arc<Found>) -> u64 {
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        views.forget_old();
        let id = match pinned {
            Some(pinned) => pinned.id,
            None => {
                views.next_id += 1;
                views.next_id
            }
        };
        views.kept.retain(|(_, kept)| kept.id != id);
        if views.kept.len() >= KEPT_MAX {
            views.kept.pop_front();
        }
        views.kept.push_back((Instant::now(), Pinned { id, found }));
        id
    }

    /// Returns a view.
    ///
    /// # Errors
    /// `UnknownScanner` if it is not kept any more.
    pub(crate) fn get(&self, id: u64) -> Result<Pinned> {
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        views.forget_old();
        let found = views.kept.iter().find(|(_, kept)| kept.id == id);
        found.map(|(_, kept)| kept.clone()).ok_or_else(|| {
            Error::new(
                ErrorKind::UnknownScanner,
                format!(
                    "the pages by score have ended: a page is continued within {} s, by the same \
                     process",
                    KEPT.as_secs()
                ),
            )
        })
    }

    pub(crate) fn clear(&self) {
        self.views.lock().unwrap_or_else(PoisonError::into_inner).kept.clear();
    }
}

impl Views {
    fn forget_old(&mut self) {
        while self.kept.front().is_some_and(|(at, _)| at.elapsed() > KEPT) {
            self.kept.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_is_read_back_and_nothing_else_is() {
        assert_eq!(unhex("00ff7a"), Some(vec![0, 255, 0x7a]));
        for bad in ["0", "0g", "é0", "+1"] {
            assert_eq!(unhex(bad), None, "{bad}");
        }
    }
}
