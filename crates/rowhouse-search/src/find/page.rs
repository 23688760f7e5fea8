//! A search's rows in any order, from a place on.

use rowhouse_model::{Get, MatchingKey, MatchingRows, Result, Row, SearchPlace};
use rowhouse_schema::Direction;

use super::matches::Matches;

/// After how many key and cell bytes an answer with rows ends.
const ANSWER_BYTES: u64 = 2 << 20;

impl Matches {
    /// Returns rows from a place on, at most `limit`, and fewer if their cells fill 2 MiB. They
    /// have the columns and versions of `cells`; without it, they are keys only. A row that has
    /// none of the columns is empty.
    ///
    /// # Errors
    /// As [`Matches::keys`] and [`Matches::row`].
    pub fn rows(
        &self,
        place: &SearchPlace,
        direction: Direction,
        cells: Option<&Get>,
        limit: usize,
    ) -> Result<MatchingRows> {
        let (keys, mut is_end) = self.keys(place, direction, limit)?;
        let mut rows = Vec::with_capacity(keys.len());
        let mut bytes = 0;
        for key in keys {
            if bytes >= ANSWER_BYTES {
                is_end = false;
                break;
            }
            let row = match cells {
                None => Row::default(),
                Some(cells) => {
                    let mut get = Get::new(key.row.clone())?;
                    get.columns = cells.columns.clone();
                    get.versions = cells.versions;
                    self.row(&get)?
                }
            };
            bytes += key.row.len() as u64 + row.byte_len();
            rows.push((key, row));
        }
        Ok(MatchingRows { rows, is_end, view: None, long_words: self.long_words() })
    }

    /// Returns row keys from a place on, at most `limit`, and whether no rows follow. The view in a
    /// place by score has no effect: it is this search.
    ///
    /// # Errors
    /// As [`Matches::by_key`], [`Matches::by_score`] and [`Matches::by_value`].
    pub fn keys(
        &self,
        place: &SearchPlace,
        direction: Direction,
        limit: usize,
    ) -> Result<(Vec<MatchingKey>, bool)> {
        let keys: Vec<MatchingKey> = match place {
            SearchPlace::Key { after } => {
                let rows = self.by_key(direction, after.as_deref(), limit)?;
                let key = |row| MatchingKey { row, score: None, value: None };
                rows.into_iter().map(key).collect()
            }
            SearchPlace::Score { skip, .. } => {
                let skip = usize::try_from(*skip).unwrap_or(usize::MAX);
                let hits = self.by_score(skip, limit)?.into_iter();
                hits.map(|it| MatchingKey { row: it.row, score: Some(it.score), value: None })
                    .collect()
            }
            SearchPlace::Field { field, after } => {
                let rows = self.by_value(field, direction, after.as_ref(), limit)?.into_iter();
                rows.map(|it| MatchingKey { row: it.row, score: None, value: it.value }).collect()
            }
        };
        let is_end = keys.len() < limit;
        Ok((keys, is_end))
    }
}
