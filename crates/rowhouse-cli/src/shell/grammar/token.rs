//! From characters to tokens.

use rowhouse::Bytes;

use super::fault::Fault;
use super::text::{double_quoted, single_quoted};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Text(Bytes),
    Integer(i64),
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
            Self::Word(word) => format!("`{word}`"),
            Self::Comma => "`,`".into(),
            Self::Arrow => "`=>`".into(),
            Self::Open(c) | Self::Close(c) => format!("`{c}`"),
            Self::End => "the end of the command".into(),
        }
    }
}

/// The reason why there are no tokens.
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

/// Returns the tokens of a script, each with its byte offset.
pub(super) fn tokens(script: &str) -> Result<Vec<(usize, Token)>, Stop> {
    let bytes = script.as_bytes();
    let mut tokens = Vec::new();
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
    Ok(tokens)
}

fn number(script: &str, at: usize) -> Result<(Token, usize), Fault> {
    let rest = &script[at..];
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let len = 1 + rest[1..].find(|c| !part(c)).unwrap_or(rest.len() - 1);
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
    match parsed {
        Ok(number) => Ok((Token::Integer(number), len)),
        Err(_) => Err(Fault::new(
            at,
            format!(
                "`{}` is not a whole number of at most 64 bits; put texts in quotes",
                &rest[..len]
            ),
        )),
    }
}

fn word(script: &str, at: usize) -> Result<(Token, usize), Fault> {
    let rest = &script[at..];
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let len = rest.find(|c| !part(c)).unwrap_or(rest.len());
    if len == 0 {
        let c = rest.chars().next().unwrap_or_default();
        return Err(Fault::new(at, format!("`{c}` is not known here")));
    }
    Ok((Token::Word(rest[..len].to_owned()), len))
}
