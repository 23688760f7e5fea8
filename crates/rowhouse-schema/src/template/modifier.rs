//! The parser for a field's modifiers: their order, and the combinations that a type allows.

use super::bracket::{Words, number_up_to};
use super::field_type::DIGITS_MAX;
use super::words::{self, Role, is_foreign};
use crate::encode::FieldType;
use crate::encode::ForeignType;
use crate::error::Fault;
use crate::time::FixedZone;
use crate::transform::{Floor, HashFunction, Hashing, Modifiers, NullPlace, TextForm};

/// The modifiers, in the order in which they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ModifierOrder {
    Zone,
    Floor,
    Form,
    Reverse,
    Hash,
    Desc,
    Null,
}

/// Parses a type's modifiers.
pub(super) fn parse(field_type: &FieldType, words: &mut Words<'_>) -> Result<Modifiers, Fault> {
    let mut modifiers = Modifiers::default();
    let mut last: Option<(ModifierOrder, &str)> = None;
    while let Some((at, word)) = words.next()? {
        let place = place(word).ok_or_else(|| unknown(at, word))?;
        match last {
            Some((before, earlier)) if before == place && earlier == word => {
                return Err(Fault::new(at, format!("`{word}` is written twice")));
            }
            Some((before, earlier)) if before == place => {
                return Err(Fault::new(at, format!("`{earlier}` and `{word}` exclude each other")));
            }
            Some((before, earlier)) if before > place => {
                return Err(Fault::new(at, format!("`{word}` must be before `{earlier}`")));
            }
            _ => last = Some((place, word)),
        }
        read(place, (at, word), field_type, words, &mut modifiers)?;
    }
    Ok(modifiers)
}

fn place(word: &str) -> Option<ModifierOrder> {
    match word {
        "tz" => Some(ModifierOrder::Zone),
        "floor" => Some(ModifierOrder::Floor),
        "digits" | "hex" => Some(ModifierOrder::Form),
        "reverse" => Some(ModifierOrder::Reverse),
        "desc" => Some(ModifierOrder::Desc),
        "null" => Some(ModifierOrder::Null),
        word => HashFunction::named(word).map(|_| ModifierOrder::Hash),
    }
}

fn read(
    place: ModifierOrder,
    (at, word): (usize, &str),
    field_type: &FieldType,
    words: &mut Words<'_>,
    modifiers: &mut Modifiers,
) -> Result<(), Fault> {
    let fault = |message: String| Err(Fault::new(at, message));
    if let FieldType::Repeat(_) = field_type {
        return fault(format!("`{word}` is not allowed after repeat(…)"));
    }
    if let FieldType::Foreign(foreign) = field_type
        && matches!(
            place,
            ModifierOrder::Zone
                | ModifierOrder::Floor
                | ModifierOrder::Form
                | ModifierOrder::Reverse
        )
    {
        return fault(format!(
            "`{}` has the encoding of another system, `{word}` would change it",
            foreign.name()
        ));
    }
    match place {
        ModifierOrder::Zone => modifiers.zone = Some(zone(at, field_type, words)?),
        ModifierOrder::Floor => modifiers.floor = Some(floor(at, field_type, words)?),
        ModifierOrder::Form if word == "hex" => {
            check_hex(field_type, at)?;
            modifiers.form = Some(TextForm::Hex);
        }
        ModifierOrder::Form => {
            check_digits(field_type, at)?;
            let width = words.number()?;
            let width = width.map(|(at, width)| number_up_to(at, width, DIGITS_MAX, "digits"));
            modifiers.form = Some(TextForm::Digits(width.transpose()?));
        }
        ModifierOrder::Reverse if *field_type == FieldType::Domain => {
            return fault("`domain` is stored in reverse already, part by part".to_owned());
        }
        ModifierOrder::Reverse => modifiers.reverse = true,
        ModifierOrder::Hash if modifiers.reverse => {
            return fault(
                "`reverse` is pointless before a hash, which is computed from the value".into(),
            );
        }
        ModifierOrder::Hash if modifiers.floor.is_some() || modifiers.form.is_some() => {
            return fault(
                "a hash is computed from the value, nothing is allowed between them".to_owned(),
            );
        }
        ModifierOrder::Hash => modifiers.hash = Some(hashing(at, word, field_type, words)?),
        ModifierOrder::Desc => {
            check_desc(field_type, modifiers, at)?;
            modifiers.desc = true;
        }
        ModifierOrder::Null => modifiers.null = Some(null(at, field_type, modifiers, words)?),
    }
    Ok(())
}

fn zone(at: usize, field_type: &FieldType, words: &mut Words<'_>) -> Result<FixedZone, Fault> {
    if !field_type.is_time() {
        return Err(Fault::new(at, format!("`{field_type}` is not a time, it has no zone")));
    }
    let (at, offset) = words.expect("an offset after `tz`: +08:00")?;
    FixedZone::parse(offset).map_err(|fault| fault.shifted(at))
}

fn floor(at: usize, field_type: &FieldType, words: &mut Words<'_>) -> Result<Floor, Fault> {
    let is_number = matches!(
        field_type,
        FieldType::Unsigned { .. } | FieldType::Signed { .. } | FieldType::Digits { .. }
    );
    if !is_number && !field_type.is_time() {
        return Err(Fault::new(at, "only whole numbers and times can be floored"));
    }
    let (at, step) = words.expect("a step after `floor`: 1h, 15m, 1d, or 100 for a number")?;
    let floor = Floor::parse(step).map_err(|why| Fault::new(at, why))?;
    let tick = field_type.domain().and_then(|domain| domain.tick());
    floor.step(tick.map(|tick| tick.nanos)).map_err(|why| Fault::new(at, why))?;
    Ok(floor)
}

