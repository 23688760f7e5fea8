//! The file `wal/FOLLOWERS`. Decision 0096 and `docs/formats/wal.md` draw it.

use std::fmt::Write;
use std::io;
use std::sync::Arc;

use rowhouse_model::{Error, ErrorKind, Result, TableName};

use super::{Emptied, FormerName, Owner, Registered, State};
use crate::aside;
use crate::disk::Disk;
use crate::layout::WAL_DIR;
use crate::wal::{ClosedSegment, RetainedSegment};

const PATH: &str = "wal/FOLLOWERS";
/// The file while it is written.
const NEW_PATH: &str = "wal/FOLLOWERS.new";
const VERSION: u32 = 1;

/// The longest file that is read, in bytes: the regions of a large store.
const LEN_MAX: u64 = 64 << 20;

/// Reads the file. One that is damaged is moved aside, and the followers in it are forgotten.
///
/// # Errors
/// `Io`; `Unsupported` for a file from a newer version.
pub(super) fn read(disk: &Arc<dyn Disk>, now_millis: i64) -> Result<State> {
    let read = || {
        let file = match disk.open(PATH) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let len = file.len()?;
        if len > LEN_MAX {
            return Ok(Some(Vec::new()));
        }
        let mut bytes = vec![0; len as usize];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(Some(bytes))
    };
    let bytes = read().map_err(|source| Error::io(format_args!("cannot read {PATH}"), source))?;
    let Some(bytes) = bytes else { return Ok(State::default()) };
    match decode(&bytes) {
        Err(error) if error.kind() == ErrorKind::Corruption => {
            tracing::warn!(%error, "the followers of changes are forgotten");
            aside::move_aside(&**disk, PATH, now_millis)?;
            Ok(State::default())
        }
        state => state,
    }
}

/// Replaces the file; it is on the disk when this returns. Without contents it is removed.
pub(super) fn write(disk: &dyn Disk, state: &State) -> Result<()> {
    let remove = |path| match disk.remove(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    let is_empty = state.registered.is_empty()
        && state.retained.is_empty()
        && state.emptied.is_empty()
        && state.owners.is_empty();
    let write = || {
        if is_empty {
            remove(PATH)?;
        } else {
            remove(NEW_PATH)?;
            let file = disk.create(NEW_PATH)?;
            file.write_all_at(encode(state).as_bytes(), 0)?;
            file.sync()?;
            disk.rename(NEW_PATH, PATH)?;
        }
        disk.sync_dir(WAL_DIR)
    };
    write().map_err(|source| Error::io(format_args!("cannot write {PATH}"), source))
}

fn encode(state: &State) -> String {
    let mut text = format!("followers {VERSION}\n");
    let mut line = |words: std::fmt::Arguments<'_>| {
        writeln!(text, "{words}").expect("a text takes all lines");
    };
    for (name, Registered { table_id, table, position, saved_millis }) in &state.registered {
        line(format_args!("follower {name} {table_id} {table} {position} {saved_millis}"));
    }
    for RetainedSegment { segment, since_millis } in &state.retained {
        let ClosedSegment { number, epoch, bytes, first_sequence, last_sequence } = segment;
        line(format_args!(
            "retained {number} {epoch:016x} {bytes} {first_sequence} {last_sequence} {since_millis}"
        ));
    }
    for Emptied { number, epoch, previous } in &state.emptied {
        line(format_args!("empty {number} {epoch:016x} {previous}"));
    }
    for Owner { region, table_id, last_sequence } in &state.owners {
        line(format_args!("owner {region} {table_id} {last_sequence}"));
    }
    for FormerName { table_id, name, last_sequence } in &state.names {
        line(format_args!("table {table_id} {name} {last_sequence}"));
    }
    let crc = crc32c::crc32c(text.as_bytes());
    writeln!(text, "crc32c {crc:08x}").expect("a text takes all lines");
    text
}

fn decode(bytes: &[u8]) -> Result<State> {
    let damaged = |what: &str| Error::corruption(format!("{PATH} is damaged: {what}"));
    let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is no text"))?;
    let at = text.rfind("crc32c ").ok_or_else(|| damaged("it has no checksum"))?;
    let (body, last) = text.split_at(at);
    if last != format!("crc32c {:08x}\n", crc32c::crc32c(body.as_bytes())) {
        return Err(damaged("it fails its checksum"));
    }
    let mut lines = body.lines();
    let version = lines.next().and_then(|line| line.strip_prefix("followers "));
    if version != Some(&VERSION.to_string()) {
        let version = version.unwrap_or_default();
        return Err(Error::unsupported(format!(
            "{PATH} is of another version: version={version}, known={VERSION}"
        )));
    }
    let mut state = State::default();
    for line in lines {
        take(&mut state, line).ok_or_else(|| damaged(&format!("unknown line: {line}")))?;
    }
    Ok(state)
}

