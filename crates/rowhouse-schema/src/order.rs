//! What the order of keys says about the order of a field's values.

use std::fmt;

use crate::encode::{Codec, TextEnd};

/// Whether keys that agree in all fields before this one come in the order of this field's values
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
    /// literal comes in the order of the text with the literal behind it.
    AsStored,
    /// In no order that concerns this field alone: the field's end is found from the key's end, or
    /// such a field stands before it.
    Unordered,
}

impl FieldOrder {
    /// The order of a field, given the order of the field before it.
    pub(crate) fn of(codec: &Codec, before: Option<Self>) -> Self {
        if before == Some(Self::Unordered) {
            return Self::Unordered;
        }
        match codec {
            Codec::Number(_) | Codec::String(_) => Self::Ordered,
            Codec::Text(text) => match &text.end {
                TextEnd::KeyEnd => Self::Ordered,
                // Nothing is less than zeros, so a text that goes on comes behind one that ends.
                TextEnd::Literal(literal) if literal.iter().all(|&byte| byte == 0) => Self::Ordered,
                TextEnd::Literal(_) => Self::AsStored,
                TextEnd::Before(_) => Self::Unordered,
            },
        }
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
