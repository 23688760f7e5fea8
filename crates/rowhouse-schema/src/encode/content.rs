//! What text-like fields hold: which values they take, and how their bytes are arranged in keys.

use std::borrow::Cow;

use super::foreign::{DecimalEncoding, IntegerEncoding};
use crate::value::{FieldValue, Uuid, Value, parse_hex};

/// The byte kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// UTF-8.
    Text,
    /// Any bytes.
    Raw,
    /// A UUID's sixteen bytes.
    Uuid,
    /// Hexadecimal characters.
    Hex { upper: bool },
    /// ASCII, at least one character: `phoenix.char`.
    Ascii,
    /// At least one byte: `phoenix.varbinary`.
    Some,
    /// A decimal number in another system's encoding.
    Decimal(DecimalEncoding),
    /// A whole number in another system's encoding.
    Integer(IntegerEncoding),
}

/// How a value's bytes are arranged in the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrangement {
    AsGiven,
    /// `reverse`: the last character or byte comes first.
    Reversed,
    /// `domain`: the last dot-separated part comes first.
    Labels,
}

impl Content {
    /// Returns a value's bytes, before any modifier.
    #[inline]
    pub(crate) fn bytes<'v>(self, value: &'v Value) -> Result<Cow<'v, [u8]>, String> {
        match (self, value) {
            (Self::Decimal(mapping), value) => mapping.bytes(value).map(Cow::from),
            (Self::Integer(mapping), value) => mapping.bytes(value).map(Cow::from),
            (_, Value::Text(text)) => self.text_bytes(text),
            (_, Value::Bytes(bytes)) => self.raw_bytes(bytes),
            (Self::Uuid, Value::Uuid(uuid)) => Ok(uuid.as_bytes().as_slice().into()),
            _ => Err(self.refusal(value)),
        }
    }

    /// As [`Content::bytes`], for a text.
    #[inline]
    pub(crate) fn text_bytes(self, text: &str) -> Result<Cow<'_, [u8]>, String> {
        match self {
            Self::Text => Ok(text.as_bytes().into()),
            Self::Hex { upper } => check_hex(text, upper).map(|()| text.as_bytes().into()),
            Self::Uuid => match Uuid::parse(text) {
                Some(uuid) => Ok(uuid.as_bytes().to_vec().into()),
                None => Err(format!("not a uuid: text='{text}'")),
            },
            Self::Ascii => check_ascii(text).map(|()| text.as_bytes().into()),
            Self::Decimal(_) | Self::Integer(_) => self.bytes_of_other(&text.into()),
            Self::Raw | Self::Some => Err(self.refusal(&text.into())),
        }
    }

    /// As [`Content::bytes`], for bytes.
    pub(crate) fn raw_bytes(self, bytes: &[u8]) -> Result<Cow<'_, [u8]>, String> {
        match self {
            Self::Raw => Ok(bytes.into()),
            Self::Some if bytes.is_empty() => Err(EMPTY.to_owned()),
            Self::Some => Ok(bytes.into()),
            Self::Decimal(_) | Self::Integer(_) => self.bytes_of_other(&bytes.into()),
            _ => Err(self.refusal(&bytes.into())),
        }
    }

    fn bytes_of_other(self, value: &Value) -> Result<Cow<'static, [u8]>, String> {
        self.bytes(value).map(|bytes| bytes.into_owned().into())
    }

    fn refusal(self, value: &Value) -> String {
        format!("takes {}, not {}", self.expected(), value.described())
    }

    /// Returns a constant's bytes, with which a query compares values or their beginnings. The
    /// constant need not be a whole value.
    pub(crate) fn part<'v>(self, value: &'v Value) -> Result<Cow<'v, [u8]>, String> {
        let digits = |text: &str| {
            let digits: String = text.chars().filter(|c| *c != '-').collect();
            parse_hex(&digits).ok_or_else(|| {
                format!("expected the whole bytes of a uuid in hex digits: text='{text}'")
            })
        };
        match (self, value) {
            (Self::Uuid, Value::Text(text)) => Ok(digits(text)?.into()),
            (Self::Ascii, Value::Text(text)) => Ok(text.as_bytes().into()),
            (Self::Some, Value::Bytes(bytes)) => Ok(bytes.into()),
            (Self::Decimal(mapping), value) => mapping.part(value).map(Cow::from),
            (Self::Integer(mapping), value) => mapping.part(value).map(Cow::from),
            _ => self.bytes(value),
        }
    }

    /// Returns the value for these bytes, or the first offset that does not fit, and why.
    #[inline]
    pub(crate) fn value(self, bytes: Cow<'_, [u8]>) -> Result<FieldValue<'_>, (usize, String)> {
        match self {
            Self::Raw => Ok(FieldValue::Bytes(bytes)),
            Self::Some if bytes.is_empty() => Err((0, EMPTY.to_owned())),
            Self::Some => Ok(FieldValue::Bytes(bytes)),
            Self::Ascii => {
                let text = utf8(bytes)?;
                check_ascii(&text).map_err(|why| (0, why))?;
                Ok(FieldValue::Text(text))
            }
            Self::Decimal(mapping) => {
                let value = mapping.value(&bytes).ok_or_else(|| no_value(&bytes))?;
                Ok(FieldValue::Other(value))
            }
            Self::Integer(mapping) => {
                let value = mapping.value(&bytes).ok_or_else(|| no_value(&bytes))?;
                Ok(FieldValue::Other(value))
            }
            Self::Uuid => match bytes.as_ref().try_into() {
                Ok(bytes) => Ok(FieldValue::Other(Uuid::new(bytes).into())),
                Err(_) => Err((0, "not sixteen bytes".to_owned())),
            },
            Self::Text => Ok(FieldValue::Text(utf8(bytes)?)),
            Self::Hex { upper } => {
                let text = utf8(bytes)?;
                check_hex(&text, upper).map_err(|why| (0, why))?;
                Ok(FieldValue::Text(text))
            }
        }
    }

    /// Names the field's values, for messages.
    pub(crate) fn expected(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Raw => "bytes",
            Self::Uuid => "a uuid",
            Self::Hex { .. } => "a text of hex digits",
            Self::Ascii => "an ASCII text",
            Self::Some => "bytes",
            Self::Decimal(_) => "a decimal number",
            Self::Integer(_) => "a whole number",
        }
    }

    /// Returns true if values are texts or bytes, so that a query can ask for their beginnings.
    pub(crate) fn has_parts(self) -> bool {
        !matches!(self, Self::Decimal(_) | Self::Integer(_))
    }

    /// Returns true if keys cannot hold every value of the kind.
    pub(crate) fn is_restricted(self) -> bool {
        matches!(self, Self::Ascii | Self::Some | Self::Decimal(_) | Self::Integer(_))
    }

    /// Returns true if values are texts, which are cut only between characters.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::Ascii)
    }
}

