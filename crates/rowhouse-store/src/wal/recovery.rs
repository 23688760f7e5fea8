//! Reads the log back: the commits, how it ended, and the repairs needed before it continues.
//! Reading changes nothing.

use rowhouse_model::{Error, Result};

use super::moment::{self, Opened};
use super::reader::{Begin, RecordRead, SegmentReader};
use super::record::{Commit, Record};
use super::segment::{self, HEADER_LEN, LogEnd, SegmentHeader};
use super::segments::ClosedSegment;
use super::synced::{self, Synced};
use crate::aside;
use crate::disk::Disk;
use crate::layout::WAL_DIR;
use crate::manifest::{LogSynced, ManifestAge};

/// Facts about the log from other sources.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// The machine's current boot id.
    pub(crate) boot_id: [u8; 16],
    /// Everything below this sequence number was flushed. Segments that hold nothing else may be
    /// missing.
    pub(crate) log_from: u64,
    /// Everything up to this sequence number was once on disk: the log is synced before the edit
    /// that says so is written.
    pub(crate) synced_sequence: u64,
    /// Where the log ended when the store was last closed.
    pub(crate) closed_at: Option<LogEnd>,
    /// How far the log is known to be on disk, if it was not closed.
    pub(crate) synced: Synced,
    /// The oldest segment according to the manifest's latest note on it.
    pub(crate) first_segment: Option<u64>,
    /// How far the log was on disk at the manifest's last edit.
    pub(crate) reached: Option<LogSynced>,
    /// The manifest's age, if it is undamaged.
    pub(crate) age: Option<ManifestAge>,
}

impl Known {
    /// Returns the ends that the log is known to have reached on disk, without those whose records
    /// were all flushed and may be gone.
    fn ends(&self) -> impl Iterator<Item = LogEnd> {
        // The segment of the last edit is never released.
        let reached = self.reached.map(|LogSynced { segment, len, last_sequence, .. }| LogEnd {
            segment,
            len,
            last_sequence,
        });
        // A file from an earlier time shows nothing that the last edit does not.
        let is_later = |end: &LogEnd| {
            reached.is_none_or(|reached| (end.segment, end.len) > (reached.segment, reached.len))
        };
        let synced = match self.synced {
            Synced::UpTo(end) => Some(end).filter(is_later),
            Synced::Absent | Synced::Unreadable => None,
        };
        let log_from = self.log_from;
        let ends = self.closed_at.into_iter().chain(synced);
        ends.filter(move |end| end.last_sequence >= log_from).chain(reached)
    }

    /// Returns the bytes of segment `number` that are known to be on disk; 0 if none are known.
    pub(super) fn len_min(&self, number: u64) -> u64 {
        self.ends().filter(|end| end.segment == number).map(|end| end.len).max().unwrap_or(0)
    }

    /// Returns true if records of a segment after `number`, and so all records before, are known to
    /// be on disk.
    fn is_synced_after(&self, number: u64) -> bool {
        self.ends().any(|end| end.segment > number && end.len > HEADER_LEN as u64)
    }

    /// Returns the segments whose files must exist. They hold records that are in no file, or none
    /// at all.
    pub(super) fn named(&self) -> impl Iterator<Item = u64> {
        self.first_segment.into_iter().chain(self.ends().map(|end| end.segment))
    }

    /// Returns the segments that must exist before segments with the given first records, because
    /// they hold records that are in no file.
    pub(super) fn needed(&self, begins: impl Iterator<Item = Begin>) -> impl Iterator<Item = u64> {
        let log_from = self.log_from;
        begins
            .filter(move |begin| begin.first_sequence > log_from && begin.previous != 0)
            .map(|begin| begin.previous)
    }
}

