//! The TTL that a cell carries in a tag.

use rowhouse_model::{CellRef, TTL_TAG, Tags};

/// Returns the cell's own TTL in milliseconds after the timestamp; `None` if it has none. Only the
/// first TTL tag counts, and one that is not a number is ignored.
pub(crate) fn own_ttl(cell: &CellRef<'_>) -> Option<i64> {
    let (_, ttl) = Tags::new(cell.tags).find(|(kind, _)| *kind == TTL_TAG)?;
    ttl.try_into().ok().map(i64::from_be_bytes)
}

/// Returns the last time in milliseconds at which a cell with its own TTL is visible.
pub(super) fn lives_until(cell: &CellRef<'_>) -> Option<i64> {
    own_ttl(cell).map(|ttl| cell.key.timestamp.saturating_add(ttl))
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{Cell, CellKind, Key};

    use super::*;

    fn ttl_of(tags: &[u8]) -> Option<i64> {
        let key = Key {
            row: b"r",
            family: b"f",
            qualifier: b"q",
            timestamp: 5,
            kind: CellKind::Put.code(),
        };
        own_ttl(&Cell::from_parts(key, b"", tags).unwrap().view())
    }

    #[test]
    fn the_first_ttl_among_the_tags_counts() {
        let ttl = |millis: i64| [&[0, 9, 8][..], &millis.to_be_bytes()].concat();
        assert_eq!(ttl_of(&[]), None);
        assert_eq!(ttl_of(&ttl(7)), Some(7));
        assert_eq!(ttl_of(&[&[0, 3, 1, b'a', b'b'][..], &ttl(7), &ttl(9)].concat()), Some(7));
    }

    #[test]
    fn tags_that_are_none_say_nothing() {
        for tags in [&[0][..], &[0, 9, 8, 1], &[0, 2, 8, 1], &[0, 0], &[0, 0, 0, 1, 8]] {
            assert_eq!(ttl_of(tags), None, "{tags:?}");
        }
    }
}
