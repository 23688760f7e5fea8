//! A field's modifiers: the conversions between a value and the bytes.
//!
//! They are applied, and written, in this order:
//!
//! ```text
//! value ── zone ── floor ── desc ── digits / hex ── reverse ── bytes      of a number or time
//! value ── reverse ── escape or pad ── desc ── hex ── bytes       of texts and bytes
//! value ── HASH ── hex ── bytes                                   of anything: not to be undone
//! ```
//!
//! Then `null first|last` adds a marker before the bytes.

mod bucketing;
mod floor;
mod hash;
mod java_hash;
mod murmur3;

use std::fmt;

use crate::time::FixedZone;

pub(crate) use bucketing::{Bucketing, width as bucket_width};
pub(crate) use floor::Floor;
pub(crate) use hash::{Digest, HashFunction};

/// A field's modifiers, as written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Modifiers {
    pub(crate) zone: Option<FixedZone>,
    pub(crate) floor: Option<Floor>,
    pub(crate) form: Option<TextForm>,
    pub(crate) reverse: bool,
    pub(crate) hash: Option<Hashing>,
    pub(crate) desc: bool,
    pub(crate) null: Option<NullPlace>,
}

/// The modifiers that write a number as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextForm {
    /// `digits [n]`, with `n` if it was written.
    Digits(Option<u8>),
    /// `hex`.
    Hex,
}

/// `HASH n [hex]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hashing {
    pub(crate) function: HashFunction,
    /// How many digest bytes are retained.
    pub(crate) len: u8,
    pub(crate) hex: bool,
}

/// `null first` or `null last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NullPlace {
    First,
    Last,
}

impl NullPlace {
    /// The byte that stands for null.
    pub(crate) fn null(self) -> u8 {
        match self {
            Self::First => 0,
            Self::Last => 1,
        }
    }

    /// The byte before a value.
    pub(crate) fn value(self) -> u8 {
        1 - self.null()
    }
}

impl fmt::Display for Modifiers {
    /// Writes each with a space before it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(zone) = &self.zone {
            write!(f, " tz {zone}")?;
        }
        if let Some(floor) = &self.floor {
            write!(f, " floor {floor}")?;
        }
        match self.form {
            Some(TextForm::Digits(Some(width))) => write!(f, " digits {width}")?,
            Some(TextForm::Digits(None)) => f.write_str(" digits")?,
            Some(TextForm::Hex) => f.write_str(" hex")?,
            None => {}
        }
        if self.reverse {
            f.write_str(" reverse")?;
        }
        if let Some(Hashing { function, len, hex }) = self.hash {
            write!(f, " {} {len}{}", function.word(), if hex { " hex" } else { "" })?;
        }
        if self.desc {
            f.write_str(" desc")?;
        }
        match self.null {
            Some(NullPlace::First) => f.write_str(" null first"),
            Some(NullPlace::Last) => f.write_str(" null last"),
            None => Ok(()),
        }
    }
}
