//! What stands between brackets: name, type, modifiers, in this order, single spaces.

use super::words::{self, Role};
use crate::encode::{Codec, TextEnd};
use crate::error::Fault;
use crate::field::{Digits, FieldType, Modifiers};
use crate::time::TimeUnit;

/// A field as written.
pub(super) struct Raw {
    pub(super) at: usize,
    pub(super) name: String,
    pub(super) field_type: FieldType,
    pub(super) modifiers: Modifiers,
}

impl Raw {
    /// The number of bytes of the field, if it is always the same.
    pub(super) fn width(&self) -> Option<usize> {
        Codec::new(self.field_type, self.modifiers, TextEnd::KeyEnd).width()
    }
}

const DIGITS_MAX: u8 = 38;

/// Reads a field; offsets count from behind its bracket.
pub(super) fn parse(inside: &str) -> Result<Raw, Fault> {
    let mut words = Words { text: inside, at: 0 };
    let (at, name) = words.next()?.ok_or_else(|| {
        Fault::new(0, "expected a name and a type").hint("for example [user string]")
    })?;
    check_name(at, name)?;
    let Some((type_at, word)) = words.next()? else {
        return Err(no_type(name, inside.len()));
    };
    if word.bytes().all(|c| c.is_ascii_digit()) {
        return Err(computed(at, name, type_at));
    }
    let field_type = field_type(type_at, word, &mut words)?;
    let modifiers = modifiers(field_type, &mut words)?;
    Ok(Raw { at, name: name.to_owned(), field_type, modifiers })
}

fn check_name(at: usize, name: &str) -> Result<(), Fault> {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
    };
    if is_name(name) {
        return Ok(());
    }
    if let Some((family, _)) = name.split_once(':')
        && is_name(family)
    {
        return Err(Fault::unsupported(at, name)
            .hint("a column stands in the template of an index, not of a row key"));
    }
    let bad = name
        .char_indices()
        .find(|(nth, c)| !(c.is_ascii_alphabetic() || *c == '_' || *nth > 0 && c.is_ascii_digit()))
        .map_or(0, |(nth, _)| nth);
    Err(Fault::new(at + bad, format!("`{name}` is not a name"))
        .hint("a name has letters, digits and _, and does not begin with a digit"))
}

fn no_type(name: &str, at: usize) -> Fault {
    let is_type = words::WORDS.iter().any(|word| word.text == name && word.role == Role::Type);
    if words::is_later(name, Role::Computed) {
        return Fault::unsupported(0, name);
    }
    if is_type {
        return Fault::new(0, "expected a name before the type")
            .hint(format!("for example [id {name}]"));
    }
    Fault::new(at, format!("expected a type behind `{name}`"))
        .hint(format!("for example [{name} string]"))
}

/// The second word is a number, so the first is not a name.
fn computed(at: usize, word: &str, number_at: usize) -> Fault {
    if words::is_later(word, Role::Computed) {
        return Fault::unsupported(at, word);
    }
    match words::suggest(word, Role::Computed) {
        Some(hint) => Fault::new(at, format!("unknown computed field `{word}`")).hint(hint),
        None => Fault::new(number_at, format!("expected a type behind `{word}`, not a number"))
            .hint(format!("for example [{word} digits 8]")),
    }
}

fn field_type(at: usize, word: &str, words: &mut Words<'_>) -> Result<FieldType, Fault> {
    let time = |unit| FieldType::Time { unit, bytes: 8 };
    let found = match word {
        "text" => match words.number()? {
            None => FieldType::Text,
            Some((_, width)) => {
                return Err(Fault::unsupported(at, &format!("text {width}"))
                    .hint("`text` without a length is, and so is `string`"));
            }
        },
        "string" => FieldType::String,
        "millis" => time(TimeUnit::Millis),
        "micros" => time(TimeUnit::Micros),
        "nanos" => time(TimeUnit::Nanos),
        "seconds" => match words.number()? {
            None => time(TimeUnit::Seconds),
            Some((_, "4")) => FieldType::Time { unit: TimeUnit::Seconds, bytes: 4 },
            Some((at, _)) => {
                return Err(Fault::new(at, "`seconds` has eight bytes, or four: `seconds 4`")
                    .hint("for decimal text write `seconds digits 10`"));
            }
        },
        "digits" => {
            let Some((at, width)) = words.number()? else {
                return Err(Fault::new(at, "expected `digits N`, how many digits there are"));
            };
            FieldType::Digits { width: digits_width(at, width)? }
        }
        _ => integer(word).map_or_else(|| Err(unknown_type(at, word)), Ok)?,
    };
    if let Some((at, number)) = words.number()? {
        return Err(Fault::new(at, format!("`{word}` takes no number"))
            .hint(format!("for decimal text write `{word} digits {number}`")));
    }
    Ok(found)
}