/// The result of reading the log.
#[derive(Debug, Default)]
pub(crate) struct LogScan {
    /// The segments that hold anything, oldest first.
    pub(crate) segments: Vec<ClosedSegment>,
    /// Files that can be reused as segments, by the number they had.
    pub(crate) spares: Vec<u64>,
    /// Segments without a synced commit that the repairs remove: number and epoch.
    pub(crate) emptied: Vec<(u64, u64)>,
    /// The files of segments that were retained for followers, by number.
    pub(crate) retained: Vec<u64>,
    /// The number of the next segment.
    pub(crate) next_number: u64,
    /// The highest sequence number in the log; 0 when it is empty.
    pub(crate) last_sequence: u64,
    /// The number of commits.
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    /// Where and why the log was cut; `None` if it ended properly.
    pub(crate) cut: Option<Cut>,
    /// How far the log reaches; `None` if the store was closed.
    pub(crate) unclosed: Option<Unclosed>,
    /// A defect in the file that notes how far the log is on the disk. The log is complete without
    /// it, as far as that shows.
    pub(crate) note_wrong: Option<Error>,
    repairs: Vec<Repair>,
}

/// An end that no clean close left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) segment: String,
    pub(crate) offset: u64,
    /// Bytes after the offset that are discarded.
    pub(crate) bytes: u64,
    pub(crate) cause: Cause,
}

/// Where a log ends that was not closed. Commits that did not wait for a sync can be missing after
/// that end, and nothing shows whether they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unclosed {
    /// The last segment that holds anything; `None` if no segment does.
    pub(crate) segment: Option<String>,
    /// Bytes of the header and records.
    pub(crate) len: u64,
    pub(crate) last_sequence: u64,
    /// The last sequence number known to be on disk; `None` if unknown.
    pub(crate) synced_sequence: Option<u64>,
}

/// Why the log was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The process ended while it wrote.
    Kill,
    /// The machine stopped before written data was on disk.
    PowerCut,
}

/// A step to take before the log continues.
#[derive(Debug)]
enum Repair {
    /// Removes a segment that never held any record.
    Remove(u64),
    /// Removes a segment whose records are all in files.
    Release(u64),
    /// Leaves such a segment to followers.
    Retain(u64),
    Truncate {
        number: u64,
        len: u64,
    },
    /// Copies the bytes after `offset` to `aside/`.
    CopyAside {
        number: u64,
        offset: u64,
    },
    MoveAside(u64),
}

/// The log of a store that is not open, checked as far as that does not require reading all of it.
pub(crate) struct OpenLog {
    known: Known,
    segments: Vec<Segment>,
    scan: LogScan,
}

/// Reads every commit in order and hands it to `visit`, with the position after it.
///
/// # Errors
/// As [`OpenLog::open`] and [`OpenLog::read`].
pub(crate) fn scan(
    disk: &dyn Disk,
    known: Known,
    visit: impl FnMut(Commit, LogSynced) -> Result<()>,
) -> Result<LogScan> {
    OpenLog::open(disk, known)?.read(visit)
}

impl OpenLog {
    /// Opens the segments, and checks that none is missing and that log, note and manifest come
    /// from the same point in time.
    ///
    /// # Errors
    /// `Corruption`, with the file.
    pub(crate) fn open(disk: &dyn Disk, known: Known) -> Result<Self> {
        let names = disk
            .list(WAL_DIR)
            .map_err(|source| Error::io(format_args!("cannot list {WAL_DIR}"), source))?;
        let mut numbers: Vec<u64> = names.iter().filter_map(|name| segment::number(name)).collect();
        numbers.sort_unstable();
        let mut scan = LogScan {
            spares: names.iter().filter_map(|name| segment::spare_number(name)).collect(),
            retained: names.iter().filter_map(|name| segment::retained_number(name)).collect(),
            ..LogScan::default()
        };
        if let Some(reached) = known.reached.filter(|it| !numbers.contains(&it.segment)) {
            return Err(moment::missing(&reached));
        }
        if let Some(number) = known.named().find(|number| !numbers.contains(number)) {
            return Err(missing(number));
        }
        let used = numbers.iter().chain(&scan.spares).chain(&scan.retained).max();
        scan.next_number = used.map_or(1, |last| last + 1);
        let mut segments = Vec::with_capacity(numbers.len());
        for &number in &numbers {
            segments.push(Segment::open(disk, number)?);
        }
        let mut opened: Vec<Opened<'_>> = segments.iter_mut().map(Segment::opened).collect();
        moment::check_log(&mut opened, &known)?;
        moment::check_manifest(&mut opened, &known)?;
        scan.note_wrong = moment::check_note(&opened, &known)?;
        scan.remove_flushed_segments(&mut segments, known.log_from);
        // Segments made ahead of need and never written to.
        while let Some(unused) = segments.pop_if(|segment| segment.is_unused(&known)) {
            let SegmentHeader { number, epoch, .. } = unused.reader.header;
            scan.emptied.push((number, epoch));
            scan.repairs.push(Repair::Remove(number));
        }
        scan.check_no_segment_missing(&segments, &known)?;
        Ok(Self { known, segments, scan })
    }

