//! One commit in the log: encoding and decoding side by side.

use bytes::{Buf, BufMut, Bytes};
use rowhouse_model::{Cell, Error, Nonce, Result};

/// Bytes in front of a record's body.
pub(super) const HEADER_LEN: usize = 28;
/// The longest body, in bytes. A commit that would be longer is refused before it is written.
pub(crate) const BODY_LEN_MAX: usize = 256 << 20;

/// A commit being encoded. The header is left open until the sequence is known.
pub(crate) struct RecordBody {
    bytes: Vec<u8>,
    groups: u32,
    /// Where the cell count of the open group stands.
    count_at: usize,
}

impl RecordBody {
    pub(crate) fn new(nonce: Option<Nonce>) -> Self {
        let mut bytes = Vec::with_capacity(512);
        bytes.put_bytes(0, HEADER_LEN);
        bytes.put_u64_le(nonce.map_or(0, |nonce| nonce.group));
        bytes.put_u64_le(nonce.map_or(0, |nonce| nonce.number));
        bytes.put_u32_le(0);
        Self { bytes, groups: 0, count_at: 0 }
    }

    /// Begins the cells of one (region, family).
    pub(crate) fn group(&mut self, region: u64, family: &[u8]) {
        self.groups += 1;
        self.bytes.put_u64_le(region);
        self.bytes.put_u8(u8::try_from(family.len()).expect("families have at most 127 bytes"));
        self.bytes.put_slice(family);
        self.count_at = self.bytes.len();
        self.bytes.put_u32_le(0);
    }

    /// Adds a cell to the group begun last.
    pub(crate) fn cell(&mut self, cell: &Cell) {
        let key_value = cell.as_key_value();
        let mut count = &self.bytes[self.count_at..];
        let count = count.get_u32_le() + 1;
        self.bytes[self.count_at..][..4].copy_from_slice(&count.to_le_bytes());
        self.bytes.put_u32_le(key_value.len() as u32);
        self.bytes.put_slice(key_value);
    }

    /// Bytes of the body so far.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - HEADER_LEN
    }

    /// Closes the body and computes its checksum: what can be done before the log is locked.
    pub(crate) fn seal(mut self) -> SealedRecord {
        self.bytes[HEADER_LEN + 16..][..4].copy_from_slice(&self.groups.to_le_bytes());
        let body_crc = crc32c::crc32c(&self.bytes[HEADER_LEN..]);
        SealedRecord { bytes: self.bytes, body_crc }
    }
}

/// A commit whose body is complete.
pub(crate) struct SealedRecord {
    bytes: Vec<u8>,
    body_crc: u32,
}

impl SealedRecord {
    /// Fills in the header: the record's bytes, ready to be written.
    pub(super) fn finish(&mut self, segment: u64, sequence: u64, synced: u64) -> &[u8] {
        let body_len = self.bytes.len() - HEADER_LEN;
        let mut header = &mut self.bytes[..HEADER_LEN];
        header.put_u32_le(body_len as u32);
        header.put_u64_le(sequence);
        header.put_u64_le(synced);
        header.put_u32_le(self.body_crc);
        let crc = header_crc(segment, &self.bytes[..HEADER_LEN - 4]);
        self.bytes[HEADER_LEN - 4..HEADER_LEN].copy_from_slice(&crc.to_le_bytes());
        &self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// The header's checksum: it covers the segment's number, so that a record left over from another
/// segment is not taken for one of this.
fn header_crc(segment: u64, header: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&segment.to_le_bytes()), header)
}

/// A record's header, checked.
pub(super) struct Header {
    pub(super) body_len: usize,
    pub(super) sequence: u64,
    /// How much of the segment was known to be on the disk.
    pub(super) synced: u64,
    body_crc: u32,
}

impl Header {
    /// Reads a header; `None` when its checksum is not right.
    pub(super) fn parse(segment: u64, bytes: &[u8; HEADER_LEN]) -> Option<Self> {
        let crc = header_crc(segment, &bytes[..HEADER_LEN - 4]);
        let mut rest = &bytes[..];
        let body_len = rest.get_u32_le() as usize;
        let sequence = rest.get_u64_le();
        let synced = rest.get_u64_le();
        let body_crc = rest.get_u32_le();
        (rest.get_u32_le() == crc && body_len <= BODY_LEN_MAX).then_some(Self {
            body_len,
            sequence,
            synced,
            body_crc,
        })
    }

