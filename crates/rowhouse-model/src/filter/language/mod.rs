//! HBase's filter language: `PrefixFilter('a') AND (PageFilter(5) OR SKIP ValueFilter(=,
//! 'binary:x'))`.
//!
//! SKIP and WHILE bind most tightly, then AND, then OR. `'` within quotes is doubled.
//! `docs/hbase.md` lists every filter's syntax and the differences from HBase's parser.

mod arguments;
mod calls;
mod parse;
mod print;

use super::Filter;
use crate::Result;

impl Filter {
    /// Parses the filter language.
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
    /// `InvalidRequest` for a syntax error, with the byte offset from 0. Regular expressions are
    /// compiled where the filter is executed.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self> {
        parse::parse(text.as_ref())
    }

    /// Returns the filter names in the language, in alphabetical order. Lists, `SKIP` and `WHILE`
    /// have no name.
    pub fn language_names() -> &'static [&'static str] {
        &calls::NAMES
    }
}

#[cfg(test)]
mod tests;
