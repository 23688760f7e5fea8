//! Logical keys: keys without the computed fields. Rows from several buckets are merged in logical
//! key order.

use std::borrow::Cow;
use std::ops::Range;

use super::reader::literal;
use super::schema::KeySchema;
use crate::error::KeyMismatch;
use crate::template::{COMPUTED_MAX, Element};

/// The computed fields' positions in a key.
pub(crate) struct ComputedOffsets {
    list: [(usize, usize); COMPUTED_MAX],
    count: usize,
}

impl ComputedOffsets {
    /// The fields' byte ranges, from left to right.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Range<usize>> {
        self.list[..self.count].iter().map(|&(start, stop)| start..stop)
    }
}

impl KeySchema {
    /// Returns the key without computed fields. Rows from several buckets, merged by it, come in
    /// the order that they would have without the buckets.
    ///
    /// ```
    /// use rowhouse_schema::KeySchema;
    ///
    /// let schema = KeySchema::parse("[salt 4 a-d]-[id text]")?;
    /// assert_eq!(schema.logical_key(b"c-foo0003")?.as_ref(), b"-foo0003");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error for a key that does not fit the template up to the last computed field.
    pub fn logical_key<'k>(&self, key: &'k [u8]) -> Result<Cow<'k, [u8]>, KeyMismatch> {
        let places = self.places(key)?;
        let mut iter = places.iter();
        match (iter.next(), iter.next()) {
            (None, _) => Ok(key.into()),
            (Some(first), None) if first.start == 0 => Ok(key[first.end..].into()),
            _ => Ok(without(key, &places).into()),
        }
    }

    /// Returns how many bytes come before every logical key, if the logical key is the whole rest
    /// of the key: the template's first element is then the only computed field that disturbs the
    /// order.
    pub(crate) fn logical_lead(&self) -> Option<usize> {
        let mut merged = (0..self.computed().len()).filter(|at| !self.follows(*at));
        let only = merged.next().filter(|_| merged.next().is_none())?;
        let is_first = self.elements().first() == Some(&Element::Computed(only));
        is_first.then(|| self.computed()[only].width())
    }

    /// Returns where the computed fields are that disturb the order.
    pub(crate) fn places(&self, key: &[u8]) -> Result<ComputedOffsets, KeyMismatch> {
        // Fields determined by those before them do not disturb the order.
        let merged = (0..self.computed().len()).filter(|at| !self.follows(*at)).count();
        let mut places = ComputedOffsets { list: [(0, 0); COMPUTED_MAX], count: 0 };
        let mut at = 0;
        for element in self.elements() {
            if places.count == merged {
                break;
            }
            at = match element {
                Element::Literal(bytes) => literal(bytes, key, at)?,
                Element::Field(nth) => {
                    let codec = &self.fields()[*nth].codec;
                    match codec.width() {
                        Some(width) => at + width,
                        None => codec.decode(key, at)?.1,
                    }
                }
                Element::Computed(nth) => {
                    let next = at + self.computed()[*nth].width();
                    if !self.follows(*nth) {
                        places.list[places.count] = (at, next);
                        places.count += 1;
                    }
                    next
                }
            };
            if at > key.len() {
                return Err(KeyMismatch::new(key.len(), "the key ends before its computed field"));
            }
        }
        Ok(places)
    }
}

fn without(key: &[u8], places: &ComputedOffsets) -> Vec<u8> {
    let mut logical = Vec::with_capacity(key.len());
    let mut at = 0;
    for place in places.iter() {
        logical.extend_from_slice(&key[at..place.start]);
        at = place.end;
    }
    logical.extend_from_slice(&key[at..]);
    logical
}
