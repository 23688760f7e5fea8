//! From characters to tokens.

use rowhouse::Bytes;
use rowhouse_model::ascii_of;

use super::fault::Fault;
use super::text::{double_quoted, single_quoted};
use crate::shell::print::ruby_float;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Text(Bytes),
    Integer(i64),
    /// A number with a fraction or an exponent, as Ruby prints it.
    Decimal(String),
    /// A bare word: a command, a constant, `true`.
    Word(String),
    Comma,
    Arrow,
    Open(char),
    Close(char),
    /// A newline or `;`.
    End,
}

impl Token {
    /// Returns the token, for messages.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Text(_) => "a text".into(),
            Self::Integer(number) => format!("`{number}`"),
            Self::Decimal(number) => format!("`{number}`"),
            Self::Word(word) => format!("`{word}`"),
            Self::Comma => "`,`".into(),
            Self::Arrow => "`=>`".into(),
            Self::Open(c) | Self::Close(c) => format!("`{c}`"),
            Self::End => "the end of the command".into(),
        }
    }
}

/// The reason why there are no more tokens.
#[derive(Debug)]
pub(super) enum Stop {
    /// The script ends inside a quoted text; more lines may end it.
    Open {
        at: usize,
    },
    Fault(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Returns the tokens in a script, each with the byte offset, and what comes after them if they do
/// not cover the script.
pub(super) fn tokens(script: &str) -> (Vec<(usize, Token)>, Option<Stop>) {
    let mut tokens = Vec::new();
    let stop = push_tokens(script, &mut tokens).err();
    (tokens, stop)
}

fn push_tokens(script: &str, tokens: &mut Vec<(usize, Token)>) -> Result<(), Stop> {
    let bytes = script.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let (token, len) = match byte {
            b'\n' | b';' => (Token::End, 1),
            b' ' | b'\t' | b'\r' => {
                at += 1;
                continue;
            }
            b'#' => {
                at = script[at..].find('\n').map_or(script.len(), |newline| at + newline);
                continue;
            }
            b'\\' if script[at + 1..].trim_start_matches([' ', '\t', '\r']).starts_with('\n') => {
                at = script[at..].find('\n').map_or(script.len(), |newline| at + newline + 1);
                continue;
            }
            b',' => (Token::Comma, 1),
            b'=' if bytes.get(at + 1) == Some(&b'>') => (Token::Arrow, 2),
            b'(' | b'[' | b'{' => (Token::Open(byte as char), 1),
            b')' | b']' | b'}' => (Token::Close(byte as char), 1),
            b'\'' | b'"' => {
                let read = if byte == b'"' { double_quoted } else { single_quoted };
                let (text, end) = read(script, at + 1)?.ok_or(Stop::Open { at })?;
                (Token::Text(text.into()), end - at)
            }
            b'0'..=b'9' | b'-' | b'+' => number(script, at)?,
            _ => word(script, at)?,
        };
        tokens.push((at, token));
        at += len;
    }
    Ok(())
}

fn number(script: &str, at: usize) -> Result<(Token, usize), Fault> {
    let rest = &script[at..];
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let end = |begin: usize| rest[begin..].find(|c| !part(c)).map_or(rest.len(), |at| begin + at);
    let mut len = end(1);
    // An exponent's sign.
    let signed = rest[len..].strip_prefix(['+', '-']).unwrap_or_default();
    if rest[..len].ends_with(['e', 'E']) && signed.starts_with(|c: char| c.is_ascii_digit()) {
        len = end(len + 1);
    }
    let digits = rest[..len].replace('_', "");
    if !digits.bytes().any(|c| c.is_ascii_digit()) {
        return Err(Fault::new(at, format!("`{}` is not known here", &rest[..len])));
    }
    let (sign, magnitude) = match digits.split_at(1) {
        ("-", magnitude) => ("-", magnitude),
        ("+", magnitude) => ("", magnitude),
        _ => ("", &digits[..]),
    };
    let parsed = match magnitude.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(&format!("{sign}{hex}"), 16),
        None => format!("{sign}{magnitude}").parse(),
    };
    if let Ok(number) = parsed {
        return Ok((Token::Integer(number), len));
    }
    let problem = match decimal(&format!("{sign}{magnitude}")) {
        Some(Ok(number)) => return Ok((Token::Decimal(number), len)),
        Some(Err(problem)) => problem,
        None => "is not a whole number of at most 64 bits",
    };
    Err(Fault::new(at, format!("`{}` {problem}; put texts in quotes", &rest[..len])))
}

/// Significant digits that every 64-bit number with a fraction keeps.
const DIGITS_MAX: usize = 15;

/// Parses a number with a fraction or an exponent; `None` for any other text. It is refused if Ruby
/// would print another number.
fn decimal(text: &str) -> Option<Result<String, &'static str>> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()),
        None => (text, Some(0)),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit());
    exponent.filter(|_| is_number(whole) && is_number(fraction))?;
    let digits = format!("{whole}{fraction}");
    let number: f64 = text.parse().ok()?;
    let is_exact = digits.trim_matches('0').len() <= DIGITS_MAX
        && number.is_finite()
        && (number != 0.0 || digits.bytes().all(|digit| digit == b'0'));
    Some(if is_exact { Ok(ruby_float(number)) } else { Err("does not fit into 64 bits") })
}

fn word(script: &str, at: usize) -> Result<(Token, usize), Fault> {
    let rest = &script[at..];
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let len = rest.find(|c| !part(c)).unwrap_or(rest.len());
    if len == 0 {
        let c = rest.chars().next().unwrap_or_default();
        let hint = ascii_of(c).map(|ascii| format!(": a full-width character; type `{ascii}`"));
        let hint = hint.unwrap_or_default();
        return Err(Fault::new(at, format!("`{c}` is not known here{hint}")));
    }
    Ok((Token::Word(rest[..len].to_owned()), len))
}
