//! The template parser: literals and brackets, and each open field's end.

use super::computed::RawComputed;
use super::element::{Element, Naming};
use super::field::{self, Bracket, StoredSource};
use crate::computed::Computed;
use crate::encode::{Codec, End, FieldType, is_plain};
use crate::error::Fault;
use crate::field::Field;
use crate::order::FieldOrder;
use crate::spelling::closest;

/// A parsed template.
pub(crate) struct Parsed {
    pub(crate) elements: Vec<Element>,
    pub(crate) fields: Vec<Field>,
    pub(crate) computed: Vec<Computed>,
}

/// A template piece, before the pieces after it are known.
enum Piece {
    Literal(Vec<u8>),
    Field(StoredSource),
    Computed(RawComputed),
}

impl Piece {
    /// How many bytes it has, if that is constant.
    fn width(&self) -> Option<usize> {
        match self {
            Self::Literal(bytes) => Some(bytes.len()),
            Self::Field(raw) => raw.width(),
            Self::Computed(computed) => Some(computed.width()),
        }
    }

    /// Returns true if keys hold only part of the field's value.
    fn is_lossy(&self) -> bool {
        match self {
            Self::Field(raw) => raw.codec().is_some_and(|codec| codec.is_lossy()),
            Self::Literal(_) | Self::Computed(_) => false,
        }
    }

    /// The field name and the offset.
    fn name(&self) -> Option<(usize, &str)> {
        match self {
            Self::Literal(_) => None,
            Self::Field(raw) => Some((raw.at, &raw.name)),
            Self::Computed(computed) => computed.name().map(|name| (computed.at, name)),
        }
    }
}

/// Parses a template.
pub(crate) fn parse(template: &str, naming: Naming) -> Result<Parsed, Fault> {
    let pieces = pieces(template, naming)?;
    check_names(&pieces, naming)?;
    let names: Vec<_> = pieces.iter().filter_map(stored_name).collect();
    let mut parsed = Parsed { elements: Vec::new(), fields: Vec::new(), computed: Vec::new() };
    for (nth, piece) in pieces.iter().enumerate() {
        let following = &pieces[nth + 1..];
        parsed.elements.push(match piece {
            Piece::Literal(bytes) => Element::Literal(bytes.clone()),
            Piece::Field(raw) => {
                let field = finish(raw, following, parsed.fields.last(), naming)?;
                parsed.fields.push(field);
                Element::Field(parsed.fields.len() - 1)
            }
            Piece::Computed(raw) => {
                check_rest(raw, following)?;
                let computed = raw.finish(|name| operand(name, &names, &pieces, naming))?;
                parsed.computed.push(computed);
                Element::Computed(parsed.computed.len() - 1)
            }
        });
    }
    if parsed.fields.is_empty() {
        return Err(Fault::new(template.len(), "expected a field such as [user string]"));
    }
    if parsed.computed.len() > COMPUTED_MAX {
        let message = format!(
            "too many computed fields: count={}, max={COMPUTED_MAX}",
            parsed.computed.len()
        );
        return Err(Fault::new(template.len(), message));
    }
    Ok(parsed)
}

/// Parses a literal; `None` if the text is a template with fields.
pub(crate) fn parse_literal(text: &str) -> Result<Option<Vec<u8>>, Fault> {
    Ok(match pieces(text, Naming::Key)?.as_mut_slice() {
        [] => Some(Vec::new()),
        [Piece::Literal(bytes)] => Some(std::mem::take(bytes)),
        _ => None,
    })
}

/// The most computed fields in a template. Their positions are stored without allocating; no known
/// table has more than one.
pub(crate) const COMPUTED_MAX: usize = 8;

fn stored_name(piece: &Piece) -> Option<&str> {
    match piece {
        Piece::Field(raw) => Some(&raw.name),
        Piece::Literal(_) | Piece::Computed(_) => None,
    }
}

fn check_names(pieces: &[Piece], naming: Naming) -> Result<(), Fault> {
    for (nth, piece) in pieces.iter().enumerate() {
        let Some((at, name)) = piece.name() else { continue };
        let mut same =
            pieces[..nth].iter().filter(|other| other.name().is_some_and(|n| n.1 == name));
        let may_repeat = naming == Naming::Index && stored_name(piece).is_some();
        if same.any(|other| !(may_repeat && other.is_lossy())) {
            return Err(Fault::new(at, format!("the name `{name}` is used twice")));
        }
    }
    Ok(())
}

