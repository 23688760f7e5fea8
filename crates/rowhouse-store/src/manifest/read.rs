//! Reads the two manifest copies: in full, to open or check a store, and as far as possible when
//! they are damaged.

use std::collections::BTreeSet;
use std::io;

use bytes::Bytes;
use rowhouse_model::{Error, ErrorKind, Result};

use super::ManifestState;
use super::record::{EditRead, FILE_HEADER_LEN, FileHeader, LEN_END};
use crate::disk::Disk;

/// The file's name in the data directory.
pub(crate) const PATH: &str = "MANIFEST";
/// The copy's name. An edit is synced to `MANIFEST`, then to the copy, and then acknowledged.
pub(crate) const COPY_PATH: &str = "MANIFEST.copy";

/// A manifest's age. It rises with every edit, in field order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ManifestAge {
    /// How many times the manifest was rewritten.
    pub(crate) generation: u32,
    /// The edits written since, and the edits in the rewrite.
    pub(crate) edits: u64,
}

/// A manifest that was read without damage.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) state: ManifestState,
    /// Files removed since the manifest was last rewritten.
    pub(crate) gone: BTreeSet<u64>,
    pub(crate) age: ManifestAge,
    /// Defects in one copy. The other copy is complete, and the next open rewrites both.
    pub(crate) wrong: Vec<Error>,
}

/// Reads the manifest from the copy with more edits, without changing anything; `None` when there
/// is none.
///
/// # Errors
/// Damage in both copies, with the offset; an edit from a newer version.
pub(crate) fn read(disk: &dyn Disk, boot_id: [u8; 16]) -> Result<Option<Whole>> {
    choose(read_file(disk, PATH, boot_id), read_file(disk, COPY_PATH, boot_id))
}

/// Decides which copy to use. An edit is on disk in both before it is acknowledged, so either one
/// suffices; a copy that cannot be written is removed.
fn choose(original: Result<Option<Whole>>, copy: Result<Option<Whole>>) -> Result<Option<Whole>> {
    let is_newer = |error: &Error| error.kind() == ErrorKind::Unsupported;
    let repaired = |mut whole: Whole, wrong: Error| {
        whole.wrong.push(wrong);
        Ok(Some(whole))
    };
    let missing = |path| Error::corruption(format!("{path} is missing"));
    match (original, copy) {
        (Err(error), _) | (_, Err(error)) if is_newer(&error) => Err(error),
        (Ok(Some(original)), Ok(Some(copy))) => choose_newer(original, copy).map(Some),
        (Ok(Some(original)), Ok(None)) if original.age.generation == 0 => Ok(Some(original)),
        (Ok(Some(original)), Ok(None)) => repaired(original, missing(COPY_PATH)),
        (Ok(Some(original)), Err(wrong)) => repaired(original, wrong),
        (Ok(None), Ok(Some(copy))) => repaired(copy, missing(PATH)),
        (Err(wrong), Ok(Some(copy))) => repaired(copy, wrong),
        (Ok(None), Ok(None)) => Ok(None),
        (Ok(None), Err(error)) | (Err(error), Ok(None)) => Err(error),
        (Err(error), Err(other)) => {
            Err(Error::new(error.kind(), format!("{error}; {other}")).with_source(error))
        }
    }
}

fn choose_newer(mut original: Whole, mut copy: Whole) -> Result<Whole> {
    if original.state.cluster_id != copy.state.cluster_id {
        return Err(Error::corruption(format!(
            "{PATH} and {COPY_PATH} are of different stores: cluster ids {} and {}; nothing was changed",
            original.state.cluster_id, copy.state.cluster_id
        )));
    }
    if copy.age > original.age {
        copy.wrong.push(Error::corruption(format!(
            "{PATH} is older than {COPY_PATH}: it lacks edits that were made"
        )));
        return Ok(copy);
    }
    // A copy that lacks one edit comes from a process killed between the two writes.
    let newest = original.age;
    let age = copy.age;
    let is_older = age.generation == newest.generation && age.edits + 1 < newest.edits;
    if is_older || age.generation + 1 < newest.generation {
        original.wrong.push(Error::corruption(format!(
            "{COPY_PATH} is older than {PATH}: it lacks edits that were made"
        )));
    }
    Ok(original)
}

