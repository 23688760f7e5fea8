//! What stands in front of a field's own bytes: the marker of a value or of none, or the tag by which
//! another system tells its types apart.

use rowhouse_model::RowRange;

use crate::error::NotFitting;
use crate::transform::NullPlace;

/// The byte in front of every value, and the one that stands for no value. Where there is none in front
/// of values, no value begins with that of null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lead {
    pub(crate) value: Option<u8>,
    pub(crate) null: Option<u8>,
}

/// What a lead says of the bytes behind it.
pub(crate) enum Led {
    /// A value, which begins there.
    Value(usize),
    /// No value; the next field begins there.
    Null(usize),
}

impl Lead {
    /// The markers of `null first` and `null last`.
    pub(crate) fn markers(place: NullPlace) -> Self {
        Self { value: Some(place.value()), null: Some(place.null()) }
    }

    /// Whether values have nothing in front and are never null.
    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self.value.is_none() && self.null.is_none()
    }

    /// How many bytes stand in front of every value.
    pub(crate) fn len(self) -> usize {
        usize::from(self.value.is_some())
    }

    /// Every byte complemented, as other systems do for descending order.
    pub(crate) fn complemented(self) -> Self {
        Self { value: self.value.map(|byte| !byte), null: self.null.map(|byte| !byte) }
    }

    /// Reads the lead at `at`.
    pub(crate) fn read(self, key: &[u8], at: usize) -> Result<Led, NotFitting> {
        let found = key.get(at).copied();
        if self.null.is_some() && found == self.null {
            return Ok(Led::Null(at + 1));
        }
        match self.value {
            None => Ok(Led::Value(at)),
            Some(value) if found == Some(value) => Ok(Led::Value(at + 1)),
            Some(_) if self.null.is_some() => {
                Err(NotFitting::new(at, "neither the marker of null nor that of a value"))
            }
            Some(value) => {
                Err(NotFitting::new(at, format!("expected the tag {value:02x} of the type")))
            }
        }
    }

    /// The keys of null. A zero without markers stands before all values, and so does the end of a key that
    /// takes it away.
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
