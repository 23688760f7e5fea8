//! How many parts a request has, counted before it is taken apart.
//!
//! A part may be two bytes on the wire and several hundred in memory, so that a frame well within
//! its limit could ask for more memory than there is. Long messages are walked once beforehand.

use prost::encoding::{WireType, decode_key, decode_varint};
use rowhouse_model::{Error, Result};

use super::Method;

/// Messages up to this length, in bytes, cannot hold enough parts to matter.
const UNCOUNTED_LEN_MAX: usize = 64 * 1024;
/// How many parts a request may have: actions, mutations, columns, cells and attributes in its
/// message. Those of the cell block are not among them.
const PARTS_MAX: usize = 1 << 20;
/// How long, in bytes, the message of a call that moves no rows may be.
const OTHER_LEN_MAX: usize = 16 * 1024 * 1024;

/// The fields of a message that can be repeated, or lead to such: number and what is inside.
struct Shape(&'static [(u32, &'static Shape)]);

const LEAF: Shape = Shape(&[]);
const COLUMN: Shape = Shape(&[(2, &LEAF)]);
const GET: Shape = Shape(&[(2, &COLUMN), (3, &LEAF), (13, &LEAF)]);
const COLUMN_VALUE: Shape = Shape(&[(2, &LEAF)]);
const MUTATION: Shape = Shape(&[(3, &COLUMN_VALUE), (5, &LEAF)]);
const ACTION: Shape = Shape(&[(2, &MUTATION), (3, &GET)]);
const REGION_ACTION: Shape = Shape(&[(3, &ACTION)]);
const SCAN: Shape = Shape(&[(1, &COLUMN), (2, &LEAF), (19, &LEAF)]);

const GET_REQUEST: Shape = Shape(&[(2, &GET)]);
const MUTATE_REQUEST: Shape = Shape(&[(2, &MUTATION)]);
const SCAN_REQUEST: Shape = Shape(&[(2, &SCAN)]);
const MULTI_REQUEST: Shape = Shape(&[(1, &REGION_ACTION)]);

/// Refuses a message that would need far more memory than it has bytes.
///
/// # Errors
/// `InvalidRequest`, with the count and the limit. What is malformed is left to the decoder.
pub(super) fn check(method: Method, message: &[u8]) -> Result<()> {
    if message.len() <= UNCOUNTED_LEN_MAX {
        return Ok(());
    }
    let shape = match method {
        Method::Get => &GET_REQUEST,
        Method::Mutate => &MUTATE_REQUEST,
        Method::Scan => &SCAN_REQUEST,
        Method::Multi => &MULTI_REQUEST,
        _ if message.len() > OTHER_LEN_MAX => {
            return Err(Error::invalid(format!(
                "request too long: method={}, len={}, max={OTHER_LEN_MAX}",
                method.name(),
                message.len()
            )));
        }
        _ => return Ok(()),
    };
    let mut parts = 0;
    count(shape, message, &mut parts);
    if parts > PARTS_MAX {
        return Err(Error::invalid(format!(
            "request has too many parts: method={}, max={PARTS_MAX}",
            method.name()
        )));
    }
    Ok(())
}

/// Adds the parts of `message`; stops at the first byte that makes no sense and beyond the limit.
fn count(shape: &Shape, mut message: &[u8], parts: &mut usize) {
    while *parts <= PARTS_MAX {
        let Ok((field, wire_type)) = decode_key(&mut message) else { return };
        let len = match wire_type {
            WireType::Varint => match decode_varint(&mut message) {
                Ok(_) => 0,
                Err(_) => return,
            },
            WireType::LengthDelimited => match decode_varint(&mut message) {
                Ok(len) => len,
                Err(_) => return,
            },
            WireType::SixtyFourBit => 8,
            WireType::ThirtyTwoBit => 4,
            // Groups are in none of these messages.
            WireType::StartGroup | WireType::EndGroup => return,
        };
        let Some((inside, rest)) =
            usize::try_from(len).ok().and_then(|len| message.split_at_checked(len))
        else {
            return;
        };
        message = rest;
        if wire_type != WireType::LengthDelimited {
            continue;
        }
        if let Some((_, shape)) = shape.0.iter().find(|(number, _)| *number == field) {
            *parts += 1;
            count(shape, inside, parts);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use prost::Message;

    use super::*;
    use crate::proto;

    fn multi(actions: usize) -> Vec<u8> {
        let action = vec![proto::Action::default(); actions];
        let region = proto::RegionAction { action, ..Default::default() };
        proto::MultiRequest { region_action: vec![region], ..Default::default() }.encode_to_vec()
    }

    #[test]
    fn empty_actions_are_counted() {
        check(Method::Multi, &multi(PARTS_MAX - 1)).unwrap();
        let error = check(Method::Multi, &multi(PARTS_MAX)).unwrap_err();
        assert_eq!(error.message(), "request has too many parts: method=Multi, max=1048576");
    }

    #[test]
    fn every_part_counts_and_values_do_not() {
        use proto::mutation_proto::{ColumnValue, column_value::QualifierValue};
        let cell = QualifierValue { value: Some(vec![0x1A; 1000].into()), ..Default::default() };
        let column = ColumnValue { family: "cf".into(), qualifier_value: vec![cell; 3] };
        let mutation = proto::MutationProto { column_value: vec![column; 2], ..Default::default() };
        let request = proto::MutateRequest { mutation, ..Default::default() };
        let mut parts = 0;
        count(&MUTATE_REQUEST, &request.encode_to_vec(), &mut parts);
        // One mutation, two families, three cells in each.
        assert_eq!(parts, 1 + 2 + 6);
    }

    #[test]
    fn calls_that_move_no_rows_are_short() {
        let long = vec![0; OTHER_LEN_MAX + 1];
        assert!(check(Method::CreateTable, &long).is_err());
        check(Method::CreateTable, &long[1..]).unwrap();
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(bytes: Vec<u8>) {
            count(&MULTI_REQUEST, &bytes, &mut 0);
        }
    }
}
