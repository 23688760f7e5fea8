//! Floating-point numbers with bitwise equality.

use std::fmt;

/// An `f64` with bitwise equality: −0 and 0 differ, as their keys do. (A query with `= 0` matches
/// both.)
///
/// ```
/// use rowhouse_schema::Float;
///
/// assert_ne!(Float::from(0.0), Float::from(-0.0));
/// assert_eq!(Float::from(1.5).get(), 1.5);
/// assert_eq!(Float::from(2.0).to_string(), "2.0");
/// ```
#[derive(Clone, Copy)]
pub struct Float(f64);

impl Float {
    /// Returns the number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl From<f64> for Float {
    fn from(number: f64) -> Self {
        Self(number)
    }
}

impl From<f32> for Float {
    fn from(number: f32) -> Self {
        Self(number.into())
    }
}

impl PartialEq for Float {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Float {}

impl std::hash::Hash for Float {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl fmt::Display for Float {
    /// Writes the shortest text that parses to the same number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rust's `Debug` writes exponents instead of many zeros, and `2.0` for 2.
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Debug for Float {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
