//! Reads a segment in chunks.

use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;
use rowhouse_model::{Error, Result};

use super::record::{ALIGN, HEADER_LEN, Header, NO_SEQUENCE, Record, mark};
use super::segment::{self, HEADER_LEN as SEGMENT_HEADER_LEN, SegmentHeader};
use crate::disk::{Disk, DiskFile};
use crate::manifest::{LogSynced, ManifestAge};

/// Bytes of a segment read at once.
const CHUNK_LEN: usize = 1 << 20;

/// A segment whose header is valid.
pub(super) struct SegmentReader {
    pub(super) path: String,
    pub(super) header: SegmentHeader,
    /// Bytes of the file, which can include bytes of an earlier use after the segment's.
    pub(super) len: u64,
    file: Arc<dyn DiskFile>,
    chunk: Bytes,
    chunk_at: u64,
}

/// The result of reading one position of a segment.
pub(super) enum RecordRead {
    Record {
        record: Record,
        /// The distance to the next record, in bytes.
        len: u64,
        sequence: u64,
        synced: u64,
    },
    /// The end mark.
    End,
    /// Neither a record nor the end mark, with the reason.
    Nothing(&'static str),
}

/// A segment's first record.
#[derive(Clone, Copy)]
pub(super) struct Begin {
    /// The segment that it continues; 0 if none.
    pub(super) previous: u64,
    /// That segment's length; see [`Begin::len_of`].
    previous_len: u64,
    pub(super) first_sequence: u64,
    /// The manifest's age; `None` in segments from the version that did not record it.
    pub(super) age: Option<ManifestAge>,
}

impl Begin {
    /// Returns segment `number`'s length if it is the one before this segment. The file can hold a
    /// commit after that length that was written but refused, because the disk reported a failure.
    pub(super) fn len_of(&self, number: u64) -> Option<u64> {
        (self.previous == number).then_some(self.previous_len)
    }
}

/// The findings after the position where a segment ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordsAfter {
    /// Whether there is a record or an end mark.
    pub(super) anything: bool,
    /// The largest synced offset that any record states.
    pub(super) synced: u64,
    /// The lowest sequence number that any record has.
    pub(super) sequence_min: u64,
}

impl SegmentReader {
    /// Opens a segment and checks the header. The header was on disk before the segment had its
    /// name, so no crash can have damaged it.
    ///
    /// # Errors
    /// `Io`, `Corruption`, `Unsupported` for a segment with another version.
    pub(super) fn open(disk: &dyn Disk, number: u64) -> Result<Self> {
        Self::open_at(disk, number, segment::path(number))
    }

    /// As [`SegmentReader::open`], for a segment with another name.
    pub(super) fn open_at(disk: &dyn Disk, number: u64, path: String) -> Result<Self> {
        let open = || {
            let file = disk.open(&path)?;
            let len = file.len()?;
            Ok((file, len))
        };
        let (file, len) =
            open().map_err(|source| Error::io(format_args!("cannot open {path}"), source))?;
        let header = SegmentHeader { number, epoch: 0, boot_id: [0; 16] };
        let mut reader = Self { path, header, len, file, chunk: Bytes::new(), chunk_at: 0 };
        if len < SEGMENT_HEADER_LEN as u64 {
            return Err(reader.damaged(0, "it is shorter than its header"));
        }
        let bytes = reader.read(0, SEGMENT_HEADER_LEN)?;
        let bytes = bytes.first_chunk().expect("as many bytes were read");
        reader.header = SegmentHeader::decode(&reader.path, bytes)?
            .ok_or_else(|| reader.damaged(0, "its header fails its checksum"))?;
        if reader.header.number != number {
            return Err(reader.damaged(0, "it carries another segment's number"));
        }
        Ok(reader)
    }

    /// Limits the segment to `len` bytes, as long as it is written: what the file has after them
    /// may change.
    pub(super) fn limit(&mut self, len: u64) {
        self.len = len;
        self.chunk.truncate(len.saturating_sub(self.chunk_at) as usize);
    }

    /// Reads the segment's first record; `None` when it is not there.
    ///
    /// # Errors
    /// As [`SegmentReader::at`]; `Corruption` for another record kind and for impossible contents.
    pub(super) fn begin(&mut self) -> Result<Option<Begin>> {
        let offset = SEGMENT_HEADER_LEN as u64;
        match self.at(offset)? {
            RecordRead::Record {
                record: Record::Begin { previous, previous_len, age },
                sequence: first_sequence,
                ..
            } => {
                let is_possible = previous == 0 || previous_len >= offset;
                if first_sequence == 0 || !is_possible {
                    return Err(self.damaged(offset, "its first record is invalid"));
                }
                Ok(Some(Begin { previous, previous_len, first_sequence, age }))
            }
            RecordRead::Record { .. } => {
                Err(self.damaged(offset, "its first record is not that of a segment"))
            }
            RecordRead::End | RecordRead::Nothing(_) => Ok(None),
        }
    }