const EMPTY: &str = "a value cannot be empty: that is null in Phoenix";

impl Arrangement {
    pub(crate) fn is_as_given(self) -> bool {
        self == Self::AsGiven
    }

    /// Converts bytes to or from the arrangement, which is its own inverse.
    #[inline]
    pub(crate) fn order_break(self, content: Content, bytes: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
        match self {
            Self::AsGiven => bytes,
            _ => self.rearranged(content, bytes),
        }
    }

    fn rearranged(self, content: Content, bytes: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
        match (self, content) {
            (Self::AsGiven, _) => bytes,
            (Self::Reversed, Content::Text) => match std::str::from_utf8(&bytes) {
                Ok(text) => text.chars().rev().collect::<String>().into_bytes().into(),
                // Bytes that are not UTF-8 do not fit in either order.
                Err(_) => bytes,
            },
            (Self::Reversed, _) => bytes.iter().rev().copied().collect::<Vec<_>>().into(),
            (Self::Labels, _) => {
                let mut labels: Vec<&[u8]> = bytes.split(|byte| *byte == b'.').collect();
                labels.reverse();
                labels.join(&b'.').into()
            }
        }
    }
}

fn no_value(bytes: &[u8]) -> (usize, String) {
    (0, format!("{} is not a value of the field", rowhouse_model::escape(bytes)))
}

#[inline]
fn utf8(bytes: Cow<'_, [u8]>) -> Result<Cow<'_, str>, (usize, String)> {
    let text = match bytes {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed),
        Cow::Owned(bytes) => {
            String::from_utf8(bytes).map(Cow::Owned).map_err(|error| error.utf8_error())
        }
    };
    text.map_err(|error| (error.valid_up_to(), "not UTF-8".to_owned()))
}

fn check_hex(text: &str, upper: bool) -> Result<(), String> {
    let (letters, written) = if upper { (b'A'..=b'F', "A-F") } else { (b'a'..=b'f', "a-f") };
    if text.bytes().all(|c| c.is_ascii_digit() || letters.contains(&c)) {
        Ok(())
    } else {
        Err(format!("expected hex digits, 0-9 and {written}: text='{}'", text.escape_debug()))
    }
}

fn check_ascii(text: &str) -> Result<(), String> {
    if text.is_ascii() && !text.is_empty() {
        Ok(())
    } else {
        Err(format!("not an ASCII text of at least one character: '{}'", text.escape_debug()))
    }
}
