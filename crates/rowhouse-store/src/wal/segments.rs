//! Log files: made ahead of need, and reused.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rowhouse_model::{Error, Result};

use super::segment::{self, SegmentHeader};
use crate::disk::{Disk, DiskFile};
use crate::layout::WAL_DIR;

/// The number of files retained for reuse. Overwriting a file whose blocks are allocated lets a
/// sync skip the file system's journal, which takes half of the sync time (docs/decisions/0055).
const SPARES_MAX: usize = 2;

/// Makes segments and takes them back.
pub(crate) struct Segments {
    disk: Arc<dyn Disk>,
    boot_id: [u8; 16],
    epochs: Epochs,
    segment_bytes: u64,
    next_number: AtomicU64,
    /// The segment numbers that the spare files had.
    spares: Mutex<Vec<u64>>,
}

/// The source of segment epochs.
pub(crate) enum Epochs {
    Random,
    #[cfg(test)]
    Seeded(Mutex<crate::disk::simulated::Random>),
}

/// An empty segment whose header is on disk under the segment's name.
pub(super) struct NewSegment {
    pub(super) number: u64,
    pub(super) epoch: u64,
    pub(super) file: Arc<dyn DiskFile>,
    /// The file length up to which blocks are certain to be allocated.
    room: u64,
}

/// The bytes that are allocated at once after the end of the log.
const ROOM_BYTES: u64 = 256 << 10;

/// A disk with less space than this is left to writes.
const AVAILABLE_MIN: u64 = 1 << 30;

impl NewSegment {
    /// Writes zeros after `end`, where the log ends, if the log has grown into blocks that are not
    /// allocated, and the disk has space. The syncs until it has filled them skip the file system's
    /// journal, as the syncs in a reused file do. The caller excludes appends.
    pub(super) fn make_room(&mut self, end: u64, segment_bytes: u64, disk: &dyn Disk) {
        let room = (end + ROOM_BYTES).min(segment_bytes);
        if end <= self.room || room <= end || disk.available_bytes().unwrap_or(0) < AVAILABLE_MIN {
            return;
        }
        // Zeros are no record, and the end mark is before them.
        match self.file.write_all_at(&vec![0; (room - end) as usize], end) {
            Ok(()) => self.room = room,
            Err(error) => {
                let segment = segment::path(self.number);
                tracing::debug!(segment, %error, "no room was allocated for the log");
            }
        }
    }

    /// Cuts what lies after `end`, where the log ends. The caller excludes appends.
    pub(super) fn cut(&mut self, end: u64) -> Result<()> {
        let cut = self.file.len().and_then(|len| match len > end {
            true => self.file.truncate(end),
            false => Ok(()),
        });
        cut.map_err(|source| {
            Error::io(format_args!("cannot cut {}", segment::path(self.number)), source)
        })?;
        self.room = self.room.min(end);
        Ok(())
    }
}

/// A segment that is no longer written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClosedSegment {
    pub(crate) number: u64,
    pub(crate) epoch: u64,
    /// The first sequence number that it can hold. Earlier segments hold every logged record below
    /// it.
    pub(crate) first_sequence: u64,
    pub(crate) last_sequence: u64,
    /// Bytes of the header and records.
    pub(crate) bytes: u64,
}

/// A released segment that followers need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RetainedSegment {
    pub(crate) segment: ClosedSegment,
    /// When it was released, in milliseconds since 1970.
    pub(crate) since_millis: i64,
}

impl ClosedSegment {
    /// Returns true if it holds a commit, and not only records that manifest edits left.
    pub(super) fn holds_commits(&self) -> bool {
        self.first_sequence <= self.last_sequence
    }
}

