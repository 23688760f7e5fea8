//! Texts and bytes: a content in an arrangement, in a container that determines where it ends.

use std::borrow::Cow;

use super::content::{Arrangement, Content};
use super::fixed::Fixed;
use super::foreign::{self, Numeric};
use super::open::End;
use super::own::Frame;
use super::separated::Separated;
use super::seven_bits::SevenBits;
use super::terminated::{Style, Terminated};
use crate::error::KeyMismatch;
use crate::transform::{Modifiers, TextForm};
use crate::value::{FieldValue, Value};

/// The codec for a field with texts or bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sequence {
    pub(crate) content: Content,
    pub(crate) arrangement: Arrangement,
    pub(crate) container: Container,
}

/// A value's container, which determines where the value ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    Open(End),
    Terminated(Terminated),
    Fixed(Fixed),
    /// `ordered.blob_var`.
    SevenBits(SevenBits),
    /// `ordered.numeric`: the value's own bytes determine where it ends.
    Numeric(Numeric),
    Separated(Separated),
}

impl Container {
    /// Creates the container for a type from another system; `width` is the width that the template
    /// specifies, if it has one.
    pub(super) fn foreign(frame: foreign::Frame, width: Option<u16>, desc: bool) -> Self {
        match frame {
            foreign::Frame::Terminated(style) => Self::Terminated(Terminated { style, desc }),
            foreign::Frame::Separated(separation) => {
                Self::Separated(Separated { separation, desc, in_tail: false })
            }
            foreign::Frame::SevenBits => Self::SevenBits(SevenBits { desc }),
            foreign::Frame::Numeric => Self::Numeric(Numeric { desc }),
            foreign::Frame::Copy if desc => {
                Self::Terminated(Terminated { style: Style::Zero, desc })
            }
            foreign::Frame::Rest | foreign::Frame::Copy => Self::Open(End::Key),
            foreign::Frame::Width { pad } => {
                Self::Fixed(Fixed { pad, desc, ..Fixed::new(width.unwrap_or(1)) })
            }
            foreign::Frame::Fixed(width) => Self::Fixed(Fixed { desc, ..Fixed::new(width) }),
        }
    }
}

impl Sequence {
    /// Creates the codec for texts or bytes; `end` is their end if the frame is open.
    pub(crate) fn new(
        (content, arrangement, frame): (Content, Arrangement, Frame),
        modifiers: &Modifiers,
        end: End,
    ) -> Self {
        let desc = modifiers.desc;
        let hex = modifiers.form == Some(TextForm::Hex);
        let low_first = hex && modifiers.reverse;
        let container = match frame {
            Frame::Open => Container::Open(end),
            Frame::Terminated => Container::Terminated(Terminated::pair(desc)),
            Frame::Width(width, pad) => {
                Container::Fixed(Fixed { width, pad, desc, hex, low_first })
            }
        };
        let arrangement = if modifiers.reverse { Arrangement::Reversed } else { arrangement };
        Self { content, arrangement, container }
    }

    /// Returns true if keys hold value bytes unchanged.
    pub(crate) fn is_as_given(&self) -> bool {
        let contained = match &self.container {
            Container::Open(_) => true,
            Container::Terminated(_)
            | Container::SevenBits(_)
            | Container::Numeric(_)
            | Container::Separated(_) => false,
            Container::Fixed(fixed) => !fixed.desc && !fixed.hex,
        };
        contained && self.arrangement.is_as_given()
    }

    /// Creates the codec for texts or bytes in another system's encoding.
    pub(crate) fn foreign(content: Content, container: Container) -> Self {
        Self { content, arrangement: Arrangement::AsGiven, container }
    }

    pub(crate) fn width(&self) -> Option<usize> {
        match &self.container {
            Container::Fixed(fixed) => Some(fixed.width()),
            Container::Open(_)
            | Container::Terminated(_)
            | Container::SevenBits(_)
            | Container::Numeric(_)
            | Container::Separated(_) => None,
        }
    }

    pub(crate) fn encode(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        self.put(self.content.bytes(value)?, out)
    }

    /// Appends a value's bytes, arranged and in their container.
    #[inline]
    pub(crate) fn put(&self, value: Cow<'_, [u8]>, out: &mut Vec<u8>) -> Result<(), String> {
        let stored = self.arrangement.order_break(self.content, value);
        match &self.container {
            Container::Open(end) => {
                end.check(&stored)?;
                out.extend_from_slice(&stored);
            }
            Container::Terminated(terminated) => {
                terminated.check(&stored)?;
                terminated.put(&stored, out);
            }
            Container::Fixed(fixed) => {
                fixed.check(&stored)?;
                fixed.put(&stored, out);
            }
            Container::SevenBits(seven) => seven.put(&stored, out),
            Container::Numeric(numeric) => numeric.put(&stored, out),
            Container::Separated(separated) => {
                separated.check(&stored)?;
                separated.put(&stored, out);
            }
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn decode<'k>(
        &self,
        key: &'k [u8],
        at: usize,
    ) -> Result<(FieldValue<'k>, usize), KeyMismatch> {
        let (stored, next) = match &self.container {
            Container::Open(end) => {
                let bytes = end.cut(key, at)?;
                (bytes.into(), at + bytes.len())
            }
            Container::Terminated(terminated) => terminated.decode(key, at)?,
            Container::Fixed(fixed) => (fixed.decode(key, at)?, at + fixed.width()),
            Container::SevenBits(seven) => seven.decode(key, at).map(owned)?,
            Container::Numeric(numeric) => numeric.cut(key, at).map(owned)?,
            Container::Separated(separated) => separated.decode(key, at).map(owned)?,
        };
        let value = self.content.value(self.arrangement.order_break(self.content, stored));
        Ok((value.map_err(|(offset, why)| KeyMismatch::new(at + offset, why))?, next))
    }
}

fn owned((bytes, next): (Vec<u8>, usize)) -> (Cow<'static, [u8]>, usize) {
    (bytes.into(), next)
}
