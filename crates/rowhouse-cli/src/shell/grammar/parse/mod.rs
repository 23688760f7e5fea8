//! From tokens to statements.

use std::ops::Range;

use super::fault::{Fault, line_at};
use super::token::{Stop, Token, tokens};
use super::value::{Hash, Value};

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    /// The script line in which it begins, counted from 0.
    pub(crate) line: u64,
    pub(crate) command: String,
    pub(crate) arguments: Vec<Value>,
}

/// What parsing a script returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// Complete statements.
    Whole(Vec<Statement>),
    /// The last statement continues on the next line; where the input ends, that is an error.
    Open(Fault),
    /// No continuation could make it valid.
    Wrong(Fault),
}

/// Parses a script.
pub(crate) fn parse(script: &str) -> Parsed {
    let (tokens, stop) = tokens(script);
    let mut parser = Parser { tokens, next: 0, end: script.len(), depth: 0 };
    let mut statements = Vec::new();
    let mut command_at = 0;
    loop {
        parser.skip_ends();
        let ended = match parser.peek() {
            None => Parsed::Whole(statements),
            Some(_) => {
                command_at = parser.place();
                match parser.statement() {
                    Ok((command, arguments)) => {
                        let line = line_at(script, command_at);
                        statements.push(Statement { line, command, arguments });
                        continue;
                    }
                    Err(Missing::Never(fault)) => {
                        let fault = fault.in_command(command_at);
                        return Parsed::Wrong(parser.with_hint(script, fault));
                    }
                    Err(Missing::More(fault)) => Parsed::Open(fault.in_command(command_at)),
                }
            }
        };
        // The tokens may end before the script ends.
        let Some(stop) = stop else { return ended };
        let fault = match &stop {
            Stop::Open { at } => Fault::new(*at, "unterminated text"),
            Stop::Fault(fault) => fault.clone(),
        };
        // After a command ends, another one begins.
        let is_inside = parser.tokens.last().is_some_and(|(_, token)| *token != Token::End);
        let fault = if is_inside { fault.in_command(command_at) } else { fault };
        return match stop {
            Stop::Open { .. } => Parsed::Open(fault),
            Stop::Fault(_) => Parsed::Wrong(parser.with_hint(script, fault)),
        };
    }
}

/// The reason why there is no statement.
enum Missing {
    /// The script ends too early.
    More(Fault),
    Never(Fault),
}

struct Parser {
    tokens: Vec<(usize, Token)>,
    next: usize,
    end: usize,
    /// How many arrays and hashes are open.
    depth: usize,
}

impl Parser {
    /// Parses a command and the arguments.
    fn statement(&mut self) -> Result<(String, Vec<Value>), Missing> {
        let Some((at, token)) = self.take() else {
            return Err(self.expected("a command"));
        };
        let Token::Word(command) = token else {
            return Err(never(at, format!("expected a command, found {}", token.shown())));
        };
        let arguments = if self.peek() == Some(&Token::Open('(')) {
            self.next += 1;
            let arguments = self.arguments(Some(')'))?;
            match self.peek() {
                None | Some(Token::End) => {}
                Some(_) => return Err(self.expected("the end of the command after `)`")),
            }
            arguments
        } else {
            self.arguments(None)?
        };
        Ok((command, arguments))
    }

    /// Adds a hint to an error that comes after a text with several lines: the closing quote may be
    /// missing, and the text ends at another text's opening quote.
    fn with_hint(&self, script: &str, fault: Fault) -> Fault {
        let texts = self.tokens.windows(2).filter_map(|pair| match pair {
            [(at, Token::Text(_)), (end, _)] => Some(*at..*end),
            _ => None,
        });
        let inside = |text: &Range<usize>| text.start >= fault.command_at && text.end <= fault.at;
        let mut texts = texts.filter(inside);
        let Some(text) = texts.find(|text| script[text.clone()].contains('\n')) else {
            return fault;
        };
        let lines = line_at(script, text.end) - line_at(script, text.start) + 1;
        let message = format!(
            "{}; the text before it has {lines} lines: is the closing quote of the first missing?",
            fault.message
        );
        Fault { message, ..fault }
    }

    /// Parses arguments up to the closing bracket, or to the statement's end. Pairs outside braces
    /// become one hash at the end.
    fn arguments(&mut self, close: Option<char>) -> Result<Vec<Value>, Missing> {
        let mut arguments = Vec::new();
        let mut pairs = Hash::new();
        loop {
            if self.at_close(close)? {
                break;
            }
            let at = self.place();
            let value = self.name_or_value()?;
            if self.peek() == Some(&Token::Arrow) {
                self.next += 1;
                self.skip_ends();
                pairs.push((key(at, &value)?, self.value()?));
            } else if pairs.is_empty() {
                arguments.push(value);
            } else {
                return Err(never(
                    at,
                    "after a pair, only further pairs `NAME => value` are allowed",
                ));
            }
            if self.at_close(close)? {
                break;
            }
            self.comma(if close.is_some() {
                "`,` or `)`"
            } else {
                "`,` or the end of the command"
            })?;
        }
        if !pairs.is_empty() {
            arguments.push(Value::Hash(pairs));
        }
        Ok(arguments)
    }

