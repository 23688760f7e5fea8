//! Ranges: `[a TO b]`, `{a TO b}`. Between the brackets, other characters are signs than outside.

use rowhouse_schema::Fault;

use super::lexer::{Lexer, Token, is_space};
use super::part::Bound;
use super::unescape::unescaped;

/// Reads a range, at the first bracket.
pub(super) fn range(lexer: &mut Lexer<'_>) -> Result<Token, Fault> {
    let at = lexer.at;
    if is_other_parser(lexer) {
        return Err(Fault::new(at, "other query parsers (`{!…}`) are not supported"));
    }
    let is_low_inclusive = lexer.rest().starts_with('[');
    lexer.at += 1;
    let low = bound(lexer, at)?;
    if next(lexer) != Some(RangeToken::To) {
        return Err(Fault::new(at, "a range is written `[low TO high]`"));
    }
    let high = bound(lexer, at)?;
    let Some(RangeToken::End { is_inclusive }) = next(lexer) else {
        return Err(Fault::new(at, "a range without a `]` or `}` after it"));
    };
    Ok(Token::Range(
        Bound { value: low, is_inclusive: is_low_inclusive },
        Bound { value: high, is_inclusive },
    ))
}

/// Returns true if a bracket begins the parameters of another parser. Elsewhere than at the text's
/// beginning, `{!` may begin a range.
fn is_other_parser(lexer: &Lexer<'_>) -> bool {
    let params = lexer.rest().strip_prefix("{!");
    params.is_some_and(|it| lexer.at == 0 || !it.starts_with('=') && it.contains('}'))
}

#[derive(PartialEq, Eq, Debug)]
enum RangeToken<'a> {
    /// `TO`
    To,
    /// What is between quotation marks.
    Quoted(&'a str),
    Plain(&'a str),
    End {
        is_inclusive: bool,
    },
}

/// Reads one end of the range that begins at `at`. Returns `None` for `*`.
fn bound(lexer: &mut Lexer<'_>, at: usize) -> Result<Option<String>, Fault> {
    match next(lexer) {
        Some(RangeToken::To) => Ok(Some("TO".to_owned())),
        Some(RangeToken::Plain("*")) => Ok(None),
        Some(RangeToken::Plain(text)) => unescaped(text, lexer.at - text.len()).map(Some),
        Some(RangeToken::Quoted(text)) => unescaped(text, lexer.at - 1 - text.len()).map(Some),
        Some(RangeToken::End { .. }) | None => {
            Err(Fault::new(at, "a range needs two ends").hint("`*` is an open end"))
        }
    }
}

/// Returns the next token in a range: the longest at its place. Returns `None` at the end.
fn next<'a>(lexer: &mut Lexer<'a>) -> Option<RangeToken<'a>> {
    loop {
        let rest = lexer.rest();
        let first = rest.chars().next()?;
        if matches!(first, ']' | '}') {
            lexer.at += 1;
            return Some(RangeToken::End { is_inclusive: first == ']' });
        }
        let plain = &rest[..rest.find([' ', ']', '}']).unwrap_or(rest.len())];
        if is_space(first) && plain.len() <= first.len_utf8() {
            lexer.at += first.len_utf8();
            continue;
        }
        let quoted = quoted_len(rest).filter(|len| *len >= plain.len());
        lexer.at += quoted.unwrap_or(plain.len());
        return Some(match quoted {
            Some(len) => RangeToken::Quoted(&rest[1..len - 1]),
            None if plain == "TO" => RangeToken::To,
            None => RangeToken::Plain(plain),
        });
    }
}

/// Returns how long a text in quotation marks is, with these. It is not empty, and ends before the
/// first mark without a backslash before it; if there is none, at the last mark.
fn quoted_len(rest: &str) -> Option<usize> {
    let text = rest.strip_prefix('"').filter(|text| !text.starts_with('"'))?;
    let marks = || text.match_indices('"').map(|(at, _)| at);
    let end =
        marks().find(|at| text.as_bytes()[at - 1] != b'\\').or_else(|| marks().next_back())?;
    Some(end + 2)
}
