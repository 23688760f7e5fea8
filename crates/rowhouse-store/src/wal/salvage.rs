//! Reading what is left of a damaged log.

use rowhouse_model::{Error, Result};

use super::WAL_DIR;
use super::reader::{Begin, RecordRead, SegmentReader};
use super::record::{Commit, Record};
use super::recovery::{Known, missing};
use super::segment::{self, HEADER_LEN};
use crate::disk::Disk;

/// How far to go on behind what the disk does not give: its sectors have no more.
const UNREADABLE_BYTES: u64 = 4096;

/// Hands every commit that can be read to `visit`, in order, and notes in `lost` where something
/// cannot, and what is not there.
///
/// # Errors
/// What `visit` says, and a directory that cannot be listed.
pub(crate) fn read_what_is_left(
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
            // Without its header no record of it can be told from rubbish.
            Err(error) => lost.push(error),
        }
    }
    let begins = segments.iter().filter_map(|segment| segment.begin);
    let mut gone: Vec<u64> = known.named().chain(known.needed(begins)).collect();
    gone.sort_unstable();
    gone.dedup();
    gone.retain(|number| !numbers.contains(number));
    lost.extend(gone.into_iter().map(missing));
    // Of those before it everything is in files, and after a power cut they can be here again without
    // what they held: they may help where a file is damaged, and nothing is lost with them.
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

/// A segment of which something may be left.
struct Left {
    reader: SegmentReader,
    begin: Option<Begin>,
}

impl Left {
    /// Opens a segment; also gives what is wrong with its first record.
    fn open(disk: &dyn Disk, number: u64) -> Result<(Self, Option<Error>)> {
        let mut reader = SegmentReader::open(disk, number)?;
        let (begin, wrong) = match reader.begin() {
            Ok(begin) => (begin, None),
            Err(error) => (None, Some(error)),
        };
        Ok((Self { reader, begin }, wrong))
    }

    /// Hands out the commits of the segment that can be read, of which the one after it begins with
    /// `next`.
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
        // As long as it was at least: records can be missing of which nothing is left.
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
                // The log may just end here.
                Ok(RecordRead::End) => {
                    (reader.damaged(offset, "records are missing behind it"), false)
                }
                Ok(RecordRead::Nothing(what)) => (reader.damaged(offset, what), false),
                Err(error) => (error, true),
            };
            // Where the next record begins is not known: every place is tried.
            let found = reader.next_record(offset).and_then(|next| {
                let next = next.filter(|&next| next < len_max);
                let is_known = next.is_some() || offset < len_min;
                Ok((next, is_known || reader.behind(offset)?.anything))
            });
            match found {
                Ok((next, is_known)) => {
                    lost.extend((is_certain || is_known).then_some(wrong));
                    let Some(next) = next else { return Ok(()) };
                    offset = next;
                }
                Err(error) => {
                    // Said once of a stretch that the disk does not give.
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
