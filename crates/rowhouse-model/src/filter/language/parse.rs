//! The parser for filter expressions.

use super::calls;
use crate::filter::{FILTER_DEPTH_MAX, Filter, ListOperator};
use crate::{Error, Result, full_width_hint};

/// A parser over text, left to right.
pub(super) struct Parser<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
    depth: usize,
}

pub(super) fn parse(text: &[u8]) -> Result<Filter> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let filter = parser.any()?;
    match parser.peek() {
        None => Ok(filter),
        Some(b')') => Err(parser.error("closing parenthesis without an opening one")),
        Some(_) => Err(parser.error("AND, OR or the end must follow a filter")),
    }
}

impl Parser<'_> {
    fn any(&mut self) -> Result<Filter> {
        self.list(b"OR", ListOperator::Or, Self::all)
    }

    fn all(&mut self) -> Result<Filter> {
        self.list(b"AND", ListOperator::And, Self::one)
    }

    /// Parses filters separated by `word`. A single filter is returned without a list.
    fn list(
        &mut self,
        word: &[u8],
        operator: ListOperator,
        member: fn(&mut Self) -> Result<Filter>,
    ) -> Result<Filter> {
        let mut filters = vec![member(self)?];
        while self.take_word(word) {
            filters.push(member(self)?);
        }
        Ok(match filters.len() {
            1 => filters.remove(0),
            _ => Filter::List { operator, filters },
        })
    }

    fn one(&mut self) -> Result<Filter> {
        self.depth += 1;
        if self.depth >= FILTER_DEPTH_MAX {
            return Err(self.error(&format!("filters nested too deeply: max={FILTER_DEPTH_MAX}")));
        }
        let filter = if self.take_word(b"SKIP") {
            Filter::Skip(Box::new(self.one()?))
        } else if self.take_word(b"WHILE") {
            Filter::WhileMatch(Box::new(self.one()?))
        } else if self.take(b'(') {
            let filter = self.any()?;
            if !self.take(b')') {
                return Err(self.error("closing parenthesis is missing"));
            }
            filter
        } else {
            calls::call(self)?
        };
        self.depth -= 1;
        Ok(filter)
    }

    /// Consumes an upper-case word that is followed by a space or a parenthesis.
    fn take_word(&mut self, word: &[u8]) -> bool {
        self.pass_spaces();
        let rest = &self.text[self.at..];
        let is_match = rest.starts_with(word)
            && rest.get(word.len()).is_some_and(|next| b" \t(".contains(next));
        self.at += if is_match { word.len() } else { 0 };
        is_match
    }

    /// Consumes a character and the spaces before it.
    pub(super) fn take(&mut self, character: u8) -> bool {
        let is_match = self.peek() == Some(character);
        self.at += usize::from(is_match);
        is_match
    }

    /// Returns the next character that is not a space.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.pass_spaces();
        self.text.get(self.at).copied()
    }

    pub(super) fn pass_spaces(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.iter().take_while(|byte| b" \t".contains(byte)).count();
    }

    /// Returns an error at the current offset.
    pub(super) fn error(&self, what: &str) -> Error {
        error_at(self.text, self.at, what)
    }
}

/// Returns an error at an offset in the text.
pub(super) fn error_at(text: &[u8], at: usize, what: &str) -> Error {
    let text = String::from_utf8_lossy(text);
    let hint = full_width_hint(&text);
    Error::invalid(format!("not a filter: {what}{hint}, at={at}, text={text}"))
}
