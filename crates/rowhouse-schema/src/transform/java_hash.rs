//! `hashCode()` as the Java library and code built on it compute it, in wrapping 32-bit arithmetic.

/// The hash of a `String`, over the UTF-16 units.
pub(super) fn text(utf8: &[u8]) -> i32 {
    let text = String::from_utf8_lossy(utf8);
    text.encode_utf16().fold(0, |hash, unit| step(hash, unit.into()))
}

/// The hash of a `byte[]` by `Arrays.hashCode` and by HBase's `Bytes.hashCode`; bytes are signed.
pub(super) fn bytes(bytes: &[u8]) -> i32 {
    bytes.iter().fold(1, |hash, &byte| step(hash, i32::from(byte as i8)))
}

/// The hash of a `Long`, given big-endian. An `Integer`, which has no upper half, is its own hash.
pub(super) fn integer(bytes: &[u8]) -> i32 {
    let number = bytes.iter().fold(0_u64, |number, &byte| number << 8 | u64::from(byte));
    (number ^ number >> 32) as i32
}

fn step(hash: i32, next: i32) -> i32 {
    hash.wrapping_mul(31).wrapping_add(next)
}
