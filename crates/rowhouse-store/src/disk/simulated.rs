//! A disk in memory that forgets on command.
//!
//! Names and contents are kept apart, as a file system does: what is written and not synced, and
//! names whose directory was not synced, survive a killed process and are lost with the power.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;

use super::{Disk, DiskFile};

/// The disk. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct SimulatedDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    names: BTreeMap<String, Arc<Mutex<Contents>>>,
    durable_names: BTreeMap<String, Arc<Mutex<Contents>>>,
    /// Writes, syncs and changes of names until the next one fails, and all after it.
    failing_in: Option<u64>,
}

#[derive(Clone, Default)]
struct Contents {
    current: Vec<u8>,
    durable: Vec<u8>,
}

impl SimulatedDisk {
    /// The disk as it is after the power went: unsynced contents and names are gone, but for the
    /// first `torn_bytes` of what each file had gained.
    pub(crate) fn after_power_cut(&self, torn_bytes: usize) -> Self {
        let state = self.state.lock();
        let names = state.durable_names.iter().map(|(name, contents)| {
            let contents = contents.lock();
            let mut left = contents.durable.clone();
            if contents.current.starts_with(&left) {
                let gained = &contents.current[left.len()..];
                left.extend_from_slice(&gained[..torn_bytes.min(gained.len())]);
            }
            let contents = Contents { current: left.clone(), durable: left };
            (name.clone(), Arc::new(Mutex::new(contents)))
        });
        Self::with_names(names.collect())
    }

    /// The disk as it is after the process was killed: everything that was written is there.
    pub(crate) fn after_kill(&self) -> Self {
        let state = self.state.lock();
        let names = state
            .names
            .iter()
            .map(|(name, contents)| (name.clone(), Arc::new(Mutex::new(contents.lock().clone()))));
        Self::with_names(names.collect())
    }

    fn with_names(names: BTreeMap<String, Arc<Mutex<Contents>>>) -> Self {
        let state = State { durable_names: names.clone(), names, failing_in: None };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Has every change from the `changes`th from now on fail.
    pub(crate) fn fail_after(&self, changes: u64) {
        self.state.lock().failing_in = Some(changes);
    }

    /// Flips bits of one byte of a file, as a failing medium does.
    pub(crate) fn corrupt(&self, path: &str, at: usize, flip: u8) {
        let contents = Arc::clone(&self.state.lock().names[path]);
        contents.lock().current[at] ^= flip;
    }

    fn change(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        match &mut state.failing_in {
            Some(0) => Err(io::Error::other("simulated failure")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

fn not_found(path: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, path.to_owned())
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

impl Disk for SimulatedDisk {
    fn create(&self, path: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.change()?;
        let mut state = self.state.lock();
        if state.names.contains_key(path) {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, path.to_owned()));
        }
        let contents = Arc::<Mutex<Contents>>::default();
        state.names.insert(path.to_owned(), Arc::clone(&contents));
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
        self.change()?;
        let mut state = self.state.lock();
        let contents = state.names.remove(from).ok_or_else(|| not_found(from))?;
        state.names.insert(to.to_owned(), contents);
        Ok(())
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.change()?;
        let removed = self.state.lock().names.remove(path);
        removed.map(|_| ()).ok_or_else(|| not_found(path))
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.change()?;
        let mut state = self.state.lock();
        state.durable_names.retain(|path, _| parent(path) != dir);
        let inside: Vec<_> = state
            .names
            .iter()
            .filter(|(path, _)| parent(path) == dir)
            .map(|(path, contents)| (path.clone(), Arc::clone(contents)))
            .collect();
        state.durable_names.extend(inside);
        Ok(())
    }
}

struct SimulatedFile {
    disk: SimulatedDisk,
    contents: Arc<Mutex<Contents>>,
}

impl DiskFile for SimulatedFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.contents.lock().current.len() as u64)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let contents = self.contents.lock();
        let from = contents.current.get(offset as usize..).unwrap_or_default();
        let from = from.get(..buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(from);
        Ok(())
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.disk.change()?;
        let mut contents = self.contents.lock();
        let end = offset as usize + bytes.len();
        if contents.current.len() < end {
            contents.current.resize(end, 0);
        }
        contents.current[offset as usize..end].copy_from_slice(bytes);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.change()?;
        let mut contents = self.contents.lock();
        contents.durable = contents.current.clone();
        Ok(())
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.disk.change()?;
        self.contents.lock().current.truncate(len as usize);
        Ok(())
    }
}
