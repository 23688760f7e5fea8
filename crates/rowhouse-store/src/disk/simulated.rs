//! A disk in memory that loses, tears, refuses and corrupts data on command, under a seed.
//!
//! It stores names and contents apart, as a file system does. Unsynced writes, and names in an
//! unsynced directory, survive a killed process and may be lost in a power cut. The seed decides
//! the losses: unsynced writes survive by sectors in any order, name changes in order, each
//! directory separately.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;

use super::{Disk, DiskFile};

/// The unit that reaches a medium completely or not at all.
const SECTOR_LEN: usize = 512;

/// A simulated disk. Clones share the state.
#[derive(Clone, Default)]
pub(crate) struct SimulatedDisk {
    state: Arc<Mutex<State>>,
}

/// Failure probabilities, out of 256.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    /// A write fails after writing part or none of the data.
    pub(crate) write: u8,
    /// A sync fails, and later syncs never write the data that it covered.
    pub(crate) sync: u8,
    /// A read fails.
    pub(crate) read: u8,
    /// Creating, renaming or removing a file fails.
    pub(crate) name: u8,
}

#[derive(Default)]
struct State {
    names: BTreeMap<String, Shared>,
    durable_names: BTreeMap<String, Shared>,
    /// Name changes since their directory was last synced.
    unsynced_names: Vec<NameChange>,
    /// How many writes, syncs and name changes remain until one fails, and all later ones.
    failing_in: Option<u64>,
    capacity: Option<u64>,
    faults: Faults,
    /// A sync failed and lost the data that it covered.
    lost_pages: bool,
    is_removed: bool,
    random: Random,
}

type Shared = Arc<Mutex<Contents>>;

#[derive(Clone)]
enum NameChange {
    Add(String, Shared),
    Remove(String),
}

#[derive(Clone, Default)]
struct Contents {
    current: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<Change>,
}

#[derive(Clone)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Truncate(usize),
}

/// A pseudo-random number sequence from a seed (SplitMix64).
#[derive(Clone, Debug, Default)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// Returns true with a probability of `of_256` out of 256.
    pub(crate) fn chance(&mut self, of_256: u8) -> bool {
        of_256 > 0 && self.next() % 256 < u64::from(of_256)
    }
}

