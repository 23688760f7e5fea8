//! The stamp in a file's file info: the table and region it was written for. Only salvaging a store
//! whose manifest is lost reads it.

use bytes::Bytes;
use prost::Message;
use rowhouse_format::convert::table;
use rowhouse_format::hfile::{self, Trailer};
use rowhouse_model::{Error, Result, TableDescriptor};

use super::parse_meta;
use crate::disk::Disk;
use crate::layout::file_path;
use crate::manifest::{FileMeta, TableEntry, encode_table};

/// The key in the file info. Other readers ignore it.
const NAME: &str = "ROWHOUSE_TABLE";

/// The value in the file info. Drawn in `docs/formats/hfile.md`.
#[derive(Clone, PartialEq, Message)]
struct Stamp {
    /// HBase's `TableSchema`.
    #[prost(bytes = "bytes", tag = "1")]
    descriptor: Bytes,
    #[prost(uint64, tag = "2")]
    region_id: u64,
}

/// Returns the file info entry's key and value for a file in a `table` region.
pub(crate) fn stamp_entry(table: &TableEntry, region_id: u64) -> (Vec<u8>, Vec<u8>) {
    let stamp = Stamp { descriptor: encode_table(&table.descriptor), region_id };
    (NAME.as_bytes().to_vec(), stamp.encode_to_vec())
}

/// A file described by its own stamp.
pub(crate) struct StampedFile {
    pub(crate) table: TableDescriptor,
    /// The region that it was written for.
    pub(crate) region_id: u64,
    pub(crate) family: Bytes,
    /// The metadata that the manifest would hold.
    pub(crate) meta: FileMeta,
}

impl StampedFile {
    /// Reads a file's stamp.
    ///
    /// # Errors
    /// `Io`; `Corruption` for a file without a stamp, or with an unreadable end.
    pub(crate) fn read(disk: &dyn Disk, file_id: u64) -> Result<Self> {
        let path = file_path(file_id);
        let failed = |source| Error::io(format_args!("cannot read {path}"), source);
        let file = disk.open(&path).map_err(failed)?;
        let len = file.len().map_err(failed)?;
        let read = |offset: u64| {
            let mut bytes = vec![0; (len - offset) as usize];
            file.read_exact_at(&mut bytes, offset).map_err(failed)?;
            Ok::<_, Error>(Bytes::from(bytes))
        };
        let trailer = read(len.saturating_sub(Trailer::LEN as u64))?;
        let named =
            |error: Error| Error::new(error.kind(), format!("{path}: {error}")).with_source(error);
        let offset = Trailer::parse(&trailer, len).map_err(named)?.load_on_open().start;
        let end = read(offset)?;
        let meta_crc = crc32c::crc32c(&end);
        let opened = parse_meta(end, len).map_err(named)?;
        Self::of(&opened, file_id, meta_crc).map_err(named)
    }

    fn of(opened: &hfile::FileMeta, file_id: u64, meta_crc: u32) -> Result<Self> {
        let silent = || Error::corruption("it does not name its table");
        let stamp = opened.info().get(NAME).ok_or_else(silent)?;
        let stamp = Stamp::decode(stamp.clone()).map_err(|error| {
            Error::corruption("the description of its table cannot be decoded").with_source(error)
        })?;
        let proto = Message::decode(stamp.descriptor)
            .map_err(|error| Error::corruption("its table cannot be decoded").with_source(error))?;
        let (first, last) = opened.first_key().zip(opened.last_key()).ok_or_else(silent)?;
        let times = opened.time_range().unwrap_or(0..=i64::MAX);
        let trailer = opened.trailer();
        let meta = FileMeta {
            file_id,
            len: trailer.file_len,
            cells: opened.cells(),
            first_row: Bytes::copy_from_slice(first.row),
            last_row: Bytes::copy_from_slice(last.row),
            timestamp_min: *times.start(),
            timestamp_max: *times.end(),
            sequence_max: opened.sequence_max()?.unwrap_or(u64::MAX),
            meta_crc,
            meta_offset: trailer.load_on_open().start,
            ..FileMeta::default()
        };
        let family = Bytes::copy_from_slice(first.family);
        let table = table::from_proto(proto)?;
        let region_id = stamp.region_id;
        Ok(Self { table, region_id, family, meta })
    }
}
