//! The rules that need only a template.

use super::{Finding, Rule};
use crate::computed::{Computed, Formula, Operands};
use crate::encode::FieldType;
use crate::encode::{Body, End, Shape};
use crate::field::Field;
use crate::key::KeySchema;
use crate::template::Element;
use crate::transform::{Bucketing, TextForm};

pub(super) fn findings(schema: &KeySchema) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |rule, message: String| findings.push(Finding { rule, message });
    if let Some((rule, message)) = leading(schema) {
        add(rule, message);
    }
    for (nth, element) in schema.elements().iter().enumerate() {
        match element {
            Element::Literal(_) => {}
            Element::Field(at) => {
                let field = &schema.fields()[*at];
                if let Some((rule, message)) = order(field) {
                    add(rule, message);
                }
                if let Some(message) = length(field) {
                    add(Rule::LongKey, message);
                }
            }
            Element::Computed(at) => {
                let computed = &schema.computed()[*at];
                if computed.is_random() {
                    add(Rule::RandomSalt, salt(&computed.to_string(), computed.count()));
                }
                if let Some(message) = step_operand(schema, computed) {
                    add(Rule::StepOperand, message);
                }
                if let Some(message) = buckets(&computed.formula, &computed.to_string(), nth) {
                    add(Rule::BucketCount, message);
                }
            }
        }
    }
    if let Some(message) = not_unique(schema) {
        add(Rule::NotUnique, message);
    }
    findings
}

/// Finds a first field that grows with every write.
fn leading(schema: &KeySchema) -> Option<(Rule, String)> {
    let first = schema.elements().iter().find(|element| !matches!(element, Element::Literal(_)))?;
    let Element::Field(at) = first else { return None };
    let field = &schema.fields()[*at];
    if field.is_hashed() || field.modifiers.reverse {
        return None;
    }
    let name = field.name();
    if field.field_type().is_time() {
        let message = format!(
            "`{name}` comes first, so the rows of each moment go to one region: put another field \
             or a bucket before it"
        );
        return Some((Rule::LeadingTime, message));
    }
    let is_wide = match field.field_type() {
        FieldType::Unsigned { bytes } | FieldType::Signed { bytes } => *bytes >= 4,
        FieldType::Digits { width } => *width >= 8,
        FieldType::ShortestDigits => true,
        FieldType::Foreign(foreign) => foreign
            .domain()
            .is_some_and(|domain| domain.is_integer() && domain.max >= i32::MAX.into()),
        _ => false,
    };
    is_wide.then(|| {
        let message = format!(
            "`{name}` comes first; if it counts up, all new rows go to one region: reverse it, \
             hash it, or put a bucket before it"
        );
        (Rule::LeadingSequence, message)
    })
}

/// Finds a field whose values do not come in their order.
fn order(field: &Field) -> Option<(Rule, String)> {
    let name = field.name();
    match field.codec.end() {
        Some(End::Before(width)) => {
            let message = format!(
                "`{name}` ends {width} bytes before the end of the key and has no order of its \
                 own; if one value is a prefix of another, a scan of the shorter one reads rows \
                 of the longer one: use string, or a literal after it"
            );
            return Some((Rule::NoDelimiter, message));
        }
        Some(End::Literal(literal)) if *field.field_type() == FieldType::Text => {
            let delimiter = rowhouse_model::escape(literal);
            // A character that is common in names and less than the delimiter.
            let below = b"01-.!#$%&*+,/:;=@AZ^_az".iter().find(|byte| **byte < literal[0]);
            let below = char::from(*below.unwrap_or(&0));
            if literal.iter().all(|byte| *byte == 0) {
                return None;
            }
            let message = format!(
                "`{name}` is followed by `{delimiter}`: 'user{}' sorts before 'user', since `{}` \
                 is less than `{delimiter}`; use string if that matters",
                below.escape_default(),
                below.escape_default()
            );
            return Some((Rule::OrderNotOfValues, message));
        }
        _ => {}
    }
    let message = match (&field.codec.body, field.field_type()) {
        (Body::Shortest(shortest), _) if !shortest.reversed => {
            format!("`{name}` is text: 10 sorts before 9; use digits N if that matters")
        }
        (Body::Sequence(_), FieldType::PaddedText { pad: pad @ 1.., .. }) => {
            let pad = rowhouse_model::escape(&[*pad]);
            format!(
                "`{name}` is padded with `{pad}`: a value that continues with a lesser character \
                 sorts first; pad with zeros if that matters"
            )
        }
        _ => return None,
    };
    Some((Rule::OrderNotOfValues, message))
}

