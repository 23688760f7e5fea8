//! The file `wal/SYNCED`: how far the log is known to be on disk.
//!
//! A record that is cut off a segment takes with it every note on how far that segment was synced.
//! This separate file tells a segment that is missing, or shorter than its synced length, from a
//! log that ends there.

use std::io;
use std::sync::Arc;

use bytes::{Buf, BufMut};
use parking_lot::Mutex;
use rowhouse_model::{Error, Result};

use super::segment::LogEnd;
use crate::disk::{Disk, DiskFile};
use crate::layout::WAL_DIR;

/// The name of the file in the log directory.
pub(super) const NAME: &str = "SYNCED";
/// The path of the file.
pub(super) const PATH: &str = "wal/SYNCED";

const MAGIC: [u8; 8] = *b"ROWHSYNC";
const VERSION: u32 = 1;
/// Less than a sector, so a power cut leaves either the old or the new version.
const LEN: usize = 44;

/// An open log's `SYNCED` file. It is overwritten in place after every sync, and no commit syncs
/// it: after a power cut an older version claims less, but nothing false.
pub(super) struct SyncedFile {
    file: Arc<dyn DiskFile>,
    written: Mutex<Written>,
}

#[derive(Default)]
struct Written {
    /// Segment and length.
    position: (u64, u64),
    failed: bool,
}

impl SyncedFile {
    /// Makes the file for a new log, replacing the previous log's file.
    pub(super) fn create(disk: &dyn Disk) -> Result<Self> {
        let create = || {
            remove(disk)?;
            disk.create(PATH)
        };
        let file =
            create().map_err(|source| Error::io(format_args!("cannot make {PATH}"), source))?;
        Ok(Self { file, written: Mutex::default() })
    }

    /// Notes that the log is on disk up to `end`, unless a later position is noted already. A
    /// failure is no log error; the file then claims less.
    pub(super) fn note(&self, end: &LogEnd) {
        let mut written = self.written.lock();
        let position = (end.segment, end.len);
        if position <= written.position {
            return;
        }
        match self.file.write_all_at(&encode(end), 0) {
            Ok(()) => *written = Written { position, failed: false },
            Err(error) => {
                if !std::mem::replace(&mut written.failed, true) {
                    tracing::warn!(file = PATH, %error, "the synced offset of the log cannot be \
                                                         written");
                }
            }
        }
    }

    /// Syncs the file, so that the contents survive a power cut.
    pub(super) fn sync(&self) {
        if let Err(error) = self.file.sync() {
            tracing::warn!(file = PATH, %error, "the synced offset of the log cannot be synced");
        }
    }
}

/// The contents of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Synced {
    /// There is no file: the log was closed, or an older version wrote it.
    #[default]
    Absent,
    /// The file has no valid contents: a power cut took them, or the file is damaged.
    Unreadable,
    /// The log was on disk up to here.
    UpTo(LogEnd),
}

/// Reads the file.
///
/// # Errors
/// `Io`, except for a file that does not exist.
pub(crate) fn read(disk: &dyn Disk) -> Result<Synced> {
    let read = || {
        let file = match disk.open(PATH) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Synced::Absent),
            file => file?,
        };
        if file.len()? != LEN as u64 {
            return Ok(Synced::Unreadable);
        }
        let mut bytes = [0; LEN];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(decode(&bytes).map_or(Synced::Unreadable, Synced::UpTo))
    };
    read().map_err(|source| Error::io(format_args!("cannot read {PATH}"), source))
}

/// Removes the file, so that it vouches for nothing.
pub(super) fn remove(disk: &dyn Disk) -> io::Result<()> {
    match disk.remove(PATH) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        // Before anything that it vouches for is removed.
        Ok(()) => disk.sync_dir(WAL_DIR),
    }
}

fn encode(end: &LogEnd) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(LEN);
    bytes.put_slice(&MAGIC);
    bytes.put_u32_le(VERSION);
    bytes.put_u32_le(0);
    bytes.put_u64_le(end.segment);
    bytes.put_u64_le(end.len);
    bytes.put_u64_le(end.last_sequence);
    bytes.put_u32_le(crc32c::crc32c(&bytes));
    bytes
}

fn decode(bytes: &[u8; LEN]) -> Option<LogEnd> {
    let (body, mut crc) = bytes.split_at(LEN - 4);
    let is_right = body.starts_with(&MAGIC) && crc.get_u32_le() == crc32c::crc32c(body);
    let mut rest = &body[MAGIC.len()..];
    let version = rest.get_u32_le();
    let _reserved = rest.get_u32_le();
    let segment = rest.get_u64_le();
    let len = rest.get_u64_le();
    let last_sequence = rest.get_u64_le();
    (is_right && version == VERSION).then_some(LogEnd { segment, len, last_sequence })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::simulated::SimulatedDisk;

    const END: LogEnd = LogEnd { segment: 3, len: 500, last_sequence: 77 };

    #[test]
    fn the_highest_end_that_was_noted_is_read_back() {
        let disk = SimulatedDisk::default();
        assert_eq!(read(&disk).unwrap(), Synced::Absent);
        let file = SyncedFile::create(&disk).unwrap();
        assert_eq!(read(&disk).unwrap(), Synced::Unreadable);
        file.note(&END);
        file.note(&LogEnd { len: 400, ..END });
        file.note(&LogEnd { segment: 2, len: 900, ..END });
        assert_eq!(read(&disk).unwrap(), Synced::UpTo(END));
        remove(&disk).unwrap();
        assert_eq!(read(&disk).unwrap(), Synced::Absent);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_seen() {
        let whole: [u8; LEN] = encode(&END).try_into().unwrap();
        assert_eq!(decode(&whole), Some(END));
        for at in 0..LEN {
            for bit in 0..8 {
                let mut damaged = whole;
                damaged[at] ^= 1 << bit;
                assert_eq!(decode(&damaged), None, "byte {at} bit {bit}");
            }
            let disk = SimulatedDisk::default();
            disk.create(PATH).unwrap().write_all_at(&whole[..at], 0).unwrap();
            assert_eq!(read(&disk).unwrap(), Synced::Unreadable, "cut to {at}");
        }
    }
}
