//! The file with the heat of all tables (`docs/formats/heat.md`).

use std::io;

use bytes::{Buf, BufMut, Bytes};

use super::column::Column;
use super::hot_rows::{Counts, ROW_BYTES_MAX, StoredHalf};
use crate::disk::Disk;
use crate::layout::TMP_DIR;

/// The file's path in the data directory.
pub(super) const PATH: &str = "heat";
const MAGIC: &[u8; 8] = b"ROWHHEAT";
const VERSION: u32 = 2;
/// Columns had no samples, and tables no hot rows.
const FIRST_VERSION: u32 = 1;
/// For a file with this version: magic, version, table count, checksum.
const LEN_MIN: usize = 20;
/// The maximum bytes that are read: several times what a store writes.
const LEN_MAX: u64 = 64 << 20;

/// Each table's heat, with the table's id.
pub(super) type Tables = Vec<(u64, StoredHeat)>;

/// A table's heat, as the file has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StoredHeat {
    pub(super) columns: Vec<Column>,
    /// The halves of the window with hot rows.
    pub(super) hot_rows: Vec<StoredHalf>,
}

/// Why a file is not used. Heat is not data: the store does without.
#[derive(Debug)]
pub(super) enum Unusable {
    Io(io::Error),
    /// A newer version wrote it.
    Version(u32),
    Damaged(&'static str),
}

/// Reads the file; `None` if there is none.
pub(super) fn read(disk: &dyn Disk) -> Result<Option<Tables>, Unusable> {
    let file = match disk.open(PATH) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Unusable::Io(error)),
    };
    let len = file.len().map_err(Unusable::Io)?;
    if len > LEN_MAX {
        return Err(Unusable::Damaged("it is too long"));
    }
    let mut bytes = vec![0; len as usize];
    file.read_exact_at(&mut bytes, 0).map_err(Unusable::Io)?;
    decode(Bytes::from(bytes)).map(Some)
}

/// Replaces the file.
pub(super) fn write(disk: &dyn Disk, tables: &Tables) -> io::Result<()> {
    let path = format!("{TMP_DIR}/{PATH}");
    match disk.remove(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = disk.create(&path)?;
    let written = file.write_all_at(&encode(tables), 0).and_then(|()| file.sync());
    let renamed = written.and_then(|()| disk.rename(&path, PATH));
    if renamed.is_err() {
        // The next open removes it otherwise.
        let _ = disk.remove(&path);
    }
    renamed
}

fn encode(tables: &Tables) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.put_slice(MAGIC);
    bytes.put_u32_le(VERSION);
    bytes.put_u32_le(tables.len() as u32);
    for (id, heat) in tables {
        bytes.put_u64_le(*id);
        bytes.put_u32_le(heat.columns.len() as u32);
        heat.columns.iter().for_each(|column| put_column(&mut bytes, column));
        bytes.put_u8(heat.hot_rows.len() as u8);
        heat.hot_rows.iter().for_each(|half| put_half(&mut bytes, half));
    }
    bytes.put_u32_le(crc32c::crc32c(&bytes));
    bytes
}

fn put_column(bytes: &mut Vec<u8>, column: &Column) {
    bytes.put_i64_le(column.start_millis);
    bytes.put_i64_le(column.length_millis);
    bytes.put_u8(u8::from(column.sampled));
    for part in [column.encoded(), column.sample().encoded()] {
        bytes.put_u32_le(part.len() as u32);
        bytes.put_slice(part);
    }
}

fn put_half(bytes: &mut Vec<u8>, half: &StoredHalf) {
    bytes.put_i64_le(half.start_millis);
    put_counts(bytes, half.dropped);
    bytes.put_u16_le(half.rows.len() as u16);
    for (row, counts) in &half.rows {
        bytes.put_u16_le(row.len() as u16);
        bytes.put_slice(row);
        put_counts(bytes, *counts);
    }
}

