//! Tokens for search pages.
//!
//! ```text
//! in key order   "k" direction "." fingerprint "." key in hexadecimal     no state is kept
//! by a field     "v" direction "." fingerprint "." value "." key          no state is kept; value:
//!                                                 hexadecimal, or "-" for none
//! by score       "s." fingerprint "." id of the view "." rows before  the view is kept
//! ```

use std::hash::{DefaultHasher, Hash, Hasher};

use rowhouse_model::{Bytes, Error, Result, SearchPlace, ValueRow, hex, unhex};
use rowhouse_schema::{Direction, SearchPlan};

use super::order::SearchOrder;

/// A place in a search, in a token.
pub(super) struct Token(pub(super) SearchPlace);

impl Token {
    pub(super) fn write(&self, plan: &SearchPlan, direction: Direction) -> String {
        let fingerprint = fingerprint(plan);
        let letter = letter(direction);
        match &self.0 {
            SearchPlace::Key { after } => {
                let row = hex(after.as_deref().unwrap_or_default());
                format!("k{letter}.{fingerprint:016x}.{row}")
            }
            SearchPlace::Score { view, skip } => {
                let view = view.unwrap_or_default();
                format!("s.{fingerprint:016x}.{view}.{skip}")
            }
            SearchPlace::Field { after, .. } => {
                let (value, row) = match after {
                    Some(ValueRow { value, row }) => (value.as_deref(), &row[..]),
                    None => (None, &[][..]),
                };
                let value = value.map_or_else(|| "-".to_owned(), hex);
                format!("v{letter}.{fingerprint:016x}.{value}.{}", hex(row))
            }
        }
    }

    /// Reads a token. [`Token::check`] checks that it belongs to the query.
    pub(super) fn parse(text: &str, direction: Direction, order: &SearchOrder) -> Result<Self> {
        let bad = || Error::invalid(format!("not a page token of a search: token={text}"));
        let mut parts = text.split('.');
        let kind = parts.next().unwrap_or_default();
        let _fingerprint = parts.next().ok_or_else(bad)?;
        let letter = letter(direction);
        let due = match order {
            SearchOrder::Key => format!("k{letter}"),
            SearchOrder::Score => "s".to_owned(),
            SearchOrder::Field(_) => format!("v{letter}"),
        };
        if kind != due {
            return Err(Error::invalid(format!(
                "the page token belongs to another order or direction: token={text}"
            )));
        }
        let row = |part: Option<&str>| -> Result<Bytes> {
            let row = part.and_then(unhex).filter(|row| !row.is_empty());
            Ok(row.ok_or_else(bad)?.into())
        };
        let place = match order {
            SearchOrder::Key => SearchPlace::Key { after: Some(row(parts.next())?) },
            SearchOrder::Field(field) => {
                let value = match parts.next().ok_or_else(bad)? {
                    "-" => None,
                    value => Some(unhex(value).ok_or_else(bad)?.into()),
                };
                let after = Some(ValueRow { value, row: row(parts.next())? });
                SearchPlace::Field { field: field.clone(), after }
            }
            SearchOrder::Score => {
                let mut number = || parts.next().and_then(|part| part.parse::<u64>().ok());
                let view = number().ok_or_else(bad)?;
                let skip = number().ok_or_else(bad)?;
                SearchPlace::Score { view: Some(view), skip }
            }
        };
        match parts.next() {
            None => Ok(Self(place)),
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

/// A number that differs between queries. Another program version may have another one.
fn fingerprint(plan: &SearchPlan) -> u64 {
    let mut hasher = DefaultHasher::new();
    plan.to_string().hash(&mut hasher);
    for range in plan.key_ranges() {
        (&range.start[..], &range.stop[..]).hash(&mut hasher);
    }
    hasher.finish()
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
