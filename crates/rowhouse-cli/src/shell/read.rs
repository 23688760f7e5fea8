//! From lines to statements: a statement runs as soon as it is complete.

use super::grammar::{Fault, Parsed, Statement, line_at, parse};

/// Lines that do not form a complete statement yet.
#[derive(Default)]
pub(crate) struct StatementReader {
    script: String,
    /// The quote that ends the text in which the lines end. Lines without it need not be parsed:
    /// a script with a missing quote would be parsed once a line.
    quote: Option<char>,
}

/// The next step after a line.
#[derive(Debug)]
pub(crate) enum LineOutcome {
    /// The statement is incomplete: read on.
    More,
    /// Run these.
    Run(Vec<Statement>),
    /// Report an error; the lines that were taken are discarded.
    Refuse(Refusal),
}

/// An error, and where it is among the lines that were taken, counted from 0.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    /// The line in which the command begins.
    pub(crate) command_line: u64,
    /// The line with the error.
    pub(crate) line: u64,
}

impl StatementReader {
    /// Takes a line, with or without a newline.
    pub(crate) fn push(&mut self, line: &str) -> LineOutcome {
        self.script.push_str(line.strip_suffix('\n').unwrap_or(line));
        self.script.push('\n');
        if self.quote.is_some_and(|quote| !line.contains(quote)) {
            return LineOutcome::More;
        }
        match parse(&self.script) {
            Parsed::Open(fault) => {
                let open = self.script[fault.at..].chars().next();
                self.quote = open.filter(|open| matches!(open, '\'' | '"'));
                LineOutcome::More
            }
            parsed => self.step(parsed),
        }
    }

    /// Handles the input's end.
    pub(crate) fn finish(&mut self) -> LineOutcome {
        let parsed = parse(&self.script);
        self.step(parsed)
    }

    /// Returns true if a statement has begun and not ended.
    pub(crate) fn is_open(&self) -> bool {
        !self.script.is_empty()
    }

    /// Discards the statement that has begun.
    pub(crate) fn clear(&mut self) {
        self.script.clear();
        self.quote = None;
    }

    fn step(&mut self, parsed: Parsed) -> LineOutcome {
        let script = std::mem::take(&mut self.script);
        self.quote = None;
        let refuse = |fault: Fault| {
            LineOutcome::Refuse(Refusal {
                message: fault.in_script(&script),
                command_line: line_at(&script, fault.command_at),
                line: line_at(&script, fault.at),
            })
        };
        match parsed {
            Parsed::Whole(statements) => LineOutcome::Run(statements),
            Parsed::Open(fault) | Parsed::Wrong(fault) => refuse(fault),
        }
    }
}
