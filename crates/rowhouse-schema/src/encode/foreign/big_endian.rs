//! Big-endian numbers.

/// Reads bytes as a big-endian number.
pub(super) fn unsigned(bytes: &[u8]) -> i128 {
    bytes.iter().fold(0, |number, &byte| number << 8 | i128::from(byte))
}

/// Appends the last bytes of a number in two's complement.
pub(super) fn write(number: i128, bytes: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_be_bytes()[16 - usize::from(bytes)..]);
}