/// Adds a line's contents; `None` for a line of no known form.
fn take(state: &mut State, line: &str) -> Option<()> {
    let words: Vec<&str> = line.split(' ').collect();
    let number = |word: &str| word.parse::<u64>().ok();
    let millis = |word: &str| word.parse::<i64>().ok();
    let epoch = |word: &str| u64::from_str_radix(word, 16).ok();
    match words[..] {
        ["follower", name, table_id, table, position, saved] => {
            let follower = Registered {
                table_id: number(table_id)?,
                table: TableName::parse(table).ok()?,
                position: position.parse().ok()?,
                saved_millis: millis(saved)?,
            };
            state.registered.insert(name.to_owned(), follower);
        }
        ["retained", segment, of, bytes, first, last, since] => {
            let segment = ClosedSegment {
                number: number(segment)?,
                epoch: epoch(of)?,
                bytes: number(bytes)?,
                first_sequence: number(first)?,
                last_sequence: number(last)?,
            };
            state.retained.push(RetainedSegment { segment, since_millis: millis(since)? });
        }
        ["empty", segment, of, previous] => {
            let epoch = epoch(of)?;
            let previous = number(previous)?;
            state.emptied.push(Emptied { number: number(segment)?, epoch, previous });
        }
        ["owner", region, table_id, last] => {
            let table_id = number(table_id)?;
            let last_sequence = number(last)?;
            state.owners.push(Owner { region: number(region)?, table_id, last_sequence });
        }
        ["table", table_id, name, last] => {
            let name = TableName::parse(name).ok()?;
            let last_sequence = number(last)?;
            state.names.push(FormerName { table_id: number(table_id)?, name, last_sequence });
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::simulated::SimulatedDisk;

    fn state() -> State {
        let table = TableName::parse("mail").unwrap();
        let registered = Registered {
            table_id: 12,
            table: table.clone(),
            position: "2a-40-0-00c0ffee00c0ffee".parse().unwrap(),
            saved_millis: 1_764_633_600_000,
        };
        let segment = ClosedSegment {
            number: 42,
            epoch: 0xc0_ffee,
            first_sequence: 7,
            last_sequence: 9,
            bytes: 640,
        };
        State {
            registered: [("counts".to_owned(), registered)].into(),
            retained: vec![RetainedSegment { segment, since_millis: 1_764_633_600_000 }],
            emptied: vec![Emptied { number: 43, epoch: 5, previous: 42 }],
            owners: vec![Owner { region: 45, table_id: 12, last_sequence: 8812 }],
            names: vec![FormerName { table_id: 12, name: table, last_sequence: 8812 }],
            ..State::default()
        }
    }

    #[test]
    fn the_file_has_the_lines_that_its_page_shows() {
        let text = encode(&state());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..6],
            [
                "followers 1",
                "follower counts 12 mail 2a-40-0-00c0ffee00c0ffee 1764633600000",
                "retained 42 0000000000c0ffee 640 7 9 1764633600000",
                "empty 43 0000000000000005 42",
                "owner 45 12 8812",
                "table 12 mail 8812",
            ]
        );
        assert_eq!(decode(text.as_bytes()).unwrap(), state());
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_seen() {
        let whole = encode(&state()).into_bytes();
        for at in 0..whole.len() {
            assert!(decode(&whole[..at]).is_err(), "cut to {at}");
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                assert!(decode(&damaged).is_err(), "byte {at} bit {bit}");
            }
        }
    }

    #[test]
    fn a_damaged_file_is_moved_aside_and_an_empty_state_has_none() {
        let disk: Arc<dyn Disk> = Arc::new(SimulatedDisk::default());
        disk.create_dir(WAL_DIR).unwrap();
        aside::create_dir(&*disk).unwrap();
        write(&*disk, &state()).unwrap();
        assert_eq!(read(&disk, 0).unwrap(), state());
        disk.open(PATH).unwrap().write_all_at(b"F", 0).unwrap();
        assert_eq!(read(&disk, 0).unwrap(), State::default());
        assert!(disk.open(PATH).is_err());
        write(&*disk, &state()).unwrap();
        write(&*disk, &State::default()).unwrap();
        assert!(disk.list(WAL_DIR).unwrap().is_empty());
    }
}