fn read_file(disk: &dyn Disk, path: &'static str, boot_id: [u8; 16]) -> Result<Option<Whole>> {
    let Some(bytes) = load(disk, path)? else { return Ok(None) };
    let header = FileHeader::decode(path, &bytes)?;
    let mut whole = Whole {
        state: ManifestState::default(),
        gone: BTreeSet::new(),
        age: ManifestAge { generation: header.generation, edits: 0 },
        wrong: Vec::new(),
    };
    let mut at = FILE_HEADER_LEN;
    let wrong = loop {
        match header.at(&bytes, at)? {
            EditRead::Edit(edit, end) => {
                whole.gone.extend(whole.state.files_gone(&edit));
                whole.state.apply(&edit)?;
                whole.age.edits += 1;
                at = end;
            }
            EditRead::End => break None,
            EditRead::Nothing(what) => break Some(what),
        }
    };
    classify_end(&header, &bytes, at, wrong, boot_id)?;
    if whole.state.cluster_id.is_empty() {
        return Err(header.damaged(at, "it does not name its store"));
    }
    Ok(Some(whole))
}

/// Reads the store's id, which the first edit in each copy has, also while edits are appended.
///
/// # Errors
/// `Corruption` if neither copy begins with one; `Io`.
pub(crate) fn read_cluster_id(disk: &dyn Disk) -> Result<String> {
    let read = |path: &'static str| {
        let bytes = load(disk, path)?;
        let bytes = bytes.ok_or_else(|| Error::corruption(format!("{path} is missing")))?;
        let header = FileHeader::decode(path, &bytes)?;
        let mut state = ManifestState::default();
        if let EditRead::Edit(edit, _) = header.at(&bytes, FILE_HEADER_LEN)? {
            state.apply(&edit)?;
        }
        if state.cluster_id.is_empty() {
            return Err(header.damaged(FILE_HEADER_LEN, "it does not name its store"));
        }
        Ok(state.cluster_id)
    };
    read(PATH).or_else(|error| read(COPY_PATH).map_err(|_| error))
}

/// The readable part of a damaged manifest, and the errors for the rest.
struct Left {
    state: ManifestState,
    lost: Vec<Error>,
}

/// Reads the manifest if either copy is undamaged, and returns its age too, otherwise the readable
/// part from the copy that lost less. Adds an error to `lost` for everything that is lost.
pub(crate) fn read_readable(
    disk: &dyn Disk,
    boot_id: [u8; 16],
    lost: &mut Vec<Error>,
) -> (ManifestState, Option<ManifestAge>) {
    if let Ok(Some(whole)) = read(disk, boot_id) {
        return (whole.state, Some(whole.age));
    }
    let left = match (left_of(disk, PATH), left_of(disk, COPY_PATH)) {
        (Ok(original), Ok(copy)) if copy.lost.len() < original.lost.len() => copy,
        (Ok(original), _) => original,
        (Err(_), Ok(copy)) => copy,
        (Err(error), Err(_)) => Left { state: ManifestState::default(), lost: vec![error] },
    };
    lost.extend(left.lost);
    (left.state, None)
}

