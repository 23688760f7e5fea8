//! Where keys of negative numbers break the order of the numbers.

/// A break in the key order: numbers from `at` on come before all lesser ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OrderBreak {
    pub(crate) at: i128,
    /// True if the lesser numbers are in descending order.
    pub(crate) lower_is_descending: bool,
}
