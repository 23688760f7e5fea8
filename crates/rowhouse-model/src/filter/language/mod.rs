//! HBase's filter language: `PrefixFilter('a') AND (PageFilter(5) OR SKIP ValueFilter(=, 'binary:x'))`.
//!
//! SKIP and WHILE bind closest, then AND, then OR. `'` within quotes is written twice. `docs/filters.md`
//! has every filter's form and what differs from HBase's own reader.

mod arguments;
mod calls;
mod parse;
mod print;

use super::Filter;
use crate::Result;

impl Filter {
    /// Reads the filter language.
    ///
    /// ```
    /// use rowhouse_model::Filter;
    ///
    /// let filter = Filter::parse("PrefixFilter('user') AND ValueFilter(=, 'substring:x')")?;
    /// assert_eq!(filter.to_string(), "PrefixFilter('user') AND ValueFilter(=, 'substring:x')");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` for text that is none, with the place, counted in bytes from 0; `Unsupported`
    /// for a regular expression that cannot be had here.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self> {
        parse::parse(text.as_ref())
    }

    /// The names of the filters that the language has, in alphabetical order. Lists, `SKIP` and `WHILE` have
    /// none.
    pub fn language_names() -> &'static [&'static str] {
        &calls::NAMES
    }
}

#[cfg(test)]
mod tests;
