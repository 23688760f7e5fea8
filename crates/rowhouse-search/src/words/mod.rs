//! The `matches '…'` language: words, phrases, prefixes and similar words, joined by AND, OR and
//! NOT.
//!
//! `docs/search.md` describes it for users. [`parse`](parse::parse) turns the text into a tree
//! ([`Node`]), [`Lookup`] turns a word in it into the terms that one analyser looks for, and
//! [`query`] turns both into a tantivy query. [`all_of`] finds the highest scores faster than
//! tantivy does.

mod all_of;
mod excluded;
mod lookup;
mod node;
mod parse;
mod query;
#[cfg(test)]
mod tests;

use std::fmt;

use rowhouse_model::Error;
use rowhouse_schema::{Analyser, Fault};
use tantivy::query::Query;
use tantivy::schema::Field;

use node::Node;
use query::Compiler;

pub(crate) use excluded::Excluded;
pub(crate) use lookup::Lookup;
pub(crate) use node::{Form, Leaf, fmt_quoted};
pub(crate) use query::{any_of, query as lookup_query};

/// The longest search text, in bytes. No term in it is longer than the index can hold.
pub const TEXT_BYTES_MAX: usize = 16_384;

/// The deepest parentheses in a search text.
pub const DEPTH_MAX: usize = 32;

/// The most words and phrases in a search text.
pub const WORDS_MAX: usize = 1_024;

/// How many terms the words and phrases in a search text may be at most, over all analysers of the
/// field. A phrase has several, and a word with `~` counts as 32.
pub const TERMS_MAX: usize = 1_024;

/// How many terms a word with `~` counts for: its automaton may take 4 MB.
const FUZZY_TERMS: usize = 32;

/// The longest word with `~`, in characters.
pub const FUZZY_CHARS_MAX: usize = 64;

/// A search text: the condition on a text that `matches '…'` states.
///
/// ```
/// use rowhouse_search::Words;
///
/// let words = Words::parse("row* AND (\"key design\" OR 行键~1) NOT hbase")?;
/// assert_eq!(words.to_string(), "row* (\"key design\" OR 行键~1) NOT hbase");
///
/// let mistake = Words::parse("rows AND (keys").unwrap_err();
/// assert_eq!(
///     mistake.message(),
///     "`(` without a `)` after it: offset=9\n  rows AND (keys\n           ^"
/// );
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
///
/// It prints itself in a canonical form, which gives the same condition when it is parsed. Two
/// search texts are equal if their canonical forms are.
#[derive(Clone, Debug)]
pub struct Words {
    text: String,
    root: Node,
}

impl Words {
    /// Parses a search text.
    ///
    /// # Errors
    ///
    /// If the text does not follow the grammar, looks for nothing that must be there (`NOT spam`),
    /// or exceeds [`TEXT_BYTES_MAX`], [`DEPTH_MAX`] or [`WORDS_MAX`]. The message has the place.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::parse_part(text).map_err(|fault| fault.in_text(text))
    }

    /// As [`Words::parse`], for a text inside a longer one.
    ///
    /// # Errors
    ///
    /// As [`Words::parse`]; the caller knows where in the longer text the mistake is.
    pub fn parse_part(text: &str) -> Result<Self, Fault> {
        Ok(Self { text: text.to_owned(), root: parse::parse(text)? })
    }

    /// Returns the query that finds the documents whose field matches.
    ///
    /// `fields` has a tantivy field for each analyser of the field, indexed with that analyser,
    /// with positions unless the analyser is `keyword`. A word or phrase matches if it does with
    /// one of them.
    ///
    /// A word without a term for any analyser (a stop word, punctuation) is left out.
    ///
    /// # Errors
    ///
    /// If no words are left, or only words after `NOT`; if `*` or `~` follows text that is not one
    /// word; if there are more than [`TERMS_MAX`] terms, or a word with `~` has more than
    /// [`FUZZY_CHARS_MAX`] characters.
    pub fn query(&self, fields: &[(Analyser, Field)]) -> Result<Box<dyn Query>, Error> {
        match Compiler::new(fields).query(&self.root) {
            Ok(Some(query)) => Ok(query),
            Ok(None) => {
                let analysers: Vec<_> =
                    fields.iter().map(|(analyser, _)| analyser.name()).collect();
                let message =
                    format!("there is no word to search for: analysers={}", analysers.join(", "));
                let hint = "stop words and punctuation are left out";
                Err(Fault::new(0, message).hint(hint).in_text(&self.text))
            }
            Err(fault) => Err(fault.in_text(&self.text)),
        }
    }

    /// The words and phrases that a text may have, each as every analyser looks for it.
    pub(crate) fn lookups(&self, analysers: &[Analyser]) -> Result<Vec<WordLookup>, Error> {
        let mut lookups = Vec::new();
        for (number, leaf) in self.root.positive_leaves().into_iter().enumerate() {
            for &analyser in analysers {
                let lookup =
                    Lookup::of(leaf, analyser).map_err(|fault| fault.in_text(&self.text))?;
                lookups.extend(lookup.map(|lookup| WordLookup { number, analyser, lookup }));
            }
        }
        Ok(lookups)
    }
}

/// A word or phrase that a text may have.
#[derive(Debug)]
pub(crate) struct WordLookup {
    /// The number of the word or phrase within the search text.
    pub(crate) number: usize,
    pub(crate) analyser: Analyser,
    pub(crate) lookup: Lookup,
}

impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}

impl Eq for Words {}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.root)
    }
}
