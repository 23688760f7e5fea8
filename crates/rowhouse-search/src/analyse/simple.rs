//! A text's words: runs of letters and digits, in lower case.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::TERM_BYTES_MAX;
use super::runs::{fold, next_run};

#[derive(Clone)]
pub(super) struct SimpleTokenizer;

impl Tokenizer for SimpleTokenizer {
    type TokenStream<'a> = SimpleStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> SimpleStream<'a> {
        SimpleStream { text, at: 0, next_position: 0, token: Token::default() }
    }
}

pub(super) struct SimpleStream<'a> {
    text: &'a str,
    /// The last run's end.
    at: usize,
    next_position: usize,
    token: Token,
}

impl TokenStream for SimpleStream<'_> {
    fn advance(&mut self) -> bool {
        while let Some(run) = next_run(self.text, self.at, false) {
            self.at = run.bytes.end;
            self.token.position = self.next_position;
            self.next_position += 1;
            if fold(&self.text[run.bytes.clone()], &mut self.token.text, TERM_BYTES_MAX) {
                self.token.offset_from = run.bytes.start;
                self.token.offset_to = run.bytes.end;
                return true;
            }
        }
        false
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
