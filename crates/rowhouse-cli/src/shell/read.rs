//! From lines to statements: a statement runs as soon as it is complete.

use super::grammar::{Fault, Parsed, Statement, parse};

/// Lines that do not form a complete statement yet.
#[derive(Default)]
pub(crate) struct StatementReader {
    script: String,
}

/// The next step after a line.
#[derive(Debug)]
pub(crate) enum LineOutcome {
    /// The statement is incomplete: read on.
    More,
    /// Run these.
    Run(Vec<Statement>),
    /// Report an error in this line of those that were taken, counted from 0; they are discarded.
    Refuse(String, u64),
}

impl StatementReader {
    /// Takes a line, with or without its newline.
    pub(crate) fn push(&mut self, line: &str) -> LineOutcome {
        self.script.push_str(line.strip_suffix('\n').unwrap_or(line));
        self.script.push('\n');
        match parse(&self.script) {
            Parsed::Open(_) => LineOutcome::More,
            parsed => self.step(parsed),
        }
    }

    /// Handles the end of the input.
    pub(crate) fn finish(&mut self) -> LineOutcome {
        let parsed = parse(&self.script);
        self.step(parsed)
    }

    /// Returns whether a statement has begun and not ended.
    pub(crate) fn is_open(&self) -> bool {
        !self.script.is_empty()
    }

    /// Discards the statement that has begun.
    pub(crate) fn clear(&mut self) {
        self.script.clear();
    }

    fn step(&mut self, parsed: Parsed) -> LineOutcome {
        let script = std::mem::take(&mut self.script);
        let refuse =
            |fault: Fault| LineOutcome::Refuse(fault.in_script(&script), fault.line(&script));
        match parsed {
            Parsed::Whole(statements) => LineOutcome::Run(statements),
            Parsed::Open(fault) | Parsed::Wrong(fault) => refuse(fault),
        }
    }
}
