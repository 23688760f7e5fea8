//! Appends commits to the log and groups their syncs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Condvar, Mutex};
use rowhouse_model::{Error, ErrorKind, Result};

use super::record::{HEADER_LEN as RECORD_HEADER_LEN, NO_SEQUENCE, SealedRecord, end_mark};
use super::segment::{self, HEADER_LEN, LogEnd};
use super::segments::{ClosedSegment, NewSegment, RetainedSegment, Segments};
use super::synced::{self, SyncedFile};
use crate::disk::DiskFile;
use crate::manifest::{LogSynced, ManifestAge};

/// Length limits of the log, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Bytes of a segment before the log rolls to the next one.
    pub(crate) segment_bytes: u64,
    /// Bytes of a record body. A longer commit is refused before it is written.
    pub(crate) body_len_max: usize,
}

/// The open log.
pub(crate) struct Wal {
    limits: Limits,
    pub(super) segments: Segments,
    pub(super) tail: Mutex<Tail>,
    pub(super) sync: Mutex<SyncState>,
    /// Shows a later open how much of the log must be on disk.
    synced_file: SyncedFile,
    pub(super) synced: Condvar,
    /// Where changes of tables are in progress, beyond which no follower reads.
    pub(super) holds: Mutex<Vec<Position>>,
    /// Set when a segment was begun, so that the background calls [`Wal::tidy`].
    rolled: AtomicBool,
    /// Set when something may have been appended since the last background sync.
    dirty: AtomicBool,
    segment_retry: Mutex<SegmentRetry>,
}

/// Backoff after a failure to make the next segment: how many requests to skip before the next
/// attempt.
#[derive(Default)]
struct SegmentRetry {
    left: u32,
    wait: u32,
}

const SEGMENT_RETRY_MAX: u32 = 1 << 16;

/// A position in the log. Syncing to it covers everything before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    pub(super) segment: u64,
    pub(super) offset: u64,
}

/// The closed segments whose records have all been flushed to files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReleasableSegments {
    /// The number of the last such segment.
    last: u64,
    /// The number of the segment after it, which exists.
    pub(crate) first_left: u64,
    /// The first sequence number that this segment can hold.
    pub(crate) first_sequence: u64,
    /// The rest of the log holds every record from this sequence number on that was ever logged.
    pub(crate) log_from: u64,
}

/// The end of the log, where records are appended.
pub(super) struct Tail {
    pub(super) segment: NewSegment,
    /// The first sequence number that the segment can hold.
    pub(super) first_sequence: u64,
    pub(super) offset: u64,
    /// The segment in which the log continues once this one is full.
    next: Option<NewSegment>,
    /// The next segment may already record this one's length, so this one must not grow.
    is_len_recorded: bool,
    /// Segments before those, which followers need, oldest first.
    pub(super) retained: Vec<RetainedSegment>,
    /// Earlier segments, oldest first.
    pub(super) closed: Vec<ClosedSegment>,
    /// Closed segments that may not be synced yet, by number.
    unsynced: Vec<(u64, Arc<dyn DiskFile>)>,
    last_sequence: u64,
    /// The manifest's age as far as it is known here.
    age: ManifestAge,
    /// Why appends are refused; `None` while they are allowed.
    failed: Option<String>,
}

impl Tail {
    /// Returns the bytes in all segments.
    fn bytes(&self) -> u64 {
        self.offset + self.closed.iter().map(|segment| segment.bytes).sum::<u64>()
    }
}

#[derive(Default)]
pub(super) struct SyncState {
    /// Everything up to here is on disk.
    pub(super) done: Position,
    /// The epoch of that segment.
    done_epoch: u64,
    /// The last sequence number before that position.
    done_sequence: u64,
    /// Whether a thread is syncing.
    running: bool,
    pub(super) failed: Option<String>,
}

