//! A syntax error in a script, and the position.

use rowhouse_model::blanks;

/// The message for a syntax error, and the byte offset in the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    /// Where the command with the error begins.
    pub(crate) command_at: usize,
    pub(crate) message: String,
}

impl Fault {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, command_at: at, message: message.into() }
    }

    /// Sets where the command with the error begins.
    pub(super) fn in_command(self, command_at: usize) -> Self {
        Self { command_at, ..self }
    }

    /// Returns the message, the line, and a caret under the error position.
    pub(crate) fn in_script(&self, script: &str) -> String {
        let before = script.get(..self.at).unwrap_or(script);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = script[line_start..].lines().next().unwrap_or_default();
        format!("{}\n  {line}\n  {}^", self.message, blanks(&before[line_start..]))
    }
}

/// Returns the script line that contains a byte offset, counted from 0.
pub(crate) fn line_at(script: &str, at: usize) -> u64 {
    let before = script.get(..at).unwrap_or(script);
    before.matches('\n').count() as u64
}