fn put_counts(bytes: &mut Vec<u8>, counts: Counts) {
    bytes.put_u64_le(counts.reads);
    bytes.put_u64_le(counts.writes);
    bytes.put_u64_le(counts.overestimate);
}

fn decode(mut bytes: Bytes) -> Result<Tables, Unusable> {
    if bytes.len() < LEN_MIN || !bytes.starts_with(MAGIC) {
        return Err(Unusable::Damaged("it does not begin as such a file"));
    }
    let crc = bytes.split_off(bytes.len() - 4).get_u32_le();
    if crc != crc32c::crc32c(&bytes) {
        return Err(Unusable::Damaged("it fails its checksum"));
    }
    bytes.advance(MAGIC.len());
    match bytes.get_u32_le() {
        version @ (FIRST_VERSION | VERSION) => {
            decode_tables(bytes, version).ok_or(Unusable::Damaged("it cannot be decoded"))
        }
        version => Err(Unusable::Version(version)),
    }
}

fn decode_tables(mut bytes: Bytes, version: u32) -> Option<Tables> {
    let mut tables = Vec::new();
    for _ in 0..bytes.try_get_u32_le().ok()? {
        let id = bytes.try_get_u64_le().ok()?;
        let mut heat = StoredHeat::default();
        for _ in 0..bytes.try_get_u32_le().ok()? {
            heat.columns.push(take_column(&mut bytes, version)?);
        }
        if version > FIRST_VERSION {
            for _ in 0..bytes.try_get_u8().ok()? {
                heat.hot_rows.push(take_half(&mut bytes)?);
            }
        }
        tables.push((id, heat));
    }
    bytes.is_empty().then_some(tables)
}

fn take_column(bytes: &mut Bytes, version: u32) -> Option<Column> {
    let start_millis = bytes.try_get_i64_le().ok()?;
    let length_millis = bytes.try_get_i64_le().ok()?;
    let sampled = match bytes.try_get_u8().ok()? {
        0 => false,
        1 => true,
        _ => return None,
    };
    let ranges = take_part(bytes)?;
    let sample = if version > FIRST_VERSION { take_part(bytes)? } else { Bytes::new() };
    Column::stored(start_millis, length_millis, sampled, ranges, sample)
}

/// Takes bytes after their length: a copy, so that a column does not keep the whole file in memory.
fn take_part(bytes: &mut Bytes) -> Option<Bytes> {
    let len = bytes.try_get_u32_le().ok()? as usize;
    (len <= bytes.len()).then(|| Bytes::copy_from_slice(&bytes.split_to(len)))
}

fn take_half(bytes: &mut Bytes) -> Option<StoredHalf> {
    let start_millis = bytes.try_get_i64_le().ok()?;
    let dropped = take_counts(bytes)?;
    let mut rows = Vec::new();
    for _ in 0..bytes.try_get_u16_le().ok()? {
        let len = usize::from(bytes.try_get_u16_le().ok()?);
        if len >= ROW_BYTES_MAX || len > bytes.len() {
            return None;
        }
        let row = bytes.split_to(len).to_vec();
        rows.push((row, take_counts(bytes)?));
    }
    Some(StoredHalf { start_millis, rows, dropped })
}

fn take_counts(bytes: &mut Bytes) -> Option<Counts> {
    let reads = bytes.try_get_u64_le().ok()?;
    let writes = bytes.try_get_u64_le().ok()?;
    let overestimate = bytes.try_get_u64_le().ok()?;
    Some(Counts { reads, writes, overestimate })
}

#[cfg(test)]
mod tests {
    use super::super::load::Load;
    use super::super::sample::{SampledRequest, SampledRequests};
    use super::*;

