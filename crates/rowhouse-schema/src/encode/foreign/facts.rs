//! A foreign type's description: one line in `types.rs`, from which all else is derived.

use crate::encode::terminated::Style;
use crate::encode::{Content, OrdinalDomain, Separation, Shape};
use crate::time::TimeUnit;

/// A foreign type.
#[derive(Debug)]
pub(crate) struct TypeDescription {
    /// The word in templates, which contains a dot.
    pub(crate) word: &'static str,
    pub(crate) layout: Layout,
    /// The byte before every value, by which types are told apart.
    pub(crate) tag: Option<u8>,
    pub(crate) null: Null,
    /// True if the type has a descending order, in which every byte is complemented.
    pub(crate) desc: bool,
}

/// The type's values, and their bytes after the tag.
#[derive(Debug)]
pub(crate) enum Layout {
    Number(Values, Shape),
    Sequence(Content, Frame),
}

/// Values that are numbers in an ordinal domain.
#[derive(Debug)]
pub(crate) enum Values {
    /// The integers from the first to the last.
    Integers(i128, i128),
    /// Floats with this many bytes.
    Floats(u8),
    /// Floats with this many bytes, NaNs included.
    FloatsAndNans(u8),
    /// Floats with this many bytes, from positive zero on.
    PositiveFloats(u8),
    Bools,
    /// Unit counts since 1970, from the first to the last.
    Times(TimeUnit, i128, i128),
}

/// How texts and bytes end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    Terminated(Style),
    /// A separator, which is omitted at the key's end.
    Separated(Separation),
    SevenBits,
    /// The digits in `ordered.numeric`.
    Numeric,
    /// The key's end.
    Rest,
    /// The key's end, or a terminator in descending order.
    Copy,
    /// The width that the template specifies; shorter values are padded with this byte if there is
    /// one.
    Width {
        pad: Option<u8>,
    },
    /// This many bytes.
    Fixed(u16),
}

/// How null is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Null {
    Never,
    /// This byte in the tag's position; complemented as the tag is.
    Tag(u8),
    /// A separator alone, which is zero in descending order too.
    Separator,
}

impl Values {
    /// All integers with this many bytes.
    pub(super) const fn signed(bytes: u8) -> Self {
        let half = 1_i128 << (8 * bytes - 1);
        Self::Integers(-half, half - 1)
    }

    /// The integers with this many bytes that are not negative.
    pub(super) const fn positive(bytes: u8) -> Self {
        Self::Integers(0, (1_i128 << (8 * bytes - 1)) - 1)
    }

    pub(in crate::encode) fn domain(&self) -> OrdinalDomain {
        match self {
            Self::Integers(min, max) => OrdinalDomain::integers(*min, *max),
            Self::Floats(bytes) => OrdinalDomain::floats(*bytes),
            Self::FloatsAndNans(bytes) => OrdinalDomain::floats_and_nans(*bytes),
            Self::PositiveFloats(bytes) => OrdinalDomain::positive_floats(*bytes),
            Self::Bools => OrdinalDomain::bools(),
            Self::Times(unit, min, max) => OrdinalDomain::times(*unit, *min, *max),
        }
    }
}