    /// Reads every commit in order and hands it to `visit`, with the position after it.
    ///
    /// # Errors
    /// `Corruption` for damage that neither a killed process nor a power cut explains, with file
    /// and offset; errors from `visit`.
    pub(crate) fn read(
        self,
        mut visit: impl FnMut(Commit, LogSynced) -> Result<()>,
    ) -> Result<LogScan> {
        let Self { known, mut segments, mut scan } = self;
        let mut rest = segments.as_mut_slice();
        while let Some((segment, later)) = rest.split_first_mut() {
            let limit = segment.len_by_next(later);
            let end = segment.replay(limit, &mut scan, &mut visit)?;
            if !scan.settle(segment, &end, later, &known)? {
                break;
            }
            rest = later;
        }
        scan.note_unclosed(&known);
        // Segments begun without a commit.
        while let Some(empty) = scan.segments.pop_if(|segment| !segment.holds_commits()) {
            scan.emptied.push((empty.number, empty.epoch));
            scan.repairs.push(Repair::Remove(empty.number));
        }
        Ok(scan)
    }
}

/// A segment about to be read.
struct Segment {
    reader: SegmentReader,
    /// The segment that this one continues, that one's length, and this one's first sequence
    /// number; `None` when the first record is not there.
    begin: Option<Begin>,
    is_empty: bool,
}

/// Where a segment's valid part ends.
struct End {
    offset: u64,
    /// The largest synced offset in the records before it.
    synced: u64,
    /// The defect at this offset; `None` at the end mark.
    wrong: Option<&'static str>,
}

impl Segment {
    fn open(disk: &dyn Disk, number: u64) -> Result<Self> {
        let mut reader = SegmentReader::open(disk, number)?;
        let begin = reader.begin()?;
        // The write of its first record may have been interrupted.
        let is_empty = begin.is_none() && !reader.records_after(HEADER_LEN as u64)?.anything;
        Ok(Self { reader, begin, is_empty })
    }

    fn opened(&mut self) -> Opened<'_> {
        Opened { reader: &mut self.reader, begin: self.begin }
    }

    /// Returns true if the segment was made ahead of need and never written to. An empty segment
    /// that is known to have held more is damaged.
    fn is_unused(&self, known: &Known) -> bool {
        self.is_empty && known.len_min(self.reader.header.number) <= HEADER_LEN as u64
    }

    /// Returns this segment's length according to the segment after it.
    fn len_by_next(&self, later: &[Self]) -> Option<u64> {
        later.first()?.begin?.len_of(self.reader.header.number)
    }

    /// Hands the segment's commits to `visit`, up to the first invalid record or `limit`.
    fn replay(
        &mut self,
        limit: Option<u64>,
        scan: &mut LogScan,
        visit: &mut impl FnMut(Commit, LogSynced) -> Result<()>,
    ) -> Result<End> {
        let mut end = End { offset: HEADER_LEN as u64, synced: 0, wrong: None };
        while limit != Some(end.offset) {
            match self.reader.at(end.offset)? {
                RecordRead::Record { record, len, sequence, synced } => {
                    match record {
                        // Lower sequence numbers were used, though their records may be gone.
                        Record::Begin { .. } if end.offset == HEADER_LEN as u64 => {
                            scan.last_sequence = scan.last_sequence.max(sequence - 1);
                        }
                        Record::Commit(commit) if sequence > scan.last_sequence => {
                            scan.last_sequence = sequence;
                            scan.records += 1;
                            visit(commit, self.reader.position(end.offset + len, sequence))?;
                        }
                        Record::Table(_) if sequence > scan.last_sequence => {
                            scan.last_sequence = sequence;
                        }
                        Record::Edited(_) => {}
                        Record::Begin { .. } | Record::Commit(_) | Record::Table(_) => {
                            return Err(self
                                .reader
                                .damaged(end.offset, "a record is out of order"));
                        }
                    }
                    end.offset += len;
                    end.synced = end.synced.max(synced);
                }
                RecordRead::End => return Ok(end),
                RecordRead::Nothing(what) => return Ok(End { wrong: Some(what), ..end }),
            }
        }
        Ok(end)
    }
}

