//! The whole text as one term.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::TERM_BYTES_MAX;

#[derive(Clone)]
pub(super) struct KeywordTokenizer;

impl Tokenizer for KeywordTokenizer {
    type TokenStream<'a> = KeywordStream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> KeywordStream {
        let is_term = (1..=TERM_BYTES_MAX).contains(&text.len());
        let text = if is_term { text.to_owned() } else { String::new() };
        let token = Token { offset_to: text.len(), position: 0, text, ..Token::default() };
        KeywordStream { token, is_left: is_term }
    }
}

pub(super) struct KeywordStream {
    token: Token,
    is_left: bool,
}

impl TokenStream for KeywordStream {
    fn advance(&mut self) -> bool {
        std::mem::take(&mut self.is_left)
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
