//! The parser for a field's type: the word and the parameters.

use super::bracket::{Words, number_up_to};
use super::words::{self, Role, is_foreign};
use crate::encode::{Codec, End, FieldType, ForeignType, Labels, is_plain};
use crate::error::Fault;
use crate::spelling::closest;
use crate::time::TimeUnit;
use crate::transform::Modifiers;

/// The most decimal digits that fit into 128 bits.
pub(super) const DIGITS_MAX: u8 = 38;
/// How long the longest row key is.
const WIDTH_MAX: u16 = 32_767;

/// Parses a type, after the first word.
pub(super) fn parse(at: usize, word: &str, words: &mut Words<'_>) -> Result<FieldType, Fault> {
    let parsed = match word {
        "text" => text(words)?,
        "bytes" => FieldType::Bytes { width: width(at, words, "bytes", "bytes")? },
        "hex" => hex(at, words)?,
        "digits" => {
            let Some((at, width)) = words.number()? else {
                return Err(Fault::new(at, "expected `digits N`, how many digits there are"));
            };
            FieldType::Digits { width: number_up_to(at, width, DIGITS_MAX, "digits")? }
        }
        "seconds" => seconds(words)?,
        word if word.starts_with("enum(") => labels(at, word)?,
        word if word.starts_with("repeat(") => repeat(at, word)?,
        word if is_foreign(word) => FieldType::Foreign(foreign(at, word, words)?),
        word => FieldType::named(word).cloned().ok_or_else(|| unknown(at, word))?,
    };
    if let Some((at, number)) = words.number()? {
        let fault = Fault::new(at, format!("`{parsed}` takes no number"));
        return Err(match &parsed {
            FieldType::String => fault.hint(format!("for a fixed width write `text {number}`")),
            FieldType::Unsigned { .. } | FieldType::Time { .. } => {
                fault.hint(format!("for decimal text write `{parsed} digits {number}`"))
            }
            _ => fault,
        });
    }
    Ok(parsed)
}

fn text(words: &mut Words<'_>) -> Result<FieldType, Fault> {
    let Some((at, width)) = words.number()? else { return Ok(FieldType::Text) };
    let width = number_up_to(at, width, WIDTH_MAX, "bytes")?;
    let pad = match words.word("pad")? {
        Some(_) => {
            let (at, pad) = words.expect("a character to pad with; a space is \\x20")?;
            pad_byte(at, pad)?
        }
        None => 0,
    };
    Ok(FieldType::PaddedText { width, pad })
}

/// Parses a plain ASCII character, or `\xHH` for one.
fn pad_byte(at: usize, word: &str) -> Result<u8, Fault> {
    let escaped = word.strip_prefix("\\x").filter(|digits| digits.len() == 2);
    let byte = match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
        Some(byte) => Some(byte),
        None => match word.as_bytes() {
            [byte] if is_plain(char::from(*byte)) => Some(*byte),
            _ => None,
        },
    };
    byte.filter(u8::is_ascii).ok_or_else(|| {
        Fault::new(at, format!("expected one ASCII character to pad with, not {word}"))
            .hint("a space is \\x20")
    })
}

fn width(at: usize, words: &mut Words<'_>, word: &str, what: &str) -> Result<u16, Fault> {
    let Some((at, width)) = words.number()? else {
        return Err(Fault::new(at, format!("expected `{word} N`, how many {what} there are")));
    };
    number_up_to(at, width, WIDTH_MAX, what)
}

fn hex(at: usize, words: &mut Words<'_>) -> Result<FieldType, Fault> {
    let width = width(at, words, "hex", "characters")?;
    Ok(FieldType::Hex { width, upper: words.word("upper")?.is_some() })
}

fn seconds(words: &mut Words<'_>) -> Result<FieldType, Fault> {
    let bytes = match words.number()? {
        None => 8,
        Some((_, "4")) => 4,
        Some((at, _)) => {
            return Err(Fault::new(at, "`seconds` has eight bytes, or four: `seconds 4`")
                .hint("for decimal text write `seconds digits 10`"));
        }
    };
    Ok(FieldType::Time { unit: TimeUnit::Seconds, bytes })
}

