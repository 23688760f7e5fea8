//! Encoding and decoding of log records.

use std::cell::RefCell;

use bytes::{Buf, BufMut, Bytes};
use rowhouse_model::{
    Cell, CellRef, Error, Nonce, Result, TableName, WholeTableChangeKind as ChangeKind,
};

use crate::manifest::ManifestAge;
use crate::settings::Settings;

/// Bytes of a record header.
pub(super) const HEADER_LEN: usize = 32;
/// Records begin at multiples of this, so that a search for one need not try every byte.
pub(super) const ALIGN: usize = 8;
/// The longest body that is read, in bytes. Writers have their own lower limit.
pub(crate) const BODY_LEN_MAX: usize = *Settings::MUTATION_BYTES.end();

const KIND_COMMIT: u8 = 1;
const KIND_BEGIN: u8 = 2;
const KIND_EDITED: u8 = 3;
const KIND_TABLE: u8 = 4;

/// The byte for each kind of change to a table as a whole.
const TABLE_CHANGES: [(u8, ChangeKind); 5] = [
    (1, ChangeKind::Loaded),
    (2, ChangeKind::Truncated),
    (3, ChangeKind::Dropped),
    (4, ChangeKind::Altered),
    (5, ChangeKind::Restored),
];

/// In place of a sequence number: the record has no place among the commits.
pub(super) const NO_SEQUENCE: u64 = u64::MAX;

/// The least capacity of a buffer, in bytes.
const BUFFER_MIN: usize = 512;

/// The largest buffer that a thread keeps for the next record, in bytes.
const BUFFER_RETAINED_MAX: usize = 1 << 20;

thread_local! {
    /// The buffer of the record that this thread wrote last.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A commit body being encoded. Nothing is allocated before the first group. The header stays blank
/// until sequence number and offset are known.
#[derive(Default)]
pub(crate) struct RecordBody {
    bytes: Vec<u8>,
    groups: u32,
    /// The buffer offset of the open group's cell count.
    count_at: usize,
    count: u32,
}

/// The buffer offset of the group count, and of the first group after it.
const GROUPS_AT: usize = HEADER_LEN + 1;
const GROUPS_END: usize = GROUPS_AT + 4;

impl RecordBody {
    /// Begins the cells for one (region, family). The same pair may occur more than once.
    pub(crate) fn group(&mut self, region: u64, family: &[u8]) {
        if self.bytes.is_empty() {
            self.begin();
        }
        self.end_group();
        self.groups += 1;
        self.bytes.put_u64_le(region);
        self.bytes.put_u8(u8::try_from(family.len()).expect("families have at most 127 bytes"));
        self.bytes.put_slice(family);
        self.count_at = self.bytes.len();
        self.count = 0;
        self.bytes.put_u32_le(0);
    }

    fn begin(&mut self) {
        self.bytes = BUFFER.take();
        self.bytes.clear();
        self.bytes.reserve(BUFFER_MIN);
        self.bytes.put_bytes(0, HEADER_LEN);
        self.bytes.put_u8(KIND_COMMIT);
        self.bytes.put_u32_le(0);
    }

    fn end_group(&mut self) {
        if self.groups > 0 {
            self.bytes[self.count_at..][..4].copy_from_slice(&self.count.to_le_bytes());
        }
    }

    /// Adds a cell to the open group, with `timestamp` in place of the cell's own if one is passed.
    pub(crate) fn cell(&mut self, key_value: &[u8], timestamp: Option<i64>) {
        self.count += 1;
        self.bytes.put_u32_le(key_value.len() as u32);
        let at = self.bytes.len();
        self.bytes.put_slice(key_value);
        if let Some(timestamp) = timestamp {
            CellRef::set_timestamp(&mut self.bytes[at..], timestamp);
        }
    }

    /// Puts the groups of another body before the groups so far, whose cells move by the returned
    /// number of bytes.
    pub(crate) fn put_first(&mut self, mut first: Self) -> usize {
        first.end_group();
        self.end_group();
        let first_groups = first.bytes.get(GROUPS_END..).unwrap_or_default();
        self.bytes.splice(GROUPS_END..GROUPS_END, first_groups.iter().copied());
        self.groups += first.groups;
        self.count_at += first_groups.len();
        first_groups.len()
    }

    /// Returns how many bytes the body has so far.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len().saturating_sub(HEADER_LEN)
    }

    /// Returns the buffer offset of the next bytes.
    pub(crate) fn buffer_len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the KeyValues between two buffer offsets within one group.
    pub(crate) fn cells(&self, begin: usize, end: usize) -> impl Iterator<Item = &[u8]> {
        cells(&self.bytes[begin..end])
    }

    /// Closes the body and computes the checksum: the work that needs no lock on the log. `millis`
    /// is the time of the commit, for followers.
    pub(crate) fn seal(
        mut self,
        nonces: impl Iterator<Item = Nonce> + Clone,
        millis: Option<i64>,
    ) -> SealedRecord {
        if self.bytes.is_empty() {
            self.begin();
        }
        self.end_group();
        self.bytes[GROUPS_AT..][..4].copy_from_slice(&self.groups.to_le_bytes());
        self.bytes.put_u32_le(nonces.clone().count() as u32);
        for nonce in nonces {
            self.bytes.put_u64_le(nonce.group);
            self.bytes.put_u64_le(nonce.number);
        }
        if let Some(millis) = millis {
            self.bytes.put_i64_le(millis);
        }
        SealedRecord::new(std::mem::take(&mut self.bytes))
    }
}