impl Wal {
    /// Continues the log after the `closed` segments, which are on the disk, in a new segment. The
    /// manifest has the age `age`. Followers need the `retained` segments.
    pub(crate) fn start(
        segments: Segments,
        limits: Limits,
        last_sequence: u64,
        age: ManifestAge,
        closed: Vec<ClosedSegment>,
        retained: Vec<RetainedSegment>,
    ) -> Result<Self> {
        let synced_file = SyncedFile::create(segments.disk())?;
        let mut first = segments.make()?;
        let end = LogEnd { segment: first.number, len: HEADER_LEN as u64, last_sequence };
        synced_file.note(&end);
        let (previous, previous_len) =
            closed.last().map_or((0, 0), |segment| (segment.number, segment.bytes));
        let offset = begin(&mut first, previous, previous_len, last_sequence + 1, age)?;
        let sync = SyncState {
            done: Position { segment: end.segment, offset: end.len },
            done_epoch: first.epoch,
            done_sequence: last_sequence,
            ..SyncState::default()
        };
        let tail = Tail {
            segment: first,
            first_sequence: last_sequence + 1,
            offset,
            next: None,
            is_len_recorded: false,
            retained,
            closed,
            unsynced: Vec::new(),
            last_sequence,
            age,
            failed: None,
        };
        Ok(Self {
            limits,
            segments,
            tail: Mutex::new(tail),
            sync: Mutex::new(sync),
            synced_file,
            synced: Condvar::new(),
            holds: Mutex::default(),
            rolled: AtomicBool::new(true),
            dirty: AtomicBool::new(false),
            segment_retry: Mutex::default(),
        })
    }

    /// Appends a commit under the sequence number that `reserve` returns. `reserve` is called
    /// exactly once, in log order. Whatever this function returns, the sequence number is taken and
    /// must be published; a commit that was not appended leaves a hole in the sequence.
    ///
    /// # Errors
    /// `Io` when the commit could not be written: it is not in the log, and the next one may be
    /// tried. `ReadOnly` once a sync has failed, because the contents of the disk are then unknown.
    pub(crate) fn append(
        &self,
        record: &mut SealedRecord,
        reserve: impl FnOnce() -> u64,
    ) -> (u64, Result<Position>) {
        let body_len = record.body_len();
        let synced = self.sync.lock().done;
        let mut tail = self.tail.lock();
        let sequence = reserve();
        let body_len_max = self.limits.body_len_max;
        let appended = if body_len > body_len_max {
            Err(Error::invalid(format!("mutation too long: len={body_len}, max={body_len_max}")))
        } else if let Some(why) = &tail.failed {
            Err(read_only(why))
        } else {
            self.append_record(&mut tail, record, Place::Commit(sequence), synced)
        };
        (sequence, appended)
    }

    /// Records that the manifest has this age, so that an open detects an older one. A failure is
    /// no error: the log then shows less. `reserved` returns the highest sequence number handed
    /// out.
    pub(crate) fn note_manifest(&self, age: ManifestAge, reserved: impl FnOnce() -> u64) {
        let synced = self.sync.lock().done;
        let mut tail = self.tail.lock();
        tail.age = tail.age.max(age);
        if tail.failed.is_some() {
            return;
        }
        let mut record = SealedRecord::edited(tail.age);
        let place = Place::After(reserved());
        if let Err(error) = self.append_record(&mut tail, &mut record, place, synced) {
            tracing::warn!(%error, "an edit of MANIFEST was not recorded in the log");
        }
    }

    fn append_record(
        &self,
        tail: &mut Tail,
        record: &mut SealedRecord,
        place: Place,
        synced: Position,
    ) -> Result<Position> {
        if tail.is_len_recorded || tail.offset + record.len() as u64 > self.limits.segment_bytes {
            self.roll(tail, place.next())?;
        }
        let number = tail.segment.number;
        let synced = if synced.segment == number { synced.offset } else { 0 };
        let len = record.len() as u64;
        let bytes = record.finish(tail.segment.epoch, tail.offset, place.sequence(), synced);
        if let Err(source) = tail.segment.file.write_all_at(bytes, tail.offset) {
            return Err(tail.refuse(place, source));
        }
        tail.offset += len;
        if let Place::Commit(sequence) = place {
            tail.last_sequence = sequence;
        }
        Ok(Position { segment: number, offset: tail.offset })
    }