/// Returns the text between a word's parentheses, and the offset.
fn inside<'a>(at: usize, word: &'a str, what: &str) -> Result<(usize, &'a str), Fault> {
    let open = word.find('(').map_or(word.len(), |open| open + 1);
    match word[open..].strip_suffix(')') {
        Some(inside) => Ok((at + open, inside)),
        None => Err(Fault::new(at, format!("expected {what}"))),
    }
}

fn labels(at: usize, word: &str) -> Result<FieldType, Fault> {
    let (at, inside) = inside(at, word, "labels such as enum(open,closed)")?;
    let labels = Labels::parse(inside).map_err(|(offset, why)| Fault::new(at + offset, why))?;
    Ok(FieldType::Enum(labels))
}

fn repeat(at: usize, word: &str) -> Result<FieldType, Fault> {
    let (inner_at, inside) = inside(at, word, "types such as repeat(u24 u24)")?;
    let mut words = Words::new(inside);
    let mut types = Vec::new();
    while let Some((at, word)) = words.next().map_err(|fault| fault.shifted(inner_at))? {
        let field_type = parse(at, word, &mut words).map_err(|fault| fault.shifted(inner_at))?;
        let codec = Codec::new(&field_type, &Modifiers::default(), End::Key);
        if !codec.is_ok_and(|codec| codec.width().is_some()) {
            let message = format!("`{field_type}` has no fixed width and cannot be repeated");
            return Err(Fault::new(inner_at + at, message));
        }
        types.push(field_type);
    }
    if types.is_empty() {
        return Err(Fault::new(inner_at, "expected types of fixed width")
            .hint("for example repeat(u24 u24)"));
    }
    Ok(FieldType::Repeat(types))
}

fn foreign(at: usize, word: &str, words: &mut Words<'_>) -> Result<ForeignType, Fault> {
    if let Some(mut foreign) = ForeignType::named(word) {
        if foreign.has_width() {
            foreign.set_width(width(at, words, word, "bytes")?);
        }
        return Ok(foreign);
    }
    let family = word.split_once('.').map_or(word, |(family, _)| family);
    let known = || {
        ForeignType::names().filter(|name| name.split_once('.').is_some_and(|(f, _)| f == family))
    };
    Err(match closest(word, known()) {
        Some(close) => Fault::new(at, format!("unknown type `{word}`"))
            .hint(format!("did you mean `{close}`?")),
        None => {
            let known: Vec<_> = known().collect();
            Fault::unsupported(at, word).hint(format!("types of {family} are: {}", known.join(" ")))
        }
    })
}

fn unknown(at: usize, word: &str) -> Fault {
    if matches!(word, "enum" | "repeat") {
        let example = if word == "enum" { "enum(open,closed)" } else { "repeat(u24 u24)" };
        return Fault::new(at, format!("expected parentheses after `{word}`: {example}"));
    }
    if Role::Modifier.has(word) {
        return Fault::new(at, format!("expected a type before `{word}`"));
    }
    let stem = word.split_once('(').map_or(word, |(stem, _)| stem);
    let fault = Fault::new(at, format!("unknown type `{word}`"));
    match words::suggest(stem, Role::Type) {
        Some(hint) => fault.hint(hint),
        None => fault.hint(format!("types are: {}", shortened())),
    }
}

/// Lists the types for messages, with `u8 u16 … u64` as `u8…u64`.
fn shortened() -> String {
    let shown = FieldType::words().filter_map(|word| match FieldType::named(word) {
        Some(FieldType::Unsigned { bytes: 1 }) => Some("u8…u64"),
        Some(FieldType::Signed { bytes: 1 }) => Some("i8…i64"),
        Some(FieldType::Unsigned { .. } | FieldType::Signed { .. }) => None,
        _ => Some(word),
    });
    shown.collect::<Vec<_>>().join(" ")
}
