//! Reads the log while it is written, for followers: no further than it is synced, and not beyond a
//! change of a table that is in progress.

use std::error::Error as _;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use rowhouse_model::{ChangePosition, Error, ErrorKind, Result};

use super::reader::{RecordRead, SegmentReader};
use super::record::{NO_SEQUENCE, Record, SealedRecord, TableRecord};
use super::segment::{self, HEADER_LEN};
use super::segments::RetainedSegment;
use super::writer::{Position, Wal};
use crate::disk::Disk;

/// A segment that can be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedSegment {
    pub(crate) number: u64,
    pub(crate) epoch: u64,
    /// The first sequence number that it can hold.
    pub(crate) first_sequence: u64,
    /// Bytes of the header and records; `None` for the segment that is written.
    len: Option<u64>,
}

/// Keeps followers before the end that the log had when it was made. A change of a table holds it
/// until the change is done: a copy that a follower then makes has the change.
#[must_use]
pub(crate) struct Hold<'w> {
    wal: &'w Wal,
    at: Position,
}

impl Wal {
    /// Keeps followers before the present end of the log.
    pub(crate) fn hold(&self) -> Hold<'_> {
        let at = self.tail.lock().position();
        self.holds.lock().push(at);
        Hold { wal: self, at }
    }

    /// Appends the record of a table that changes as a whole; otherwise as [`Wal::append`].
    pub(crate) fn append_table(
        &self,
        change: &TableRecord,
        reserve: impl FnOnce() -> u64,
    ) -> (u64, Result<Position>) {
        self.append(&mut SealedRecord::table(change), reserve)
    }

    /// Returns true if a change of a table is in progress.
    pub(crate) fn is_held(&self) -> bool {
        !self.holds.lock().is_empty()
    }

    /// Waits until no change of a table is in progress.
    pub(crate) fn wait_for_holds(&self) {
        let mut state = self.sync.lock();
        while self.is_held() {
            self.synced.wait(&mut state);
        }
    }

    /// Returns the position up to which followers may read.
    fn readable(&self) -> Position {
        let done = self.sync.lock().done;
        self.before_holds(done)
    }

    fn before_holds(&self, position: Position) -> Position {
        self.holds.lock().iter().copied().fold(position, Position::min)
    }

    /// Waits until followers may read beyond `position`, until `deadline` passes, or until the log
    /// can no longer be synced.
    pub(crate) fn wait_readable(&self, position: &ChangePosition, deadline: Instant) {
        let position = Position { segment: position.segment, offset: position.offset };
        let mut state = self.sync.lock();
        while self.before_holds(state.done) <= position && state.failed.is_none() {
            if self.synced.wait_until(&mut state, deadline).timed_out() {
                return;
            }
        }
    }

    /// Returns the position at the end of the records that followers may read.
    pub(crate) fn readable_end(&self) -> ChangePosition {
        loop {
            let Position { segment, offset } = self.readable();
            // It may have been released meanwhile.
            if let Some(listed) = self.find_segment(segment) {
                return place(&listed, offset);
            }
        }
    }

    /// Returns the position at the end of the log. It may not be synced.
    pub(crate) fn appended_end(&self) -> (ChangePosition, Position) {
        let tail = self.tail.lock();
        let position = tail.position();
        let epoch = tail.segment.epoch;
        let Position { segment, offset } = position;
        (ChangePosition { segment, offset, rows: 0, epoch, copied: None }, position)
    }

    /// Returns the segments that can be read, oldest first, ending with the one that is written.
    fn listed(&self) -> Vec<ListedSegment> {
        let tail = self.tail.lock();
        let retained = tail.retained.iter().map(|retained| &retained.segment);
        let closed = retained.chain(&tail.closed).map(|closed| ListedSegment {
            number: closed.number,
            epoch: closed.epoch,
            first_sequence: closed.first_sequence,
            len: Some(closed.bytes),
        });
        let written = ListedSegment {
            number: tail.segment.number,
            epoch: tail.segment.epoch,
            first_sequence: tail.first_sequence,
            len: None,
        };
        closed.chain([written]).collect()
    }

    fn find_segment(&self, number: u64) -> Option<ListedSegment> {
        self.listed().into_iter().find(|segment| segment.number == number)
    }

    /// Returns the first segment that can be read after segment `number`.
    pub(crate) fn segment_after(&self, number: u64) -> Option<ListedSegment> {
        self.listed().into_iter().find(|segment| segment.number > number)
    }

    /// Returns the bytes of the log from a position to the end that followers may read; `None` if
    /// the position's segment is gone.
    pub(crate) fn bytes_after(&self, position: &ChangePosition) -> Option<u64> {
        let readable = self.readable();
        let listed = self.listed();
        listed.iter().find(|segment| is_of(segment, position))?;
        let after = listed.iter().filter(|segment| segment.number >= position.segment);
        let bytes = after.map(|segment| end_in(segment, readable).unwrap_or(0)).sum::<u64>();
        Some(bytes.saturating_sub(position.offset))
    }

    /// Removes the retained segments before segment `needed_from`, the oldest ones while all exceed
    /// `bytes_max`, and those that were released before `since_millis_min`. Returns the number of
    /// the last one that it removed; `None` if there is none.
    pub(crate) fn trim_retained(
        &self,
        needed_from: Option<u64>,
        bytes_max: u64,
        since_millis_min: i64,
    ) -> Result<Option<u64>> {
        let removed: Vec<_> = {
            let mut tail = self.tail.lock();
            let retained = &mut tail.retained;
            let mut bytes: u64 = retained.iter().map(|it| it.segment.bytes).sum();
            let count = retained.iter().take_while(|it| {
                let is_needed = needed_from.is_some_and(|from| it.segment.number >= from);
                let is_gone = !is_needed || bytes > bytes_max || it.since_millis < since_millis_min;
                bytes -= it.segment.bytes;
                is_gone
            });
            let count = count.count();
            retained.drain(..count).collect()
        };
        for retained in &removed {
            self.segments.remove_retained(retained.segment.number)?;
        }
        Ok(removed.last().map(|last| last.segment.number))
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let mut holds = self.wal.holds.lock();
        if let Some(at) = holds.iter().position(|at| *at == self.at) {
            holds.swap_remove(at);
        }
        drop(holds);
        // A reader that has seen the hold is waiting once the lock is free.
        drop(self.wal.sync.lock());
        self.wal.synced.notify_all();
    }
}

