//! How the key order relates to the order of a field's values.

use std::fmt;

use crate::encode::{Arrangement, Body, Codec, Container, End, Fixed};

/// Whether keys that agree in all earlier fields, computed ones included, come in the order of this
/// field's values (for `desc`, in descending order).
///
/// # Example: does user10 come after user1?
///
/// ```
/// use rowhouse_schema::{FieldOrder, KeySchema};
///
/// // No: '0' is less than '_', so "user10_…" comes before "user1_…".
/// let drawn = KeySchema::parse("[user text]_[at millis desc]")?;
/// assert_eq!(drawn.fields()[0].order(), FieldOrder::AsStored);
///
/// // `string` ends its values so that they keep their order.
/// let better = KeySchema::parse("[user string][at millis desc]")?;
/// assert_eq!(better.fields()[0].order(), FieldOrder::Ordered);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldOrder {
    /// In value order.
    Ordered,
    /// In stored byte order, which is not always the value order. A text before a literal is
    /// ordered as the text with the literal appended, a domain by the parts from last to first, a
    /// decimal by the digits as text; reversed, hashed, floored and repeated values by the bytes
    /// that the key holds for them.
    AsStored,
    /// In no order by this field alone: the field's end, or an earlier field's end, is found by
    /// counting from the key's end.
    Unordered,
}

impl FieldOrder {
    /// Returns a field's order without regard to the fields before it.
    pub(crate) fn of(codec: &Codec) -> Self {
        let open = match codec.end() {
            None | Some(End::Key) => Self::Ordered,
            // No bytes are less than zeros, so a longer text comes after the text that it extends.
            Some(End::Literal(literal)) if literal.iter().all(|byte| *byte == 0) => Self::Ordered,
            Some(End::Literal(_)) => Self::AsStored,
            Some(End::Before(_)) => Self::Unordered,
        };
        match &codec.body {
            _ if open == Self::Unordered => Self::Unordered,
            Body::Number(number) if number.is_floored() || !number.is_ordered() => Self::AsStored,
            Body::Number(_) => Self::Ordered,
            Body::Sequence(sequence) => match (sequence.arrangement, &sequence.container) {
                (Arrangement::AsGiven, Container::Fixed(Fixed { pad: Some(1..), .. })) => {
                    Self::AsStored
                }
                (_, Container::SevenBits(_)) => Self::AsStored,
                (Arrangement::AsGiven, _) => open,
                _ => Self::AsStored,
            },
            Body::Shortest(_) | Body::Repeat(_) | Body::Hashed(_) => Self::AsStored,
        }
    }

    /// Returns a field's order, given the previous field's order.
    pub(crate) fn after(self, before: Option<Self>) -> Self {
        if before == Some(Self::Unordered) { Self::Unordered } else { self }
    }
}

impl fmt::Display for FieldOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ordered => "ordered",
            Self::AsStored => "ordered as stored",
            Self::Unordered => "unordered",
        })
    }
}
