//! A syntax error in a script, and its position.

use rowhouse_model::blanks;

/// The message of a syntax error, and its byte offset in the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    /// The offset of the command with the error.
    pub(crate) command_at: usize,
    pub(crate) message: String,
}

impl Fault {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, command_at: at, message: message.into() }
    }

    /// Sets the offset of the command with the error.
    pub(super) fn in_command(self, command_at: usize) -> Self {
        Self { command_at, ..self }
    }

    /// Returns the message, the line, and a caret under the position of the error.
    pub(crate) fn in_script(&self, script: &str) -> String {
        let before = script.get(..self.at).unwrap_or(script);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = script[line_start..].lines().next().unwrap_or_default();
        format!("{}\n  {line}\n  {}^", self.message, blanks(&before[line_start..]))
    }
}

/// Returns the line of the script that contains a byte offset, counted from 0.
pub(crate) fn line_at(script: &str, at: usize) -> u64 {
    let before = script.get(..at).unwrap_or(script);
    before.matches('\n').count() as u64
}