impl SimulatedDisk {
    /// Returns a disk whose faults depend on `seed`.
    pub(crate) fn seeded(seed: u64) -> Self {
        let state = State { random: Random::new(seed), ..State::default() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Returns the disk as after a power cut. `seed` decides which unsynced changes survive.
    pub(crate) fn after_power_cut(&self, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let state = self.state.lock();
        let mut names = state.durable_names.clone();
        let mut dirs: Vec<&str> = state.unsynced_names.iter().map(NameChange::dir).collect();
        dirs.sort_unstable();
        dirs.dedup();
        for dir in dirs {
            let changes: Vec<_> =
                state.unsynced_names.iter().filter(|change| change.dir() == dir).collect();
            let survivors = random.below(changes.len() + 1);
            changes.into_iter().take(survivors).for_each(|change| change.apply(&mut names));
        }
        // A file has one set of contents, under any number of names.
        let mut left: Vec<(Shared, Shared)> = Vec::new();
        let names = names.into_iter().map(|(name, shared)| {
            let known = left.iter().find(|(old, _)| Arc::ptr_eq(old, &shared));
            let new = known.map(|(_, new)| Arc::clone(new)).unwrap_or_else(|| {
                let new = Arc::new(Mutex::new(shared.lock().after_power_cut(&mut random)));
                left.push((Arc::clone(&shared), Arc::clone(&new)));
                new
            });
            (name, new)
        });
        Self::with_names(names.collect(), state.lost_pages, random)
    }

    /// Returns the disk as after killing the process: with all writes.
    pub(crate) fn after_kill(&self) -> Self {
        let state = self.state.lock();
        let copy = |names: &BTreeMap<String, Shared>, copies: &mut Vec<(Shared, Shared)>| {
            let copied = names.iter().map(|(name, shared)| (name.clone(), copied(shared, copies)));
            copied.collect::<BTreeMap<_, _>>()
        };
        let mut copies = Vec::new();
        let names = copy(&state.names, &mut copies);
        let durable_names = copy(&state.durable_names, &mut copies);
        let unsynced_names = state.unsynced_names.iter().map(|change| match change {
            NameChange::Add(name, shared) => {
                NameChange::Add(name.clone(), copied(shared, &mut copies))
            }
            NameChange::Remove(name) => NameChange::Remove(name.clone()),
        });
        let unsynced_names = unsynced_names.collect();
        let random = state.random.clone();
        let lost_pages = state.lost_pages;
        let copy =
            State { names, durable_names, unsynced_names, lost_pages, random, ..State::default() };
        Self { state: Arc::new(Mutex::new(copy)) }
    }

    fn with_names(names: BTreeMap<String, Shared>, lost_pages: bool, random: Random) -> Self {
        let durable_names = names.clone();
        let state = State { durable_names, names, lost_pages, random, ..State::default() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Makes every change fail after the next `changes` ones: the machine has stopped.
    pub(crate) fn fail_after(&self, changes: u64) {
        self.state.lock().failing_in = Some(changes);
    }

    /// Lets changes succeed again after [`SimulatedDisk::fail_after`]: the disk works again.
    pub(crate) fn recover(&self) {
        self.state.lock().failing_in = None;
    }

    /// Returns true if the machine has stopped: [`SimulatedDisk::fail_after`].
    pub(crate) fn has_stopped(&self) -> bool {
        self.state.lock().failing_in == Some(0)
    }

    /// Sets the failure probabilities from now on.
    pub(crate) fn set_faults(&self, faults: Faults) {
        self.state.lock().faults = faults;
    }

    /// Lets the tree be somewhere else from now on, or not.
    pub(crate) fn set_removed(&self, is_removed: bool) {
        self.state.lock().is_removed = is_removed;
    }

    /// Sets the total bytes that files may have from now on.
    pub(crate) fn set_capacity(&self, bytes: Option<u64>) {
        self.state.lock().capacity = bytes;
    }

    /// Returns true if a sync has failed. A power cut then loses data that no later sync can save.
    pub(crate) fn has_lost_pages(&self) -> bool {
        self.state.lock().lost_pages
    }

    /// Returns the total bytes in all files.
    pub(crate) fn used_bytes(&self) -> u64 {
        self.state.lock().used_bytes()
    }

    /// Flips bits in one file byte, as a failing medium does.
    pub(crate) fn corrupt(&self, path: &str, at: usize, flip: u8) {
        let contents = self.contents(path);
        let mut contents = contents.lock();
        contents.current[at] ^= flip;
        if let Some(byte) = contents.durable.get_mut(at) {
            *byte ^= flip;
        }
    }

    /// Truncates a file, as a careless administrator does.
    pub(crate) fn cut(&self, path: &str, len: usize) {
        let contents = self.contents(path);
        let mut contents = contents.lock();
        contents.current.truncate(len);
        contents.durable.truncate(len);
    }

    /// Returns a file's length in bytes; `None` when no file has that name.
    pub(crate) fn file_len(&self, path: &str) -> Option<usize> {
        let contents = self.state.lock().names.get(path).cloned()?;
        Some(contents.lock().current.len())
    }

    /// Returns every path, sorted.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.state.lock().names.keys().cloned().collect()
    }

    /// Gives this disk the files from another disk that `is_part` chooses by their paths, in place
    /// of this disk's files.
    pub(crate) fn take_files(&self, from: &Self, is_part: impl Fn(&str) -> bool) {
        let from = from.after_kill();
        let other = from.state.lock();
        let mut state = self.state.lock();
        state.names.retain(|path, _| !is_part(path));
        let taken = other.names.iter().filter(|(path, _)| is_part(path));
        state.names.extend(taken.map(|(path, contents)| (path.clone(), Arc::clone(contents))));
    }

    /// Returns true if this disk and another one have the same files, among the files that
    /// `is_part` chooses by their paths.
    pub(crate) fn has_same_files(&self, other: &Self, is_part: impl Fn(&str) -> bool) -> bool {
        let files = |disk: &Self| -> Vec<(String, Vec<u8>)> {
            let state = disk.state.lock();
            let files = state.names.iter().filter(|(path, _)| is_part(path));
            files.map(|(path, file)| (path.clone(), file.lock().current.clone())).collect()
        };
        files(self) == files(other)
    }

    fn contents(&self, path: &str) -> Shared {
        Arc::clone(&self.state.lock().names[path])
    }

    /// Counts a change, and returns an error if it must fail.
    fn change(&self, fault: impl Fn(&Faults) -> u8) -> io::Result<()> {
        let mut state = self.state.lock();
        match &mut state.failing_in {
            Some(0) => return Err(io::Error::other("simulated stop of the machine")),
            Some(left) => *left -= 1,
            None => {}
        }
        let often = fault(&state.faults);
        if state.random.chance(often) {
            return Err(io::Error::other("simulated failure"));
        }
        Ok(())
    }
}

fn copied(shared: &Shared, copies: &mut Vec<(Shared, Shared)>) -> Shared {
    if let Some((_, copy)) = copies.iter().find(|(old, _)| Arc::ptr_eq(old, shared)) {
        return Arc::clone(copy);
    }
    let copy = Arc::new(Mutex::new(shared.lock().clone()));
    copies.push((Arc::clone(shared), Arc::clone(&copy)));
    copy
}

impl State {
    fn used_bytes(&self) -> u64 {
        self.names.values().map(|contents| contents.lock().current.len() as u64).sum()
    }

    fn rename(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.unsynced_names.push(change);
    }
}

impl NameChange {
    fn dir(&self) -> &str {
        match self {
            Self::Add(name, _) | Self::Remove(name) => parent(name),
        }
    }

    fn apply(&self, names: &mut BTreeMap<String, Shared>) {
        match self {
            Self::Add(name, contents) => names.insert(name.clone(), Arc::clone(contents)),
            Self::Remove(name) => names.remove(name),
        };
    }
}

impl Contents {
    fn after_power_cut(&self, random: &mut Random) -> Self {
        let mut left = self.durable.clone();
        // Usually a file loses everything, nothing, or its end; sometimes pieces anywhere.
        let mode = random.below(4);
        let reached = random.below(self.unsynced.len() + 1);
        for (at, change) in self.unsynced.iter().enumerate() {
            match change {
                Change::Truncate(len) if mode == 1 || (mode >= 2 && at < reached) => {
                    left.truncate(*len);
                }
                Change::Truncate(_) => {}
                Change::Write { offset, bytes } => {
                    for (start, piece) in sectors(*offset, bytes) {
                        let survives = match mode {
                            0 => false,
                            1 => true,
                            2 => at < reached || (at == reached && random.chance(128)),
                            _ => random.chance(128),
                        };
                        if survives {
                            write(&mut left, start, piece);
                        }
                    }
                }
            }
        }
        Self { current: left.clone(), durable: left, unsynced: Vec::new() }
    }
}

/// Returns a write's sectors, which reach the medium independently.
fn sectors(offset: usize, bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at == bytes.len() {
            return None;
        }
        let start = offset + at;
        let len = (SECTOR_LEN - start % SECTOR_LEN).min(bytes.len() - at);
        at += len;
        Some((start, &bytes[at - len..at]))
    })
}

fn write(contents: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if contents.len() < end {
        contents.resize(end, 0);
    }
    contents[offset..end].copy_from_slice(bytes);
}

fn not_found(path: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, path.to_owned())
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

impl Disk for SimulatedDisk {
    fn create(&self, path: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.change(|faults| faults.name)?;
        let mut state = self.state.lock();
        if state.names.contains_key(path) {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, path.to_owned()));
        }
        let contents = Shared::default();
        state.rename(NameChange::Add(path.to_owned(), Arc::clone(&contents)));
        Ok(Arc::new(SimulatedFile { disk: self.clone(), contents }))
    }

    fn open(&self, path: &str) -> io::Result<Arc<dyn DiskFile>> {
        let state = self.state.lock();
        let contents = state.names.get(path).ok_or_else(|| not_found(path))?;
        Ok(Arc::new(SimulatedFile { disk: self.clone(), contents: Arc::clone(contents) }))
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let state = self.state.lock();
        let inside = state.names.keys().filter(|path| parent(path) == dir);
        Ok(inside.map(|path| path.rsplit('/').next().unwrap_or(path).to_owned()).collect())
    }

    fn create_dir(&self, _dir: &str) -> io::Result<()> {
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.change(|faults| faults.name)?;
        let mut state = self.state.lock();
        let contents = state.names.get(from).map(Arc::clone).ok_or_else(|| not_found(from))?;
        state.rename(NameChange::Add(to.to_owned(), contents));
        state.rename(NameChange::Remove(from.to_owned()));
        Ok(())
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.change(|faults| faults.name)?;
        let mut state = self.state.lock();
        if !state.names.contains_key(path) {
            return Err(not_found(path));
        }
        state.rename(NameChange::Remove(path.to_owned()));
        Ok(())
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.change(|faults| faults.sync)?;
        let mut state = self.state.lock();
        let (synced, left) =
            state.unsynced_names.drain(..).partition(|change: &NameChange| change.dir() == dir);
        let synced: Vec<NameChange> = synced;
        state.unsynced_names = left;
        synced.iter().for_each(|change| change.apply(&mut state.durable_names));
        Ok(())
    }

    fn available_bytes(&self) -> io::Result<u64> {
        let state = self.state.lock();
        Ok(state.capacity.map_or(u64::MAX, |capacity| capacity.saturating_sub(state.used_bytes())))
    }

    fn check_in_place(&self) -> io::Result<()> {
        if self.state.lock().is_removed {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "simulated was removed or replaced",
            ));
        }
        Ok(())
    }
}