impl Segments {
    /// Takes over the files in the log's directory. Those in `spares` can be reused.
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        boot_id: [u8; 16],
        epochs: Epochs,
        segment_bytes: u64,
        next_number: u64,
        spares: Vec<u64>,
    ) -> Result<Self> {
        let segments = Self {
            disk,
            boot_id,
            epochs,
            segment_bytes,
            next_number: AtomicU64::new(next_number),
            spares: Mutex::new(spares),
        };
        let mut retained = Vec::new();
        for number in std::mem::take(&mut *segments.spares.lock()) {
            let path = segment::spare_path(number);
            let len = segments.disk.open(&path).and_then(|file| file.len());
            let len =
                len.map_err(|source| Error::io(format_args!("cannot open {path}"), source))?;
            if retained.len() < SPARES_MAX && segments.is_worth_keeping(len) {
                retained.push(number);
            } else {
                segments.remove(&path)?;
            }
        }
        *segments.spares.lock() = retained;
        Ok(segments)
    }

    /// Makes a new segment. The name and header are on disk when this returns.
    pub(super) fn make(&self) -> Result<NewSegment> {
        let header = SegmentHeader {
            number: self.next_number.fetch_add(1, Ordering::Relaxed),
            epoch: self.epochs.next(),
            boot_id: self.boot_id,
        };
        let spare = self.spares.lock().pop();
        let file = match spare {
            Some(number) => self.reuse(number, &header),
            None => self.create(&header),
        };
        let made = file.and_then(|file| Ok((file.len()?, file)));
        let (room, file) = made.map_err(|source| {
            Error::io(format_args!("cannot make {}", segment::path(header.number)), source)
        })?;
        Ok(NewSegment { number: header.number, epoch: header.epoch, file, room })
    }

    fn create(&self, header: &SegmentHeader) -> std::io::Result<Arc<dyn DiskFile>> {
        // The file gets the name only once the header is on disk, so recovery never finds a segment
        // without one.
        let path = segment::spare_path(header.number);
        let file = self.disk.create(&path)?;
        self.name(&path, file, header)
    }

    fn reuse(&self, spare: u64, header: &SegmentHeader) -> std::io::Result<Arc<dyn DiskFile>> {
        let path = segment::spare_path(spare);
        let file = self.disk.open(&path)?;
        // Otherwise a power cut could bring the old name back for the file with the new header.
        self.disk.sync_dir(WAL_DIR)?;
        self.name(&path, file, header)
    }

    fn name(
        &self,
        path: &str,
        file: Arc<dyn DiskFile>,
        header: &SegmentHeader,
    ) -> std::io::Result<Arc<dyn DiskFile>> {
        let named = || {
            file.write_all_at(&header.encode(), 0)?;
            file.sync()?;
            self.disk.rename(path, &segment::path(header.number))?;
            self.disk.sync_dir(WAL_DIR)
        };
        if let Err(error) = named() {
            // The file may have either name; the next open removes a leftover.
            let _ = self.disk.remove(path);
            let _ = self.disk.remove(&segment::path(header.number));
            return Err(error);
        }
        Ok(file)
    }

    pub(super) fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    /// Takes back a segment that is no longer needed.
    pub(super) fn retire(&self, segment: &ClosedSegment) -> Result<()> {
        let path = segment::path(segment.number);
        let mut spares = self.spares.lock();
        if spares.len() < SPARES_MAX && self.is_worth_keeping(segment.bytes) {
            self.disk
                .rename(&path, &segment::spare_path(segment.number))
                .map_err(|source| Error::io(format_args!("cannot rename {path}"), source))?;
            spares.push(segment.number);
        } else {
            self.remove(&path)?;
        }
        tracing::debug!(segment = path, "log segment no longer needed");
        Ok(())
    }

    /// Leaves a segment that is no longer needed to followers.
    pub(super) fn retain(&self, number: u64) -> Result<()> {
        let path = segment::path(number);
        self.disk
            .rename(&path, &segment::retained_path(number))
            .map_err(|source| Error::io(format_args!("cannot rename {path}"), source))
    }

    /// Removes a segment that no follower needs any more, if its file is still there.
    pub(super) fn remove_retained(&self, number: u64) -> Result<()> {
        tracing::debug!(number, "retained log segment no longer needed");
        let path = segment::retained_path(number);
        match self.disk.remove(&path) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                Err(Error::io(format_args!("cannot remove {path}"), source))
            }
            _ => Ok(()),
        }
    }

    /// Removes the files retained for reuse.
    pub(super) fn remove_spares(&self) -> Result<()> {
        let spares = std::mem::take(&mut *self.spares.lock());
        spares.into_iter().try_for_each(|number| self.remove(&segment::spare_path(number)))
    }

    /// Returns true if a file has enough blocks to overwrite and has not grown beyond the bounds.
    fn is_worth_keeping(&self, len: u64) -> bool {
        (self.segment_bytes / 2..=self.segment_bytes * 2).contains(&len)
    }

    fn remove(&self, path: &str) -> Result<()> {
        self.disk
            .remove(path)
            .map_err(|source| Error::io(format_args!("cannot remove {path}"), source))
    }
}

impl Epochs {
    #[cfg(test)]
    pub(crate) fn seeded(seed: u64) -> Self {
        Self::Seeded(Mutex::new(crate::disk::simulated::Random::new(seed)))
    }

    fn next(&self) -> u64 {
        match self {
            Self::Random => uuid::Uuid::new_v4().as_u64_pair().1,
            #[cfg(test)]
            Self::Seeded(random) => random.lock().next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::simulated::SimulatedDisk;

    #[test]
    fn spare_files_are_removed_on_request_and_collected_again_later() {
        let disk = SimulatedDisk::seeded(1);
        disk.create_dir(WAL_DIR).unwrap();
        let disk: Arc<dyn Disk> = Arc::new(disk);
        let bytes = 4 << 10;
        let segments =
            Segments::new(Arc::clone(&disk), [1; 16], Epochs::seeded(1), bytes, 1, Vec::new())
                .unwrap();
        let use_one = || {
            let NewSegment { number, epoch, file, .. } = segments.make().unwrap();
            file.write_all_at(&[7; 4 << 10], 0).unwrap();
            let first_sequence = 1;
            let last_sequence = 2;
            let closed = ClosedSegment { number, epoch, first_sequence, last_sequence, bytes };
            segments.retire(&closed).unwrap();
            number
        };
        let files = || disk.list(WAL_DIR).unwrap().len();

        use_one();
        assert_eq!(files(), 1);
        segments.remove_spares().unwrap();
        assert_eq!(files(), 0);
        assert_eq!(use_one(), 2);
        assert_eq!(files(), 1);
    }
}
