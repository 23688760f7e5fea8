//! What the order of keys says about the order of a field's values.

use std::fmt;

use crate::encode::{Arrangement, Body, Codec, Container, End, Fixed};

/// Whether keys that agree in all fields before this one, computed ones too, come in the order of this field's values
/// (in descending order, for `desc`).
///
/// # Example: will user10 come behind user1?
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
    /// By value.
    Ordered,
    /// By the bytes that are stored, which is not always the order of the values: a text before a
    /// literal comes in the order of the text with the literal behind it, a domain in that of its parts from
    /// the last to the first, a decimal in that of its digits, and what is reversed, hashed, floored or
    /// repeated in that of what is kept of it.
    AsStored,
    /// In no order that concerns this field alone: the field's end is found from the key's end, or
    /// such a field stands before it.
    Unordered,
}

impl FieldOrder {
    /// The order of a field by itself, whatever stands before it.
    pub(crate) fn of(codec: &Codec) -> Self {
        let open = match codec.end() {
            None | Some(End::Key) => Self::Ordered,
            // Nothing is less than zeros, so a text that goes on comes behind one that ends.
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

    /// The order of a field, given the order of the field before it.
    pub(crate) fn behind(self, before: Option<Self>) -> Self {
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
