//! Split points for a new table's regions.

use rowhouse_model::{Bytes, Error, Result};

use super::schema::KeySchema;
use crate::computed::{Computed, Formula};
use crate::encode::{Body, Codec, Container, Content, Sequence, Shape};
use crate::template::Element;

/// The bytes that a key's first field can begin with, evenly distributed.
enum FirstBytes {
    /// A value list, in key order.
    Values(Vec<Vec<u8>>),
    /// This many positions, each with a byte from this set.
    Places { bytes: &'static [u8], places: usize },
    /// This many positions, each with any byte.
    Binary { places: usize },
}

impl KeySchema {
    /// Returns the start key of each region but the first, so that each of `regions` regions gets
    /// the same key share: one split less than there are regions.
    ///
    /// ```
    /// use rowhouse_schema::KeySchema;
    ///
    /// let splits = |template| KeySchema::parse(template)?.splits(4);
    /// assert_eq!(splits("[followed text md5 4 hex][follower text md5 4 hex]")?, ["4", "8", "c"]);
    /// assert_eq!(splits("[phone digits 11 reverse]")?, ["25", "5", "75"]);
    /// assert_eq!(splits("[salt 4 a-d]-[id text]")?, ["b", "c", "d"]);
    /// assert!(splits("[user text]_[at millis]").is_err());
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` if the template does not determine how keys are distributed (only buckets,
    /// salts, hashes, digits, hex, uuids and small fields do), or has fewer first values than
    /// `regions`.
    pub fn splits(&self, regions: usize) -> Result<Vec<Bytes>> {
        if regions == 0 {
            return Err(Error::invalid("a table has at least one region: regions=0"));
        }
        if regions == 1 {
            return Ok(Vec::new());
        }
        let (literal, first) = match self.elements() {
            [Element::Literal(literal), first, ..] => (literal.as_slice(), first),
            [first, ..] => (&[][..], first),
            [] => return Err(self.no_spread()),
        };
        let spread = match first {
            Element::Computed(at) => of_computed(&self.computed()[*at]),
            Element::Field(at) => of_stored(&self.fields()[*at].codec),
            Element::Literal(_) => None,
        };
        let starts = spread.ok_or_else(|| self.no_spread())?.starts(regions)?;
        let key = |start: Vec<u8>| Bytes::from([literal, &start].concat());
        Ok(starts.into_iter().map(key).collect())
    }

    fn no_spread(&self) -> Error {
        Error::invalid(format!(
            "the template does not determine how keys are spread, give the splits: \
             template={self}; keys that begin with a bucket, salt, hash, uuid, digits or hex are \
             spread evenly"
        ))
    }
}

impl FirstBytes {
    /// Returns the start of each region but the first.
    fn starts(self, regions: usize) -> Result<Vec<Vec<u8>>> {
        let (bytes, places) = match self {
            Self::Values(values) => {
                check_count(regions, values.len())?;
                let start = |nth: usize| values[nth * values.len() / regions].clone();
                return Ok((1..regions).map(start).collect());
            }
            Self::Places { bytes, places } => (bytes.to_vec(), places),
            Self::Binary { places } => ((0..=u8::MAX).collect(), places),
        };
        let base = bytes.len() as u128;
        // The fewest positions that let regions differ by at most a sixteenth.
        let enough = 16 * regions as u128;
        let used = (1..=places.min(9)).find(|&used| base.pow(used as u32) >= enough);
        let used = used.unwrap_or(places.min(9));
        let size = base.pow(used as u32);
        check_count(regions, usize::try_from(size).unwrap_or(usize::MAX))?;
        let start = |nth: usize| {
            let mut number = nth as u128 * size / regions as u128;
            let mut start = vec![bytes[0]; used];
            for place in start.iter_mut().rev() {
                *place = bytes[(number % base) as usize];
                number /= base;
            }
            let len = start.iter().rposition(|byte| *byte != bytes[0]).map_or(1, |last| last + 1);
            start.truncate(len);
            start
        };
        Ok((1..regions).map(start).collect())
    }
}

fn check_count(regions: usize, values: usize) -> Result<()> {
    if regions <= values {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "more regions than the first field of the key has values: regions={regions}, values={values}"
    )))
}

fn of_computed(computed: &Computed) -> Option<FirstBytes> {
    match computed.formula {
        Formula::Hash { .. } => of_stored(&computed.codec),
        Formula::Bucket { .. } | Formula::Salt { .. } => every(&computed.codec),
    }
}

fn of_stored(codec: &Codec) -> Option<FirstBytes> {
    match &codec.body {
        _ if !codec.lead.is_none() => None,
        Body::Hashed(hashed) => Some(of_bytes(hashed.fixed.width.into(), hashed.fixed.hex)),
        Body::Number(number) => match number.shape() {
            Shape::Digits { width } if number.is_evenly_written() => {
                Some(FirstBytes::Places { bytes: b"0123456789", places: width.into() })
            }
            // A reversed number begins with the fast-changing end.
            Shape::Binary { bytes, .. } if !number.is_ordered() => {
                Some(of_bytes(bytes.into(), false))
            }
            Shape::Hex { width, .. } if !number.is_ordered() => {
                Some(of_bytes(usize::from(width) / 2, true))
            }
            _ => every(codec),
        },
        Body::Sequence(Sequence { content, container: Container::Fixed(fixed), .. }) => {
            match content {
                Content::Uuid => Some(of_bytes(16, fixed.hex)),
                Content::Raw | Content::Some => Some(of_bytes(fixed.width.into(), fixed.hex)),
                // Upper case and complemented values have other characters.
                Content::Hex { upper } if !fixed.desc => {
                    let bytes: &[u8] = if *upper { b"0123456789ABCDEF" } else { HEX };
                    Some(FirstBytes::Places { bytes, places: fixed.width.into() })
                }
                Content::Hex { .. }
                | Content::Text
                | Content::Ascii
                | Content::Decimal(_)
                | Content::Integer(_) => None,
            }
        }
        _ => None,
    }
}

const HEX: &[u8] = b"0123456789abcdef";

fn of_bytes(width: usize, hex: bool) -> FirstBytes {
    if hex {
        FirstBytes::Places { bytes: HEX, places: 2 * width }
    } else {
        FirstBytes::Binary { places: width }
    }
}

/// All values of a small field, if it has at most 65,536 values.
fn every(codec: &Codec) -> Option<FirstBytes> {
    const VALUES_MAX: u128 = 65_536;
    let Body::Number(number) = &codec.body else { return None };
    let low = number.domain.min;
    let high = number.domain.max;
    if number.count(low, high) > VALUES_MAX {
        return None;
    }
    let encoded = number.each(low, high).map(|value| {
        let mut bytes = Vec::new();
        number.put(value, &mut bytes);
        bytes
    });
    let mut values: Vec<_> = encoded.collect();
    values.sort_unstable();
    Some(FirstBytes::Values(values))
}
