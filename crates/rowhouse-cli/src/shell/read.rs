//! From lines to statements: a statement is run as soon as it is whole.

use super::grammar::{Fault, Parsed, Statement, parse};

/// Lines that do not make a whole statement yet.
#[derive(Default)]
pub(crate) struct StatementReader {
    script: String,
}

/// What to do after a line.
#[derive(Debug)]
pub(crate) enum LineOutcome {
    /// Read on: the statement is not whole.
    More,
    /// Run these.
    Run(Vec<Statement>),
    /// Tell what is wrong, in this line of those that were taken, counted from 0; they are forgotten.
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

    /// The input has ended.
    pub(crate) fn finish(&mut self) -> LineOutcome {
        let parsed = parse(&self.script);
        self.step(parsed)
    }

    /// Whether a statement has been begun and not ended.
    pub(crate) fn is_open(&self) -> bool {
        !self.script.is_empty()
    }

    /// Forgets what has been begun.
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