impl Drop for RecordBody {
    fn drop(&mut self) {
        retain_buffer(&mut self.bytes);
    }
}

/// Leaves a buffer to this thread's next record, unless it is too large or there is none.
fn retain_buffer(bytes: &mut Vec<u8>) {
    if (1..=BUFFER_RETAINED_MAX).contains(&bytes.capacity()) {
        BUFFER.set(std::mem::take(bytes));
    }
}

fn cells(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let len = bytes.get_u32_le() as usize;
        let (cell, rest) = bytes.split_at(len);
        bytes = rest;
        Some(cell)
    })
}

/// A record whose body is complete.
pub(crate) struct SealedRecord {
    /// Header, body, padding, and room for the end mark.
    bytes: Vec<u8>,
    body_len: usize,
    body_crc: u32,
}

impl Drop for SealedRecord {
    fn drop(&mut self) {
        retain_buffer(&mut self.bytes);
    }
}

impl SealedRecord {
    fn new(mut bytes: Vec<u8>) -> Self {
        let body_len = bytes.len() - HEADER_LEN;
        bytes.resize(bytes.len().next_multiple_of(ALIGN), 0);
        let body_crc = crc32c::crc32c(&bytes[HEADER_LEN..]);
        bytes.resize(bytes.len() + HEADER_LEN, 0);
        Self { bytes, body_len, body_crc }
    }

    /// Returns how many bytes the body has, without padding.
    pub(crate) fn body_len(&self) -> usize {
        self.body_len
    }

    /// Returns the KeyValues between two buffer offsets within one group.
    pub(crate) fn cells(&self, begin: usize, end: usize) -> impl Iterator<Item = &[u8]> {
        cells(&self.bytes[begin..end])
    }

    /// Returns a segment's first record, with the number and length of the segment that it
    /// continues; `age` is `None` in segments from the version that did not record it.
    pub(super) fn begin(previous: u64, previous_len: u64, age: Option<ManifestAge>) -> Self {
        let mut bytes = vec![0; HEADER_LEN];
        bytes.put_u8(KIND_BEGIN);
        bytes.put_u64_le(previous);
        bytes.put_u64_le(previous_len);
        if let Some(age) = age {
            put_age(&mut bytes, age);
        }
        Self::new(bytes)
    }

    /// Returns the record of a manifest edit, which has this age with it.
    pub(super) fn edited(age: ManifestAge) -> Self {
        let mut bytes = vec![0; HEADER_LEN];
        bytes.put_u8(KIND_EDITED);
        put_age(&mut bytes, age);
        Self::new(bytes)
    }