    fn tables() -> Tables {
        let column = |minute: i64, sampled| {
            let ranges = [(&b""[..], Load::of_reads(3, 70)), (b"m", Load::of_write(9))];
            Column::new(minute * 60_000, 60_000, sampled, ranges.into_iter())
        };
        let heat = StoredHeat {
            columns: vec![column(1, false).with_sample(sample()), column(2, true)],
            hot_rows: vec![half(), StoredHalf::default()],
        };
        vec![(7, heat), (9, StoredHeat::default())]
    }

    fn sample() -> SampledRequests {
        let request = |at_millis, row: &'static str, is_write| SampledRequest {
            at_millis,
            row: row.into(),
            is_write,
        };
        let requests = [request(60_001, "ab", false), request(60_201, "ac", true)];
        SampledRequests::new(60_000, requests.into_iter())
    }

    fn half() -> StoredHalf {
        let counts = |reads, writes, overestimate| Counts { reads, writes, overestimate };
        let rows = vec![(b"a".to_vec(), counts(5, 6, 2))];
        StoredHalf { start_millis: 300_000, rows, dropped: counts(2, 0, 1) }
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        assert_eq!(decode(encode(&tables()).into()).unwrap(), tables());
        let empty = encode(&Vec::new());
        assert_eq!(empty.len(), LEN_MIN);
        assert_eq!(decode(empty.into()).unwrap(), Vec::new());
    }

    #[test]
    fn the_bytes_of_a_file_are_those_of_the_format_page() {
        let column = [(&b""[..], Load::of_reads(3, 70))];
        let column = Column::new(60_000, 60_000, true, column.into_iter()).with_sample(sample());
        let heat = StoredHeat { columns: vec![column], hot_rows: vec![half()] };
        let bytes = encode(&vec![(7, heat)]);
        let number = |number: u64| number.to_le_bytes();
        let expected = [
            &b"ROWHHEAT"[..],
            &[2, 0, 0, 0, 1, 0, 0, 0],
            &[7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
            &number(60_000),
            &number(60_000),
            &[1, 6, 0, 0, 0],
            &[0, 0, 3, 0, 70, 0],
            &[10, 0, 0, 0],
            &[2, 0, 2, b'a', b'b'],
            &[0x91, 3, 1, 1, b'c'],
            &[1],
            &number(300_000),
            &[number(2), number(0), number(1)].concat(),
            &[1, 0, 1, 0, b'a'],
            &[number(5), number(6), number(2)].concat(),
        ]
        .concat();
        assert_eq!(bytes[..bytes.len() - 4], expected);
        assert_eq!(bytes[bytes.len() - 4..], crc32c::crc32c(&expected).to_le_bytes());
    }

    #[test]
    fn a_file_of_the_first_version_is_read_without_samples() {
        let mut first = [
            &b"ROWHHEAT"[..],
            &[1, 0, 0, 0, 1, 0, 0, 0],
            &[7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
            &60_000u64.to_le_bytes(),
            &60_000u64.to_le_bytes(),
            &[1, 6, 0, 0, 0],
            &[0, 0, 3, 0, 70, 0],
        ]
        .concat();
        first.put_u32_le(crc32c::crc32c(&first));
        let column = [(&b""[..], Load::of_reads(3, 70))];
        let column = Column::new(60_000, 60_000, true, column.into_iter());
        let heat = StoredHeat { columns: vec![column], hot_rows: Vec::new() };
        assert_eq!(decode(first.into()).unwrap(), [(7, heat)]);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_seen() {
        let whole = encode(&tables());
        for at in 0..whole.len() {
            assert!(decode(Bytes::copy_from_slice(&whole[..at])).is_err());
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                assert!(decode(damaged.into()).is_err(), "byte {at} bit {bit}");
            }
        }
    }

    #[test]
    fn a_file_of_a_newer_version_is_not_used() {
        let mut newer = encode(&tables());
        newer.truncate(newer.len() - 4);
        newer[8] = 3;
        let crc = crc32c::crc32c(&newer);
        newer.put_u32_le(crc);
        assert!(matches!(decode(newer.into()), Err(Unusable::Version(3))));
    }
}