    /// Whether `body` is what was written.
    pub(super) fn vouches_for(&self, body: &[u8]) -> bool {
        crc32c::crc32c(body) == self.body_crc
    }
}

/// A commit read back.
#[derive(Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) sequence: u64,
    pub(crate) nonce: Option<Nonce>,
    /// Region, family and cells, in the order they were written.
    pub(crate) groups: Vec<(u64, Bytes, Vec<Cell>)>,
}

impl Record {
    /// Takes a body apart whose checksum was right.
    pub(super) fn decode(sequence: u64, mut body: Bytes) -> Result<Self> {
        let short = || Error::corruption(format!("log record ends early: sequence={sequence}"));
        let need = |body: &Bytes, len: usize| (body.len() >= len).then_some(()).ok_or_else(short);
        need(&body, 20)?;
        let nonce = Nonce { group: body.get_u64_le(), number: body.get_u64_le() };
        let nonce = (nonce.number != 0).then_some(nonce);
        let groups_len = body.get_u32_le();
        let mut groups = Vec::new();
        for _ in 0..groups_len {
            need(&body, 9)?;
            let region = body.get_u64_le();
            let family_len = body.get_u8() as usize;
            need(&body, family_len + 4)?;
            let family = body.split_to(family_len);
            let cells_len = body.get_u32_le();
            let mut cells = Vec::new();
            for _ in 0..cells_len {
                need(&body, 4)?;
                let len = body.get_u32_le() as usize;
                need(&body, len)?;
                cells.push(Cell::from_key_value(body.split_to(len), sequence)?);
            }
            groups.push((region, family, cells));
        }
        if !body.is_empty() {
            return Err(Error::corruption(format!(
                "log record has {} bytes too many: sequence={sequence}",
                body.len()
            )));
        }
        Ok(Self { sequence, nonce, groups })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rowhouse_model::{CellKind, Timestamp};

    use super::*;

    fn cell(row: &str, value: &[u8]) -> Cell {
        Cell::new(row, "f", "q", Timestamp::MIN, CellKind::Put, value).unwrap()
    }

    fn encoded() -> Vec<u8> {
        let mut body = RecordBody::new(Some(Nonce { group: 1, number: 2 }));
        body.group(7, b"f");
        body.cell(&cell("a", b"1"));
        body.cell(&cell("b", b"2"));
        body.group(8, b"g");
        body.cell(&cell("c", b"3"));
        body.seal().finish(3, 42, 0).to_vec()
    }

    fn decoded(segment: u64, bytes: &[u8]) -> Option<Record> {
        let header = Header::parse(segment, bytes.first_chunk()?)?;
        let body = bytes.get(HEADER_LEN..HEADER_LEN + header.body_len)?;
        header.vouches_for(body).then_some(())?;
        Record::decode(header.sequence, Bytes::copy_from_slice(body)).ok()
    }

    #[test]
    fn decoding_undoes_encoding() {
        let record = decoded(3, &encoded()).unwrap();
        assert_eq!(record.sequence, 42);
        assert_eq!(record.nonce, Some(Nonce { group: 1, number: 2 }));
        let groups: Vec<_> =
            record.groups.iter().map(|(region, f, cells)| (*region, &f[..], cells.len())).collect();
        assert_eq!(groups, [(7, &b"f"[..], 2), (8, &b"g"[..], 1)]);
        assert_eq!(record.groups[1].2[0], cell("c", b"3"));
    }

    #[test]
    fn a_record_of_another_segment_is_none() {
        assert!(decoded(4, &encoded()).is_none());
    }

    #[test]
    fn every_flipped_bit_is_seen() {
        let whole = encoded();
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                assert!(decoded(3, &damaged).is_none(), "byte {at} bit {bit}");
            }
        }
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(body: Vec<u8>) {
            let _ = Record::decode(1, body.into());
        }
    }
}
