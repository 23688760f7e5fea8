//! Lucene's classic query syntax, with the meaning that Solr's parser `lucene` gives it.
//!
//! [`LuceneQuery::parse`] turns a text into a tree ([`Part`]). It knows neither fields nor
//! analysers; `find/bind.rs` looks them up. `docs/search.md` says what is served.
//!
//! ```text
//! query    = clause *( conj clause )            conj = "AND" / "&&" / "OR" / "||" / nothing
//! clause   = ["+" / "-" / "NOT" / "!"] [ (word / "*") ":" ] operand
//! operand  = text [similar] [weight] / text weight similar / range [weight]
//!          / ("(" / "filter(") query ")" [weight]
//! text     = word / word "*" / "*" / DQUOTE text DQUOTE / sign space
//! similar  = "~" ["0" / "1" / "2"]              weight = "^" number / "^=" number
//! range    = ("[" / "{") bound "TO" bound ("]" / "}")
//! bound    = "*" / word / DQUOTE text DQUOTE
//! ```
//!
//! Between tokens may be spaces and comments (`/* … */`, also nested), but not before a weight's
//! number. A word ends at a space and at `( ) : ^ [ ] " { } ~ * ?`. It does not begin with `+`,
//! `-`, `!` or `/`, but may have them inside. A backslash makes the next character part of a word,
//! and `\u0041` is a character by its number.

mod lexer;
mod parse;
mod part;
mod range;
#[cfg(test)]
mod tests;
mod unescape;

use std::fmt;

use rowhouse_model::Error;

pub(crate) use part::{Bound, Clause, LuceneForm, LuceneLeaf, Occurs, Part};

/// The longest query, in bytes.
pub const LUCENE_BYTES_MAX: usize = 65_536;

/// What joins clauses without an operator between them: Solr's parameter `q.op`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Operator {
    /// At least one clause. Solr's default.
    #[default]
    Or,
    /// All clauses.
    And,
}

/// A query in Lucene's classic syntax: see `docs/search.md`.
///
/// ```
/// use rowhouse_search::{LuceneQuery, Operator};
///
/// let parsed = |text| LuceneQuery::parse(text, Operator::Or).map(|query| query.to_string());
/// assert_eq!(parsed("row +body:key -sender:\"eve\"")?, "row +body:key -sender:\"eve\"");
/// assert_eq!(parsed("a AND b OR c")?, "+a +b c");
/// assert_eq!(parsed("size:[5 TO *} OR NOT x*")?, "size:[5 TO *} -x*");
///
/// let mistake = parsed("body:(row").unwrap_err();
/// assert_eq!(
///     mistake.message(),
///     "`(` without a `)` after it: offset=5\n  body:(row\n       ^"
/// );
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
///
/// It prints itself with an explicit sign before each clause that must or must not match.
#[derive(Clone, PartialEq, Debug)]
pub struct LuceneQuery {
    text: String,
    /// `None` for a blank text.
    root: Option<Part>,
}

impl LuceneQuery {
    /// Parses a query as Solr's parser does. A blank text matches nothing.
    ///
    /// # Errors
    /// `InvalidRequest` if the text does not follow the grammar, exceeds [`LUCENE_BYTES_MAX`],
    /// [`DEPTH_MAX`](crate::DEPTH_MAX) or [`WORDS_MAX`](crate::WORDS_MAX), or uses what is not
    /// served: regular expressions, `*` or `?` inside a word, phrase distances, and other query
    /// parsers (`{!…}`). The message has the place.
    pub fn parse(text: &str, operator: Operator) -> Result<Self, Error> {
        let root = parse::parse(text, operator).map_err(|fault| fault.in_text(text))?;
        Ok(Self { text: text.to_owned(), root })
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn root(&self) -> Option<&Part> {
        self.root.as_ref()
    }

    /// Returns the names of the fields that clauses are on, in text order. A clause without a name,
    /// which is on the default field, gives `None`.
    pub fn fields(&self) -> Vec<Option<&str>> {
        let mut fields = Vec::new();
        if let Some(root) = &self.root {
            root.each_leaf(&mut |leaf| {
                if leaf.form != LuceneForm::All {
                    fields.push(leaf.field.as_deref());
                }
            });
        }
        fields
    }
}

impl fmt::Display for LuceneQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.as_ref().map_or(Ok(()), |root| write!(f, "{root}"))
    }
}
