//! Reading the log back at open.

use std::sync::Arc;

use bytes::Bytes;
use rowhouse_model::{Error, Result};

use super::WAL_DIR;
use super::record::{self, Header, Record};
use super::segment::{self, HEADER_LEN, SegmentHeader};
use super::writer::ClosedSegment;
use crate::disk::{Disk, DiskFile};
use crate::open::move_aside;

/// How much of a segment is read at once.
const CHUNK_LEN: usize = 1 << 20;

/// What was found.
#[derive(Default)]
pub(crate) struct Recovered {
    pub(crate) segments: Vec<ClosedSegment>,
    /// The number of the segment to begin.
    pub(crate) next_number: u64,
    /// The highest sequence in the log; 0 when it is empty.
    pub(crate) last_sequence: u64,
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    /// Bytes of an interrupted write that were cut off the end.
    pub(crate) cut_bytes: u64,
}

/// Reads every record in order and hands it to `replay`. `boot_id` is the machine's now; records
/// below `log_from` are known to be in files, and whole segments of them are removed.
///
/// # Errors
/// Damage that neither a killed process nor a power cut explains, naming file and offset.
pub(crate) fn recover(
    disk: &dyn Disk,
    boot_id: [u8; 16],
    log_from: u64,
    mut replay: impl FnMut(Record) -> Result<()>,
) -> Result<Recovered> {
    let names = disk
        .list(WAL_DIR)
        .map_err(|source| Error::io(format_args!("cannot list {WAL_DIR}"), source))?;
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| segment::number(name)).collect();
    numbers.sort_unstable();
    let next_number = numbers.last().map_or(1, |last| last + 1);
    let mut recovered = Recovered { next_number, ..Recovered::default() };
    remove_forgotten(disk, &mut numbers, log_from)?;
    for (at, &number) in numbers.iter().enumerate() {
        let later = &numbers[at + 1..];
        let mut reader = Reader::open(disk, number)?;
        let end = match recover_segment(&mut reader, &mut recovered, &mut replay)? {
            Ending::Whole { synced } => match loss_behind(disk, &reader, later, synced)? {
                Some(end) => end,
                None => {
                    reader.keep(reader.len, &mut recovered);
                    continue;
                }
            },
            Ending::Wrong(end) => end,
        };
        // Something is wrong at `end.offset`. Who could have done that?
        let killed = end.interrupted && later.is_empty();
        let power_cut = reader.written_before_restart(boot_id)?
            && end.offset >= end.synced
            && !reader.is_synced_behind(end.offset)?
            && !any_synced(disk, later)?;
        if !killed && !power_cut {
            return Err(reader.damaged(end.offset, end.what));
        }
        reader.cut(end.offset, killed, &mut recovered)?;
        set_aside(disk, later)?;
        break;
    }
    let (kept, empty): (Vec<_>, Vec<_>) =
        recovered.segments.drain(..).partition(|segment| segment.bytes > HEADER_LEN as u64);
    recovered.segments = kept;
    for segment in empty {
        Reader::open(disk, segment.number)?.remove(disk)?;
    }
    Ok(recovered)
}

/// Where a segment stops being what was written.
struct End {
    offset: u64,
    /// The highest offset that a record before it knew to be on the disk.
    synced: u64,
    /// The file ends inside a record or header.
    interrupted: bool,
    what: &'static str,
}

/// How a segment ends.
enum Ending {
    /// Every record is there; one of them knew so much of the segment to be synced.
    Whole {
        synced: u64,
    },
    Wrong(End),
}

/// Replays a segment, as far as it is what was written.
fn recover_segment(
    segment: &mut Reader,
    recovered: &mut Recovered,
    replay: &mut impl FnMut(Record) -> Result<()>,
) -> Result<Ending> {
    let mut end = End { offset: 0, synced: 0, interrupted: true, what: "ends inside its header" };
    if segment.len < HEADER_LEN as u64 {
        return Ok(Ending::Wrong(end));
    }
    match segment.read_header()? {
        // Numbers below it were used, even when the segments that held them are gone.
        Ok(header) => {
            let before = header.first_sequence.saturating_sub(1);
            recovered.last_sequence = recovered.last_sequence.max(before);
        }
        Err(what) => return Ok(Ending::Wrong(End { interrupted: false, what, ..end })),
    }
    end.offset = HEADER_LEN as u64;
    while end.offset < segment.len {
        match segment.record(end.offset)? {
            Found::Record(record, len, synced) => {
                if record.sequence <= recovered.last_sequence {
                    return Err(segment.damaged(end.offset, "sequence does not rise"));
                }
                recovered.last_sequence = record.sequence;
                recovered.records += 1;
                end.offset += len;
                end.synced = end.synced.max(synced);
                replay(record)?;
            }
            Found::Interrupted => {
                return Ok(Ending::Wrong(End { what: "ends inside a record", ..end }));
            }
            Found::Damaged(what) => {
                return Ok(Ending::Wrong(End { interrupted: false, what, ..end }));
            }
        }
    }
    Ok(Ending::Whole { synced: end.synced })
}

/// What is missing behind a segment that is whole as far as it goes: its successor knows how long
/// it was. A successor that cannot be read speaks for itself.
fn loss_behind(
    disk: &dyn Disk,
    segment: &Reader,
    later: &[u64],
    synced: u64,
) -> Result<Option<End>> {
    let Some(&next) = later.first() else { return Ok(None) };
    let lost = header_of(disk, next)?.is_some_and(|header| header.previous_len != segment.len);
    Ok(lost.then_some(End {
        offset: segment.len,
        synced,
        interrupted: true,
        what: "ends before its last record",
    }))
}

