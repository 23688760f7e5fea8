//! Appending commits, syncing them together, dropping segments that are no longer needed.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use rowhouse_model::{Error, ErrorKind, Result};

use super::record::{BODY_LEN_MAX, SealedRecord};
use super::segment::{HEADER_LEN, SegmentHeader, path};
use super::{RecordBody, WAL_DIR};
use crate::disk::{Disk, DiskFile};

/// The open log.
pub(crate) struct Wal {
    disk: Arc<dyn Disk>,
    boot_id: [u8; 16],
    segment_bytes: u64,
    tail: Mutex<Tail>,
    sync: Mutex<SyncState>,
    synced: Condvar,
}

/// A place in the log: everything up to it, syncing covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    segment: u64,
    offset: u64,
}

/// Where records are appended.
struct Tail {
    file: Arc<dyn DiskFile>,
    number: u64,
    offset: u64,
    /// Earlier segments, oldest first, each with its highest sequence and its length.
    closed: Vec<ClosedSegment>,
    /// Closed segments that may not be synced, by number.
    unsynced: Vec<(u64, Arc<dyn DiskFile>)>,
    last_sequence: u64,
    /// Why nothing can be appended any more.
    failed: Option<String>,
}

/// A segment that is no longer written.
pub(crate) struct ClosedSegment {
    pub(crate) number: u64,
    pub(crate) last_sequence: u64,
    pub(crate) bytes: u64,
}

#[derive(Default)]
struct SyncState {
    /// Everything up to here is on the disk.
    done: Position,
    /// Somebody is syncing.
    running: bool,
    failed: Option<String>,
}

impl Wal {
    /// Begins segment `number` behind the `closed` ones.
    pub(crate) fn start(
        disk: Arc<dyn Disk>,
        boot_id: [u8; 16],
        segment_bytes: u64,
        number: u64,
        last_sequence: u64,
        closed: Vec<ClosedSegment>,
    ) -> Result<Self> {
        let header = SegmentHeader {
            number,
            first_sequence: last_sequence + 1,
            previous_len: closed.last().map_or(0, |segment| segment.bytes),
            boot_id,
        };
        let file = create_segment(&*disk, &header)?;
        // Whoever wrote them may have been killed before they were synced.
        let unsynced = closed.iter().map(|segment| {
            let path = path(segment.number);
            let file = disk
                .open(&path)
                .map_err(|source| Error::io(format_args!("cannot open {path}"), source))?;
            Ok((segment.number, file))
        });
        let unsynced = unsynced.collect::<Result<Vec<_>>>()?;
        let tail = Tail {
            file,
            number,
            offset: HEADER_LEN as u64,
            closed,
            unsynced,
            last_sequence,
            failed: None,
        };
        Ok(Self {
            disk,
            boot_id,
            segment_bytes,
            tail: Mutex::new(tail),
            sync: Mutex::default(),
            synced: Condvar::new(),
        })
    }

    /// Appends a commit under the sequence that `reserve` gives, which it calls exactly once, in
    /// the order of the log. Whatever it returns, the sequence has been taken and must be
    /// published.
    ///
    /// # Errors
    /// `ReadOnly` once an append or a sync has failed: what the disk holds is then not known.
    pub(crate) fn append(
        &self,
        body: RecordBody,
        reserve: impl FnOnce() -> u64,
    ) -> (u64, Result<Position>) {
        let too_long = body.len() > BODY_LEN_MAX;
        let mut record = body.seal();
        let synced = self.sync.lock().done;
        let mut tail = self.tail.lock();
        let sequence = reserve();
        if too_long {
            let len = record.len();
            let error = Error::invalid(format!("mutation too long: len={len}, max={BODY_LEN_MAX}"));
            return (sequence, Err(error));
        }
        if let Some(why) = &tail.failed {
            return (sequence, Err(read_only(why)));
        }
        let result = self.append_record(&mut tail, &mut record, sequence, synced);
        if let Err(error) = &result {
            tracing::error!(%error, "the log cannot be written; the store is read-only from here");
            tail.failed = Some(error.to_string());
        }
        (sequence, result)
    }

    fn append_record(
        &self,
        tail: &mut Tail,
        record: &mut SealedRecord,
        sequence: u64,
        synced: Position,
    ) -> Result<Position> {
        let full = tail.offset + record.len() as u64 > self.segment_bytes;
        if full && tail.offset > HEADER_LEN as u64 {
            self.roll(tail, sequence)?;
        }
        let synced = if synced.segment == tail.number { synced.offset } else { 0 };
        let bytes = record.finish(tail.number, sequence, synced);
        tail.file.write_all_at(bytes, tail.offset).map_err(|source| {
            Error::io(format_args!("cannot append to {}", path(tail.number)), source)
        })?;
        tail.offset += bytes.len() as u64;
        tail.last_sequence = sequence;
        Ok(Position { segment: tail.number, offset: tail.offset })
    }