/// Finds a field that takes more bytes than the values need.
fn length(field: &Field) -> Option<String> {
    let width = field.width()?;
    let (needed, how) = match (&field.codec.body, field.modifiers.hash) {
        (_, Some(hashing)) if hashing.hex => (usize::from(hashing.len), "without hex"),
        (_, Some(_)) => return None,
        (Body::Number(number), None) => match (number.shape(), field.modifiers.form) {
            (Shape::Hex { width, .. }, Some(TextForm::Hex)) => {
                (usize::from(width) / 2, "without hex")
            }
            (Shape::Digits { .. }, _) => {
                let bits = 128 - number.domain.max.unsigned_abs().leading_zeros() as usize;
                (bits.div_ceil(8), "in binary")
            }
            _ => return None,
        },
        (Body::Sequence(_), None) => match (field.field_type(), field.modifiers.form) {
            (FieldType::Hex { width, .. }, _) => (usize::from(*width).div_ceil(2), "as bytes N"),
            (_, Some(TextForm::Hex)) => (width / 2, "without hex"),
            _ => return None,
        },
        _ => return None,
    };
    let saved = width.checked_sub(needed).filter(|saved| *saved > 0)?;
    Some(format!(
        "`{}` takes {width} bytes, {needed} {how}: {} MB for ten million rows of one cell each",
        field.name(),
        saved * 10
    ))
}

fn salt(computed: &str, count: Option<u32>) -> String {
    format!(
        "`{computed}` is random: a get by the other fields reads {} keys, and the same fields may \
         be in several rows; use bucket if rows are read by their key",
        count.unwrap_or(1)
    )
}

/// With more buckets, reading each bucket takes longer than spreading writes saves.
const BUCKETS_MANY: u32 = 256;

fn buckets(formula: &Formula, computed: &str, nth: usize) -> Option<String> {
    let count = match formula {
        Formula::Bucket { count, .. } | Formula::Salt { count, .. } => *count,
        Formula::Hash { .. } => return None,
    };
    if nth > 0 {
        return Some(format!(
            "`{computed}` is not first in the key, so it spreads only rows that are equal before \
             it"
        ))
        .filter(|_| count > 1);
    }
    if let Formula::Bucket { by: Bucketing::JavaRemainder(_), .. } = formula {
        return Some(format!(
            "`{computed}` has {} values, not {count}, because a remainder in Java has the sign of \
             the hash, and takes two bytes: it describes existing tables; for a new one omit `by \
             java.hashcode`",
            2 * count - 1
        ));
    }
    match count {
        1 => Some(format!("`{computed}` spreads nothing: there is one")),
        count if count > BUCKETS_MANY => Some(format!(
            "`{computed}`: a scan that does not fix its operands reads all {count}, and merges \
             them"
        )),
        _ => None,
    }
}

/// Finds a field computed from a value for which keys hold only the step.
fn step_operand(schema: &KeySchema, computed: &Computed) -> Option<String> {
    let Operands::Fields(operands) = &computed.operands else { return None };
    let mut operands = operands.iter().map(|at| &schema.fields()[*at]);
    let field = operands.find(|field| field.is_floored())?;
    let other = match computed.formula {
        Formula::Bucket { .. } => "omit `of` to compute it from the rest of the key",
        Formula::Hash { .. } | Formula::Salt { .. } => {
            "write `of rest` to compute it from the rest of the key"
        }
    };
    Some(format!(
        "`{computed}` is computed from `{name}` before `floor`, and keys hold only its step, so \
         decoded values do not address the row; {other}, or omit `{name}`",
        name = field.name()
    ))
}

/// Finds events that are told apart by their time alone.
fn not_unique(schema: &KeySchema) -> Option<String> {
    let (last, before) = schema.fields().split_last()?;
    let tick = match &last.codec.body {
        Body::Number(number) => number.domain.tick()?,
        _ => return None,
    };
    let names: Vec<_> = before.iter().map(|field| format!("`{}`", field.name())).collect();
    let of = if names.is_empty() { String::new() } else { format!(" of one {}", names.join(", ")) };
    Some(format!(
        "two events{of} with the same `{}` (in {}) are one row; if that can happen, put an id \
         after it",
        last.name(),
        tick.word
    ))
}