impl LogScan {
    /// Removes the segments before one that begins at or below `log_from`: all their records are in
    /// files. After a power cut such segments can reappear without their records.
    fn remove_flushed_segments(&mut self, segments: &mut Vec<Segment>, log_from: u64) {
        let begins = |segment: &Segment| segment.begin.map(|begin| begin.first_sequence);
        let first =
            segments.iter().rposition(|segment| begins(segment).is_some_and(|at| at <= log_from));
        for segment in segments.drain(..first.unwrap_or(0)) {
            self.repairs.push(Repair::Release(segment.reader.header.number));
        }
    }

    /// Returns true if the file of a released segment is there.
    pub(crate) fn has_released(&self, number: u64) -> bool {
        let is_it = |repair: &Repair| matches!(repair, Repair::Release(it) if *it == number);
        self.retained.contains(&number) || self.repairs.iter().any(is_it)
    }

    /// Leaves the released segments that `is_retained` names to followers.
    pub(crate) fn retain(&mut self, is_retained: impl Fn(u64) -> bool) {
        for repair in &mut self.repairs {
            if let Repair::Release(number) = *repair
                && is_retained(number)
            {
                *repair = Repair::Retain(number);
            }
        }
    }

    /// Checks that no segment is missing that could hold records that are in no file.
    fn check_no_segment_missing(&self, segments: &[Segment], known: &Known) -> Result<()> {
        let is_there = |number: u64| segments.iter().any(|s| s.reader.header.number == number);
        let begins = segments.iter().filter_map(|segment| segment.begin);
        match known.needed(begins).find(|&number| !is_there(number)) {
            Some(number) => Err(missing(number)),
            None => Ok(()),
        }
    }

    /// Decides how to treat the end of a segment. Returns true if the log continues after it.
    fn settle(
        &mut self,
        segment: &mut Segment,
        end: &End,
        later: &mut [Segment],
        known: &Known,
    ) -> Result<bool> {
        let header = segment.reader.header;
        if end.offset < known.len_min(header.number) {
            return Err(segment.reader.damaged(end.offset, end.what()));
        }
        let next = later.first().and_then(|next| next.begin);
        if next.and_then(|begin| begin.len_of(header.number)) == Some(end.offset) {
            self.keep(segment, end.offset);
            return Ok(true);
        }
        let after = segment.reader.records_after(end.offset)?;
        if later.is_empty() && !after.anything {
            // The log ends here: either at an end mark or inside a record that was never
            // acknowledged.
            if end.wrong.is_some() {
                self.cut(segment, end, Cause::Kill);
            }
            self.keep(segment, end.offset);
            return Ok(false);
        }
        // There are records after an invalid position. A power cut can cause that to data that was
        // not synced.
        let unknown = [0; 16];
        let restarted =
            ![header.boot_id, known.boot_id].contains(&unknown) && header.boot_id != known.boot_id;
        // Segments before the one with the manifest's last edit were on the disk as a whole, and
        // the next one states this one's length.
        let is_whole_known =
            next.is_some() && known.reached.is_some_and(|end| end.segment > header.number);
        let mut synced = end.synced.max(after.synced) > end.offset
            || after.sequence_min <= known.synced_sequence
            || known.is_synced_after(header.number)
            || is_whole_known;
        for segment in &mut *later {
            let there = segment.reader.records_after(HEADER_LEN as u64 - 1)?;
            synced |=
                there.synced > HEADER_LEN as u64 || there.sequence_min <= known.synced_sequence;
        }
        if !restarted || synced {
            return Err(segment.reader.damaged(end.offset, end.what()));
        }
        self.cut(segment, end, Cause::PowerCut);
        self.keep(segment, end.offset);
        // The last one first: if the repair is interrupted, no remaining one names a missing one.
        for segment in later.iter().rev() {
            let SegmentHeader { number, epoch, .. } = segment.reader.header;
            // Nothing in it was synced, so that no follower has read any of it.
            self.emptied.push((number, epoch));
            self.repairs.push(Repair::MoveAside(number));
        }
        Ok(false)
    }