fn place(segment: &ListedSegment, offset: u64) -> ChangePosition {
    let ListedSegment { number, epoch, .. } = *segment;
    ChangePosition { segment: number, offset, rows: 0, epoch, copied: None }
}

fn is_of(segment: &ListedSegment, position: &ChangePosition) -> bool {
    (segment.number, segment.epoch) == (position.segment, position.epoch)
}

/// Returns the offset in a segment up to which it may be read; `None` if it may not be read.
fn end_in(segment: &ListedSegment, readable: Position) -> Option<u64> {
    match segment.number.cmp(&readable.segment) {
        std::cmp::Ordering::Less => segment.len,
        std::cmp::Ordering::Equal => Some(readable.offset),
        std::cmp::Ordering::Greater => None,
    }
}

/// Returns the position at the beginning of a segment.
pub(crate) fn begin_of(segment: &ListedSegment) -> ChangePosition {
    place(segment, HEADER_LEN as u64)
}

/// A record for followers.
pub(crate) struct Logged {
    pub(crate) record: Record,
    /// Where it begins.
    pub(crate) at: ChangePosition,
}

/// Reads records in order, from a position on.
pub(crate) struct LogReader {
    position: ChangePosition,
    segment: Option<SegmentReader>,
    /// The offset up to which the segment may be read, as far as known.
    end: u64,
    /// Whether a record began at the position with which it was made.
    is_verified: bool,
}

impl LogReader {
    /// Begins at a position between records. Nothing is read yet.
    pub(crate) fn new(position: ChangePosition) -> Self {
        Self { position, segment: None, end: 0, is_verified: false }
    }

    /// Returns the position after the last record.
    pub(crate) fn position(&self) -> &ChangePosition {
        &self.position
    }

    /// Returns the next commit or table change; `None` if followers may read no further. Records
    /// with sequence numbers above `visible` are not returned yet.
    ///
    /// # Errors
    /// `PositionLost` if the segment is gone or never had a record at the position; `Corruption`,
    /// `Io`.
    pub(crate) fn next(
        &mut self,
        wal: &Wal,
        disk: &dyn Disk,
        visible: impl Fn() -> u64,
    ) -> Result<Option<Logged>> {
        loop {
            if self.position.offset >= self.end && !self.advance(wal, disk)? {
                return Ok(None);
            }
            let offset = self.position.offset;
            let reader = match &mut self.segment {
                Some(reader) => reader,
                None => self.segment.insert(open(disk, wal, &self.position)?),
            };
            reader.limit(self.end);
            let RecordRead::Record { record, len, sequence, .. } = reader.at(offset)? else {
                return Err(self.not_a_record(wal));
            };
            self.is_verified = true;
            if sequence != NO_SEQUENCE
                && !matches!(record, Record::Begin { .. })
                && sequence > visible()
            {
                return Ok(None);
            }
            let at = self.position.clone();
            self.position.offset += len;
            match record {
                Record::Begin { .. } | Record::Edited(_) => {}
                Record::Commit(_) | Record::Table(_) => {
                    return Ok(Some(Logged { record, at }));
                }
            }
        }
    }