/// Removes the segments before one that begins at or below `log_from`: everything in them is in
/// files. After a power cut they can be here again, empty.
fn remove_forgotten(disk: &dyn Disk, numbers: &mut Vec<u64>, log_from: u64) -> Result<()> {
    let mut begin = 0;
    for (at, &number) in numbers.iter().enumerate() {
        if header_of(disk, number)?.is_some_and(|header| header.first_sequence <= log_from) {
            begin = at;
        }
    }
    for number in numbers.drain(..begin) {
        Reader::open(disk, number)?.remove(disk)?;
    }
    Ok(())
}

/// The header of a segment; `None` when it cannot be read.
fn header_of(disk: &dyn Disk, number: u64) -> Result<Option<SegmentHeader>> {
    let mut segment = Reader::open(disk, number)?;
    if segment.len < HEADER_LEN as u64 {
        return Ok(None);
    }
    Ok(segment.read_header()?.ok())
}

/// Whether any record of these segments knew some of its own segment to be on the disk. Segments
/// are synced in order, so everything before it was then too.
fn any_synced(disk: &dyn Disk, numbers: &[u64]) -> Result<bool> {
    for &number in numbers {
        let mut segment = Reader::open(disk, number)?;
        let mut offset = HEADER_LEN as u64;
        if segment.len < offset || segment.read_header()?.is_err() {
            continue;
        }
        while let Found::Record(_, len, synced) = segment.record(offset)? {
            if synced > 0 {
                return Ok(true);
            }
            offset += len;
        }
    }
    Ok(false)
}

/// Moves segments away that a power cut has left behind a gap: nothing in them was acknowledged as
/// being on the disk.
fn set_aside(disk: &dyn Disk, numbers: &[u64]) -> Result<()> {
    for &number in numbers {
        let path = segment::path(number);
        tracing::warn!(segment = path, "a log segment behind the power cut was set aside");
        move_aside(disk, &path)?;
    }
    Ok(())
}

enum Found {
    /// A record, its length, and the offset it knew to be synced.
    Record(Record, u64, u64),
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
    /// Of the header, once it was read.
    boot_id: Option<[u8; 16]>,
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
        let chunk = Bytes::new();
        Ok(Self { path, number, file, len, boot_id: None, chunk, chunk_at: 0 })
    }

    /// Reads and checks the header; what is wrong with it otherwise.
    fn read_header(&mut self) -> Result<Result<SegmentHeader, &'static str>> {
        let bytes = self.read(0, HEADER_LEN)?;
        let bytes = bytes.first_chunk().expect("as many bytes were read");
        let Some(header) = SegmentHeader::decode(&self.path, bytes)? else {
            return Ok(Err("its header is damaged"));
        };
        if header.number != self.number {
            return Ok(Err("it carries another segment's number"));
        }
        self.boot_id = Some(header.boot_id);
        Ok(Ok(header))
    }

    /// Whether the machine has been restarted since. Not when either boot is unknown; a header
    /// that never reached the disk was written before a power cut.
    fn written_before_restart(&mut self, boot_id: [u8; 16]) -> Result<bool> {
        let unknown = [0; 16];
        Ok(boot_id != unknown
            && match self.boot_id {
                Some(then) => then != boot_id && then != unknown,
                None if self.len < HEADER_LEN as u64 => true,
                None => self.read(0, HEADER_LEN)?.iter().all(|&byte| byte == 0),
            })
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
        Ok(Found::Record(Record::decode(header.sequence, body)?, len, header.synced))
    }

    /// Whether any record behind `offset` knew the bytes at `offset` to be on the disk. Looks at
    /// every byte, since where the records behind a damaged one begin is not known.
    fn is_synced_behind(&mut self, offset: u64) -> Result<bool> {
        let last = self.len.saturating_sub(record::HEADER_LEN as u64);
        for at in offset + 1..=last {
            let header = self.read(at, record::HEADER_LEN)?;
            let header = header.first_chunk().expect("as many bytes were read");
            if Header::parse(self.number, header).is_some_and(|header| header.synced > offset) {
                return Ok(true);
            }
        }
        Ok(false)
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

    /// Counts a segment that was read up to `offset`.
    fn keep(&self, offset: u64, recovered: &mut Recovered) {
        recovered.bytes += offset;
        let (number, last_sequence) = (self.number, recovered.last_sequence);
        recovered.segments.push(ClosedSegment { number, last_sequence, bytes: offset });
    }

    /// Cuts off what was not written to its end, so that the next recovery does not meet it.
    fn cut(&self, offset: u64, killed: bool, recovered: &mut Recovered) -> Result<()> {
        let bytes = self.len - offset;
        let by = if killed { "an interrupted process" } else { "a power cut" };
        tracing::warn!(segment = self.path, offset, bytes, "the log's end was cut: {by}");
        recovered.cut_bytes += bytes;
        let offset = if offset < HEADER_LEN as u64 { 0 } else { offset };
        let cut = || {
            self.file.truncate(offset)?;
            self.file.sync()
        };
        cut().map_err(|source| Error::io(format_args!("cannot cut {}", self.path), source))?;
        self.keep(offset, recovered);
        Ok(())
    }

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