    /// Reads the record or end mark at `offset`.
    ///
    /// # Errors
    /// `Io`; `Corruption` and `Unsupported` for a record that has valid checksums and cannot be
    /// decoded.
    pub(super) fn at(&mut self, offset: u64) -> Result<RecordRead> {
        let left = self.len.saturating_sub(offset);
        if left < HEADER_LEN as u64 {
            return Ok(RecordRead::Nothing("it ends inside a record's header"));
        }
        let header = self.read(offset, HEADER_LEN)?;
        let header = header.first_chunk().expect("as many bytes were read");
        let Some(header) = Header::parse(self.header.epoch, offset, header) else {
            return Ok(RecordRead::Nothing("a record's header fails its checksum"));
        };
        if header.is_end() {
            return Ok(RecordRead::End);
        }
        let len = (HEADER_LEN + header.padded_len()) as u64;
        if left < len {
            return Ok(RecordRead::Nothing("it ends inside a record"));
        }
        let padded = self.read(offset + HEADER_LEN as u64, header.padded_len())?;
        if !header.matches_body(&padded) {
            return Ok(RecordRead::Nothing("a record fails its checksum"));
        }
        let record = Record::decode(header.sequence, padded.slice(..header.body_len as usize))
            .map_err(|error| {
                let at = format!("{}: offset={offset}: {}", self.path, error.message());
                Error::new(error.kind(), at).with_source(error)
            })?;
        let sequence = header.sequence;
        let synced = header.synced;
        Ok(RecordRead::Record { record, len, sequence, synced })
    }

    /// Reads the headers of the segment's records up to the first invalid one. Returns that
    /// record's offset, and the highest manifest age that the records state.
    pub(super) fn walk(&mut self) -> Result<(u64, Option<ManifestAge>)> {
        let mut offset = SEGMENT_HEADER_LEN as u64;
        let mut age = None;
        while self.len.saturating_sub(offset) >= HEADER_LEN as u64 {
            let bytes = self.read(offset, HEADER_LEN)?;
            let header = bytes.first_chunk().expect("as many bytes were read");
            let header = Header::parse(self.header.epoch, offset, header);
            let Some(header) = header.filter(|header| !header.is_end()) else { break };
            let len = (HEADER_LEN + header.padded_len()) as u64;
            if self.len - offset < len {
                break;
            }
            if header.sequence == NO_SEQUENCE
                && let Ok(RecordRead::Record { record: Record::Edited(noted), .. }) =
                    self.at(offset)
            {
                age = age.max(Some(noted));
            }
            offset += len;
        }
        Ok((offset, age))
    }

    /// Searches every position after `offset` where a record of this segment could begin.
    pub(super) fn records_after(&mut self, offset: u64) -> Result<RecordsAfter> {
        let mut after = RecordsAfter { anything: false, synced: 0, sequence_min: u64::MAX };
        self.each_header(offset, |_, header| {
            after.anything = true;
            after.synced = after.synced.max(header.synced);
            after.sequence_min = after.sequence_min.min(header.sequence);
            ControlFlow::Continue(())
        })?;
        Ok(after)
    }

    /// Returns the offset of the next record after `offset`, if there is one.
    pub(super) fn next_record(&mut self, offset: u64) -> Result<Option<u64>> {
        let mut next = None;
        self.each_header(offset, |at, header| {
            if header.is_end() {
                return ControlFlow::Continue(());
            }
            next = Some(at);
            ControlFlow::Break(())
        })?;
        Ok(next)
    }

    fn each_header(
        &mut self,
        offset: u64,
        mut visit: impl FnMut(u64, &Header) -> ControlFlow<()>,
    ) -> Result<()> {
        let mark = mark(self.header.epoch);
        let mut at = (offset + 1).next_multiple_of(ALIGN as u64);
        while at + HEADER_LEN as u64 <= self.len {
            let chunk_len = (self.len - at).min(CHUNK_LEN as u64) as usize;
            let chunk = self.read(at, chunk_len)?;
            let places = (chunk_len - HEADER_LEN) / ALIGN + 1;
            // Almost no position holds a record, and every store open searches all positions here.
            let (words, _) = chunk.as_chunks::<ALIGN>();
            let marked = words[..places].iter().enumerate().filter(|(_, word)| word[..4] == mark);
            for place in marked.map(|(number, _)| number * ALIGN) {
                let header = chunk[place..].first_chunk().expect("places leave room for one");
                let place = at + place as u64;
                if let Some(header) = Header::parse(self.header.epoch, place, header)
                    && visit(place, &header).is_break()
                {
                    return Ok(());
                }
            }
            at += (places * ALIGN) as u64;
        }
        Ok(())
    }

    /// Reads `len` bytes at `offset`, which must be within the file.
    pub(super) fn read(&mut self, offset: u64, len: usize) -> Result<Bytes> {
        let chunk_end = self.chunk_at + self.chunk.len() as u64;
        if offset < self.chunk_at || offset + len as u64 > chunk_end {
            let chunk_len = len.max(CHUNK_LEN).min((self.len - offset) as usize);
            let mut chunk = vec![0; chunk_len];
            self.file.read_exact_at(&mut chunk, offset).map_err(|source| {
                Error::io(format_args!("cannot read {}: offset={offset}", self.path), source)
            })?;
            self.chunk = chunk.into();
            self.chunk_at = offset;
        }
        let at = (offset - self.chunk_at) as usize;
        Ok(self.chunk.slice(at..at + len))
    }

    /// Returns the position at `offset`, the end of the record with this sequence number.
    pub(super) fn position(&self, offset: u64, last_sequence: u64) -> LogSynced {
        let SegmentHeader { number, epoch, .. } = self.header;
        LogSynced { segment: number, epoch, len: offset, last_sequence, noted: false }
    }

    pub(super) fn damaged(&self, offset: u64, what: &str) -> Error {
        Error::corruption(format!(
            "log segment {} is damaged at offset {offset}: {what}; nothing was changed",
            self.path
        ))
    }
}