    /// Notes how far the log reaches, unless the store was closed.
    fn note_unclosed(&mut self, known: &Known) {
        let last = self.segments.iter().rfind(|segment| segment.holds_commits());
        let end = last.map(|last| LogEnd {
            segment: last.number,
            len: last.bytes,
            last_sequence: last.last_sequence,
        });
        let is_closed = end.is_none_or(|end| known.closed_at == Some(end));
        if is_closed && known.synced == Synced::Absent {
            return;
        }
        let noted = match known.synced {
            Synced::UpTo(end) if end.len > HEADER_LEN as u64 => Some(end.last_sequence),
            _ => known.closed_at.map(|end| end.last_sequence),
        };
        let synced_sequence = noted.max(known.reached.map(|reached| reached.last_sequence));
        self.unclosed = Some(Unclosed {
            segment: end.map(|end| segment::path(end.segment)),
            len: end.map_or(0, |end| end.len),
            last_sequence: self.last_sequence,
            synced_sequence,
        });
    }

    /// Adds a segment that was read up to `offset`.
    fn keep(&mut self, segment: &Segment, offset: u64) {
        self.bytes += offset;
        let SegmentHeader { number, epoch, .. } = segment.reader.header;
        let last_sequence = self.last_sequence;
        let first_sequence = segment.begin.map_or(last_sequence + 1, |begin| begin.first_sequence);
        let closed = ClosedSegment { number, epoch, first_sequence, last_sequence, bytes: offset };
        self.segments.push(closed);
    }

    /// Returns the end of the log, after which the next open continues; `None` if it is empty.
    pub(crate) fn end(&self) -> Option<LogSynced> {
        let last = self.segments.last()?;
        Some(LogSynced {
            segment: last.number,
            epoch: last.epoch,
            len: last.bytes,
            last_sequence: self.last_sequence,
            noted: false,
        })
    }

    fn cut(&mut self, segment: &Segment, end: &End, cause: Cause) {
        let number = segment.reader.header.number;
        let bytes = segment.reader.len - end.offset;
        if bytes > 0 {
            if cause == Cause::PowerCut {
                self.repairs.push(Repair::CopyAside { number, offset: end.offset });
            }
            self.repairs.push(Repair::Truncate { number, len: end.offset });
        }
        let path = segment.reader.path.clone();
        self.cut = Some(Cut { segment: path, offset: end.offset, bytes, cause });
    }

    /// Describes, for people, where a log ends that was not closed; `None` for a closed one.
    pub(crate) fn unclosed_end(&self) -> Option<String> {
        let unclosed = self.unclosed.as_ref()?;
        let mut text = unclosed.to_string();
        if let Some(Cut { segment, offset, bytes, cause }) = &self.cut {
            let cause = cause.describe();
            text.push_str(&format!(
                "; {segment} is cut at offset {offset}, {bytes} bytes before the end of the file: {cause}"
            ));
        }
        Some(text)
    }

