//! Text to elements: literals and brackets, and where each text field ends.

use super::field::{self, Raw};
use super::{Element, is_plain};
use crate::encode::{Codec, TextEnd};
use crate::error::Fault;
use crate::field::{Field, FieldType};
use crate::order::FieldOrder;

/// A piece of a template before it is known what stands behind it.
enum Piece {
    Literal(Vec<u8>),
    Field(Raw),
}

/// Reads a template.
pub(crate) fn parse(template: &str) -> Result<(Vec<Element>, Vec<Field>), Fault> {
    let pieces = pieces(template)?;
    let mut elements = Vec::with_capacity(pieces.len());
    let mut fields: Vec<Field> = Vec::new();
    for (nth, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Literal(bytes) => elements.push(Element::Literal(bytes.clone())),
            Piece::Field(raw) => {
                if fields.iter().any(|field| field.name == raw.name) {
                    let message = format!("the name `{}` is used twice", raw.name);
                    return Err(Fault::new(raw.at, message));
                }
                elements.push(Element::Field(fields.len()));
                let field = finish(raw, &pieces[nth + 1..], fields.last())?;
                fields.push(field);
            }
        }
    }
    if fields.is_empty() {
        return Err(Fault::new(template.len(), "expected a field such as [user string]"));
    }
    Ok((elements, fields))
}

/// The field, now that it is known what stands before and behind it.
fn finish(raw: &Raw, behind: &[Piece], before: Option<&Field>) -> Result<Field, Fault> {
    let end = match raw.field_type {
        FieldType::Text => text_end(raw, behind)?,
        _ => TextEnd::KeyEnd,
    };
    let codec = Codec::new(raw.field_type, raw.modifiers, end);
    let order = FieldOrder::of(&codec, before.map(|field| field.order));
    Ok(Field {
        name: raw.name.clone(),
        field_type: raw.field_type,
        modifiers: raw.modifiers,
        codec,
        order,
    })
}

/// Where a `text` ends: at the key's end, at a literal, or by length.
fn text_end(raw: &Raw, behind: &[Piece]) -> Result<TextEnd, Fault> {
    match behind.first() {
        None => return Ok(TextEnd::KeyEnd),
        Some(Piece::Literal(literal)) => return Ok(TextEnd::Literal(literal.clone())),
        Some(Piece::Field(_)) => {}
    }
    let mut width = 0;
    for piece in behind {
        width += match piece {
            Piece::Literal(literal) => literal.len(),
            Piece::Field(field) => field.width().ok_or_else(|| {
                let message = format!(
                    "`{}` has no end: behind a text stand the end of the key, a literal, or only \
                     fields of fixed width, and `{} {}` has none",
                    raw.name, field.name, field.field_type
                );
                Fault::new(raw.at, message).hint(format!(
                    "use [{} string], or put a literal such as _ behind it",
                    raw.name
                ))
            })?,
        }
    }
    Ok(TextEnd::Before(width))
}

/// Cuts a template into literals and fields.
fn pieces(template: &str) -> Result<Vec<Piece>, Fault> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(c) = template[at..].chars().next() {
        if c == '[' {
            let inside = inside(template, at)?;
            let raw = field::parse(inside).map_err(|fault| fault.behind(at + 1))?;
            pieces.push(Piece::Field(Raw { at: raw.at + at + 1, ..raw }));
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

/// What stands between the bracket at `open` and its partner.
fn inside(template: &str, open: usize) -> Result<&str, Fault> {
    let rest = &template[open + 1..];
    match rest.find(['[', ']']) {
        Some(len) if rest[len..].starts_with(']') => Ok(&rest[..len]),
        Some(len) => Err(Fault::new(open + 1 + len, "expected `]` before the next `[`")),
        None => Err(Fault::new(open, "this `[` is never closed").hint("a literal bracket is \\[")),
    }
}

/// The byte of the escape at `at`, and the escape's length.
fn escape(template: &str, at: usize) -> Result<(u8, usize), Fault> {
    let rest = &template.as_bytes()[at + 1..];
    let digit = |nth: usize| rest.get(nth).and_then(|&c| (c as char).to_digit(16));
    match rest.first() {
        Some(&c @ (b'[' | b']' | b'\\')) => Ok((c, 2)),
        Some(b'x') => match (digit(1), digit(2)) {
            (Some(high), Some(low)) => Ok(((high * 16 + low) as u8, 4)),
            _ => Err(Fault::new(at, "expected two hex digits behind \\x")),
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
