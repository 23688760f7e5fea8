//! Reads the readable parts of a damaged log.

use rowhouse_model::{Error, Result};

use super::moment::{self, Opened};
use super::reader::{Begin, RecordRead, SegmentReader};
use super::record::{Commit, Record};
use super::recovery::{Known, missing};
use super::segment::{self, HEADER_LEN};
use crate::disk::Disk;
use crate::layout::WAL_DIR;

/// Bytes to skip after an unreadable position: one sector.
const UNREADABLE_BYTES: u64 = 4096;

/// Hands every readable commit to `visit`, in order, and adds to `lost` an error for each part that
/// is unreadable or missing.
///
/// # Errors
/// Errors from `visit`; `Io` for a directory that cannot be listed.
pub(crate) fn read_readable(
    disk: &dyn Disk,
    known: &Known,
    lost: &mut Vec<Error>,
    mut visit: impl FnMut(Commit) -> Result<()>,
) -> Result<()> {
    let names = disk
        .list(WAL_DIR)
        .map_err(|source| Error::io(format_args!("cannot list {WAL_DIR}"), source))?;
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| segment::number(name)).collect();
    numbers.sort_unstable();
    let mut segments = Vec::with_capacity(numbers.len());
    for &number in &numbers {
        match Left::open(disk, number) {
            Ok((segment, wrong)) => {
                lost.extend(wrong);
                segments.push(segment);
            }
            // Without the header no record can be distinguished from garbage.
            Err(error) => lost.push(error),
        }
    }
    lost.extend(other_moments(&mut segments, known));
    let begins = segments.iter().filter_map(|segment| segment.begin);
    let mut gone: Vec<u64> = known.named().chain(known.needed(begins)).collect();
    gone.sort_unstable();
    gone.dedup();
    gone.retain(|number| !numbers.contains(number));
    lost.extend(gone.into_iter().map(missing));
    // All records of earlier segments are in files. After a power cut such segments can reappear
    // without their records. They may help where a file is damaged, and nothing is lost with them.
    let counts =
        |segment: &Left| segment.begin.is_some_and(|it| it.first_sequence <= known.log_from);
    let forgotten = segments.iter().rposition(counts).unwrap_or(0);
    for place in 0..segments.len() {
        let next = segments.get(place + 1).and_then(|next| next.begin);
        let mut nothing = Vec::new();
        let lost = if place < forgotten { &mut nothing } else { &mut *lost };
        segments[place].read(next, known, lost, &mut visit)?;
    }
    Ok(())
}

/// Returns the errors for a log, the note on it and a manifest that do not come from the same point
/// in time.
fn other_moments(segments: &mut [Left], known: &Known) -> Vec<Error> {
    let opened = segments.iter_mut();
    let opened = opened.map(|it| Opened { reader: &mut it.reader, begin: it.begin });
    let mut opened: Vec<_> = opened.collect();
    let checked =
        [moment::check_log(&mut opened, known), moment::check_manifest(&mut opened, known)];
    let note = moment::check_note(&opened, known);
    let wrong = checked.into_iter().filter_map(Result::err);
    wrong.chain(note.unwrap_or_else(Some)).collect()
}

/// A segment that may be partly readable.
struct Left {
    reader: SegmentReader,
    begin: Option<Begin>,
}

impl Left {
    /// Opens a segment. Also returns the error for the first record, if that is invalid.
    fn open(disk: &dyn Disk, number: u64) -> Result<(Self, Option<Error>)> {
        let mut reader = SegmentReader::open(disk, number)?;
        let (begin, wrong) = match reader.begin() {
            Ok(begin) => (begin, None),
            Err(error) => (None, Some(error)),
        };
        Ok((Self { reader, begin }, wrong))
    }

    /// Hands the segment's readable commits to `visit`. `next` is the first record of the segment
    /// after it.
    fn read(
        &mut self,
        next: Option<Begin>,
        known: &Known,
        lost: &mut Vec<Error>,
        visit: &mut impl FnMut(Commit) -> Result<()>,
    ) -> Result<()> {
        let reader = &mut self.reader;
        let number = reader.header.number;
        let limit = next.and_then(|next| next.len_of(number));
        // The least length that the segment had: records can be missing without a trace.
        let len_min = limit.unwrap_or(0).max(known.len_min(number));
        let len_max = limit.unwrap_or(reader.len).min(reader.len);
        let mut offset = HEADER_LEN as u64;
        let mut is_unreadable = false;
        while offset < len_max {
            let (wrong, is_certain) = match reader.at(offset) {
                Ok(RecordRead::Record { record, len, .. }) => {
                    if let Record::Commit(commit) = record {
                        visit(commit)?;
                    }
                    offset += len;
                    is_unreadable = false;
                    continue;
                }
                // The log may end here.
                Ok(RecordRead::End) => {
                    (reader.damaged(offset, "records are missing after it"), false)
                }
                Ok(RecordRead::Nothing(what)) => (reader.damaged(offset, what), false),
                Err(error) => (error, true),
            };
            // The offset of the next record is unknown: try every position.
            let search = reader.next_record(offset).and_then(|next| {
                let next = next.filter(|&next| next < len_max);
                let is_known = next.is_some() || offset < len_min;
                Ok((next, is_known || reader.records_after(offset)?.anything))
            });
            match search {
                Ok((next, is_known)) => {
                    lost.extend((is_certain || is_known).then_some(wrong));
                    let Some(next) = next else { return Ok(()) };
                    offset = next;
                }
                Err(error) => {
                    // Report an unreadable stretch once.
                    lost.extend((!is_unreadable).then_some(error));
                    is_unreadable = true;
                    offset = (offset + 1).next_multiple_of(UNREADABLE_BYTES);
                }
            }
        }
        if offset < len_min {
            lost.push(reader.damaged(offset, "it ends before records that were written"));
        }
        Ok(())
    }
}
