//! Analysers: the terms in a text, with positions for phrases and byte offsets for highlights.

mod characters;
mod chinese;
mod dictionary;
mod keyword;
mod marks;
mod runs;
mod simple;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use rowhouse_schema::Analyser;
use tantivy::tokenizer::{
    Language, Stemmer, StopWordFilter, TextAnalyzer, Token, TokenStream, TokenizerManager,
};

use chinese::{ChineseTokenizer, covering_terms};
use keyword::KeywordTokenizer;
use runs::{Kind, fold, next_run};
use simple::SimpleTokenizer;

pub(crate) use characters::Class;

/// The longest term, in lower-case UTF-8 bytes. A longer word keeps its position but is not
/// indexed; [`Analyse::words_too_long`] counts such words.
///
/// It is Lucene's limit (`IndexWriter.MAX_TERM_LENGTH`). Tantivy's own is 65,530.
pub const TERM_BYTES_MAX: usize = 32_766;

/// How an [`Analyser`] turns texts into terms. Only [`Analyser`] implements it.
///
/// ```
/// use rowhouse_search::{Analyse, Analyser};
///
/// let terms = |analyser: Analyser, text| {
///     let mut terms = Vec::new();
///     analyser.each_token(text, |token| terms.push(token.text.clone()));
///     terms.join(" ")
/// };
/// assert_eq!(terms(Analyser::Keyword, "The Row-Keys"), "The Row-Keys");
/// assert_eq!(terms(Analyser::Simple, "The Row-Keys"), "the row keys");
/// assert_eq!(terms(Analyser::English, "The Row-Keys"), "row key");
/// assert_eq!(terms(Analyser::Chinese, "HBase 的行键设计"), "hbase 的 行 键 设 设计 计");
/// ```
pub trait Analyse: Sealed {
    /// Returns the analyser as a tokenizer. It takes linear time, and memory for the longest term.
    fn tokenizer(self) -> TextAnalyzer;

    /// Calls `sink` with each term of `text`, in position order.
    fn each_token(self, text: &str, sink: impl FnMut(&Token));

    /// Returns how many words of `text` are not indexed because they are longer than
    /// [`TERM_BYTES_MAX`]. A short text costs nothing.
    fn words_too_long(self, text: &str) -> u64;
}

/// Limits [`Analyse`] to the analysers in declarations.
pub trait Sealed: Copy {}

impl Sealed for Analyser {}

impl Analyse for Analyser {
    fn tokenizer(self) -> TextAnalyzer {
        match self {
            Analyser::Keyword => TextAnalyzer::from(KeywordTokenizer),
            Analyser::Simple => TextAnalyzer::from(SimpleTokenizer),
            Analyser::English => TextAnalyzer::builder(SimpleTokenizer)
                .filter(StopWordFilter::new(Language::English).expect("tantivy has the list"))
                .filter(Stemmer::new(Language::English))
                .build(),
            Analyser::Chinese => TextAnalyzer::from(ChineseTokenizer::default()),
        }
    }

    fn each_token(self, text: &str, mut sink: impl FnMut(&Token)) {
        self.tokenizer().token_stream(text).process(&mut sink);
    }

    fn words_too_long(self, text: &str) -> u64 {
        // Lower case has at most one and a half times the bytes.
        if text.len() <= TERM_BYTES_MAX / 2 {
            return 0;
        }
        if self == Analyser::Keyword {
            return u64::from(text.len() > TERM_BYTES_MAX);
        }
        let mut too_long = 0;
        let mut at = 0;
        let mut term = String::new();
        while let Some(run) = next_run(text, at, self == Analyser::Chinese) {
            at = run.bytes.end;
            let is_word = run.kind == Kind::Word;
            let fits = !is_word || fold(&text[run.bytes], &mut term, TERM_BYTES_MAX);
            too_long += u64::from(!fits);
        }
        too_long
    }
}

/// Registers all analysers by name. An index needs it before the first document and before the
/// first search.
pub fn register_analysers(tokenizers: &TokenizerManager) {
    for analyser in Analyser::ALL {
        tokenizers.register(analyser.name(), analyser.tokenizer());
    }
}

/// Returns the terms by which `analyser` finds `text`, with their positions from 0. For `Chinese`,
/// they are fewer than the terms of an indexed text.
pub(crate) fn searched(analyser: Analyser, text: &str) -> Vec<(usize, String)> {
    let mut terms = match analyser {
        Analyser::Chinese => covering_terms(text),
        Analyser::Keyword | Analyser::Simple | Analyser::English => {
            let mut terms = Vec::new();
            analyser.each_token(text, |token| terms.push((token.position, token.text.clone())));
            terms
        }
    };
    let first = terms.first().map_or(0, |(position, _)| *position);
    terms.iter_mut().for_each(|(position, _)| *position -= first);
    terms
}

/// Returns the word beginning that `text` is: the one letter run that it ends with, as `analyser`
/// writes it, without regard to stop words and stems.
pub(crate) fn unfinished(analyser: Analyser, text: &str) -> Unfinished {
    let splits_han = match analyser {
        Analyser::Keyword => return Unfinished::Word(text.to_owned()),
        Analyser::Simple | Analyser::English => false,
        Analyser::Chinese => true,
    };
    let mut last = None;
    let mut at = 0;
    let mut runs = 0;
    while let Some(run) = next_run(text, at, splits_han) {
        at = run.bytes.end;
        runs += 1;
        last = Some(run);
    }
    match last.filter(|run| run.bytes.end == text.len()) {
        Some(run) if run.kind == Kind::Han => Unfinished::Han,
        Some(run) if runs == 1 => {
            let mut word = String::new();
            fold(&text[run.bytes], &mut word, usize::MAX);
            Unfinished::Word(word)
        }
        Some(_) => Unfinished::SeveralWords,
        None => Unfinished::Nothing,
    }
}

/// The end of a text whose last word goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Unfinished {
    /// The text is the beginning of one word.
    Word(String),
    /// The text ends with Chinese characters, which are not in words.
    Han,
    /// There are words before the last one.
    SeveralWords,
    /// The text does not end in a word.
    Nothing,
}

/// Returns the stem that `English` gives a word in lower case.
pub(crate) fn stem(word: &str) -> String {
    let mut stemmer =
        TextAnalyzer::builder(KeywordTokenizer).filter(Stemmer::new(Language::English)).build();
    let mut stream = stemmer.token_stream(word);
    if stream.advance() { stream.token().text.clone() } else { String::new() }
}

/// Returns a value's text. Each part that is not UTF-8 becomes one U+FFFD, which separates words as
/// a space does: the words around it are found. It copies only such a value.
pub fn text_of(value: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(value)
}