    /// Leaves the current segment for a new one.
    fn roll(&self, tail: &mut Tail, first_sequence: u64) -> Result<()> {
        let header = SegmentHeader {
            number: tail.number + 1,
            first_sequence,
            previous_len: tail.offset,
            boot_id: self.boot_id,
        };
        let file = create_segment(&*self.disk, &header)?;
        let left = std::mem::replace(&mut tail.file, file);
        tail.unsynced.push((tail.number, left));
        tail.closed.push(ClosedSegment {
            number: tail.number,
            last_sequence: tail.last_sequence,
            bytes: tail.offset,
        });
        tail.number += 1;
        tail.offset = HEADER_LEN as u64;
        Ok(())
    }

    /// Returns when everything up to `position` is on the disk. Whoever comes first syncs for all
    /// that have appended by then; the others wait for it.
    ///
    /// # Errors
    /// `OutcomeUnknown` when the sync failed. A failed sync is never tried again: the kernel may
    /// have thrown the pages away, and a second sync would report success for lost data.
    pub(crate) fn sync_to(&self, position: Position) -> Result<()> {
        let mut state = self.sync.lock();
        loop {
            if let Some(why) = &state.failed {
                return Err(Error::new(
                    ErrorKind::OutcomeUnknown,
                    format!("the log could not be synced, the write may be lost: {why}"),
                ));
            }
            if state.done >= position {
                return Ok(());
            }
            if !state.running {
                break;
            }
            self.synced.wait(&mut state);
        }
        state.running = true;
        drop(state);
        let result = self.sync_all();
        let mut state = self.sync.lock();
        state.running = false;
        match result {
            Ok(done) => state.done = done,
            Err(error) => {
                tracing::error!(%error, "the log cannot be synced; the store is read-only now");
                state.failed = Some(error.to_string());
                self.tail.lock().failed = Some(error.to_string());
            }
        }
        drop(state);
        self.synced.notify_all();
        self.sync_to(position)
    }

    fn sync_all(&self) -> Result<Position> {
        let (files, position) = {
            let mut tail = self.tail.lock();
            let mut files = std::mem::take(&mut tail.unsynced);
            files.push((tail.number, Arc::clone(&tail.file)));
            (files, Position { segment: tail.number, offset: tail.offset })
        };
        for (_, file) in files {
            file.sync().map_err(|source| Error::io("cannot sync the log", source))?;
        }
        Ok(position)
    }

    /// Syncs everything appended so far.
    pub(crate) fn sync(&self) -> Result<()> {
        let position = {
            let tail = self.tail.lock();
            Position { segment: tail.number, offset: tail.offset }
        };
        self.sync_to(position)
    }

    /// Refuses every append from here on.
    pub(crate) fn close(&self, why: &str) {
        self.tail.lock().failed.get_or_insert_with(|| why.to_owned());
    }

    /// Whether a closed segment holds nothing at or above `sequence`.
    pub(crate) fn can_forget_below(&self, sequence: u64) -> bool {
        let tail = self.tail.lock();
        tail.closed.first().is_some_and(|oldest| oldest.last_sequence < sequence)
    }

    /// Removes the closed segments that hold nothing at or above `sequence`: all of it is in
    /// files, and the manifest says so.
    pub(crate) fn forget_below(&self, sequence: u64) -> Result<()> {
        let forgotten: Vec<_> = {
            let mut tail = self.tail.lock();
            let count = tail.closed.iter().take_while(|s| s.last_sequence < sequence).count();
            let forgotten: Vec<_> = tail.closed.drain(..count).collect();
            // What is in files need not be synced here, and an open file would keep its space.
            tail.unsynced.retain(|(number, _)| forgotten.iter().all(|s| s.number != *number));
            forgotten
        };
        for segment in &forgotten {
            let path = path(segment.number);
            self.disk
                .remove(&path)
                .map_err(|source| Error::io(format_args!("cannot remove {path}"), source))?;
            tracing::debug!(segment = path, "log segment removed");
        }
        Ok(())
    }

    /// When all segments together hold more than `bytes_max`: the sequence up to which memstores
    /// must be flushed for the oldest segment to go.
    pub(crate) fn pressure(&self, bytes_max: u64) -> Option<u64> {
        let tail = self.tail.lock();
        let bytes = tail.offset + tail.closed.iter().map(|segment| segment.bytes).sum::<u64>();
        (bytes > bytes_max).then(|| tail.closed.first().map(|oldest| oldest.last_sequence))?
    }
}

fn create_segment(disk: &dyn Disk, header: &SegmentHeader) -> Result<Arc<dyn DiskFile>> {
    let path = path(header.number);
    let make = || {
        let file = disk.create(&path)?;
        file.write_all_at(&header.encode(), 0)?;
        disk.sync_dir(WAL_DIR)?;
        Ok(file)
    };
    make().map_err(|source| Error::io(format_args!("cannot begin {path}"), source))
}

fn read_only(why: &str) -> Error {
    Error::new(ErrorKind::ReadOnly, format!("the store takes no writes: {why}"))
}
