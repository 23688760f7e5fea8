//! Page tokens: the position where a read stopped, for another process to resume at. A token is
//! self-contained, and identifies the template, query and direction.

use rowhouse_model::{Error, Result, RowRange};
use xxhash_rust::xxh3::xxh3_64;

use super::order::RowSequence;
use super::query_plan::Plan;
use super::ranges::intersect;
use super::streams::Stream;
use crate::value::parse_hex;

/// The direction in which rows are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// In key order.
    Forward,
    /// In reverse key order.
    Reverse,
}

/// The token format version. A token is hexadecimal text with: the version (one byte), the
/// direction (one byte), the fingerprints for template and query, the last key, a checksum.
const FORM: u8 = 1;
const HEAD_LEN: usize = 18;
const SUM_LEN: usize = 4;

impl Plan {
    /// Returns a token for the rows after `last`, the last row that was read.
    ///
    /// # Example: how is a query read page by page?
    ///
    /// ```
    /// use rowhouse_schema::{Direction, KeySchema, Predicate};
    ///
    /// let schema = KeySchema::parse("[user string][n u8]")?;
    /// let plan = schema.plan(&Predicate::parse("user = 'bob'")?)?;
    /// let last = schema.encode(&[("user", "bob".into()), ("n", 7.into())])?;
    ///
    /// let token = plan.page_token(&last, Direction::Forward)?;
    /// let rest = plan.resume(&token, Direction::Forward)?;
    /// assert!(!rest.ranges()[0].contains(&last));
    ///
    /// // Another query refuses the token.
    /// let other = schema.plan(&Predicate::parse("user = 'eve'")?)?;
    /// assert!(other.resume(&token, Direction::Forward).is_err());
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest`, if rows are merged, for a key that does not fit the template: it has no
    /// position among those that do.
    pub fn page_token(&self, last: &[u8], direction: Direction) -> Result<String> {
        if self.is_merged() {
            self.schema.places(last)?;
        }
        let mut token = vec![FORM, direction as u8];
        token.extend_from_slice(&self.template_fingerprint().to_be_bytes());
        token.extend_from_slice(&self.query_fingerprint().to_be_bytes());
        token.extend_from_slice(last);
        let sum = sum(&token);
        token.extend_from_slice(&sum);
        Ok(token.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns the plan for the rows that follow those read before the token was made. When reading
    /// in reverse, ranges end before the last row read; otherwise they begin after it.
    ///
    /// # Errors
    /// `InvalidRequest` for a token that is damaged, or was made for another template, query or
    /// direction.
    pub fn resume(&self, token: &str, direction: Direction) -> Result<Self> {
        let refuse = |why: &str| Error::invalid(format!("the page token {why}"));
        let token = parse_hex(token).ok_or_else(|| refuse("is invalid: expected hex digits"))?;
        let body = token.len().checked_sub(SUM_LEN).map(|len| token.split_at(len));
        let (body, _) = body
            .filter(|(body, stored)| body.len() > HEAD_LEN && sum(body) == *stored)
            .ok_or_else(|| refuse("is invalid or damaged"))?;
        let (head, last) = body.split_at(HEAD_LEN);
        if head[0] != FORM {
            return Err(refuse(&format!("is of a newer version: form={}, known={FORM}", head[0])));
        }
        if head[2..10] != self.template_fingerprint().to_be_bytes() {
            return Err(refuse("is of another template of the key"));
        }
        if head[10..18] != self.query_fingerprint().to_be_bytes() {
            return Err(refuse("is of another query"));
        }
        if head[1] != direction as u8 {
            return Err(refuse("is of a read in the other direction"));
        }
        self.after(last, direction)
    }

    fn after(&self, last: &[u8], direction: Direction) -> Result<Self> {
        let mut plan = self.clone();
        if self.is_merged() {
            let places = self.schema.places(last)?;
            let logical = self.schema.logical_key(last)?;
            let prefix = &last[..places.iter().last().map_or(0, |place| place.end)];
            for stream in &mut plan.streams {
                let left = left(stream, &logical, prefix, direction);
                stream.ranges = left.map_or(Vec::new(), |left| intersect(&stream.ranges, &[left]));
            }
        } else {
            let left = following(last, false, direction);
            for stream in &mut plan.streams {
                stream.ranges = intersect(&stream.ranges, std::slice::from_ref(&left));
            }
        }
        plan.streams.retain(|stream| !stream.ranges.is_empty());
        plan.ranges = plan.streams.iter().flat_map(|stream| stream.ranges.clone()).collect();
        Ok(plan)
    }

    fn is_merged(&self) -> bool {
        self.order.sequence() == RowSequence::Merged
    }

    fn template_fingerprint(&self) -> u64 {
        xxh3_64(self.schema.to_stored().as_bytes())
    }

    /// The fingerprint covers the zone, because it changes the rows that a query matches.
    fn query_fingerprint(&self) -> u64 {
        let zone = match (self.zone.iana_name(), self.zone.to_fixed_offset()) {
            (Some(name), _) => name.to_owned(),
            (None, Ok(offset)) => offset.to_string(),
            (None, Err(_)) => format!("{:?}", self.zone),
        };
        xxh3_64(format!("{zone} {}", self.predicate).as_bytes())
    }
}

/// Returns the part of a stream that remains after rows were merged up to this logical key, when
/// the last of them came from the stream with this prefix. Among rows with equal logical keys, the
/// rows with the lesser prefix come first.
fn left(stream: &Stream, logical: &[u8], prefix: &[u8], direction: Direction) -> Option<RowRange> {
    let own = stream.logical_prefix();
    let Some(rest) = logical.strip_prefix(own.as_slice()) else {
        let ahead = (own.as_slice() > logical) == (direction == Direction::Forward);
        return ahead.then(RowRange::all);
    };
    let same = [stream.prefix.as_slice(), rest].concat();
    let with_key = match direction {
        Direction::Forward => stream.prefix.as_slice() > prefix,
        Direction::Reverse => stream.prefix.as_slice() < prefix,
    };
    Some(following(&same, with_key, direction))
}

/// Returns the rows that follow a key in a direction, with or without the key itself.
fn following(key: &[u8], with_key: bool, direction: Direction) -> RowRange {
    let RowRange { start: own, stop: next } = RowRange::row(key);
    let all = RowRange::all();
    match (direction, with_key) {
        (Direction::Forward, true) => RowRange { start: own, ..all },
        (Direction::Forward, false) => RowRange { start: next, ..all },
        (Direction::Reverse, true) => RowRange { stop: next, ..all },
        (Direction::Reverse, false) => RowRange { stop: own, ..all },
    }
}

fn sum(bytes: &[u8]) -> [u8; SUM_LEN] {
    (xxh3_64(bytes) as u32).to_be_bytes()
}
