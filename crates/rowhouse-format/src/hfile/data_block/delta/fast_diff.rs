//! FAST_DIFF: encodes each cell as its difference from the previous one; an unchanged value is
//! omitted.

use super::source::write_number;
use super::{DeltaDecoder, EncoderCell, TIME_AND_KIND_LEN, common_len};

/// Three bits: how many leading timestamp bytes are shared with the previous cell, at most seven.
const TIME_COMMON: u8 = 0b111;
const SAME_KEY_LEN: u8 = 1 << 3;
const SAME_VALUE_LEN: u8 = 1 << 4;
const SAME_KIND: u8 = 1 << 5;
const SAME_VALUE: u8 = 1 << 6;

/// Decodes a cell's lengths, key and value.
pub(super) fn unpack(unpacker: &mut DeltaDecoder<'_>) -> Option<()> {
    let last = unpacker.last;
    let source = &mut unpacker.source;
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
    match last {
        // The first key contains the family in the usual position.
        None if common == 0 => {
            let front = unpacker.source.take(key_len.checked_sub(TIME_AND_KIND_LEN)?)?;
            unpacker.cells.extend_from_slice(front);
        }
        None => return None,
        Some(_) => {
            let family = unpacker.last_family()?;
            unpacker.key_front(key_len, common, &family)?;
        }
    }
    let time_common = usize::from(flags & TIME_COMMON);
    if time_common > 0 {
        let time = last?.time();
        unpacker.cells.extend_from_within(time..time + time_common);
    }
    unpacker.cells.extend_from_slice(unpacker.source.take(8 - time_common)?);
    let kind = match flags & SAME_KIND {
        0 => unpacker.source.byte()?,
        _ => unpacker.cells[last?.kind()],
    };
    unpacker.cells.push(kind);
    if flags & SAME_VALUE == 0 {
        unpacker.cells.extend_from_slice(unpacker.source.take(value_len)?);
        return Some(());
    }
    let last = last?;
    if value_len != last.value_len {
        return None;
    }
    unpacker.cells.extend_from_within(last.value()..last.value() + value_len);
    Some(())
}

/// Encodes a cell's lengths, key and value.
pub(super) fn pack(out: &mut Vec<u8>, cell: &EncoderCell<'_>, last: Option<&EncoderCell<'_>>) {
    let mut flags = 0;
    let mut common = 0;
    let mut time_common = 0;
    let (time, kind) = cell.time_and_kind();
    if let Some(last) = last {
        let (last_time, last_kind) = last.time_and_kind();
        common = cell.common_front(last);
        time_common = common_len(&time[..7], &last_time[..7]);
        flags |= time_common as u8;
        flags |= if cell.key.len() == last.key.len() { SAME_KEY_LEN } else { 0 };
        flags |= if cell.value.len() == last.value.len() { SAME_VALUE_LEN } else { 0 };
        flags |= if kind == last_kind { SAME_KIND } else { 0 };
        flags |= if cell.value == last.value { SAME_VALUE } else { 0 };
    }
    out.push(flags);
    if flags & SAME_KEY_LEN == 0 {
        write_number(out, cell.key.len());
    }
    if flags & SAME_VALUE_LEN == 0 {
        write_number(out, cell.value.len());
    }
    write_number(out, common);
    cell.write_front(out, common, last.is_none());
    out.extend_from_slice(&time[time_common..]);
    if flags & SAME_KIND == 0 {
        out.push(kind);
    }
    if flags & SAME_VALUE == 0 {
        out.extend_from_slice(cell.value);
    }
}