struct SimulatedFile {
    disk: SimulatedDisk,
    contents: Shared,
}

impl SimulatedFile {
    fn write(&self, bytes: &[u8], offset: usize) {
        let mut contents = self.contents.lock();
        write(&mut contents.current, offset, bytes);
        contents.unsynced.push(Change::Write { offset, bytes: bytes.to_vec() });
    }
}

impl DiskFile for SimulatedFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.contents.lock().current.len() as u64)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        {
            let mut state = self.disk.state.lock();
            let often = state.faults.read;
            if state.random.chance(often) {
                return Err(io::Error::other("simulated failure of a read"));
            }
        }
        let contents = self.contents.lock();
        let from = contents.current.get(offset as usize..).unwrap_or_default();
        let from = from.get(..buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(from);
        Ok(())
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let offset = offset as usize;
        let failed = self.disk.change(|faults| faults.write).err();
        let room = {
            let state = self.disk.state.lock();
            let len = self.contents.lock().current.len();
            let growth = (offset + bytes.len()).saturating_sub(len) as u64;
            let room = state.capacity.map(|capacity| capacity.saturating_sub(state.used_bytes()));
            room.filter(|room| *room < growth)
                .map(|room| (len + room as usize).max(offset) - offset)
        };
        if let Some(error) = failed {
            // A stopped machine writes nothing.
            if self.disk.state.lock().failing_in != Some(0) {
                let done = self.disk.state.lock().random.below(bytes.len() + 1);
                self.write(&bytes[..done.saturating_sub(1)], offset);
            }
            return Err(error);
        }
        if let Some(room) = room {
            self.write(&bytes[..room.min(bytes.len())], offset);
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.write(bytes, offset);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let failed = self.disk.change(|faults| faults.sync);
        let mut contents = self.contents.lock();
        match failed {
            Ok(()) => {
                contents.durable = apply_all(&contents);
                contents.unsynced.clear();
                Ok(())
            }
            // A stopped machine does nothing more.
            Err(error) if self.disk.has_stopped() => Err(error),
            Err(error) => {
                // The kernel has marked the pages clean: no later sync writes them.
                contents.unsynced.clear();
                self.disk.state.lock().lost_pages = true;
                Err(error)
            }
        }
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.disk.change(|faults| faults.write)?;
        let mut contents = self.contents.lock();
        contents.current.truncate(len as usize);
        contents.unsynced.push(Change::Truncate(len as usize));
        Ok(())
    }
}

/// Returns the durable contents after all unsynced changes are applied.
fn apply_all(contents: &Contents) -> Vec<u8> {
    let mut durable = contents.durable.clone();
    for change in &contents.unsynced {
        match change {
            Change::Write { offset, bytes } => write(&mut durable, *offset, bytes),
            Change::Truncate(len) => durable.truncate(*len),
        }
    }
    durable
}
