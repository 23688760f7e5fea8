//! Reading what is left of a damaged log.

use rowhouse_model::{Error, Result};

use super::WAL_DIR;
use super::reader::{Begin, Found, Reader};
use super::record::{ALIGN, Commit, Record};
use super::recovery::{Known, missing};
use super::segment::{self, HEADER_LEN};
use crate::disk::Disk;

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
            Ok(segment) => segments.push(segment),
            // Without its header no record of it can be told from rubbish.
            Err(error) => lost.push(error),
        }
    }
    let begins = segments.iter().filter_map(|segment| segment.begin);
    let gone = known.needed(begins).filter(|number| !numbers.contains(number));
    lost.extend(gone.map(missing));
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
    reader: Reader,
    begin: Option<Begin>,
}

impl Left {
    fn open(disk: &dyn Disk, number: u64) -> Result<Self> {
        let mut reader = Reader::open(disk, number)?;
        // What is wrong there is told when the segment is read.
        let begin = reader.begin().unwrap_or_default();
        Ok(Self { reader, begin })
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
        let closed_at = known.closed_at.filter(|end| end.segment == number).map(|end| end.len);
        // As long as it was at least: records can be missing of which nothing is left.
        let len_min = limit.or(closed_at).unwrap_or(0);
        let len_max = limit.unwrap_or(reader.len).min(reader.len);
        let mut offset = HEADER_LEN as u64;
        while offset < len_max {
            let what = match reader.at(offset) {
                Ok(Found::Record { record, len, .. }) => {
                    if let Record::Commit(commit) = record {
                        visit(commit)?;
                    }
                    offset += len;
                    continue;
                }
                Ok(Found::End) => "records are missing behind it",
                Ok(Found::Nothing(what)) => what,
                Err(error) => {
                    lost.push(error);
                    "it cannot be understood"
                }
            };
            // Where the next record begins is not known: every place is tried.
            match reader.next_record(offset) {
                Ok(Some(next)) if next < len_max => {
                    lost.push(reader.damaged(offset, what));
                    offset = next;
                }
                Ok(_) => {
                    let is_known = offset < len_min || reader.behind(offset)?.anything;
                    if is_known {
                        lost.push(reader.damaged(offset, what));
                    }
                    return Ok(());
                }
                Err(error) => {
                    lost.push(error);
                    offset += ALIGN as u64;
                }
            }
        }
        if offset < len_min {
            lost.push(reader.damaged(offset, "it ends before records that were written"));
        }
        Ok(())
    }
}
