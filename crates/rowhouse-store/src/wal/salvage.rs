//! Reading what is left of a damaged log.

use rowhouse_model::{Error, Result};

use super::WAL_DIR;
use super::reader::{Found, Reader};
use super::record::{ALIGN, Commit, Record};
use super::segment::{self, HEADER_LEN};
use crate::disk::Disk;

/// Hands every commit that can be read to `visit`, in order, and notes in `lost` where something
/// cannot.
///
/// # Errors
/// What `visit` says, and a directory that cannot be listed.
pub(crate) fn read_what_is_left(
    disk: &dyn Disk,
    lost: &mut Vec<Error>,
    mut visit: impl FnMut(Commit) -> Result<()>,
) -> Result<()> {
    let names = disk
        .list(WAL_DIR)
        .map_err(|source| Error::io(format_args!("cannot list {WAL_DIR}"), source))?;
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| segment::number(name)).collect();
    numbers.sort_unstable();
    for number in numbers {
        match Reader::open(disk, number) {
            Ok(mut reader) => read_segment(&mut reader, lost, &mut visit)?,
            // Without its header no record of it can be told from rubbish.
            Err(error) => lost.push(error),
        }
    }
    Ok(())
}

fn read_segment(
    reader: &mut Reader,
    lost: &mut Vec<Error>,
    visit: &mut impl FnMut(Commit) -> Result<()>,
) -> Result<()> {
    let mut offset = HEADER_LEN as u64;
    while offset < reader.len {
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
            Ok(Some(next)) => {
                lost.push(reader.damaged(offset, what));
                offset = next;
            }
            Ok(None) => return Ok(()),
            Err(error) => {
                lost.push(error);
                offset += ALIGN as u64;
            }
        }
    }
    Ok(())
}