/// Returns a stored field's position among the stored fields, and the type.
fn operand(
    name: &str,
    names: &[&str],
    pieces: &[Piece],
    naming: Naming,
) -> Result<(usize, FieldType), String> {
    let mut fields = pieces.iter().filter_map(|piece| match piece {
        Piece::Field(raw) => Some(raw),
        Piece::Literal(_) | Piece::Computed(_) => None,
    });
    // Among several fields with a name, the last holds most of the value.
    if let Some(at) = names.iter().rposition(|known| *known == name)
        && let Some(raw) = fields.nth(at)
    {
        return Ok((at, raw.field_type.clone()));
    }
    let computed = pieces.iter().any(|piece| piece.name().is_some_and(|(_, known)| known == name));
    let of = if naming == Naming::Key { "key" } else { "index" };
    Err(match closest(name, names.iter().copied()) {
        _ if computed => format!("`{name}` is computed, and cannot be an operand"),
        Some(close) => format!("the {of} has no field `{name}`; did you mean `{close}`?"),
        None => format!("the {of} has no field `{name}`"),
    })
}

/// Checks that a field computed from the rest has a stored field after it, and no computed one.
fn check_rest(raw: &RawComputed, following: &[Piece]) -> Result<(), Fault> {
    if !raw.is_of_rest() {
        return Ok(());
    }
    let hint = "name the fields: of user,day";
    if following.iter().any(|piece| matches!(piece, Piece::Computed(_))) {
        let message = "no computed field is allowed after one that is computed from the rest";
        return Err(Fault::new(raw.at, message).hint(hint));
    }
    if !following.iter().any(|piece| matches!(piece, Piece::Field(_))) {
        return Err(Fault::new(raw.at, "there is no field after it to compute it from").hint(hint));
    }
    Ok(())
}

/// Returns the field, given the pieces after it and the field before it.
fn finish(
    raw: &StoredSource,
    following: &[Piece],
    before: Option<&Field>,
    naming: Naming,
) -> Result<Field, Fault> {
    let end = if raw.is_open() { end(raw, following, naming)? } else { End::Key };
    let codec =
        Codec::new(&raw.field_type, &raw.modifiers, end).map_err(|why| Fault::new(raw.at, why))?;
    let codec = if is_tail(following) { codec.in_tail() } else { codec };
    if !codec.is_prefix_free() {
        check_following(raw, following.first())?;
    }
    let order = FieldOrder::of(&codec).after(before.map(|field| field.order));
    Ok(Field {
        name: raw.name.clone(),
        field_type: raw.field_type.clone(),
        modifiers: raw.modifiers,
        codec,
        order,
    })
}

/// Returns true if all pieces are fields with separators.
fn is_tail(following: &[Piece]) -> bool {
    following.iter().all(|piece| match piece {
        Piece::Field(raw) => raw.codec().is_some_and(|codec| codec.separated().is_some()),
        Piece::Literal(_) | Piece::Computed(_) => false,
    })
}

/// After a zero byte that ends a value only if no FF follows, no element may begin with FF.
fn check_following(raw: &StoredSource, following: Option<&Piece>) -> Result<(), Fault> {
    let is_right = match following {
        None => true,
        Some(Piece::Literal(literal)) => literal[0] != 0xFF,
        Some(Piece::Field(field)) => field.is_element(),
        Some(Piece::Computed(_)) => false,
    };
    if is_right {
        return Ok(());
    }
    let message = format!("a byte FF after `{}` would be read as part of it", raw.name);
    Err(Fault::new(raw.at, message)
        .hint("after it must come the end of the key, a literal, or another type of tuple"))
}

/// Returns an open field's end: the key's end, a literal, or by length.
fn end(raw: &StoredSource, following: &[Piece], naming: Naming) -> Result<End, Fault> {
    let literal = match following.first() {
        None => return Ok(End::Key),
        _ if matches!(raw.field_type, FieldType::Repeat(_)) => {
            return Err(Fault::new(raw.at, "repeated values extend to the end of the key")
                .hint("it must be the last field, with nothing after it"));
        }
        _ if matches!(raw.field_type, FieldType::Foreign(_)) => {
            let message = format!("`{}` extends to the end of the key", raw.field_type);
            return Err(Fault::new(raw.at, message)
                .hint("it must be the last field, with nothing after it"));
        }
        Some(Piece::Literal(literal)) => Some(literal),
        Some(Piece::Field(_) | Piece::Computed(_)) => None,
    };
    if let Some(literal) = literal {
        if raw.field_type == FieldType::ShortestDigits && literal[0].is_ascii_digit() {
            let message = format!("a digit after `{}` would be read as part of it", raw.name);
            return Err(Fault::new(raw.at, message).hint("put another literal there"));
        }
        return Ok(End::Literal(literal.clone()));
    }
    let width = following.iter().try_fold(0, |sum, piece| piece.width().map(|width| sum + width));
    width.map(End::Before).ok_or_else(|| no_end(raw, following, naming))
}

