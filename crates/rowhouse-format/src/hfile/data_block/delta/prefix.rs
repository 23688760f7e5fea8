//! PREFIX: encodes each key as the length of the prefix that it shares with the previous key, and
//! the rest.

use super::source::write_number;
use super::{DeltaDecoder, EncoderCell, common_len};

/// Decodes a cell's lengths, key and value.
pub(super) fn unpack(unpacker: &mut DeltaDecoder<'_>) -> Option<()> {
    let source = &mut unpacker.source;
    let rest_len = source.number()?;
    let value_len = source.number()?;
    let common = source.number()?;
    unpacker.begin(rest_len.checked_add(common)?, value_len)?;
    match unpacker.last {
        Some(last) if common <= last.key_len => {
            unpacker.cells.extend_from_within(last.key..last.key + common);
        }
        None if common == 0 => {}
        _ => return None,
    }
    unpacker.cells.extend_from_slice(unpacker.source.take(rest_len.checked_add(value_len)?)?);
    Some(())
}

/// Encodes a cell's lengths, key and value.
pub(super) fn pack(out: &mut Vec<u8>, cell: &EncoderCell<'_>, last: Option<&EncoderCell<'_>>) {
    let common = last.map_or(0, |last| common(cell, last));
    write_number(out, cell.key.len() - common);
    write_number(out, cell.value.len());
    write_number(out, common);
    out.extend_from_slice(&cell.key[common..]);
    out.extend_from_slice(cell.value);
}

/// Returns how long the prefix is that the key shares with the previous key. Timestamp and kind
/// count if everything before them is equal.
fn common(cell: &EncoderCell<'_>, last: &EncoderCell<'_>) -> usize {
    let common = cell.common_front(last);
    if common < cell.front_len() || cell.front_len() != last.front_len() {
        return common;
    }
    common + common_len(&cell.key[common..], &last.key[common..])
}