    /// Rolls to the next segment if that one is ready. If it is not, the current segment grows
    /// beyond the limit: a commit never waits for a file to be made.
    ///
    /// # Errors
    /// The next segment cannot be begun. The next writer tries again, however small the record.
    fn roll(&self, tail: &mut Tail, first_sequence: u64) -> Result<()> {
        self.rolled.store(true, Ordering::Release);
        let Some(next) = &mut tail.next else { return Ok(()) };
        tail.is_len_recorded = true;
        let offset = begin(next, tail.segment.number, tail.offset, first_sequence, tail.age)?;
        tail.is_len_recorded = false;
        let next = tail.next.take().expect("it was there a moment ago");
        let left = std::mem::replace(&mut tail.segment, next);
        // The new segment's header was synced before the file was renamed. The records in it are
        // not on disk yet.
        self.synced_file.note(&LogEnd {
            segment: tail.segment.number,
            len: HEADER_LEN as u64,
            last_sequence: tail.last_sequence,
        });
        tail.closed.push(ClosedSegment {
            number: left.number,
            epoch: left.epoch,
            first_sequence: std::mem::replace(&mut tail.first_sequence, first_sequence),
            last_sequence: tail.last_sequence,
            bytes: tail.offset,
        });
        tail.unsynced.push((left.number, left.file));
        tail.offset = offset;
        Ok(())
    }

    /// Begins a new segment, unless the current one is empty. `reserved` returns the highest
    /// sequence number handed out.
    ///
    /// # Errors
    /// `Io` when the new segment cannot be made; `ReadOnly` once a sync has failed.
    pub(crate) fn roll_now(&self, reserved: impl FnOnce() -> u64) -> Result<()> {
        if self.tail.lock().next.is_none() {
            self.make_next()?;
        }
        let mut tail = self.tail.lock();
        if let Some(why) = &tail.failed {
            return Err(read_only(why));
        }
        if !tail.holds_commits() {
            return Ok(());
        }
        if tail.next.is_none() {
            return Err(Error::new(ErrorKind::Io, "the next log segment cannot be created"));
        }
        self.roll(&mut tail, Place::After(reserved()).next())
    }

    /// Returns true if a segment was begun or needed since the last call. If so, the background has
    /// to call [`Wal::tidy`].
    pub(crate) fn needs_maintenance(&self) -> bool {
        self.rolled.load(Ordering::Relaxed) && self.rolled.swap(false, Ordering::AcqRel)
    }

    /// Returns true if this is the first append since [`Wal::sync_in_background`]. If so, the
    /// background has to call that function eventually.
    pub(crate) fn needs_sync(&self) -> bool {
        !self.dirty.load(Ordering::Relaxed) && !self.dirty.swap(true, Ordering::AcqRel)
    }

    /// Syncs the commits that did not ask for a sync, so that a power cut loses only the most
    /// recent ones. No commit waits for the look at the data directory.
    pub(crate) fn sync_in_background(&self) -> Result<()> {
        self.dirty.store(false, Ordering::Release);
        self.check_in_place()?;
        self.sync()
    }

    /// Does the work that no commit should wait for: makes the next segment and syncs closed
    /// segments, so that later syncs have little to do.
    pub(crate) fn tidy(&self) -> Result<()> {
        if self.tail.lock().next.is_none() {
            self.make_next()?;
        }
        // Otherwise the current segment could be missing after a power cut and nothing would show
        // it.
        self.synced_file.sync();
        let left = {
            let tail = self.tail.lock();
            let offset = tail.closed.last().map_or(0, |segment| segment.bytes);
            tail.unsynced.last().map(|(number, _)| Position { segment: *number, offset })
        };
        match left {
            Some(position) => self.sync_to(position),
            None => Ok(()),
        }
    }

