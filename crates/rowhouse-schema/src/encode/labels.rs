//! `enum(a,b=7)`: labels and their bytes.

use std::fmt;
use std::sync::Arc;

use super::plain::is_plain;
use crate::spelling::closest;
use crate::value::Value;

/// An `enum`'s labels, each with a byte: the position in the list, or the given number.
///
/// Labels may later be added at the list's end; the others retain their bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Labels {
    list: Arc<[(String, u8)]>,
}

impl Labels {
    /// Parses the text between the parentheses. An error comes with the offset in the text.
    pub(crate) fn parse(text: &str) -> Result<Self, (usize, String)> {
        let mut list: Vec<(String, u8)> = Vec::new();
        let mut at = 0;
        for (nth, item) in text.split(',').enumerate() {
            let (label, byte) = match item.split_once('=') {
                Some((label, byte)) => (label, byte.parse().ok().filter(|_| is_canonical(byte))),
                None => (item, u8::try_from(nth).ok()),
            };
            let byte = byte.ok_or((at, format!("expected a byte, 0 to 255, for `{item}`")))?;
            if label.is_empty() || label.contains(|c| !is_plain(c) || "()'\"".contains(c)) {
                return Err((at, "expected labels such as enum(open,closed)".to_owned()));
            }
            if list.iter().any(|(earlier, _)| earlier == label) {
                return Err((at, format!("duplicate label `{label}`")));
            }
            if let Some((earlier, _)) = list.iter().find(|(_, taken)| *taken == byte) {
                return Err((at, format!("`{earlier}` and `{label}` have the same byte {byte}")));
            }
            list.push((label.to_owned(), byte));
            at += item.len() + 1;
        }
        Ok(Self { list: list.into() })
    }

    /// Returns labels for an alphabet's characters, each with its own byte.
    pub(crate) fn of_alphabet(alphabet: &str) -> Self {
        Self { list: alphabet.bytes().map(|c| (char::from(c).to_string(), c)).collect() }
    }

    /// The labels and their bytes, in declaration order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u8)> {
        self.list.iter().map(|(label, byte)| (label.as_str(), *byte))
    }

    /// A label's byte.
    pub fn byte(&self, label: &str) -> Option<u8> {
        self.iter().find(|(known, _)| *known == label).map(|(_, byte)| byte)
    }

    /// A byte's label.
    pub fn label(&self, byte: u8) -> Option<&str> {
        self.iter().find(|(_, known)| *known == byte).map(|(label, _)| label)
    }

    /// Returns a byte's label as a value; null if the byte has no label.
    pub(crate) fn value(&self, byte: u8) -> Value {
        self.label(byte).map_or(Value::Null, Value::from)
    }

    /// Returns the message for a label that does not exist.
    pub(crate) fn unknown(&self, label: &str) -> String {
        match closest(label, self.iter().map(|(label, _)| label)) {
            Some(close) => format!("unknown label '{label}'; did you mean '{close}'?"),
            None => {
                let labels: Vec<_> = self.iter().map(|(label, _)| label).collect();
                format!("unknown label '{label}'; labels: {}", labels.join(", "))
            }
        }
    }
}

/// Returns true if a number has no leading zeros and no sign.
fn is_canonical(number: &str) -> bool {
    number == "0" || !number.starts_with(['0', '+'])
}

impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, (label, byte)) in self.iter().enumerate() {
            write!(f, "{}{label}", if nth == 0 { "" } else { "," })?;
            if usize::from(byte) != nth {
                write!(f, "={byte}")?;
            }
        }
        Ok(())
    }
}
