//! Analyser names, as declarations have them. `rowhouse-search` has the analysers.

use std::fmt;

use rowhouse_model::{Error, Result};

/// How a text becomes the terms by which it is searched.
///
/// ```
/// use rowhouse_schema::Analyser;
///
/// assert_eq!(Analyser::parse("english")?, Analyser::English);
/// assert_eq!(Analyser::Chinese.to_string(), "chinese");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Analyser {
    /// The whole text, as it is. An empty text has no term.
    Keyword,
    /// Runs of letters and digits, in lower case.
    Simple,
    /// As `Simple`, without Lucene's 33 English stop words, each word reduced to the stem by
    /// Snowball's English stemmer (Porter 2). A stop word retains its position.
    English,
    /// Every Chinese character, and every word with two or more characters that jieba's dictionary
    /// has, at the place where it begins; other runs as `Simple`.
    Chinese,
}

impl Analyser {
    /// All analysers, in the order in which they are documented.
    pub const ALL: [Analyser; 4] =
        [Analyser::Keyword, Analyser::Simple, Analyser::English, Analyser::Chinese];

    /// Returns the analyser with that name.
    ///
    /// # Errors
    ///
    /// `InvalidRequest` if there is none. The message names all analysers.
    pub fn parse(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|analyser| analyser.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Analyser::name).join(", ");
            Error::invalid(format!("there is no analyser `{name}`: analysers={known}"))
        })
    }

    /// The name in declarations, and the tokenizer's name in the segment schema. It belongs to the
    /// format: an analyser that gave other terms would need another name.
    pub fn name(self) -> &'static str {
        match self {
            Analyser::Keyword => "keyword",
            Analyser::Simple => "simple",
            Analyser::English => "english",
            Analyser::Chinese => "chinese",
        }
    }
}

impl fmt::Display for Analyser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_refused() {
        for analyser in Analyser::ALL {
            assert_eq!(Analyser::parse(&analyser.to_string()).unwrap(), analyser);
        }
        assert_eq!(
            Analyser::parse("german").unwrap_err().message(),
            "there is no analyser `german`: analysers=keyword, simple, english, chinese"
        );
    }
}