    /// Returns the record of a table that changes as a whole.
    pub(super) fn table(change: &TableRecord) -> Self {
        let TableRecord { kind, table_id, millis, table } = change;
        let byte = TABLE_CHANGES.iter().find(|(_, it)| it == kind).map(|(byte, _)| *byte);
        let name = table.to_string();
        let mut bytes = vec![0; HEADER_LEN];
        bytes.put_u8(KIND_TABLE);
        bytes.put_u8(byte.expect("every kind has a byte"));
        bytes.put_u64_le(*table_id);
        bytes.put_i64_le(*millis);
        bytes.put_u16_le(u16::try_from(name.len()).expect("table names are short"));
        bytes.put_slice(name.as_bytes());
        Self::new(bytes)
    }

    /// Fills in the record header and the end mark header, ready to be written at `offset`.
    pub(super) fn finish(&mut self, epoch: u64, offset: u64, sequence: u64, synced: u64) -> &[u8] {
        let len = self.len();
        let body_len = self.body_len as u32;
        let body_crc = self.body_crc;
        let header = Header { body_len, sequence, synced, body_crc };
        header.write(&mut self.bytes[..HEADER_LEN], epoch, offset);
        let end = Header { body_len: 0, sequence, synced, body_crc: 0 };
        end.write(&mut self.bytes[len..], epoch, offset + len as u64);
        &self.bytes
    }

    /// Returns the distance to the next record, in bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - HEADER_LEN
    }
}

fn put_age(bytes: &mut Vec<u8>, ManifestAge { generation, edits }: ManifestAge) {
    bytes.put_u32_le(generation);
    bytes.put_u64_le(edits);
}

fn get_age(body: &mut Bytes, sequence: u64) -> Result<ManifestAge> {
    need(body, 12, sequence)?;
    Ok(ManifestAge { generation: body.get_u32_le(), edits: body.get_u64_le() })
}

/// Returns the end mark, which follows the last record: everything before it was written.
pub(super) fn end_mark(epoch: u64, offset: u64, sequence: u64) -> [u8; HEADER_LEN] {
    let mut bytes = [0; HEADER_LEN];
    Header { body_len: 0, sequence, synced: 0, body_crc: 0 }.write(&mut bytes, epoch, offset);
    bytes
}

/// A record's header, verified. A body length of 0 makes it the end mark.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) body_len: u32,
    pub(super) sequence: u64,
    /// Bytes of the segment that were known to be on disk when the record was written.
    pub(super) synced: u64,
    body_crc: u32,
}

