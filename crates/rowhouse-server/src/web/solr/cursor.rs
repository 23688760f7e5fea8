//! Marks for places in a search, by which clients go on: Solr's `cursorMark`.
//!
//! ```text
//! mark = fingerprint "." view "." score "." key *("." value)
//! ```
//!
//! The fingerprint is the search's. `view` is `-`, or the number for the search that is retained
//! because the scores would change with the index. The others come from the last row: the score
//! bits, and the key and the values in hexadecimal, `-` for none.

use std::hash::{DefaultHasher, Hash, Hasher};

use rowhouse_model::{Bytes, Error, Result, hex, unhex};
use rowhouse_search::OrderedRow;

use super::params::Params;

/// The mark for the first page.
pub(super) const FIRST: &str = "*";

/// A place in a search.
#[derive(Debug, PartialEq)]
pub(super) struct Mark {
    pub(super) view: Option<u64>,
    pub(super) after: OrderedRow,
}

impl Mark {
    pub(super) fn write(&self, fingerprint: u64) -> String {
        let view = self.view.map_or_else(|| "-".to_owned(), |view| view.to_string());
        let score = self.after.score.to_bits();
        let row = hex(&self.after.row);
        let mut mark = format!("{fingerprint:016x}.{view}.{score:08x}.{row}");
        for value in &self.after.values {
            mark.push('.');
            // Not empty: an empty value is not the same as none.
            mark += &value.as_ref().map_or_else(|| "-".to_owned(), |it| format!("x{}", hex(it)));
        }
        mark
    }

    /// Reads a mark for the search with this fingerprint and value count.
    ///
    /// # Errors
    /// `InvalidRequest` if it is none.
    pub(super) fn parse(text: &str, fingerprint: u64, values: usize) -> Result<Self> {
        Self::read(text, fingerprint, values).ok_or_else(|| {
            Error::invalid(format!(
                "Unable to parse 'cursorMark', or it is one of another search: cursorMark={text}"
            ))
        })
    }

    fn read(text: &str, fingerprint: u64, values: usize) -> Option<Self> {
        let mut parts = text.split('.');
        if parts.next()? != format!("{fingerprint:016x}") {
            return None;
        }
        let view = match parts.next()? {
            "-" => None,
            view => Some(view.parse().ok()?),
        };
        let score = f32::from_bits(u32::from_str_radix(parts.next()?, 16).ok()?);
        let row: Bytes = unhex(parts.next()?)?.into();
        let value = |part: &str| match part {
            "-" => Some(None),
            part => Some(Some(unhex(part.strip_prefix('x')?)?.into())),
        };
        let read: Vec<_> = parts.map(value).collect::<Option<_>>()?;
        (read.len() == values)
            .then_some(Self { view, after: OrderedRow { row, score, values: read } })
    }
}

/// Returns a number that differs between searches. A program in another version may have another
/// one.
pub(super) fn fingerprint(table: &str, params: &Params) -> u64 {
    let mut hasher = DefaultHasher::new();
    table.hash(&mut hasher);
    for name in ["q", "fq", "q.op", "df", "sort"] {
        (name, params.all(name).collect::<Vec<_>>()).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_back_and_others_are_refused() {
        let values = vec![None, Some(Bytes::new()), Some(Bytes::from_static(b"\xff\0"))];
        let after = OrderedRow { row: Bytes::from_static(b"row"), score: 1.5, values };
        let mark = Mark { view: Some(7), after };
        let text = mark.write(5);
        assert_eq!(text, "0000000000000005.7.3fc00000.726f77.-.x.xff00");
        assert_eq!(Mark::parse(&text, 5, 3).unwrap(), mark);
        assert!(Mark::parse(&text, 6, 3).is_err());
        assert!(Mark::parse(&text, 5, 2).is_err());
        for bad in ["", "x", "0000000000000005", "0000000000000005.-.1.0g", "AoE="] {
            assert!(Mark::parse(bad, 5, 0).is_err(), "{bad}");
        }
    }
}
