//! Reading the file: whole, for who opens or checks a store, and what is left of a damaged one.

use std::collections::BTreeSet;
use std::io;

use bytes::Bytes;
use rowhouse_model::{Error, Result};

use super::ManifestState;
use super::record::{FILE_HEADER_LEN, FileHeader, Found, LEN_END, damaged};
use crate::disk::Disk;

/// The file's name in the data directory.
pub(crate) const PATH: &str = "MANIFEST";

/// Reads the manifest as it is, without changing anything; `None` when there is none.
///
/// # Errors
/// Damage, naming the offset; an edit of a newer version.
pub(crate) fn read(disk: &dyn Disk, boot_id: [u8; 16]) -> Result<Option<ManifestState>> {
    Ok(read_with_gone(disk, boot_id)?.map(|(state, _)| state))
}

/// The same, with the files that were taken away since it was last rewritten.
pub(super) fn read_with_gone(
    disk: &dyn Disk,
    boot_id: [u8; 16],
) -> Result<Option<(ManifestState, BTreeSet<u64>)>> {
    let Some(whole) = load(disk)? else { return Ok(None) };
    let header = FileHeader::decode(&whole)?;
    let mut gone = BTreeSet::new();
    let mut state = ManifestState::default();
    let mut at = FILE_HEADER_LEN;
    let wrong = loop {
        match header.at(&whole, at)? {
            Found::Edit(edit, end) => {
                gone.extend(state.files_gone(&edit));
                state.apply(&edit)?;
                at = end;
            }
            Found::End => break None,
            Found::Nothing(what) => break Some(what),
        }
    };
    settle_end(&header, &whole, at, wrong, boot_id)?;
    if state.cluster_id.is_empty() {
        return Err(damaged(at, "it does not say what store it is of"));
    }
    Ok(Some((state, gone)))
}

/// Reads what is left of a damaged manifest, and notes in `lost` where something is not.
///
/// # Errors
/// Nothing can be read at all.
pub(crate) fn read_what_is_left(disk: &dyn Disk, lost: &mut Vec<Error>) -> Result<ManifestState> {
    let whole = load(disk)?.ok_or_else(|| Error::corruption("MANIFEST is missing"))?;
    let header = FileHeader::decode(&whole)?;
    let mut state = ManifestState::default();
    let mut at = FILE_HEADER_LEN;
    loop {
        let wrong = match header.at(&whole, at) {
            Ok(Found::Edit(edit, end)) => {
                lost.extend(state.apply(&edit).err());
                at = end;
                continue;
            }
            Ok(Found::End) => None,
            // Also where the mark behind the last edit is not there.
            Ok(Found::Nothing(what)) => Some(damaged(at, what)),
            Err(error) => Some(error),
        };
        // Where the next record begins is not known: every place is tried.
        let next = (at + 1..whole.len()).find(|&at| header.record_at(&whole, at).is_some());
        let missing = || next.map(|_| damaged(at, "edits are missing behind it"));
        lost.extend(wrong.or_else(missing));
        let Some(next) = next else { break };
        at = next;
    }
    if state.cluster_id.is_empty() && state.tables.is_empty() {
        return Err(damaged(0, "none of its edits can be read"));
    }
    Ok(state)
}

fn load(disk: &dyn Disk) -> Result<Option<Bytes>> {
    let file = match disk.open(PATH) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::io("cannot open MANIFEST", source)),
    };
    let load = || {
        let mut bytes = vec![0; file.len()? as usize];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(Some(Bytes::from(bytes)))
    };
    load().map_err(|source| Error::io("cannot read MANIFEST", source))
}

/// Decides what the end of the file means: an edit that nobody was told of, or damage.
fn settle_end(
    header: &FileHeader,
    whole: &[u8],
    at: usize,
    wrong: Option<&'static str>,
    boot_id: [u8; 16],
) -> Result<()> {
    let behind = (at + 1..whole.len()).filter_map(|at| header.record_at(whole, at));
    let behind: Vec<u32> = behind.map(|(len, _)| len).collect();
    if behind.is_empty() {
        if let Some(what) = wrong {
            let bytes = whole.len() - at;
            tracing::warn!(offset = at, bytes, "an interrupted edit of MANIFEST was cut: {what}");
        }
        return Ok(());
    }
    // The power went while an edit was on its way: then nothing but the mark of its own end stands
    // behind, and no word that it was on the disk.
    let unknown = [0; 16];
    let restarted = ![header.boot_id, boot_id].contains(&unknown) && header.boot_id != boot_id;
    if restarted && behind == [LEN_END] {
        tracing::warn!(offset = at, "an edit of MANIFEST was lost with the power");
        return Ok(());
    }
    Err(damaged(at, wrong.unwrap_or("edits are missing behind it")))
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
        let header = FileHeader::new(boot_id);
        let mut bytes = header.encode();
        let created = StoreCreated { cluster_id: "id".into(), next_id: 5, ..Default::default() };
        let used = StoreCreated { next_id: 9, ..created.clone() };
        for edit in [created, used].map(|edit| Edit::new(EditKind::StoreCreated(edit))) {
            let at = bytes.len() as u64;
            header.put_edit(&mut bytes, at, &edit);
            let at = bytes.len() as u64;
            // Field 100 of an edit.
            header.put_payload(&mut bytes, at, &[0xA2, 0x06, 0x00]);
        }
        let end = bytes.len() as u64;
        header.put_end(&mut bytes, end, LEN_END);
        let disk = SimulatedDisk::seeded(0);
        disk.create(PATH).unwrap().write_all_at(&bytes, 0).unwrap();
        assert_eq!(read(&disk, boot_id).unwrap_err().kind(), ErrorKind::Unsupported);
        let mut lost = Vec::new();
        let left = read_what_is_left(&disk, &mut lost).unwrap();
        assert_eq!(left.next_id(), 9);
        let kinds: Vec<ErrorKind> = lost.iter().map(Error::kind).collect();
        assert_eq!(kinds, [ErrorKind::Unsupported; 2]);
    }
}