impl Header {
    fn write(&self, out: &mut [u8], epoch: u64, offset: u64) {
        out[..4].copy_from_slice(&mark(epoch));
        out[4..8].copy_from_slice(&self.body_len.to_le_bytes());
        out[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        out[16..24].copy_from_slice(&self.synced.to_le_bytes());
        out[24..28].copy_from_slice(&self.body_crc.to_le_bytes());
        let crc = header_crc(epoch, offset, &out[..28]);
        out[28..32].copy_from_slice(&crc.to_le_bytes());
    }

    /// Decodes the header at `offset`; `None` when the checksum does not match.
    pub(super) fn parse(epoch: u64, offset: u64, bytes: &[u8; HEADER_LEN]) -> Option<Self> {
        if bytes[..4] != mark(epoch) {
            return None;
        }
        let crc = header_crc(epoch, offset, &bytes[..28]);
        let mut rest = &bytes[4..];
        let body_len = rest.get_u32_le();
        let sequence = rest.get_u64_le();
        let synced = rest.get_u64_le();
        let body_crc = rest.get_u32_le();
        let is_right = rest.get_u32_le() == crc && body_len as usize <= BODY_LEN_MAX;
        is_right.then_some(Self { body_len, sequence, synced, body_crc })
    }

    /// Returns true if this is the end mark.
    pub(super) fn is_end(&self) -> bool {
        self.body_len == 0
    }

    /// Returns how many bytes the body has with padding.
    pub(super) fn padded_len(&self) -> usize {
        (self.body_len as usize).next_multiple_of(ALIGN)
    }

    /// Returns true if `padded` is the padded body that was written.
    pub(super) fn matches_body(&self, padded: &[u8]) -> bool {
        crc32c::crc32c(padded) == self.body_crc
    }
}

/// Returns the first bytes of every header, a cheap first test in a search for records.
pub(super) fn mark(epoch: u64) -> [u8; 4] {
    (epoch as u32).to_le_bytes()
}

/// Computes a header's checksum. It covers the segment's epoch and the offset, so that a record
/// from the file's earlier use, or one that was moved, does not match.
fn header_crc(epoch: u64, offset: u64, header: &[u8]) -> u32 {
    let mut place = [0; 16];
    place[..8].copy_from_slice(&epoch.to_le_bytes());
    place[8..].copy_from_slice(&offset.to_le_bytes());
    crc32c::crc32c_append(crc32c::crc32c(&place), header)
}

/// A decoded record.
#[derive(Debug, PartialEq)]
pub(crate) enum Record {
    /// The first record of a segment.
    Begin {
        /// The number of the segment before; 0 if there is none.
        previous: u64,
        /// Bytes of that segment's header and records.
        previous_len: u64,
        /// The manifest's age when the segment was begun; `None` in segments from the version that
        /// did not record it.
        age: Option<ManifestAge>,
    },
    Commit(Commit),
    /// The manifest has at least this age.
    Edited(ManifestAge),
    Table(TableRecord),
}

/// A table that changes as a whole.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TableRecord {
    pub(crate) kind: ChangeKind,
    pub(crate) table_id: u64,
    pub(crate) millis: i64,
    pub(crate) table: TableName,
}

/// A decoded commit: everything that one mutation, or several that share a record, wrote.
#[derive(Debug, PartialEq)]
pub(crate) struct Commit {
    pub(crate) sequence: u64,
    /// When it was made; `None` if there was no follower then.
    pub(crate) millis: Option<i64>,
    /// The nonces of the commit's increments and appends.
    pub(crate) nonces: Vec<Nonce>,
    /// Region, family and cells, in write order.
    pub(crate) groups: Vec<(u64, Bytes, Vec<Cell>)>,
}

impl Record {
    /// Decodes a body whose checksum matched.
    pub(super) fn decode(sequence: u64, mut body: Bytes) -> Result<Self> {
        need(&body, 1, sequence)?;
        let record = match body.get_u8() {
            KIND_BEGIN => {
                need(&body, 16, sequence)?;
                let previous = body.get_u64_le();
                let previous_len = body.get_u64_le();
                let age = (!body.is_empty()).then(|| get_age(&mut body, sequence)).transpose()?;
                Self::Begin { previous, previous_len, age }
            }
            KIND_EDITED => Self::Edited(get_age(&mut body, sequence)?),
            KIND_COMMIT => Self::Commit(Commit::decode(sequence, &mut body)?),
            KIND_TABLE => Self::Table(TableRecord::decode(sequence, &mut body)?),
            kind => {
                return Err(Error::unsupported(format!(
                    "log record is of a kind unknown to this version: kind={kind}, sequence={sequence}"
                )));
            }
        };
        if !body.is_empty() {
            return Err(Error::corruption(format!(
                "log record has {} bytes too many: sequence={sequence}",
                body.len()
            )));
        }
        Ok(record)
    }
}

