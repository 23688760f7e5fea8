//! Reading the log back at open.

use std::sync::Arc;

use bytes::Bytes;
use rowhouse_model::{Error, Result};

use super::record::{self, Header, Record};
use super::segment::{self, HEADER_LEN, SegmentHeader};
use super::writer::ClosedSegment;
use super::WAL_DIR;
use crate::disk::{Disk, DiskFile};

/// How much of a segment is read at once.
const CHUNK_LEN: usize = 1 << 20;

/// What was found.
#[derive(Default)]
pub(crate) struct Recovered {
    pub(crate) segments: Vec<ClosedSegment>,
    /// The highest sequence in the log; 0 when it is empty.
    pub(crate) last_sequence: u64,
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    /// Bytes of an interrupted write that were cut off the end.
    pub(crate) cut_bytes: u64,
}

/// Reads every record in order and hands it to `replay`.
///
/// # Errors
/// Damage that is not an interrupted write at the very end, naming file and offset.
pub(crate) fn recover(
    disk: &dyn Disk,
    mut replay: impl FnMut(Record) -> Result<()>,
) -> Result<Recovered> {
    let names = disk
        .list(WAL_DIR)
        .map_err(|source| Error::io(format_args!("cannot list {WAL_DIR}"), source))?;
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| segment::number(name)).collect();
    numbers.sort_unstable();
    let mut recovered = Recovered::default();
    for (at, &number) in numbers.iter().enumerate() {
        let last = at + 1 == numbers.len();
        recover_segment(disk, number, last, &mut recovered, &mut replay)?;
    }
    Ok(recovered)
}

fn recover_segment(
    disk: &dyn Disk,
    number: u64,
    last: bool,
    recovered: &mut Recovered,
    replay: &mut impl FnMut(Record) -> Result<()>,
) -> Result<()> {
    let mut segment = Reader::open(disk, number)?;
    if segment.len < HEADER_LEN as u64 {
        // The process was killed between making the file and writing its header.
        if !last {
            return Err(segment.damaged(0, "ends inside its header"));
        }
        return segment.remove(disk);
    }
    let header = segment.read(0, HEADER_LEN)?;
    let header = header.first_chunk().expect("as many bytes were read");
    let header = SegmentHeader::decode(&segment.path, header)?;
    if header.number != number {
        return Err(segment.damaged(0, "carries another segment's number"));
    }
    let mut offset = HEADER_LEN as u64;
    while offset < segment.len {
        match segment.record(offset)? {
            Found::Record(record, len) => {
                if record.sequence <= recovered.last_sequence {
                    return Err(segment.damaged(offset, "sequence does not rise"));
                }
                recovered.last_sequence = record.sequence;
                recovered.records += 1;
                offset += len;
                replay(record)?;
            }
            Found::Interrupted if last => {
                segment.cut(offset, recovered)?;
                break;
            }
            Found::Interrupted => return Err(segment.damaged(offset, "ends inside a record")),
            Found::Damaged(what) => return Err(segment.damaged(offset, what)),
        }
    }
    if offset == HEADER_LEN as u64 {
        return segment.remove(disk);
    }
    recovered.bytes += offset;
    let last_sequence = recovered.last_sequence;
    recovered.segments.push(ClosedSegment { number, last_sequence, bytes: offset });
    Ok(())
}

enum Found {
    Record(Record, u64),
    /// The file ends before the record does.
    Interrupted,
    Damaged(&'static str),
}

/// A segment being read, a chunk at a time.
struct Reader {
    path: String,
    number: u64,
    file: Arc<dyn DiskFile>,
    len: u64,
    chunk: Bytes,
    chunk_at: u64,
}

impl Reader {
    fn open(disk: &dyn Disk, number: u64) -> Result<Self> {
        let path = segment::path(number);
        let open = || {
            let file = disk.open(&path)?;
            let len = file.len()?;
            Ok((file, len))
        };
        let (file, len) =
            open().map_err(|source| Error::io(format_args!("cannot open {path}"), source))?;
        Ok(Self { path, number, file, len, chunk: Bytes::new(), chunk_at: 0 })
    }

    fn record(&mut self, offset: u64) -> Result<Found> {
        let left = self.len - offset;
        if left < record::HEADER_LEN as u64 {
            return Ok(Found::Interrupted);
        }
        let header = self.read(offset, record::HEADER_LEN)?;
        let header = header.first_chunk().expect("as many bytes were read");
        let Some(header) = Header::parse(self.number, header) else {
            return Ok(Found::Damaged("record header fails its checksum"));
        };
        let len = (record::HEADER_LEN + header.body_len) as u64;
        if left < len {
            return Ok(Found::Interrupted);
        }
        let body = self.read(offset + record::HEADER_LEN as u64, header.body_len)?;
        if !header.vouches_for(&body) {
            return Ok(Found::Damaged("record fails its checksum"));
        }
        Ok(Found::Record(Record::decode(header.sequence, body)?, len))
    }

    /// `len` bytes at `offset`, which are there.
    fn read(&mut self, offset: u64, len: usize) -> Result<Bytes> {
        let chunk_end = self.chunk_at + self.chunk.len() as u64;
        if offset < self.chunk_at || offset + len as u64 > chunk_end {
            let chunk_len = len.max(CHUNK_LEN).min((self.len - offset) as usize);
            let mut chunk = vec![0; chunk_len];
            self.file.read_exact_at(&mut chunk, offset).map_err(|source| {
                Error::io(format_args!("cannot read {} at {offset}", self.path), source)
            })?;
            self.chunk = chunk.into();
            self.chunk_at = offset;
        }
        let at = (offset - self.chunk_at) as usize;
        Ok(self.chunk.slice(at..at + len))
    }

    /// Cuts an interrupted write off the end, so that the next recovery does not meet it inside
    /// the log.
    fn cut(&self, offset: u64, recovered: &mut Recovered) -> Result<()> {
        let cut = self.len - offset;
        tracing::warn!(
            segment = self.path,
            offset,
            bytes = cut,
            "an interrupted write at the end of the log was cut"
        );
        recovered.cut_bytes += cut;
        let cut = || {
            self.file.truncate(offset)?;
            self.file.sync()
        };
        cut().map_err(|source| Error::io(format_args!("cannot cut {}", self.path), source))
    }

    /// Removes a segment that holds no record: its number is not used again.
    fn remove(&self, disk: &dyn Disk) -> Result<()> {
        disk.remove(&self.path)
            .map_err(|source| Error::io(format_args!("cannot remove {}", self.path), source))
    }

    fn damaged(&self, offset: u64, what: &str) -> Error {
        Error::corruption(format!(
            "log segment {} is damaged at offset {offset}: {what}; nothing was changed",
            self.path
        ))
    }
}