    /// Makes the repairs that are needed before the log continues.
    pub(crate) fn repair(&mut self, disk: &dyn Disk, now_millis: i64) -> Result<()> {
        // The file vouches for segments that are removed now.
        synced::remove(disk)
            .map_err(|source| Error::io(format_args!("cannot remove {}", synced::PATH), source))?;
        if let Some(cut) = &self.cut {
            tracing::warn!(
                segment = cut.segment,
                offset = cut.offset,
                bytes = cut.bytes,
                "the log's end was cut: {}",
                cut.cause.describe()
            );
        }
        self.repairs.drain(..).try_for_each(|repair| repair.run(disk, now_millis))
    }
}

impl std::fmt::Display for Unclosed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let last = self.last_sequence;
        match &self.segment {
            Some(segment) => write!(f, "{segment} ends at offset {}, sequence {last}", self.len)?,
            None => write!(f, "it holds no commit, last sequence {last}")?,
        }
        match self.synced_sequence {
            Some(synced) => {
                write!(f, ", and is known to have been synced up to sequence {synced}")?;
            }
            None => f.write_str(", and how much of it was synced is unknown")?,
        }
        write!(f, "; commits after sequence {last} that were not synced may be missing")
    }
}

impl End {
    fn what(&self) -> &'static str {
        self.wrong.unwrap_or("records are missing after it")
    }
}

impl Cause {
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Kill => "the process ended while it wrote",
            Self::PowerCut => "a power cut lost bytes that were not on the disk",
        }
    }
}

impl Repair {
    fn run(self, disk: &dyn Disk, now_millis: i64) -> Result<()> {
        let (Self::Remove(number)
        | Self::Release(number)
        | Self::Retain(number)
        | Self::Truncate { number, .. }
        | Self::CopyAside { number, .. }
        | Self::MoveAside(number)) = self;
        let path = segment::path(number);
        let failed = |what: &str, source| Error::io(format_args!("cannot {what} {path}"), source);
        match self {
            Self::Remove(_) | Self::Release(_) => {
                disk.remove(&path).map_err(|source| failed("remove", source))
            }
            Self::Retain(_) => disk
                .rename(&path, &segment::retained_path(number))
                .map_err(|source| failed("rename", source)),
            Self::Truncate { len, .. } => {
                let cut = || {
                    let file = disk.open(&path)?;
                    file.truncate(len)?;
                    file.sync()
                };
                cut().map_err(|source| failed("cut", source))
            }
            Self::CopyAside { offset, .. } => copy_aside(disk, number, offset, now_millis),
            Self::MoveAside(_) => {
                tracing::warn!(segment = path, "a log segment after a power cut was set aside");
                aside::move_aside(disk, &path, now_millis)
            }
        }
    }
}

/// Syncs the log's segments, so that they survive a power cut regardless of which process wrote
/// them.
pub(crate) fn sync_segments(disk: &dyn Disk) -> Result<()> {
    let sync = || {
        for name in disk.list(WAL_DIR)?.iter().filter(|name| segment::number(name).is_some()) {
            disk.open(&format!("{WAL_DIR}/{name}"))?.sync()?;
        }
        Ok(())
    };
    sync().map_err(|source| Error::io("cannot sync the log", source))
}

fn copy_aside(disk: &dyn Disk, number: u64, offset: u64, now_millis: i64) -> Result<()> {
    let mut reader = SegmentReader::open(disk, number)?;
    let name = format!("{number:010}.wal.from-{offset}");
    let copy = |source| Error::io(format_args!("cannot set {name} aside"), source);
    let path = aside::free_path(disk, &name, now_millis).map_err(copy)?;
    let file = disk.create(&path).map_err(copy)?;
    let mut at = offset;
    while at < reader.len {
        let bytes = reader.read(at, (reader.len - at).min(1 << 20) as usize)?;
        file.write_all_at(&bytes, at - offset).map_err(copy)?;
        at += bytes.len() as u64;
    }
    Ok(())
}

pub(super) fn missing(number: u64) -> Error {
    Error::corruption(format!(
        "log segment {} is missing, and its records are in no file; nothing was changed",
        segment::path(number)
    ))
}
