//! Checks that the log, the note on it and the manifest come from the same point in the store's
//! life. Each states how far the others had got: `docs/formats/wal.md`, "Recovery".

use rowhouse_model::{Error, Result};

use super::reader::{Begin, SegmentReader};
use super::recovery::Known;
use super::segment;
use super::synced::{self, Synced};
use crate::manifest::{LogSynced, ManifestAge};

/// A segment that was opened, and the first record in it.
pub(super) struct Opened<'a> {
    pub(super) reader: &'a mut SegmentReader,
    pub(super) begin: Option<Begin>,
}

/// Checks that the log reaches the position that the manifest states.
///
/// # Errors
/// `Corruption` if it does not; `Io`.
pub(super) fn check_log(segments: &mut [Opened<'_>], known: &Known) -> Result<()> {
    let Some(reached) = known.reached else { return Ok(()) };
    let segment = segments.iter_mut().find(|it| it.reader.header.number == reached.segment);
    let Some(Opened { reader, .. }) = segment else { return Err(missing(&reached)) };
    if reader.header.epoch != reached.epoch {
        return Err(older(&reached, "and is another segment of this number"));
    }
    let (end, _) = reader.walk()?;
    if end < reached.len {
        return Err(older(&reached, &format!("and ends at offset {end}")));
    }
    Ok(())
}

/// Checks that the manifest has the age that the log states.
///
/// # Errors
/// `Corruption` if it is older; `Io`.
pub(super) fn check_manifest(segments: &mut [Opened<'_>], known: &Known) -> Result<()> {
    let Some(age) = known.age else { return Ok(()) };
    // The first record of a segment states the highest age of all segments before it.
    let Some(last) = segments.iter_mut().rfind(|it| it.begin.is_some()) else { return Ok(()) };
    let (_, noted) = last.reader.walk()?;
    let noted = noted.max(last.begin.and_then(|begin| begin.age));
    match noted {
        Some(noted) if noted > age => Err(older_manifest(age, noted, &last.reader.path)),
        _ => Ok(()),
    }
}

/// Checks the file that notes how far the log is on the disk, if it must exist. Returns the error
/// of an invalid one, which a failed write may have left.
///
/// # Errors
/// `Corruption` if it is missing.
pub(super) fn check_note(segments: &[Opened<'_>], known: &Known) -> Result<Option<Error>> {
    let Some(reached) = known.reached.filter(|reached| reached.noted) else { return Ok(None) };
    let written = segments.iter().find(|it| it.reader.header.number == reached.segment);
    let boot_id = written.map(|it| it.reader.header.boot_id);
    // After a restart a power cut explains it.
    if known.boot_id == [0; 16] || boot_id != Some(known.boot_id) {
        return Ok(None);
    }
    let path = synced::PATH;
    match known.synced {
        Synced::UpTo(_) => Ok(None),
        Synced::Unreadable => Ok(Some(Error::corruption(format!(
            "{path} is damaged: how far the log was synced is unknown"
        )))),
        Synced::Absent => Err(Error::corruption(format!(
            "{path} is missing, and the store was not closed: the end of the log may be missing \
             too; nothing was changed"
        ))),
    }
}

/// Returns the error for a missing segment that the manifest states.
pub(super) fn missing(reached: &LogSynced) -> Error {
    older(reached, "and is missing")
}

fn older(reached: &LogSynced, what: &str) -> Error {
    let path = segment::path(reached.segment);
    Error::corruption(format!(
        "the log is older than MANIFEST, or its end is missing: {path} had reached offset {} when \
         MANIFEST was written, {what}; nothing was changed",
        reached.len
    ))
}

fn older_manifest(age: ManifestAge, noted: ManifestAge, path: &str) -> Error {
    Error::corruption(format!(
        "MANIFEST is older than the log, or its end is missing: it has {} edits of generation {}, \
         and {path} was written after edit {} of generation {}; nothing was changed",
        age.edits, age.generation, noted.edits, noted.generation
    ))
}
