//! Filter arguments in the filter language.

use bytes::Bytes;

use super::parse::{Parser, error_at};
use crate::filter::{Comparator, CompareOperator, Comparison, RegexPattern};
use crate::{Error, Result};

/// A parsed filter expression: the name and the arguments.
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    text: &'a [u8],
    at: usize,
    arguments: Vec<Argument>,
}

/// An argument and the offset.
struct Argument {
    at: usize,
    bytes: Vec<u8>,
    is_quoted: bool,
}

impl<'a> Call<'a> {
    /// Parses a name and, in parentheses, arguments separated by commas or spaces.
    pub(super) fn read(parser: &mut Parser<'a>) -> Result<Self> {
        parser.pass_spaces();
        let text = parser.text;
        let at = parser.at;
        let len = text[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let name = std::str::from_utf8(&text[at..at + len]).unwrap_or_default();
        if name.is_empty() {
            return Err(parser.error("the name of a filter is missing"));
        }
        parser.at += len;
        if !parser.take(b'(') {
            return Err(parser.error("'(' must follow the name of a filter"));
        }
        let mut arguments = Vec::new();
        while !parser.take(b')') {
            match parser.peek() {
                None => return Err(parser.error("')' is missing after arguments")),
                Some(b',') => parser.at += 1,
                Some(b'\'') => arguments.push(quoted(parser)?),
                Some(_) => arguments.push(plain(parser)),
            }
        }
        Ok(Self { name, text, at, arguments })
    }

    /// Returns the argument count, which must be in `counts`.
    pub(super) fn count(&self, counts: &[usize]) -> Result<usize> {
        let count = self.arguments.len();
        if counts.contains(&count) {
            return Ok(count);
        }
        let counts: Vec<_> = counts.iter().map(usize::to_string).collect();
        let counts = counts.join(" or ");
        Err(self.error(self.at, &format!("{} takes {counts} arguments, not {count}", self.name)))
    }

    /// Returns the indexes for all arguments.
    pub(super) fn all(&self) -> std::ops::Range<usize> {
        0..self.arguments.len()
    }

    /// Returns an argument in quotes as bytes.
    pub(super) fn bytes(&self, number: usize) -> Result<Bytes> {
        let argument = &self.arguments[number];
        if argument.is_quoted {
            Ok(argument.bytes.clone().into())
        } else {
            Err(self.wrong(argument, "text in single quotes"))
        }
    }

    /// Returns an argument as an integer.
    pub(super) fn number(&self, number: usize) -> Result<i64> {
        let argument = &self.arguments[number];
        let digits = argument.bytes.strip_prefix(b"-").unwrap_or(&argument.bytes);
        let is_number =
            !argument.is_quoted && !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        let text = std::str::from_utf8(&argument.bytes).unwrap_or_default();
        match text.parse() {
            Ok(value) if is_number => Ok(value),
            _ => Err(self.wrong(argument, "a whole number of 64 bits")),
        }
    }

    /// Returns an argument as a non-negative integer that fits a Java `int`.
    pub(super) fn count_of(&self, number: usize) -> Result<u32> {
        let value = self.number(number)?;
        u32::try_from(value)
            .ok()
            .filter(|&value| i32::try_from(value).is_ok())
            .ok_or_else(|| self.wrong(&self.arguments[number], "a number from 0 to 2147483647"))
    }

    /// Returns an argument as a boolean: `true` or `false`, ignoring case.
    pub(super) fn truth(&self, number: usize) -> Result<bool> {
        let argument = &self.arguments[number];
        let is = |word: &[u8]| !argument.is_quoted && argument.bytes.eq_ignore_ascii_case(word);
        match (is(b"true"), is(b"false")) {
            (true, _) => Ok(true),
            (_, true) => Ok(false),
            _ => Err(self.wrong(argument, "true or false")),
        }
    }

    /// Returns an operator and the comparator after it. With `equality_only`, text comparators
    /// accept only `=` and `!=`.
    pub(super) fn comparison(&self, number: usize, equality_only: bool) -> Result<Comparison> {
        let argument = &self.arguments[number];
        let operator = match &argument.bytes[..] {
            _ if argument.is_quoted => None,
            b"<" => Some(CompareOperator::Less),
            b"<=" => Some(CompareOperator::LessOrEqual),
            b"=" => Some(CompareOperator::Equal),
            b"!=" => Some(CompareOperator::NotEqual),
            b">=" => Some(CompareOperator::GreaterOrEqual),
            b">" => Some(CompareOperator::Greater),
            _ => None,
        };
        let operator =
            operator.ok_or_else(|| self.wrong(argument, "one of <, <=, =, !=, >=, >"))?;
        let comparator = self.comparator(number + 1)?;
        let is_equality = matches!(operator, CompareOperator::Equal | CompareOperator::NotEqual);
        let is_text = matches!(comparator, Comparator::Regex(_) | Comparator::Substring(_));
        if equality_only && is_text && !is_equality {
            return Err(self.wrong(argument, "= or != with regexstring and substring"));
        }
        Ok(Comparison { operator, comparator })
    }

    fn comparator(&self, number: usize) -> Result<Comparator> {
        let argument = &self.arguments[number];
        let wrong = || {
            let kinds = "'binary:…', 'binaryprefix:…', 'substring:…', 'regexstring:…' or \
                         'regexstringnocase:…'";
            self.wrong(argument, kinds)
        };
        let colon = argument.bytes.iter().position(|&byte| byte == b':');
        let colon = colon.filter(|_| argument.is_quoted).ok_or_else(wrong)?;
        let value = &argument.bytes[colon + 1..];
        let text = || String::from_utf8_lossy(value).into_owned();
        let regex = |flags| Comparator::Regex(RegexPattern::new(text(), flags));
        Ok(match &argument.bytes[..colon] {
            b"binary" => Comparator::Binary(Bytes::copy_from_slice(value)),
            b"binaryprefix" => Comparator::BinaryPrefix(Bytes::copy_from_slice(value)),
            b"substring" => Comparator::Substring(text()),
            b"regexstring" => regex(RegexPattern::DOTALL),
            b"regexstringnocase" => regex(RegexPattern::DOTALL | RegexPattern::CASE_INSENSITIVE),
            _ => return Err(wrong()),
        })
    }

    fn wrong(&self, argument: &Argument, expected: &str) -> Error {
        let actual = String::from_utf8_lossy(&argument.bytes);
        self.error(argument.at, &format!("{} takes {expected} here, not {actual}", self.name))
    }

    /// Returns an error at the filter's name.
    pub(super) fn error_at_name(&self, what: &str) -> Error {
        self.error(self.at, what)
    }

    fn error(&self, at: usize, what: &str) -> Error {
        error_at(self.text, at, what)
    }
}

/// Parses bytes in single quotes; a doubled quote stands for one.
fn quoted(parser: &mut Parser<'_>) -> Result<Argument> {
    let at = parser.at;
    let mut bytes = Vec::new();
    let mut rest = at + 1;
    loop {
        match (parser.text.get(rest), parser.text.get(rest + 1)) {
            (Some(b'\''), Some(b'\'')) => {
                bytes.push(b'\'');
                rest += 2;
            }
            (Some(b'\''), _) => break,
            (Some(&byte), _) => {
                bytes.push(byte);
                rest += 1;
            }
            (None, _) => return Err(parser.error("closing quote is missing")),
        }
    }
    parser.at = rest + 1;
    match parser.text.get(parser.at) {
        None | Some(b' ' | b'\t' | b',' | b')') => Ok(Argument { at, bytes, is_quoted: true }),
        Some(_) => Err(parser.error("',' or ')' must follow text in quotes")),
    }
}

/// Parses a number, a word or an operator.
fn plain(parser: &mut Parser<'_>) -> Argument {
    let at = parser.at;
    let rest = &parser.text[at..];
    let len = rest.iter().take_while(|byte| !b" \t,)".contains(byte)).count();
    parser.at += len;
    Argument { at, bytes: rest[..len].to_vec(), is_quoted: false }
}
