//! The list of the segments of an index.
//!
//! ```text
//! list    = form(1 byte, 1) segment*                    oldest first
//! segment = number(8) documents(4) length(8){6}         big-endian; a length for each component
//! ```

use rowhouse_model::{Error, Result};

use super::parts::Component;

const FORM: u8 = 1;
const SEGMENT_BYTES: usize = 8 + 4 + 8 * Component::ALL.len();

/// The facts about a segment that are needed to open it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SegmentMeta {
    /// Names it; never used again.
    pub(crate) number: u64,
    /// Documents, dead ones included.
    pub(crate) documents: u32,
    /// The bytes of each component, in the order of [`Component::ALL`].
    pub(crate) lengths: [u64; Component::ALL.len()],
}

impl SegmentMeta {
    /// The bytes of all components.
    pub(crate) fn bytes(&self) -> u64 {
        self.lengths.iter().sum()
    }

    /// Writes a list.
    pub(crate) fn encode(segments: &[Self]) -> Vec<u8> {
        let mut list = vec![FORM];
        for segment in segments {
            list.extend_from_slice(&segment.number.to_be_bytes());
            list.extend_from_slice(&segment.documents.to_be_bytes());
            segment.lengths.iter().for_each(|length| list.extend(length.to_be_bytes()));
        }
        list
    }

    /// Reads a list.
    ///
    /// # Errors
    /// `Unsupported` for the form of a newer version, `Corruption` for anything else that
    /// [`SegmentMeta::encode`] does not write.
    pub(crate) fn decode(list: &[u8]) -> Result<Vec<Self>> {
        let corrupt = || Error::corruption(format!("a list of segments has {} bytes", list.len()));
        let Some((form, segments)) = list.split_first() else { return Err(corrupt()) };
        if *form != FORM {
            let message = format!("a newer version wrote the list of segments: form={form}");
            return Err(Error::unsupported(message));
        }
        let (segments, rest) = segments.as_chunks::<SEGMENT_BYTES>();
        if !rest.is_empty() {
            return Err(corrupt());
        }
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, b| number << 8 | u64::from(*b));
        let segment = |bytes: &[u8; SEGMENT_BYTES]| {
            let mut lengths = [0; Component::ALL.len()];
            for (length, bytes) in lengths.iter_mut().zip(bytes[12..].chunks(8)) {
                *length = number(bytes);
            }
            Self { number: number(&bytes[..8]), documents: number(&bytes[8..12]) as u32, lengths }
        };
        Ok(segments.iter().map(segment).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let lengths = [1, 2, 3, 4, 5, u64::MAX];
        let segment = SegmentMeta { number: 7 << 40, documents: 9, lengths };
        let list = vec![segment.clone(), SegmentMeta { number: 8, ..segment }];
        assert_eq!(SegmentMeta::decode(&SegmentMeta::encode(&list)).unwrap(), list);
        assert_eq!(SegmentMeta::decode(&SegmentMeta::encode(&[])).unwrap(), []);
    }

    #[test]
    fn other_lists_are_refused() {
        for list in [&b""[..], b"\x02", b"\x01short"] {
            SegmentMeta::decode(list).unwrap_err();
        }
    }
}
