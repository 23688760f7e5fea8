//! The byte before a field's own bytes: the marker for a value or for null, or the tag by which
//! another system tells types apart.

use rowhouse_model::RowRange;

use crate::error::KeyMismatch;
use crate::transform::NullPlace;

/// The byte before every value, and the byte that stands for null. If values have none, no value
/// begins with the byte for null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marker {
    pub(crate) value: Option<u8>,
    pub(crate) null: Option<u8>,
}

/// What reading a lead returns.
pub(crate) enum MarkerRead {
    /// A value, at this offset.
    Value(usize),
    /// Null; the next field is at this offset.
    Null(usize),
}

impl Marker {
    /// Returns the markers for `null first` and `null last`.
    pub(crate) fn markers(place: NullPlace) -> Self {
        Self { value: Some(place.value()), null: Some(place.null()) }
    }

    /// Returns true if values have no byte before them and are never null.
    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self.value.is_none() && self.null.is_none()
    }

    /// How many bytes come before every value.
    pub(crate) fn len(self) -> usize {
        usize::from(self.value.is_some())
    }

    /// Returns the lead with every byte complemented, as other systems do for descending order.
    pub(crate) fn complemented(self) -> Self {
        Self { value: self.value.map(|byte| !byte), null: self.null.map(|byte| !byte) }
    }

    /// Reads the lead at `at`.
    pub(crate) fn read(self, key: &[u8], at: usize) -> Result<MarkerRead, KeyMismatch> {
        let first = key.get(at).copied();
        if self.null.is_some() && first == self.null {
            return Ok(MarkerRead::Null(at + 1));
        }
        match self.value {
            None => Ok(MarkerRead::Value(at)),
            Some(value) if first == Some(value) => Ok(MarkerRead::Value(at + 1)),
            Some(_) if self.null.is_some() => {
                Err(KeyMismatch::new(at, "neither the marker of null nor that of a value"))
            }
            Some(value) => {
                Err(KeyMismatch::new(at, format!("expected the tag {value:02x} of the type")))
            }
        }
    }

    /// Returns the range for null's keys. A null encoded as 00, if values have no marker, comes
    /// before all values, also if the key's end omits it.
    pub(crate) fn nulls(self) -> Option<RowRange> {
        let null = RowRange::prefix(&[self.null?]);
        Some(match self {
            Self { value: None, null: Some(0) } => {
                RowRange { start: RowRange::all().start, ..null }
            }
            _ => null,
        })
    }
}