fn left_of(disk: &dyn Disk, path: &'static str) -> Result<Left> {
    let bytes = load(disk, path)?;
    let bytes = bytes.ok_or_else(|| Error::corruption(format!("{path} is missing")))?;
    let mut left = Left { state: ManifestState::default(), lost: Vec::new() };
    let header = FileHeader::decode(path, &bytes).unwrap_or_else(|error| {
        left.lost.push(error);
        FileHeader::unreadable(path)
    });
    let mut at = FILE_HEADER_LEN;
    loop {
        let wrong = match header.at(&bytes, at) {
            Ok(EditRead::Edit(edit, end)) => {
                left.lost.extend(left.state.apply(&edit).err());
                at = end;
                continue;
            }
            Ok(EditRead::End) => None,
            // Also when the end mark is missing.
            Ok(EditRead::Nothing(what)) => Some(header.damaged(at, what)),
            Err(error) => Some(error),
        };
        // The next record's offset is unknown: try every position.
        let next = (at + 1..bytes.len()).find(|&at| header.record_at(&bytes, at).is_some());
        let missing = || next.map(|_| header.damaged(at, "edits are missing after it"));
        left.lost.extend(wrong.or_else(missing));
        let Some(next) = next else { break };
        at = next;
    }
    if left.state.cluster_id.is_empty() && left.state.tables.is_empty() {
        return Err(header.damaged(0, "none of its edits can be read"));
    }
    Ok(left)
}

fn load(disk: &dyn Disk, path: &str) -> Result<Option<Bytes>> {
    let file = match disk.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::io(format_args!("cannot open {path}"), source)),
    };
    let load = || {
        let mut bytes = vec![0; file.len()? as usize];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(Some(Bytes::from(bytes)))
    };
    load().map_err(|source| Error::io(format_args!("cannot read {path}"), source))
}

/// Decides whether the file ends with an edit that was never acknowledged, or with damage.
fn classify_end(
    header: &FileHeader,
    whole: &[u8],
    at: usize,
    wrong: Option<&'static str>,
    boot_id: [u8; 16],
) -> Result<()> {
    let later = (at + 1..whole.len()).filter_map(|at| header.record_at(whole, at));
    let later: Vec<u32> = later.map(|(len, _)| len).collect();
    if later.is_empty() {
        if let Some(what) = wrong {
            let bytes = whole.len() - at;
            tracing::warn!(
                offset = at,
                bytes,
                "an incomplete edit of MANIFEST was cut off: {what}"
            );
        }
        return Ok(());
    }
    // A power cut during an append leaves nothing after this position except the edit's own end
    // mark, and no mark that it was synced.
    let unknown = [0; 16];
    let restarted = ![header.boot_id, boot_id].contains(&unknown) && header.boot_id != boot_id;
    if restarted && later == [LEN_END] {
        tracing::warn!(offset = at, "an edit of MANIFEST was lost in a power cut");
        return Ok(());
    }
    Err(header.damaged(at, wrong.unwrap_or("edits are missing after it")))
}

#[cfg(test)]
mod tests {
    use rowhouse_model::ErrorKind;

    use super::*;
    use crate::disk::simulated::SimulatedDisk;
    use crate::manifest::{Edit, EditKind, StoreCreated};

    #[test]
    fn an_edit_of_a_newer_version_refuses_the_file_and_costs_a_salvage_only_itself() {
        let boot_id = [7; 16];
        let header = FileHeader::new(boot_id, 0);
        let mut bytes = header.encode();
        let created = StoreCreated { cluster_id: "id".into(), next_id: 5, ..Default::default() };
        let used = StoreCreated { next_id: 9, ..created.clone() };
        for edit in [created, used].map(|edit| Edit::new(EditKind::StoreCreated(edit))) {
            let at = bytes.len() as u64;
            header.put_edit(&mut bytes, at, &edit);
            let at = bytes.len() as u64;
            // Field 100 in an edit.
            header.put_payload(&mut bytes, at, &[0xA2, 0x06, 0x00]);
        }
        let end = bytes.len() as u64;
        header.put_end(&mut bytes, end, LEN_END);
        let disk = SimulatedDisk::seeded(0);
        disk.create(PATH).unwrap().write_all_at(&bytes, 0).unwrap();
        assert_eq!(read(&disk, boot_id).unwrap_err().kind(), ErrorKind::Unsupported);
        let mut lost = Vec::new();
        let (left, _) = read_readable(&disk, boot_id, &mut lost);
        assert_eq!(left.next_id(), 9);
        let kinds: Vec<ErrorKind> = lost.iter().map(Error::kind).collect();
        assert_eq!(kinds, [ErrorKind::Unsupported; 2]);
    }
}