fn check_digits(field_type: &FieldType, at: usize) -> Result<(), Fault> {
    match field_type {
        FieldType::Unsigned { .. } | FieldType::Time { .. } => Ok(()),
        FieldType::Signed { bytes } => {
            Err(Fault::new(at, "digits have no sign, and a sign would break the order")
                .hint(format!("use u{}", u16::from(*bytes) * 8)))
        }
        FieldType::Digits { .. } => Err(Fault::new(at, "the type is `digits` already")),
        FieldType::Date => {
            Err(Fault::new(at, "digits have no sign, and a date may be before 1970")
                .hint("for the digits of the calendar use ymd"))
        }
        FieldType::Calendar(_) | FieldType::ShortestDigits => {
            Err(Fault::new(at, format!("`{field_type}` is written in digits already")))
        }
        _ => Err(Fault::new(at, "only numbers and times are written as digits")
            .hint("for a number as text use the type `digits N`")),
    }
}

fn check_hex(field_type: &FieldType, at: usize) -> Result<(), Fault> {
    match field_type {
        FieldType::Hex { .. } => Err(Fault::new(at, "the type is `hex` already")),
        _ if field_type.has_hex() => Ok(()),
        _ => Err(Fault::new(at, format!("`{field_type}` is not written as hex digits"))
            .hint("for text that is hexadecimal use the type `hex N`")),
    }
}

fn hashing(
    at: usize,
    word: &str,
    field_type: &FieldType,
    words: &mut Words<'_>,
) -> Result<Hashing, Fault> {
    let function = HashFunction::named(word).ok_or_else(|| unknown(at, word))?;
    let function = function.of(field_type).ok_or_else(|| words::no_java_hash(at, field_type))?;
    let Some((at, len)) = words.number()? else {
        return Err(Fault::new(at, format!("expected `{word} N`, how many bytes are kept")));
    };
    let len = number_up_to(at, len, function.len(), &format!("bytes of {word}"))?;
    Ok(Hashing { function, len, hex: words.word("hex")?.is_some() })
}

fn check_desc(field_type: &FieldType, modifiers: &Modifiers, at: usize) -> Result<(), Fault> {
    if modifiers.reverse || modifiers.hash.is_some() {
        return Err(Fault::new(at, "there is no order that `desc` could reverse"));
    }
    if let FieldType::Foreign(foreign) = field_type
        && !foreign.has_desc()
    {
        let message = format!("`{field_type}` has no descending order in its own system");
        let fault = Fault::new(at, message);
        return Err(match foreign.with_desc() {
            Some(others) => fault.hint(others),
            None => fault,
        });
    }
    if field_type.is_open(true) {
        let message = format!("`{field_type}` has no descending order, its end is not stored");
        return Err(Fault::new(at, message).hint("use string, or text N"));
    }
    Ok(())
}

fn null(
    at: usize,
    field_type: &FieldType,
    modifiers: &Modifiers,
    words: &mut Words<'_>,
) -> Result<NullPlace, Fault> {
    if modifiers.hash.is_some() {
        return Err(Fault::new(at, "a hash always has a value"));
    }
    if let FieldType::Foreign(foreign) = field_type {
        return foreign_null(at, foreign, modifiers.desc, words);
    }
    if field_type.is_open(modifiers.desc) {
        let message = format!("`{field_type}` cannot be null, its end is not stored");
        return Err(Fault::new(at, message).hint("use string, or text N"));
    }
    null_place(at, words)
}

fn null_place(at: usize, words: &mut Words<'_>) -> Result<NullPlace, Fault> {
    match words.next()? {
        Some((_, "first")) => Ok(NullPlace::First),
        Some((_, "last")) => Ok(NullPlace::Last),
        _ => Err(Fault::new(at, "expected `null first` or `null last`")),
    }
}

/// Parses the position that a foreign type's null has, which has to be the other system's position.
fn foreign_null(
    at: usize,
    foreign: &ForeignType,
    desc: bool,
    words: &mut Words<'_>,
) -> Result<NullPlace, Fault> {
    let Some(place) = foreign.null_place(desc) else {
        return Err(Fault::new(
            at,
            format!("`{}` is never null in its own system", foreign.name()),
        ));
    };
    match null_place(at, words)? {
        written if written == place => Ok(place),
        _ => {
            let word = if place == NullPlace::First { "first" } else { "last" };
            let desc = if desc { " desc" } else { "" };
            let message = format!("null of `{}{desc}` is {word} in its own system", foreign.name());
            Err(Fault::new(at, message).hint(format!("write null {word}")))
        }
    }
}

fn unknown(at: usize, word: &str) -> Fault {
    if is_foreign(word) {
        return Fault::unsupported(at, word);
    }
    if Role::Type.has(word) {
        return Fault::new(at, format!("the field has a type already, `{word}` is another"));
    }
    if word == "pad" {
        return Fault::new(at, "`pad` follows `text N`");
    }
    let fault = Fault::new(at, format!("unknown modifier `{word}`"));
    match words::suggest(word, Role::Modifier) {
        Some(hint) => fault.hint(hint),
        None => fault.hint("modifiers are: tz floor digits hex reverse md5… desc null"),
    }
}
