//! The rows of a search in any order, from a place on.

use rowhouse_model::{FoundKey, Result, SearchPlace};
use rowhouse_schema::Direction;

use super::found::Found;

impl Found {
    /// Returns the keys of rows from a place on, at most `limit`, and whether no rows follow. The
    /// view of a place by score has no effect: it is this search.
    ///
    /// # Errors
    /// As [`Found::by_key`], [`Found::by_score`] and [`Found::by_value`].
    pub fn keys(
        &self,
        place: &SearchPlace,
        direction: Direction,
        limit: usize,
    ) -> Result<(Vec<FoundKey>, bool)> {
        let keys: Vec<FoundKey> = match place {
            SearchPlace::Key { after } => {
                let rows = self.by_key(direction, after.as_deref(), limit)?;
                let key = |row| FoundKey { row, score: None, value: None };
                rows.into_iter().map(key).collect()
            }
            SearchPlace::Score { skip, .. } => {
                let skip = usize::try_from(*skip).unwrap_or(usize::MAX);
                let hits = self.by_score(skip, limit)?.into_iter();
                hits.map(|it| FoundKey { row: it.row, score: Some(it.score), value: None })
                    .collect()
            }
            SearchPlace::Field { field, after } => {
                let rows = self.by_value(field, direction, after.as_ref(), limit)?.into_iter();
                rows.map(|it| FoundKey { row: it.row, score: None, value: it.value }).collect()
            }
        };
        let is_end = keys.len() < limit;
        Ok((keys, is_end))
    }
}
