//! The text half of full-text search, for tantivy: analysers, the language of search texts, and
//! highlights. Tables cannot be searched yet; `docs/decisions/0073-search.md` has the design.

mod analyse;
mod highlight;
mod words;

pub use analyse::{Analyse, TERM_BYTES_MAX, register_analysers, text_of};
pub use highlight::{Highlighter, MATCHES_MAX, Snippet};
pub use words::{DEPTH_MAX, FUZZY_CHARS_MAX, TERMS_MAX, TEXT_BYTES_MAX, WORDS_MAX, Words};

pub use rowhouse_schema::Analyser;
