//! What is known of a foreign type: one line of a family's table, from which all else is derived.

use crate::encode::{Scale, Shape};

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
}

/// Values that are numbers of a scale.
#[derive(Debug)]
pub(crate) enum Values {
    /// From the first to the last.
    Integers(i128, i128),
    /// Floats of so many bytes.
    Floats(u8),
    Bools,
}

/// How no value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Null {
    Never,
    /// This byte instead of the tag; complemented with it.
    Tag(u8),
}

impl Values {
    /// All integers of so many bytes.
    pub(super) const fn signed(bytes: u8) -> Self {
        let half = 1_i128 << (8 * bytes - 1);
        Self::Integers(-half, half - 1)
    }

    pub(super) fn scale(&self) -> Scale {
        match self {
            Self::Integers(min, max) => Scale::integers(*min, *max),
            Self::Floats(bytes) => Scale::floats(*bytes),
            Self::Bools => Scale::bools(),
        }
    }
}