fn integer(word: &str) -> Option<FieldType> {
    let bits = word.get(1..)?;
    let bytes = match bits {
        "8" => 1,
        "16" => 2,
        "24" => 3,
        "32" => 4,
        "40" => 5,
        "48" => 6,
        "56" => 7,
        "64" => 8,
        _ => return None,
    };
    match &word[..1] {
        "u" => Some(FieldType::Unsigned { bytes }),
        "i" => Some(FieldType::Signed { bytes }),
        _ => None,
    }
}

fn unknown_type(at: usize, word: &str) -> Fault {
    let stem = word.split_once('(').map_or(word, |(stem, _)| stem);
    if words::is_later(stem, Role::Type) {
        return Fault::unsupported(at, stem);
    }
    if words::WORDS.iter().any(|known| known.text == word && known.role == Role::Modifier) {
        return Fault::new(at, format!("expected a type before `{word}`"));
    }
    let fault = Fault::new(at, format!("unknown type `{word}`"));
    match words::suggest(word, Role::Type) {
        Some(hint) => fault.hint(hint),
        None => fault.hint("text, string, u8…u64, i8…i64, millis, seconds, digits N are types"),
    }
}

fn modifiers(field_type: FieldType, words: &mut Words<'_>) -> Result<Modifiers, Fault> {
    let mut modifiers = Modifiers::default();
    while let Some((at, word)) = words.next()? {
        match word {
            "digits" if modifiers.desc => {
                return Err(Fault::new(at, "`digits` stands before `desc`"));
            }
            "digits" if modifiers.digits.is_some() => {
                return Err(Fault::new(at, "`digits` is written twice"));
            }
            "digits" => {
                check_digits(field_type, at)?;
                let width = match words.number()? {
                    Some((at, width)) => Some(digits_width(at, width)?),
                    None => None,
                };
                modifiers.digits = Some(Digits { width });
            }
            "desc" if modifiers.desc => return Err(Fault::new(at, "`desc` is written twice")),
            "desc" if field_type == FieldType::Text => {
                return Err(Fault::new(
                    at,
                    "`text` has no descending order, its end is not stored",
                )
                .hint("use string, or text N"));
            }
            "desc" => modifiers.desc = true,
            _ => return Err(unknown_modifier(at, word)),
        }
    }
    Ok(modifiers)
}

fn check_digits(field_type: FieldType, at: usize) -> Result<(), Fault> {
    match field_type {
        FieldType::Unsigned { .. } | FieldType::Time { .. } => Ok(()),
        FieldType::Signed { bytes } => {
            Err(Fault::new(at, "digits have no sign, and a sign would break the order")
                .hint(format!("use u{}", u16::from(bytes) * 8)))
        }
        FieldType::Digits { .. } => Err(Fault::new(at, "the type is `digits` already")),
        FieldType::Text | FieldType::String => {
            Err(Fault::new(at, "only numbers and times are written as digits")
                .hint("for a number as text use the type `digits N`"))
        }
    }
}

fn digits_width(at: usize, number: &str) -> Result<u8, Fault> {
    match number.parse() {
        Ok(width @ 1..=DIGITS_MAX) if !number.starts_with('0') => Ok(width),
        _ => Err(Fault::new(at, format!("expected 1 to {DIGITS_MAX} digits, not {number}"))),
    }
}

fn unknown_modifier(at: usize, word: &str) -> Fault {
    if words::is_later(word, Role::Modifier) {
        return Fault::unsupported(at, word);
    }
    if words::WORDS.iter().any(|known| known.text == word && known.role == Role::Type) {
        return Fault::new(at, format!("the field has a type already, `{word}` is another"));
    }
    let fault = Fault::new(at, format!("unknown modifier `{word}`"));
    match words::suggest(word, Role::Modifier) {
        Some(hint) => fault.hint(hint),
        None => fault.hint("digits and desc are modifiers"),
    }
}

/// The words of a field, one space between two of them.
struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Result<Option<(usize, &'a str)>, Fault> {
        if self.at >= self.text.len() && !(self.at > 0 && self.text.ends_with(' ')) {
            return Ok(None);
        }
        let start = self.at.min(self.text.len());
        let rest = &self.text[start..];
        let len = rest.find(' ').unwrap_or(rest.len());
        let word = &rest[..len];
        if let Some(space) = word.find(char::is_whitespace) {
            return Err(Fault::new(start + space, "only a space may stand between words"));
        }
        if word.is_empty() {
            let at = start.saturating_sub(usize::from(start == self.text.len()));
            return Err(Fault::new(at, "a space too many"));
        }
        self.at = start + len + 1;
        Ok(Some((start, word)))
    }

    /// The next word, if it is a number.
    fn number(&mut self) -> Result<Option<(usize, &'a str)>, Fault> {
        let before = self.at;
        let word = self.next()?;
        let is_number = word.is_some_and(|(_, word)| word.bytes().all(|c| c.is_ascii_digit()));
        if is_number {
            return Ok(word);
        }
        self.at = before;
        Ok(None)
    }
}
