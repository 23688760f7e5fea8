//! Chinese text: every character, and every dictionary word at the place where it begins.

use std::ops::Range;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::TERM_BYTES_MAX;
use super::characters::Class;
use super::dictionary::{WORD_CHARS_MAX, Word, cover, find_words};
use super::runs::{Kind, Run, fold, next_run};

/// How many characters of a run have their terms in memory at a time.
const WINDOW_CHARS: usize = 1024;

#[derive(Clone, Default)]
pub(super) struct ChineseTokenizer {
    window: Window,
}

impl Tokenizer for ChineseTokenizer {
    type TokenStream<'a> = ChineseStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> ChineseStream<'a> {
        self.window.clear();
        let places = Places::default();
        let token = Token::default();
        let run = 0..0;
        ChineseStream { text, at: 0, places, run, window: &mut self.window, token }
    }
}

pub(super) struct ChineseStream<'a> {
    text: &'a str,
    /// The last run's end.
    at: usize,
    places: Places,
    /// The part of the last Chinese run that has not been in the window.
    run: Range<usize>,
    window: &'a mut Window,
    token: Token,
}

impl TokenStream for ChineseStream<'_> {
    fn advance(&mut self) -> bool {
        loop {
            if self.window.next_into(&mut self.token) {
                return true;
            }
            if !self.run.is_empty() {
                let position = self.places.next;
                let (end, chars) = self.window.fill(self.text, self.run.clone(), position);
                self.run.start = end;
                self.places.next += chars;
                continue;
            }
            let Some(run) = next_run(self.text, self.at, true) else { return false };
            self.at = run.bytes.end;
            self.places.enter(run.kind);
            match run.kind {
                Kind::Han => self.run = run.bytes,
                Kind::Word => {
                    self.token.position = self.places.next;
                    self.places.next += 1;
                    if fold(&self.text[run.bytes.clone()], &mut self.token.text, TERM_BYTES_MAX) {
                        self.token.offset_from = run.bytes.start;
                        self.token.offset_to = run.bytes.end;
                        self.token.position_length = 1;
                        return true;
                    }
                }
            }
        }
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

/// The terms that find `text`, with the positions: each word, and for a run of Chinese characters
/// the fewest terms that cover it.
pub(super) fn covering_terms(text: &str) -> Vec<(usize, String)> {
    let mut terms = Vec::new();
    let mut places = Places::default();
    let mut at = 0;
    let mut words = Vec::new();
    let mut term = String::new();
    while let Some(Run { kind, bytes }) = next_run(text, at, true) {
        at = bytes.end;
        places.enter(kind);
        match kind {
            Kind::Word => {
                if fold(&text[bytes], &mut term, TERM_BYTES_MAX) {
                    terms.push((places.next, term.clone()));
                }
                places.next += 1;
            }
            Kind::Han => {
                let chars: Vec<char> = visible(&text[bytes]).map(|(_, c)| c).collect();
                find_words(&chars.iter().collect::<String>(), &mut words);
                for part in cover(chars.len(), &words) {
                    let term = chars[part.start..part.end].iter().collect();
                    terms.push((places.next + part.start, term));
                }
                places.next += chars.len();
            }
        }
    }
    terms
}

/// Term positions.
///
/// A word has one position, a Chinese run as many as it has characters. Between two Chinese runs a
/// position is left out, so that no phrase reaches over the separator: characters at consecutive
/// positions stand side by side in the text.
#[derive(Default)]
struct Places {
    next: usize,
    is_after_han: bool,
}

impl Places {
    fn enter(&mut self, kind: Kind) {
        let is_han = kind == Kind::Han;
        self.next += usize::from(is_han && self.is_after_han);
        self.is_after_han = is_han;
    }
}

/// The terms of a Chinese run part that are not emitted yet.
#[derive(Clone, Default)]
struct Window {
    /// The characters, without invisible ones and marks.
    chars: String,
    /// The bytes for each character in `chars` and in the text.
    places: Vec<(Range<usize>, Range<usize>)>,
    words: Vec<Word>,
    /// The first character's position.
    position: usize,
    /// The characters whose terms are emitted. The window may hold more, to see whole words.
    emitted: Range<usize>,
    /// True if the term for the character at `emitted.start` itself is emitted.
    is_char_emitted: bool,
    next_word: usize,
}

impl Window {
    fn clear(&mut self) {
        self.emitted = 0..0;
        self.words.clear();
        self.next_word = 0;
    }

    /// Takes the first characters of the run at `bytes`. Returns the end of the characters whose
    /// terms the window emits, and how many they are.
    fn fill(&mut self, text: &str, bytes: Range<usize>, position: usize) -> (usize, usize) {
        self.chars.clear();
        self.places.clear();
        let run = &text[bytes.clone()];
        // The words that the last window characters begin may end outside the window.
        for (at, c) in visible(run).take(WINDOW_CHARS + WORD_CHARS_MAX) {
            let start = self.chars.len();
            self.chars.push(c);
            let from = bytes.start + at;
            self.places.push((start..self.chars.len(), from..from + c.len_utf8()));
        }
        find_words(&self.chars, &mut self.words);
        let chars = self.places.len().min(WINDOW_CHARS);
        self.emitted = 0..chars;
        self.is_char_emitted = false;
        self.next_word = 0;
        self.position = position;
        let end = self.places.get(chars).map_or(bytes.end, |(_, place)| place.start);
        (end, chars)
    }

    /// Moves to the next term, and returns false after the last one.
    fn next_into(&mut self, token: &mut Token) -> bool {
        while !self.emitted.is_empty() {
            let start = self.emitted.start;
            if !self.is_char_emitted {
                self.is_char_emitted = true;
                self.emit(start..start + 1, token);
                return true;
            }
            match self.words.get(self.next_word) {
                Some(word) if word.start == start => {
                    self.next_word += 1;
                    self.emit(start..word.end, token);
                    return true;
                }
                _ => {
                    self.emitted.start += 1;
                    self.is_char_emitted = false;
                }
            }
        }
        false
    }

    fn emit(&self, chars: Range<usize>, token: &mut Token) {
        let first = &self.places[chars.start];
        let last = &self.places[chars.end - 1];
        token.text.clear();
        token.text.push_str(&self.chars[first.0.start..last.0.end]);
        token.offset_from = first.1.start;
        token.offset_to = last.1.end;
        token.position = self.position + chars.start;
        token.position_length = chars.len();
    }
}

/// The Chinese characters in a run with their places, without marks and invisible characters.
fn visible(run: &str) -> impl Iterator<Item = (usize, char)> {
    run.char_indices().filter(|&(_, c)| Class::of(c) == Class::Han)
}
