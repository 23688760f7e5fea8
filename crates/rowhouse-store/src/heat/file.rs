//! The file with the heat of all tables (`docs/formats/heat.md`).

use std::io;

use bytes::{Buf, BufMut, Bytes};

use super::column::Column;
use crate::disk::Disk;
use crate::layout::TMP_DIR;

/// The file's path in the data directory.
pub(super) const PATH: &str = "heat";
const MAGIC: &[u8; 8] = b"ROWHHEAT";
const VERSION: u32 = 1;
/// For a file with this version: magic, version, table count, checksum.
const LEN_MIN: usize = 20;
/// The maximum bytes that are read: several times what a store writes.
const LEN_MAX: u64 = 64 << 20;

/// The columns for each table, with the table's id.
pub(super) type Tables = Vec<(u64, Vec<Column>)>;

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
    for (id, columns) in tables {
        bytes.put_u64_le(*id);
        bytes.put_u32_le(columns.len() as u32);
        for column in columns {
            bytes.put_i64_le(column.start_millis);
            bytes.put_i64_le(column.length_millis);
            bytes.put_u8(u8::from(column.sampled));
            bytes.put_u32_le(column.encoded().len() as u32);
            bytes.put_slice(column.encoded());
        }
    }
    bytes.put_u32_le(crc32c::crc32c(&bytes));
    bytes
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
        VERSION => decode_tables(bytes).ok_or(Unusable::Damaged("it cannot be decoded")),
        version => Err(Unusable::Version(version)),
    }
}

fn decode_tables(mut bytes: Bytes) -> Option<Tables> {
    let mut tables = Vec::new();
    for _ in 0..bytes.try_get_u32_le().ok()? {
        let id = bytes.try_get_u64_le().ok()?;
        let mut columns = Vec::new();
        for _ in 0..bytes.try_get_u32_le().ok()? {
            let start_millis = bytes.try_get_i64_le().ok()?;
            let length_millis = bytes.try_get_i64_le().ok()?;
            let sampled = match bytes.try_get_u8().ok()? {
                0 => false,
                1 => true,
                _ => return None,
            };
            let len = bytes.try_get_u32_le().ok()? as usize;
            if len > bytes.len() {
                return None;
            }
            // A copy, so that a column does not keep the whole file in memory.
            let ranges = Bytes::copy_from_slice(&bytes.split_to(len));
            columns.push(Column::stored(start_millis, length_millis, sampled, ranges)?);
        }
        tables.push((id, columns));
    }
    bytes.is_empty().then_some(tables)
}

#[cfg(test)]
mod tests {
    use super::super::load::Load;
    use super::*;

    fn tables() -> Tables {
        let column = |minute: i64, sampled| {
            let ranges = [(&b""[..], Load::of_reads(3, 70)), (b"m", Load::of_write(9))];
            Column::new(minute * 60_000, 60_000, sampled, ranges.into_iter())
        };
        vec![(7, vec![column(1, false), column(2, true)]), (9, Vec::new())]
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
        let column = Column::new(60_000, 60_000, true, column.into_iter());
        let bytes = encode(&vec![(7, vec![column])]);
        let expected = [
            &b"ROWHHEAT"[..],
            &[1, 0, 0, 0, 1, 0, 0, 0],
            &[7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
            &60_000u64.to_le_bytes(),
            &60_000u64.to_le_bytes(),
            &[1, 6, 0, 0, 0],
            &[0, 0, 3, 0, 70, 0],
        ]
        .concat();
        assert_eq!(bytes[..bytes.len() - 4], expected);
        assert_eq!(bytes[bytes.len() - 4..], crc32c::crc32c(&expected).to_le_bytes());
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
        newer[8] = 2;
        let crc = crc32c::crc32c(&newer);
        newer.put_u32_le(crc);
        assert!(matches!(decode(newer.into()), Err(Unusable::Version(2))));
    }
}
