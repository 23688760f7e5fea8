//! A syntax error in a script, and its position.

/// The message of a syntax error, and its byte offset in the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) message: String,
}

impl Fault {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }

    /// Returns the line of the script that contains the error, counted from 0.
    pub(crate) fn line(&self, script: &str) -> u64 {
        let before = script.get(..self.at).unwrap_or(script);
        before.matches('\n').count() as u64
    }

    /// Returns the message, the line, and a caret under the position of the error.
    pub(crate) fn in_script(&self, script: &str) -> String {
        let before = script.get(..self.at).unwrap_or(script);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = script[line_start..].lines().next().unwrap_or_default();
        let column = before[line_start..].chars().count();
        format!("{}\n  {line}\n  {}^", self.message, " ".repeat(column))
    }
}