    /// Finds out how far the log may be read now, and goes on to the next segment at the end of
    /// one. Returns true if there is something to read.
    ///
    /// # Errors
    /// `PositionLost` if the segment is gone, or one is missing after it.
    fn advance(&mut self, wal: &Wal, disk: &dyn Disk) -> Result<bool> {
        loop {
            let readable = wal.readable();
            let listed = wal.find_segment(self.position.segment);
            let listed = listed.filter(|segment| is_of(segment, &self.position));
            let Some(listed) = listed else {
                return Err(self.position.lost("the log no longer has the segment"));
            };
            let end = end_in(&listed, readable).unwrap_or(0);
            let is_left = listed.number < readable.segment;
            if self.position.offset < end {
                self.end = end;
                return Ok(true);
            }
            if is_left && self.position.offset > end {
                return Err(self.position.lost("the segment ends before it"));
            }
            if !is_left {
                return Ok(false);
            }
            let next = wal.segment_after(listed.number).expect("a later segment is written");
            check_continues(disk, wal, &next, listed.number, &self.position)?;
            *self = Self::new(begin_of(&next));
            self.is_verified = true;
        }
    }

    /// Returns the error for a place where a record was expected.
    fn not_a_record(&self, wal: &Wal) -> Error {
        let listed = wal.find_segment(self.position.segment);
        if !listed.is_some_and(|segment| is_of(&segment, &self.position)) {
            return self.position.lost("the log no longer has the segment");
        }
        match &self.segment {
            Some(reader) if self.is_verified => {
                reader.damaged(self.position.offset, "a record cannot be read back")
            }
            _ => self.position.lost("no record begins there"),
        }
    }
}

/// Checks that a segment continues segment `left`, which a reader has passed: all before
/// `position`.
///
/// # Errors
/// `PositionLost` if another segment was between them; as [`SegmentReader::begin`].
pub(crate) fn check_continues(
    disk: &dyn Disk,
    wal: &Wal,
    next: &ListedSegment,
    left: u64,
    position: &ChangePosition,
) -> Result<()> {
    let mut reader = open(disk, wal, &begin_of(next)).map_err(|error| match error.kind() {
        ErrorKind::PositionLost => position.lost("the log no longer has the next segment"),
        _ => error,
    })?;
    // The record is there since the segment is part of the log. What follows may be in writing.
    reader.limit(reader.len.min(BEGIN_END_MAX));
    let begin = reader.begin()?;
    let begin = begin.ok_or_else(|| reader.damaged(HEADER_LEN as u64, "it does not begin"))?;
    match begin.previous {
        // Begun at an open, when recovery needed no segment before it. Those that were retained
        // are listed, and an open forgets those before one whose file is missing.
        0 => Ok(()),
        previous if previous == left => Ok(()),
        previous => Err(position.lost(format_args!("log segment {previous} is missing"))),
    }
}

/// The offset up to which a segment's first record ends at most.
const BEGIN_END_MAX: u64 = 256;

/// Opens a segment under the name that it has now.
fn open(disk: &dyn Disk, wal: &Wal, position: &ChangePosition) -> Result<SegmentReader> {
    let number = position.segment;
    let mut failed = None;
    // It may be renamed between two attempts, once.
    for path in [segment::path(number), segment::retained_path(number), segment::path(number)] {
        match SegmentReader::open_at(disk, number, path) {
            Ok(reader) if reader.header.epoch == position.epoch => return Ok(reader),
            Ok(_) => return Err(position.lost("the log has another segment of the number")),
            Err(error) if is_not_found(&error) => {}
            Err(error) => failed = Some(error),
        }
    }
    match failed {
        Some(error) if wal.find_segment(number).is_some() => Err(error),
        Some(_) | None => Err(position.lost("the log no longer has the segment")),
    }
}

/// Returns true if an error says that there is no such file.
fn is_not_found(error: &Error) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    source.is_some_and(|source| source.kind() == io::ErrorKind::NotFound)
}

/// Removes the files of retained segments other than `needed`.
pub(crate) fn remove_unneeded(
    disk: &Arc<dyn Disk>,
    files: &[u64],
    needed: &[RetainedSegment],
) -> Result<()> {
    let is_needed = |number: u64| needed.iter().any(|it| it.segment.number == number);
    for &number in files.iter().filter(|number| !is_needed(**number)) {
        let path = segment::retained_path(number);
        disk.remove(&path)
            .map_err(|source| Error::io(format_args!("cannot remove {path}"), source))?;
    }
    Ok(())
}
