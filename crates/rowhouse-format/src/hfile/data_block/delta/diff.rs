//! DIFF: stores the family once per block and encodes each cell as its difference from the previous
//! one. Timestamps are stored as differences if that is shorter.

use super::source::write_number;
use super::{DeltaDecoder, EncoderCell, TIME_AND_KIND_LEN};

const SAME_KEY_LEN: u8 = 1;
const SAME_VALUE_LEN: u8 = 1 << 1;
const SAME_KIND: u8 = 1 << 2;
/// The timestamp is the previous one minus the stored number.
const TIME_IS_DIFFERENCE: u8 = 1 << 3;
/// Three bits: the stored timestamp's length in bytes, minus one.
const TIME_LEN_SHIFT: u8 = 4;
/// The stored number is negative.
const TIME_IS_NEGATIVE: u8 = 1 << 7;

/// Decodes a cell's lengths, key and value.
pub(super) fn unpack(unpacker: &mut DeltaDecoder<'_>) -> Option<()> {
    let last = unpacker.last;
    let source = &mut unpacker.source;
    let family = match last {
        None => {
            let len = source.byte()?;
            let mut family = vec![len];
            family.extend_from_slice(source.take(len.into())?);
            Some(family)
        }
        Some(_) => None,
    };
    let flags = source.byte()?;
    let key_len = match flags & SAME_KEY_LEN {
        0 => source.number()?,
        _ => last?.key_len,
    };
    let value_len = match flags & SAME_VALUE_LEN {
        0 => source.number()?,
        _ => last?.value_len,
    };
    let common = source.number()?;
    unpacker.begin(key_len, value_len)?;
    let family = match family {
        Some(family) => family,
        None => unpacker.last_family()?,
    };
    unpacker.key_front(key_len, common, &family)?;
    let time = time(unpacker, flags)?;
    unpacker.cells.extend_from_slice(&time.to_be_bytes());
    let kind = match flags & SAME_KIND {
        0 => unpacker.source.byte()?,
        _ => unpacker.cells[last?.kind()],
    };
    unpacker.cells.push(kind);
    unpacker.cells.extend_from_slice(unpacker.source.take(value_len)?);
    Some(())
}

/// Decodes the timestamp.
fn time(unpacker: &mut DeltaDecoder<'_>, flags: u8) -> Option<i64> {
    let len = 1 + (flags >> TIME_LEN_SHIFT & 0b111);
    let number = unpacker.source.little_endian(len.into())? as i64;
    let number = if flags & TIME_IS_NEGATIVE == 0 { number } else { number.wrapping_neg() };
    if flags & TIME_IS_DIFFERENCE == 0 {
        return Some(number);
    }
    let time = unpacker.cells.get(unpacker.last?.time()..)?.first_chunk::<8>()?;
    Some(i64::from_be_bytes(*time).wrapping_sub(number))
}

/// Encodes a cell's lengths, key and value.
pub(super) fn pack(out: &mut Vec<u8>, cell: &EncoderCell<'_>, last: Option<&EncoderCell<'_>>) {
    let view = cell.view();
    let mut flags = 0;
    let mut common = 0;
    let mut number = view.timestamp;
    let mut len = len_of(view.timestamp);
    match last {
        None => {
            out.push(view.family.len() as u8);
            out.extend_from_slice(view.family);
        }
        Some(last) => {
            common = cell.common_front(last);
            let kind = cell.time_and_kind().1;
            let last_kind = last.time_and_kind().1;
            flags |= if cell.key.len() == last.key.len() { SAME_KEY_LEN } else { 0 };
            flags |= if cell.value.len() == last.value.len() { SAME_VALUE_LEN } else { 0 };
            flags |= if kind == last_kind { SAME_KIND } else { 0 };
            let difference = last.view().timestamp.wrapping_sub(view.timestamp);
            if len_of(difference) < len {
                (number, len) = (difference, len_of(difference));
                flags |= TIME_IS_DIFFERENCE;
            }
        }
    }
    flags |= if number < 0 { TIME_IS_NEGATIVE } else { 0 };
    out.push(flags | (len as u8 - 1) << TIME_LEN_SHIFT);
    if flags & SAME_KEY_LEN == 0 {
        write_number(out, cell.key.len());
    }
    if flags & SAME_VALUE_LEN == 0 {
        write_number(out, cell.value.len());
    }
    write_number(out, common);
    cell.write_front(out, common, false);
    out.extend_from_slice(&number.unsigned_abs().to_le_bytes()[..len]);
    if flags & SAME_KIND == 0 {
        out.push(cell.key[cell.key.len() - TIME_AND_KIND_LEN + 8]);
    }
    out.extend_from_slice(cell.value);
}

/// Returns how many bytes a number's magnitude takes, at least one.
fn len_of(number: i64) -> usize {
    (64 - number.unsigned_abs().leading_zeros()).div_ceil(8).max(1) as usize
}