    /// Gives back the disk space that only later records would use: the files that are retained for
    /// segments after the next one, and the rest of the current and the next one. Appends wait for
    /// that.
    pub(crate) fn give_back_space(&self) -> Result<()> {
        self.segments.remove_spares()?;
        let tail = &mut *self.tail.lock();
        if tail.failed.is_some() {
            return Ok(());
        }
        // The mark behind the last record shows that the log ends there.
        tail.segment.cut(tail.offset + RECORD_HEADER_LEN as u64)?;
        match &mut tail.next {
            // Otherwise it may already have its first record.
            Some(next) if !tail.is_len_recorded => next.cut(HEADER_LEN as u64),
            _ => Ok(()),
        }
    }

    /// Makes the next segment. After a failure the attempt, and the log message, is not repeated at
    /// every commit but half as often each time.
    fn make_next(&self) -> Result<()> {
        let mut segment_retry = self.segment_retry.lock();
        if self.tail.lock().next.is_some() {
            // Another thread made one in the meantime.
            return Ok(());
        }
        if segment_retry.left > 0 {
            segment_retry.left -= 1;
            return Ok(());
        }
        match self.segments.make() {
            Ok(next) => {
                *segment_retry = SegmentRetry::default();
                self.tail.lock().next = Some(next);
                Ok(())
            }
            Err(error) => {
                segment_retry.wait = (segment_retry.wait * 2 + 1).min(SEGMENT_RETRY_MAX);
                segment_retry.left = segment_retry.wait;
                Err(error)
            }
        }
    }

    /// Returns when everything up to `position` is on disk. The first caller syncs for all commits
    /// appended by then; the others wait for it.
    ///
    /// # Errors
    /// `OutcomeUnknown` when the sync failed. A failed sync is never retried: the kernel may have
    /// dropped the pages, and a second sync would report success for lost data.
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
            Ok((end, epoch)) => {
                self.synced_file.note(&end);
                state.done = Position { segment: end.segment, offset: end.len };
                state.done_epoch = epoch;
                state.done_sequence = end.last_sequence;
            }
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

    /// Syncs all segments. Returns the end of the log when the sync started, and the epoch of the
    /// segment there.
    fn sync_all(&self) -> Result<(LogEnd, u64)> {
        let (files, end, epoch) = {
            let mut tail = self.tail.lock();
            let end = tail.offset + RECORD_HEADER_LEN as u64;
            tail.segment.make_room(end, self.limits.segment_bytes, self.segments.disk());
            let mut files = std::mem::take(&mut tail.unsynced);
            files.push((tail.segment.number, Arc::clone(&tail.segment.file)));
            let Position { segment, offset } = tail.position();
            let end = LogEnd { segment, len: offset, last_sequence: tail.last_sequence };
            (files, end, tail.segment.epoch)
        };
        for (number, file) in files {
            file.sync().map_err(|source| {
                Error::io(format_args!("cannot sync {}", segment::path(number)), source)
            })?;
        }
        Ok((end, epoch))
    }

    /// Refuses later appends if the data directory was removed or replaced.
    ///
    /// # Errors
    /// That it was.
    pub(crate) fn check_in_place(&self) -> Result<()> {
        let checked = self.segments.disk().check_in_place().map_err(not_in_place);
        if let Err(error) = &checked {
            let mut tail = self.tail.lock();
            if tail.failed.is_none() {
                tracing::error!(%error, "the store is read-only now");
                tail.failed = Some(error.to_string());
            }
        }
        checked
    }

    /// Returns how far the log is on the disk.
    pub(crate) fn synced(&self) -> LogSynced {
        let state = self.sync.lock();
        LogSynced {
            segment: state.done.segment,
            epoch: state.done_epoch,
            len: state.done.offset,
            last_sequence: state.done_sequence,
            noted: true,
        }
    }

    /// Syncs everything appended so far.
    pub(crate) fn sync(&self) -> Result<()> {
        let position = self.tail.lock().position();
        self.sync_to(position)
    }