fn no_end(raw: &StoredSource, following: &[Piece], naming: Naming) -> Fault {
    let variable = following.iter().find_map(|piece| match piece {
        Piece::Field(field) if field.width().is_none() => Some(field),
        _ => None,
    });
    let variable = variable.map_or_else(String::new, |field| {
        format!(", and `{} {}{}` has none", field.name, field.field_type, field.modifiers)
    });
    let message = format!(
        "`{}` has no end: after `{}` must come the end of the key, a literal, or only fields of \
         fixed width{variable}",
        raw.name, raw.field_type
    );
    let fault = Fault::new(raw.at, message);
    match naming {
        Naming::Key => {
            fault.hint(format!("use [{} string], or put a literal such as _ after it", raw.name))
        }
        // The type is the column type.
        Naming::Index => fault.hint("put a literal such as _ after it"),
    }
}

/// Splits a template into literals and fields.
fn pieces(template: &str, naming: Naming) -> Result<Vec<Piece>, Fault> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(c) = template[at..].chars().next() {
        if c == '[' {
            let inside = inside(template, at)?;
            let bracket = field::parse(inside, naming).map_err(|fault| fault.shifted(at + 1))?;
            pieces.push(match bracket {
                Bracket::Stored(raw) => Piece::Field(StoredSource { at: raw.at + at + 1, ..raw }),
                Bracket::Computed(computed) => Piece::Computed(computed.shifted(at + 1)),
            });
            at += inside.len() + 2;
            continue;
        }
        let mut bytes = [0; 4];
        let (bytes, len): (&[u8], _) = match c {
            '\\' => {
                let (byte, len) = escape(template, at)?;
                bytes[0] = byte;
                (&bytes[..1], len)
            }
            c if is_plain(c) => (c.encode_utf8(&mut bytes).as_bytes(), c.len_utf8()),
            c => return Err(not_plain(c, at)),
        };
        match pieces.last_mut() {
            Some(Piece::Literal(literal)) => literal.extend_from_slice(bytes),
            _ => pieces.push(Piece::Literal(bytes.to_vec())),
        }
        at += len;
    }
    Ok(pieces)
}

/// Returns the text between the bracket at `open` and the closing one.
fn inside(template: &str, open: usize) -> Result<&str, Fault> {
    let rest = &template[open + 1..];
    match rest.find(['[', ']']) {
        Some(len) if rest[len..].starts_with(']') => Ok(&rest[..len]),
        Some(len) => Err(Fault::new(open + 1 + len, "expected `]` before the next `[`")),
        None => Err(Fault::new(open, "this `[` is never closed").hint("a literal bracket is \\[")),
    }
}

/// Returns the byte for the escape at `at`, and the escape's length.
fn escape(template: &str, at: usize) -> Result<(u8, usize), Fault> {
    let rest = &template.as_bytes()[at + 1..];
    let digit = |nth: usize| rest.get(nth).and_then(|&c| (c as char).to_digit(16));
    match rest.first() {
        Some(&c @ (b'[' | b']' | b'\\')) => Ok((c, 2)),
        Some(b'x') => match (digit(1), digit(2)) {
            (Some(high), Some(low)) => Ok(((high * 16 + low) as u8, 4)),
            _ => Err(Fault::new(at, "expected two hex digits after \\x")),
        },
        _ => Err(Fault::new(at, "expected \\[, \\], \\\\ or \\xHH")),
    }
}

fn not_plain(c: char, at: usize) -> Fault {
    match c {
        ']' => Fault::new(at, "this `]` closes nothing").hint("a literal bracket is \\]"),
        c => {
            let mut bytes = [0; 4];
            let bytes = c.encode_utf8(&mut bytes).bytes();
            let escaped: String = bytes.map(|byte| format!("\\x{byte:02X}")).collect();
            let what = if c.is_whitespace() { "white space" } else { "a control character" };
            Fault::new(at, format!("{what} in a literal must be escaped"))
                .hint(format!("write {escaped}"))
        }
    }
}
