//! What is known of a foreign type: one line of a family's table, from which all else is derived.

use crate::encode::{Content, OrdinalDomain, Separation, Shape, Style};
use crate::time::TimeUnit;

/// A foreign type.
#[derive(Debug)]
pub(crate) struct Facts {
    /// Its word in templates, which has a dot.
    pub(crate) word: &'static str,
    pub(crate) layout: Layout,
    /// The byte in front of every value, by which types are told apart.
    pub(crate) tag: Option<u8>,
    pub(crate) null: Null,
    /// Whether there is a descending order: every byte complemented.
    pub(crate) desc: bool,
}

/// What values there are, and what their bytes are behind the tag.
#[derive(Debug)]
pub(crate) enum Layout {
    Number(Values, Shape),
    Sequence(Content, Frame),
}

/// Values that are numbers of a scale.
#[derive(Debug)]
pub(crate) enum Values {
    /// From the first to the last.
    Integers(i128, i128),
    /// Floats of so many bytes.
    Floats(u8),
    /// Floats of so many bytes, NaNs too.
    FloatsAndNans(u8),
    /// Those from positive zero on.
    PositiveFloats(u8),
    Bools,
    /// Counts of a unit since 1970, from the first to the last.
    Times(TimeUnit, i128, i128),
}

/// What says where texts and bytes end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    Terminated(Style),
    /// A separator, which the end of the key takes with it.
    Separated(Separation),
    SevenBits,
    /// The digits of `ordered.numeric`.
    Numeric,
    /// The end of the key.
    Rest,
    /// The end of the key; in descending order a terminator.
    Copy,
    /// The width that the template gives, shorter values padded with this byte if there is one.
    Width {
        pad: Option<u8>,
    },
    /// So many bytes.
    Fixed(u16),
}

/// How no value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Null {
    Never,
    /// This byte instead of the tag; complemented with it.
    Tag(u8),
    /// A separator alone, which is zero in descending order too.
    Separator,
}

impl Values {
    /// All integers of so many bytes.
    pub(super) const fn signed(bytes: u8) -> Self {
        let half = 1_i128 << (8 * bytes - 1);
        Self::Integers(-half, half - 1)
    }

    /// Those that are not negative.
    pub(super) const fn positive(bytes: u8) -> Self {
        Self::Integers(0, (1_i128 << (8 * bytes - 1)) - 1)
    }

    pub(super) fn domain(&self) -> OrdinalDomain {
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