impl Commit {
    fn decode(sequence: u64, body: &mut Bytes) -> Result<Self> {
        need(body, 4, sequence)?;
        let groups_len = body.get_u32_le();
        let mut groups = Vec::new();
        for _ in 0..groups_len {
            need(body, 9, sequence)?;
            let region = body.get_u64_le();
            let family_len = body.get_u8() as usize;
            need(body, family_len + 4, sequence)?;
            let family = body.split_to(family_len);
            let cells_len = body.get_u32_le();
            let mut cells = Vec::new();
            for _ in 0..cells_len {
                need(body, 4, sequence)?;
                let len = body.get_u32_le() as usize;
                need(body, len, sequence)?;
                cells.push(Cell::from_key_value(body.split_to(len), sequence)?);
            }
            groups.push((region, family, cells));
        }
        need(body, 4, sequence)?;
        let nonces_len = body.get_u32_le() as usize;
        need(body, nonces_len.saturating_mul(16), sequence)?;
        let nonces = (0..nonces_len)
            .map(|_| Nonce { group: body.get_u64_le(), number: body.get_u64_le() })
            .collect();
        let millis = (!body.is_empty()).then(|| {
            need(body, 8, sequence)?;
            Ok::<_, Error>(body.get_i64_le())
        });
        Ok(Self { sequence, millis: millis.transpose()?, nonces, groups })
    }
}

impl TableRecord {
    fn decode(sequence: u64, body: &mut Bytes) -> Result<Self> {
        need(body, 19, sequence)?;
        let byte = body.get_u8();
        let table_id = body.get_u64_le();
        let millis = body.get_i64_le();
        let len = body.get_u16_le() as usize;
        need(body, len, sequence)?;
        let name = body.split_to(len);
        let kind = TABLE_CHANGES.iter().find(|(it, _)| *it == byte).map(|(_, kind)| *kind);
        let kind = kind.ok_or_else(|| {
            Error::unsupported(format!(
                "log record has a table change unknown to this version: change={byte}, \
                 sequence={sequence}"
            ))
        })?;
        let table = std::str::from_utf8(&name).ok().and_then(|name| TableName::parse(name).ok());
        let table = table.ok_or_else(|| {
            Error::corruption(format!("log record names no table: sequence={sequence}"))
        })?;
        Ok(Self { kind, table_id, millis, table })
    }
}

fn need(body: &Bytes, len: usize, sequence: u64) -> Result<()> {
    if body.len() >= len {
        return Ok(());
    }
    Err(Error::corruption(format!("log record ends early: sequence={sequence}")))
}

