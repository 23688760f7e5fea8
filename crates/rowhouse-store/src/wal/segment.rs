//! A segment's name and header.

use bytes::{Buf, BufMut};
use rowhouse_model::{Error, ErrorKind, Result};

use crate::layout::WAL_DIR;

/// Bytes of a segment header.
pub(super) const HEADER_LEN: usize = 64;

const MAGIC: [u8; 8] = *b"ROWHWAL\0";
const VERSION: u32 = 4;
/// The oldest version that this code reads. Records in it do not state the manifest's age; in
/// version 3 they do, and have no times and no table changes.
const VERSION_OLDEST: u32 = 2;

/// A segment header. It is on disk before the segment has its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SegmentHeader {
    pub(super) number: u64,
    /// A random number that is part of every record's checksum. Neither bytes from the file's
    /// earlier use nor a value written by a client can be mistaken for a record of this segment.
    pub(super) epoch: u64,
    pub(super) boot_id: [u8; 16],
}

/// A position where the log ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogEnd {
    pub(crate) segment: u64,
    /// Bytes of that segment's header and records.
    pub(crate) len: u64,
    pub(crate) last_sequence: u64,
}

impl SegmentHeader {
    pub(super) fn encode(&self) -> [u8; HEADER_LEN] {
        let mut bytes = Vec::with_capacity(HEADER_LEN);
        bytes.put_slice(&MAGIC);
        bytes.put_u32_le(VERSION);
        bytes.put_u32_le(0);
        bytes.put_u64_le(self.number);
        bytes.put_u64_le(self.epoch);
        bytes.put_slice(&self.boot_id);
        bytes.put_bytes(0, 12);
        bytes.put_u32_le(crc32c::crc32c(&bytes));
        bytes.try_into().expect("the fields above are the header's length")
    }

    /// Decodes a header; `None` when the checksum does not match.
    ///
    /// # Errors
    /// `Unsupported` for a segment with another version.
    pub(super) fn decode(path: &str, bytes: &[u8; HEADER_LEN]) -> Result<Option<Self>> {
        let mut rest = &bytes[..];
        let mut magic = [0; 8];
        rest.copy_to_slice(&mut magic);
        let version = rest.get_u32_le();
        let _reserved = rest.get_u32_le();
        let number = rest.get_u64_le();
        let epoch = rest.get_u64_le();
        let mut boot_id = [0; 16];
        rest.copy_to_slice(&mut boot_id);
        rest.advance(12);
        if magic != MAGIC || rest.get_u32_le() != crc32c::crc32c(&bytes[..HEADER_LEN - 4]) {
            return Ok(None);
        }
        if !(VERSION_OLDEST..=VERSION).contains(&version) {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("log segment is of another version: {path}, version={version}"),
            ));
        }
        Ok(Some(Self { number, epoch, boot_id }))
    }
}

/// Returns the path of segment `number`.
pub(crate) fn path(number: u64) -> String {
    format!("{WAL_DIR}/{number:010}.wal")
}

/// Returns the path of the spare file that was segment `number`.
pub(super) fn spare_path(number: u64) -> String {
    format!("{WAL_DIR}/{number:010}.spare")
}

/// Returns the path of segment `number` while it is retained for followers.
pub(super) fn retained_path(number: u64) -> String {
    format!("{WAL_DIR}/{number:010}.retained")
}

/// Returns the segment number in the file name `name`; `None` if it names no segment.
pub(super) fn number(name: &str) -> Option<u64> {
    name.strip_suffix(".wal")?.parse().ok()
}

/// Returns the number in the file name `name` of a spare; `None` if it names no spare.
pub(super) fn spare_number(name: &str) -> Option<u64> {
    name.strip_suffix(".spare")?.parse().ok()
}

/// Returns the number in the file name `name` of a retained segment; `None` if it names none.
pub(super) fn retained_number(name: &str) -> Option<u64> {
    name.strip_suffix(".retained")?.parse().ok()
}
