//! The words between two brackets, separated by single spaces. Text in parentheses belongs to the
//! word before it.

use super::element::Naming;
use crate::error::Fault;

/// An iterator over words.
pub(super) struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The offset where the text ends.
    pub(super) fn end(&self) -> usize {
        self.text.len()
    }

    /// Returns the next word and the offset.
    pub(super) fn next(&mut self) -> Result<Option<(usize, &'a str)>, Fault> {
        if self.at >= self.text.len() && !(self.at > 0 && self.text.ends_with(' ')) {
            return Ok(None);
        }
        let start = self.at.min(self.text.len());
        let rest = &self.text[start..];
        let len = word_len(rest).ok_or_else(|| {
            Fault::new(start, "this parenthesis is never closed, or never opened")
        })?;
        let word = &rest[..len];
        if let Some(space) = word.find(|c: char| c.is_whitespace() && c != ' ') {
            return Err(Fault::new(start + space, "words must be separated by a space"));
        }
        if word.is_empty() {
            let at = start.saturating_sub(usize::from(start == self.text.len()));
            return Err(Fault::new(at, "superfluous space"));
        }
        self.at = start + len + 1;
        Ok(Some((start, word)))
    }

    /// Returns the next word, if it is a number.
    pub(super) fn number(&mut self) -> Result<Option<(usize, &'a str)>, Fault> {
        self.next_if(|word| word.bytes().all(|c| c.is_ascii_digit()))
    }

    /// Returns the next word's offset, if it is `expected`.
    pub(super) fn word(&mut self, expected: &str) -> Result<Option<usize>, Fault> {
        Ok(self.next_if(|word| word == expected)?.map(|(at, _)| at))
    }

    /// Returns the next word, if it passes the test.
    pub(super) fn next_if(
        &mut self,
        test: impl Fn(&str) -> bool,
    ) -> Result<Option<(usize, &'a str)>, Fault> {
        let before = self.at;
        let word = self.next()?;
        if word.is_some_and(|(_, word)| test(word)) {
            return Ok(word);
        }
        self.at = before;
        Ok(None)
    }

    /// Returns the next word; if there is none, an error that says what was expected.
    pub(super) fn expect(&mut self, what: &str) -> Result<(usize, &'a str), Fault> {
        self.next()?.ok_or_else(|| Fault::new(self.end(), format!("expected {what}")))
    }
}

/// The length up to the first space outside parentheses; `None` if these do not match.
fn word_len(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            ' ' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    (depth == 0).then_some(text.len())
}

/// Parses a whole number from 1 to `max`, without leading zeros.
pub(super) fn number_up_to<N>(at: usize, word: &str, max: N, what: &str) -> Result<N, Fault>
where
    N: std::str::FromStr + PartialOrd + std::fmt::Display,
{
    match word.parse() {
        Ok(number) if number <= max && !word.starts_with(['0', '+']) => Ok(number),
        _ => Err(Fault::new(at, format!("expected 1 to {max} {what}, not {word}"))),
    }
}

/// Returns true if a word can be a field name.
pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
}

/// As [`check_name`], for a template field.
pub(super) fn check_field_name(at: usize, name: &str, naming: Naming) -> Result<(), Fault> {
    match name.split_once('.').filter(|_| naming == Naming::Index) {
        Some((column, field)) => {
            check_name(at, column)?;
            check_name(at + column.len() + 1, field)
        }
        None => check_name(at, name),
    }
}

/// Checks that a word can be a name; the error points at the character that cannot be in one.
pub(crate) fn check_name(at: usize, name: &str) -> Result<(), Fault> {
    if is_name(name) {
        return Ok(());
    }
    if let Some((family, _)) = name.split_once(':')
        && is_name(family)
    {
        return Err(Fault::unsupported(at, name)
            .hint("a column is allowed in the template of an index, not of a row key"));
    }
    let bad = name
        .char_indices()
        .find(|(nth, c)| !(c.is_ascii_alphabetic() || *c == '_' || *nth > 0 && c.is_ascii_digit()))
        .map_or(0, |(nth, _)| nth);
    Err(Fault::new(at + bad, format!("`{name}` is not a name"))
        .hint("a name has ASCII letters, digits and _, and does not begin with a digit"))
}
