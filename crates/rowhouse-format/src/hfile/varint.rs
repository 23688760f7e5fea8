//! Variable-length numbers: Hadoop's vint (`WritableUtils`) and protobuf's.

/// How long a vint is at most, in bytes: one length byte and eight magnitude bytes.
pub(super) const VINT_LEN_MAX: usize = 9;

/// Reads the vint at `at`. Returns the number and the position after it.
#[inline]
pub(super) fn read_vint(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let first = *bytes.get(at)? as i8;
    if first >= -112 {
        return Some((i64::from(first), at + 1));
    }
    read_long_vint(bytes, at + 1, first)
}

/// Reads the magnitude in a multi-byte vint whose first byte is `first`.
#[inline]
fn read_long_vint(bytes: &[u8], at: usize, first: i8) -> Option<(i64, usize)> {
    let negative = first < -120;
    let len = if negative { -120 - i32::from(first) } else { -112 - i32::from(first) } as usize;
    let end = at + len;
    // Load eight bytes at once if available: sequence numbers are rarely short.
    let magnitude = match bytes.get(at..)?.first_chunk::<8>() {
        Some(word) => u64::from_be_bytes(*word) >> (64 - 8 * len),
        None => {
            let digits = bytes.get(at..end)?;
            digits.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
        }
    };
    let number = if negative { !magnitude } else { magnitude };
    Some((number as i64, end))
}

/// Appends `number` as a vint.
#[inline]
pub(super) fn write_vint(out: &mut Vec<u8>, number: i64) {
    if (-112..=127).contains(&number) {
        out.push(number as u8);
        return;
    }
    let (magnitude, base) =
        if number < 0 { (!(number as u64), -120i8) } else { (number as u64, -112i8) };
    let len = (64 - magnitude.leading_zeros()).div_ceil(8) as usize;
    out.push((base - len as i8) as u8);
    out.extend_from_slice(&magnitude.to_be_bytes()[8 - len..]);
}

/// Returns how many bytes [`write_vint`] appends for a non-negative number.
pub(super) fn vint_len(number: u64) -> usize {
    if number <= 127 { 1 } else { 1 + (64 - number.leading_zeros()).div_ceil(8) as usize }
}

/// Reads a protobuf varint at the start of `bytes`. Returns the number and the length in bytes.
pub(super) fn read_varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut number = 0u64;
    for (at, &byte) in bytes.iter().take(10).enumerate() {
        let part = u64::from(byte & 0x7F);
        if at == 9 && part > 1 {
            return None;
        }
        number |= part << (7 * at);
        if byte & 0x80 == 0 {
            return Some((number, at + 1));
        }
    }
    None
}

/// Appends `number` as a protobuf varint.
pub(super) fn write_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vints_are_hadoops() {
        // Encodings produced by WritableUtils.writeVLong.
        let cases: [(i64, &[u8]); 9] = [
            (0, &[0]),
            (127, &[0x7F]),
            (-112, &[0x90]),
            (128, &[0x8F, 0x80]),
            (-113, &[0x87, 0x70]),
            (255, &[0x8F, 0xFF]),
            (256, &[0x8E, 1, 0]),
            (i64::MAX, &[0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
            (i64::MIN, &[0x80, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
        ];
        for (number, bytes) in cases {
            let mut out = Vec::new();
            write_vint(&mut out, number);
            assert_eq!(out, bytes, "{number}");
            assert_eq!(read_vint(bytes, 0), Some((number, bytes.len())));
            assert_eq!(read_vint(&bytes[..bytes.len() - 1], 0), None);
            if number >= 0 {
                assert_eq!(vint_len(number as u64), bytes.len());
            }
            assert!(bytes.len() <= VINT_LEN_MAX);
        }
    }

    #[test]
    fn varints_are_protobufs() {
        for (number, bytes) in
            [(0u64, &[0][..]), (127, &[0x7F]), (128, &[0x80, 1]), (300, &[0xAC, 2])]
        {
            let mut out = Vec::new();
            write_varint(&mut out, number);
            assert_eq!(out, bytes);
            assert_eq!(read_varint(bytes), Some((number, bytes.len())));
        }
        assert_eq!(read_varint(&[0xFF; 10]), None);
        assert_eq!(read_varint(&[0x80]), None);
        let mut out = Vec::new();
        write_varint(&mut out, u64::MAX);
        assert_eq!(read_varint(&out), Some((u64::MAX, 10)));
    }
}