    /// Returns the error for every append after one failed or the log was closed.
    pub(crate) fn check_writable(&self) -> Result<()> {
        match &self.tail.lock().failed {
            Some(why) => Err(read_only(why)),
            None => Ok(()),
        }
    }

    /// Refuses every later append.
    pub(crate) fn close(&self, why: &str) {
        self.tail.lock().failed.get_or_insert_with(|| why.to_owned());
    }

    /// Notes that the log was closed: removes the file that records how much is on disk.
    pub(crate) fn remove_synced_file(&self) {
        if let Err(error) = synced::remove(self.segments.disk()) {
            tracing::warn!(%error, "the log is recorded as open although it was closed");
        }
    }

    /// Returns the number of the oldest segment.
    pub(crate) fn first_segment(&self) -> u64 {
        let tail = self.tail.lock();
        tail.closed.first().map_or(tail.segment.number, |closed| closed.number)
    }

    /// Returns where the last commit ends; `None` if the log has no commit.
    pub(crate) fn end(&self) -> Option<LogEnd> {
        let tail = self.tail.lock();
        // The next open removes segments without commits at the end.
        let last = tail.closed.iter().rfind(|closed| closed.holds_commits());
        let (number, len) = if tail.holds_commits() {
            (tail.segment.number, tail.offset)
        } else {
            last.map(|closed| (closed.number, closed.bytes))?
        };
        Some(LogEnd { segment: number, len, last_sequence: tail.last_sequence })
    }

    /// Returns the closed segments that hold no record at or above `sequence`; `None` when there is
    /// no such segment.
    pub(crate) fn releasable_below(&self, sequence: u64) -> Option<ReleasableSegments> {
        let tail = self.tail.lock();
        let count = tail.closed.iter().take_while(|s| s.last_sequence < sequence).count();
        let last = tail.closed[..count].last()?.number;
        let next = tail.closed.get(count).map(|next| (next.number, next.first_sequence));
        let (first_left, begins) = next.unwrap_or((tail.segment.number, tail.first_sequence));
        // Sequence numbers in between are in no segment: their mutations skip the log.
        let log_from = begins.max(sequence);
        Some(ReleasableSegments { last, first_left, first_sequence: begins, log_from })
    }

    /// Returns the segments that [`Wal::forget`] would release.
    pub(crate) fn released_by(&self, forgettable: &ReleasableSegments) -> Vec<ClosedSegment> {
        let tail = self.tail.lock();
        tail.closed.iter().take_while(|s| s.number <= forgettable.last).copied().collect()
    }

    /// Releases closed segments. Their records are all in files, and the manifest says so. Those
    /// that are among the `retained` ones are left to followers.
    pub(crate) fn forget(
        &self,
        forgettable: &ReleasableSegments,
        retained: &[RetainedSegment],
    ) -> Result<()> {
        let is_retained =
            |number: u64| retained.iter().any(|retained| retained.segment.number == number);
        let (forgotten, useless) = {
            let mut tail = self.tail.lock();
            let count = tail.closed.iter().take_while(|s| s.number <= forgettable.last).count();
            let forgotten: Vec<_> = tail.closed.drain(..count).collect();
            // An open file would keep the disk space allocated.
            tail.unsynced.retain(|(number, _)| forgotten.iter().all(|s| s.number != *number));
            let is_gap = forgotten.iter().any(|segment| !is_retained(segment.number));
            // Segments before one that is gone are of no use.
            let useless = if is_gap { std::mem::take(&mut tail.retained) } else { Vec::new() };
            let is_left = |it: &&RetainedSegment| {
                forgotten.iter().any(|segment| segment.number == it.segment.number)
            };
            let left: Vec<_> = retained.iter().filter(is_left).copied().collect();
            tail.retained.extend(left);
            (forgotten, useless)
        };
        for retained in useless {
            self.segments.remove_retained(retained.segment.number)?;
        }
        forgotten.iter().try_for_each(|segment| {
            if is_retained(segment.number) {
                self.segments.retain(segment.number)
            } else {
                self.segments.retire(segment)
            }
        })
    }

