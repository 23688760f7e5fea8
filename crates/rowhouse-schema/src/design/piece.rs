//! Pieces of a workload's text, which know their place in the text.

use super::words::{Count, Rate};
use crate::error::Fault;

/// A piece of the text, with the offset.
#[derive(Clone, Copy)]
pub(super) struct Piece<'t> {
    pub(super) at: usize,
    pub(super) text: &'t str,
}

impl<'t> Piece<'t> {
    /// Omits white space at both ends.
    pub(super) fn trimmed(self) -> Self {
        let start = self.text.len() - self.text.trim_start().len();
        Self { at: self.at + start, text: self.text.trim() }
    }

    /// Returns the part from one offset in the piece to another.
    pub(super) fn part(self, from: usize, to: usize) -> Self {
        Self { at: self.at + from, text: &self.text[from..to] }.trimmed()
    }

    /// Splits off the first word.
    pub(super) fn word(self) -> (Self, Self) {
        let end = self.text.find(char::is_whitespace).unwrap_or(self.text.len());
        (self.part(0, end), self.part(end, self.text.len()))
    }

    /// Splits at the first separator.
    pub(super) fn split(self, separator: char) -> (Self, Option<Self>) {
        match self.text.find(separator) {
            Some(at) => (self.part(0, at), Some(self.part(at + 1, self.text.len()))),
            None => (self, None),
        }
    }

    /// Reports a mistake at the piece's beginning.
    pub(super) fn fault(self, message: impl Into<String>) -> Fault {
        Fault::new(self.at, message)
    }

    /// Sets a value that this piece declares; it can be declared once.
    pub(super) fn set<T>(self, slot: &mut Option<T>, value: T) -> Result<(), Fault> {
        match slot.replace(value) {
            None => Ok(()),
            Some(_) => Err(self.fault(format!("`{}` is declared twice", self.text))),
        }
    }

    /// Reads a count from 1 to `max`.
    pub(super) fn count(self, what: &str, max: u64) -> Result<u64, Fault> {
        let count = Count::read(self.text).filter(|count| (1..=max).contains(count));
        count.ok_or_else(|| self.fault(format!("expected {what}, 1 to {}", Count(max))))
    }

    /// Reads a rate per second.
    pub(super) fn rate(self) -> Result<f64, Fault> {
        let fault = || self.fault("expected a rate").hint("for example 500/s, 5/m, 2/h or 1/d");
        Rate::read(self.text).ok_or_else(fault)
    }
}