    /// Returns true if the arguments end here, after taking a closing bracket.
    fn at_close(&mut self, close: Option<char>) -> Result<bool, Missing> {
        let Some(close) = close else { return Ok(matches!(self.peek(), None | Some(Token::End))) };
        self.skip_ends();
        match self.peek() {
            None => Err(self.expected(&format!("`{close}`"))),
            Some(Token::Close(c)) if *c == close => {
                self.next += 1;
                Ok(true)
            }
            Some(_) => Ok(false),
        }
    }

    /// Parses a value, or a word before `=>`: there field names need no quotes.
    fn name_or_value(&mut self) -> Result<Value, Missing> {
        match self.tokens.get(self.next..self.next + 2) {
            Some([(_, Token::Word(word)), (_, Token::Arrow)]) => {
                let name = Value::Constant(word.clone());
                self.next += 1;
                Ok(name)
            }
            _ => self.value(),
        }
    }

    fn value(&mut self) -> Result<Value, Missing> {
        let Some((at, token)) = self.take() else {
            return Err(Missing::More(Fault::new(self.end, "expected a value, found the end")));
        };
        match token {
            Token::Text(text) => Ok(Value::Text(text)),
            Token::Integer(number) => Ok(Value::Integer(number)),
            Token::Decimal(number) => Ok(Value::Decimal(number)),
            Token::Word(word) => constant(at, word),
            Token::Open(_) if self.depth == DEPTH_MAX => {
                Err(never(at, format!("nested too deeply: max={DEPTH_MAX}")))
            }
            Token::Open(open @ ('[' | '{')) => {
                self.depth += 1;
                let value = if open == '[' { self.array() } else { self.hash() };
                self.depth -= 1;
                value
            }
            other => Err(never(at, format!("expected a value, found {}", other.shown()))),
        }
    }

    fn array(&mut self) -> Result<Value, Missing> {
        let mut values = Vec::new();
        while !self.at_close(Some(']'))? {
            values.push(self.value()?);
            self.skip_ends();
            if self.peek() != Some(&Token::Close(']')) {
                self.comma("`,` or `]`")?;
            }
        }
        Ok(Value::Array(values))
    }

    fn hash(&mut self) -> Result<Value, Missing> {
        let mut pairs = Hash::new();
        while !self.at_close(Some('}'))? {
            let at = self.place();
            let name = self.name_or_value()?;
            let name = key(at, &name)?;
            self.skip_ends();
            if self.peek() != Some(&Token::Arrow) {
                return Err(self.expected("`=>`"));
            }
            self.next += 1;
            self.skip_ends();
            pairs.push((name, self.value()?));
            self.skip_ends();
            if self.peek() != Some(&Token::Close('}')) {
                self.comma("`,` or `}`")?;
            }
        }
        Ok(Value::Hash(pairs))
    }

    /// Takes a comma, and the line ends after it.
    fn comma(&mut self, expected: &str) -> Result<(), Missing> {
        if self.peek() != Some(&Token::Comma) {
            return Err(self.expected(expected));
        }
        self.next += 1;
        self.skip_ends();
        match self.peek() {
            None => Err(Missing::More(Fault::new(self.end, "expected a value, found the end"))),
            Some(_) => Ok(()),
        }
    }

    fn expected(&self, expected: &str) -> Missing {
        match self.tokens.get(self.next) {
            None => {
                Missing::More(Fault::new(self.end, format!("expected {expected}, found the end")))
            }
            Some((at, token)) => {
                never(*at, format!("expected {expected}, found {}", token.shown()))
            }
        }
    }

    fn skip_ends(&mut self) {
        while self.peek() == Some(&Token::End) {
            self.next += 1;
        }
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(_, token)| token)
    }

    fn place(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |(at, _)| *at)
    }

    fn take(&mut self) -> Option<(usize, Token)> {
        let token = self.tokens.get(self.next).cloned()?;
        self.next += 1;
        Some(token)
    }
}

/// Maximum nesting depth for arrays and hashes, more than any command takes.
const DEPTH_MAX: usize = 64;

fn never(at: usize, message: impl Into<String>) -> Missing {
    Missing::Never(Fault::new(at, message))
}

fn constant(at: usize, word: String) -> Result<Value, Missing> {
    match &word[..] {
        "true" => Ok(Value::Boolean(true)),
        "false" => Ok(Value::Boolean(false)),
        "nil" => Ok(Value::Nil),
        _ if word.starts_with(|c: char| c.is_ascii_uppercase()) => Ok(Value::Constant(word)),
        _ => Err(never(at, format!("`{word}` is not known here; put texts in quotes: '{word}'"))),
    }
}

fn key(at: usize, value: &Value) -> Result<String, Missing> {
    let text = match value {
        Value::Constant(name) => Some(name.clone()),
        Value::Text(text) => String::from_utf8(text.to_vec()).ok(),
        _ => None,
    };
    text.ok_or_else(|| {
        never(
            at,
            format!("the name in `NAME => value` must be a word or a text, not {}", value.kind()),
        )
    })
}

#[cfg(test)]
mod tests;