    /// Returns, when all segments together hold more than `bytes_max` bytes, the sequence number up
    /// to which memstores must be flushed to release the oldest segment.
    pub(crate) fn pressure(&self, bytes_max: u64) -> Option<u64> {
        let tail = self.tail.lock();
        let oldest = || tail.closed.first().map(|oldest| oldest.last_sequence);
        (tail.bytes() > bytes_max).then(oldest)?
    }

    /// Returns the bytes in all segments, spare files excluded.
    pub(crate) fn bytes(&self) -> u64 {
        self.tail.lock().bytes()
    }
}

/// A record's place among the sequence numbers.
#[derive(Clone, Copy, Debug)]
enum Place {
    Commit(u64),
    /// No place among the commits. Every number handed out when it is written is at most this one;
    /// a segment that it begins must claim none, because manifest edits may.
    After(u64),
}

impl Place {
    /// Returns the number in the record's header.
    fn sequence(self) -> u64 {
        match self {
            Self::Commit(sequence) => sequence,
            Self::After(_) => NO_SEQUENCE,
        }
    }

    /// Returns the first number that a segment can hold which begins with the record.
    fn next(self) -> u64 {
        match self {
            Self::Commit(sequence) => sequence,
            Self::After(reserved) => reserved + 1,
        }
    }
}

impl Tail {
    /// Handles a record that could not be written: ensures that the partial bytes are never
    /// mistaken for a record, not even after a power cut. The next record overwrites the same
    /// offset.
    fn refuse(&self, place: Place, source: std::io::Error) -> Error {
        let path = segment::path(self.segment.number);
        let end = end_mark(self.segment.epoch, self.offset, self.last_sequence);
        let file = &self.segment.file;
        let undone = file.write_all_at(&end, self.offset).and_then(|()| file.sync());
        let offset = self.offset;
        let is_undone = undone.is_ok();
        tracing::error!(
            segment = path, offset, ?place, error = %source, is_undone,
            "a write was refused: the log cannot be appended to"
        );
        if undone.is_ok() {
            return append_failed(&path, source);
        }
        let error = Error::io(format_args!("cannot append to {path}"), source);
        let message = format!("{error}; part of the write may be in the log");
        Error::new(ErrorKind::OutcomeUnknown, message).with_source(error)
    }

    fn holds_commits(&self) -> bool {
        self.first_sequence <= self.last_sequence
    }

    pub(super) fn position(&self) -> Position {
        Position { segment: self.segment.number, offset: self.offset }
    }
}

/// Writes a segment's first record. Returns the offset of the next one.
fn begin(
    segment: &mut NewSegment,
    previous: u64,
    previous_len: u64,
    first_sequence: u64,
    age: ManifestAge,
) -> Result<u64> {
    let mut record = SealedRecord::begin(previous, previous_len, Some(age));
    let offset = HEADER_LEN as u64;
    let bytes = record.finish(segment.epoch, offset, first_sequence, 0);
    let written = segment.file.write_all_at(bytes, offset);
    written.map_err(|source| append_failed(&segment::path(segment.number), source))?;
    Ok(offset + (bytes.len() - RECORD_HEADER_LEN) as u64)
}

/// Returns the error of a failed append, which left nothing in the log.
fn append_failed(path: &str, source: std::io::Error) -> Error {
    if source.kind() == std::io::ErrorKind::StorageFull {
        let message = format!("the disk is full, the write was refused: {path}");
        return Error::new(ErrorKind::RegionTooBusy, message).with_source(source);
    }
    Error::io(format_args!("cannot append to {path}, the write was refused"), source)
}

fn not_in_place(source: std::io::Error) -> Error {
    Error::io("the data directory is not where it was opened; reopen the store", source)
}

fn read_only(why: &str) -> Error {
    Error::new(ErrorKind::ReadOnly, format!("the store refuses writes: {why}"))
}