/// Decodes a body and encodes the record again.
#[cfg(feature = "fuzzing")]
pub(crate) fn reencode(body: Bytes) -> Result<Vec<u8>> {
    let sealed = match Record::decode(1, body)? {
        Record::Begin { previous, previous_len, age } => {
            SealedRecord::begin(previous, previous_len, age)
        }
        Record::Edited(age) => SealedRecord::edited(age),
        Record::Table(table) => SealedRecord::table(&table),
        Record::Commit(commit) => {
            let mut body = RecordBody::default();
            for (region, family, cells) in &commit.groups {
                body.group(*region, family);
                cells.iter().for_each(|cell| body.cell(cell.as_bytes(), None));
            }
            body.seal(commit.nonces.iter().copied(), commit.millis)
        }
    };
    Ok(sealed.bytes[HEADER_LEN..][..sealed.body_len].to_vec())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rowhouse_model::{CellKind, Timestamp};

    use super::*;

    const EPOCH: u64 = 0x1234_5678_9ABC_DEF0;

    fn cell(row: &str, value: &[u8]) -> Cell {
        Cell::new(row, "f", "q", Timestamp::MIN, CellKind::Put, value).unwrap()
    }

    fn encoded() -> Vec<u8> {
        let mut body = RecordBody::default();
        body.group(7, b"f");
        body.cell(cell("a", b"1").as_bytes(), None);
        body.cell(cell("b", b"2").as_bytes(), None);
        body.group(8, b"g");
        body.cell(cell("c", b"4").with_timestamp(Timestamp::LATEST).as_bytes(), Some(0));
        let nonces = [Nonce { group: 1, number: 2 }].into_iter();
        body.seal(nonces, Some(1_764_633_600_000)).finish(EPOCH, 64, 42, 0).to_vec()
    }

    /// Decodes the record at offset 64; `None` unless it and the end mark are valid.
    fn decoded(epoch: u64, offset: u64, bytes: &[u8]) -> Option<Commit> {
        let header = Header::parse(epoch, offset, bytes.first_chunk()?)?;
        let body = bytes.get(HEADER_LEN..HEADER_LEN + header.padded_len())?;
        header.matches_body(body).then_some(())?;
        let end = &bytes[HEADER_LEN + header.padded_len()..];
        let end_at = offset + (HEADER_LEN + header.padded_len()) as u64;
        Header::parse(epoch, end_at, end.first_chunk()?).filter(Header::is_end)?;
        let body = Bytes::copy_from_slice(&body[..header.body_len as usize]);
        match Record::decode(header.sequence, body).ok()? {
            Record::Commit(commit) => Some(commit),
            Record::Begin { .. } | Record::Edited(_) | Record::Table(_) => None,
        }
    }

    #[test]
    fn decoding_undoes_encoding() {
        let commit = decoded(EPOCH, 64, &encoded()).unwrap();
        assert_eq!((commit.sequence, commit.millis), (42, Some(1_764_633_600_000)));
        assert_eq!(commit.nonces, [Nonce { group: 1, number: 2 }]);
        let groups: Vec<_> =
            commit.groups.iter().map(|(region, f, cells)| (*region, &f[..], cells.len())).collect();
        assert_eq!(groups, [(7, &b"f"[..], 2), (8, &b"g"[..], 1)]);
        assert_eq!(commit.groups[1].2[0], cell("c", b"4"));
    }

    #[test]
    fn bodies_without_cells_have_the_bytes_that_their_page_draws() {
        let age = ManifestAge { generation: 3, edits: 258 };
        let body = |record: SealedRecord| record.bytes[HEADER_LEN..][..record.body_len].to_vec();
        let begin = [2, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        assert_eq!(body(SealedRecord::begin(7, 256, None)), begin);
        let age_bytes = [3, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0];
        assert_eq!(body(SealedRecord::begin(7, 256, Some(age))), [&begin[..], &age_bytes].concat());
        assert_eq!(body(SealedRecord::edited(age)), [&[3][..], &age_bytes].concat());
        for record in [
            Record::Begin { previous: 7, previous_len: 256, age: None },
            Record::Begin { previous: 7, previous_len: 256, age: Some(age) },
            Record::Edited(age),
        ] {
            let written = match record {
                Record::Begin { age, .. } => SealedRecord::begin(7, 256, age),
                _ => SealedRecord::edited(age),
            };
            assert_eq!(Record::decode(1, body(written).into()).unwrap(), record);
        }
    }

    #[test]
    fn a_table_change_has_the_bytes_that_its_page_draws() {
        for (byte, kind) in TABLE_CHANGES {
            let table = TableName::parse("mail").unwrap();
            let change = TableRecord { kind, table_id: 12, millis: 258, table };
            let record = SealedRecord::table(&change);
            let body = record.bytes[HEADER_LEN..][..record.body_len].to_vec();
            let drawn = [
                &[4, byte][..],
                &[12, 0, 0, 0, 0, 0, 0, 0],
                &[2, 1, 0, 0, 0, 0, 0, 0],
                &[4, 0],
                b"mail",
            ];
            assert_eq!(body, drawn.concat());
            assert_eq!(Record::decode(1, body.into()).unwrap(), Record::Table(change));
        }
        let error = Record::decode(1, Bytes::from_static(&[4; 19])).unwrap_err();
        assert_eq!(error.kind(), rowhouse_model::ErrorKind::Corruption);
    }

    #[test]
    fn a_record_of_another_life_or_place_is_none() {
        assert!(decoded(EPOCH + (1 << 40), 64, &encoded()).is_none());
        assert!(decoded(EPOCH, 72, &encoded()).is_none());
    }

    #[test]
    fn every_flipped_bit_is_seen() {
        let whole = encoded();
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                assert!(decoded(EPOCH, 64, &damaged).is_none(), "byte {at} bit {bit}");
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
