//! Universally unique identifiers in the RFC 9562 format.

use std::fmt;

use super::parse_hex;

/// A UUID: sixteen bytes in text order.
///
/// ```
/// use rowhouse_schema::Uuid;
///
/// let uuid = Uuid::parse("67e55044-10b1-426f-9247-bb680e5fe0c8").unwrap();
/// assert_eq!(uuid.as_bytes()[..2], [0x67, 0xe5]);
/// assert_eq!(uuid.to_string(), "67e55044-10b1-426f-9247-bb680e5fe0c8");
/// assert_eq!(Uuid::parse("67e55044"), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid([u8; 16]);

impl Uuid {
    /// Creates the UUID with these bytes.
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Parses 32 hex digits, with all four hyphens or none.
    pub fn parse(text: &str) -> Option<Self> {
        let digits: String = match text.len() {
            32 => text.to_owned(),
            36 if HYPHENS.iter().all(|&at| text.as_bytes()[at] == b'-') => {
                let bytes = text.char_indices().filter(|(at, _)| !HYPHENS.contains(at));
                bytes.map(|(_, c)| c).collect()
            }
            _ => return None,
        };
        Some(Self(parse_hex(&digits)?.try_into().ok()?))
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// The hyphens' offsets in the text.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, byte) in self.0.iter().enumerate() {
            let hyphen = if matches!(nth, 4 | 6 | 8 | 10) { "-" } else { "" };
            write!(f, "{hyphen}{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
