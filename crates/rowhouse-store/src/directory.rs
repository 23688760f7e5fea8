//! The data directory: who holds it, and which version wrote it (`docs/formats/data-directory.md`).

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use rowhouse_model::{Error, ErrorKind, Result};

const LOCK: &str = "LOCK";
const FORMAT: &str = "FORMAT";
/// What names in a data directory begin with.
const OWN_NAMES: [&str; 9] =
    [LOCK, FORMAT, "MANIFEST", "rowhouse.log", "wal", "files", "staging", "tmp", "aside"];
/// The format version that this code writes, and the oldest that can read what it writes.
const FORMAT_VERSION: u32 = 2;
/// The oldest version that this code reads.
const FORMAT_VERSION_OLDEST: u32 = 2;

/// Who has a data directory open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// Process id.
    pub pid: Option<u32>,
    /// Where it serves HBase clients, if it does.
    pub address: Option<String>,
}

impl Holder {
    /// Who holds the directory now; `None` when it is free or not there.
    pub fn of(dir: impl AsRef<Path>) -> Result<Option<Self>> {
        let path = dir.as_ref().join(LOCK);
        let file = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(io(format_args!("cannot open {}", path.display()), source)),
        };
        match file.try_lock() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(Some(Self::read(file))),
            Err(TryLockError::Error(source)) => {
                Err(io(format_args!("cannot lock {}", path.display()), source))
            }
        }
    }

    fn read(mut file: File) -> Self {
        let mut text = String::new();
        // What cannot be read only makes a message poorer.
        let _ = file.read_to_string(&mut text);
        let value =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        Self {
            pid: value("pid").and_then(|pid| pid.parse().ok()),
            address: value("address").map(str::to_owned),
        }
    }
}

/// A data directory held by this process until it is dropped.
pub(crate) struct Directory {
    path: PathBuf,
    lock: Mutex<File>,
}

impl Directory {
    /// Takes hold of a directory, which is made if it is not there.
    ///
    /// # Errors
    /// `InUse`, naming the holder; `Unsupported` for a directory of a newer format; `InvalidRequest` for one of
    /// something else.
    pub(crate) fn hold(path: &Path) -> Result<Self> {
        fs::create_dir_all(path)
            .map_err(|source| io(format_args!("cannot make {}", path.display()), source))?;
        refuse_foreign(path)?;
        let lock_path = path.join(LOCK);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&lock_path)
            .map_err(|source| io(format_args!("cannot open {}", lock_path.display()), source))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use(path, &Holder::read(file))),
            Err(TryLockError::Error(source)) => {
                return Err(io(format_args!("cannot lock {}", lock_path.display()), source));
            }
        }
        let directory = Self { path: path.to_owned(), lock: Mutex::new(file) };
        directory.write_holder(None)?;
        directory.check_format()?;
        Ok(directory)
    }

    /// Takes a directory that is there.
    ///
    /// # Errors
    /// As [`Directory::hold`]; `InvalidRequest` for one that holds no store.
    pub(crate) fn hold_existing(path: &Path) -> Result<Self> {
        if !is_data_directory(path) {
            let message = format!("{} is no data directory: it has no {FORMAT}", path.display());
            return Err(Error::invalid(message));
        }
        Self::hold(path)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Says where this process serves clients.
    pub(crate) fn set_address(&self, address: &str) -> Result<()> {
        self.write_holder(Some(address))
    }

    fn write_holder(&self, address: Option<&str>) -> Result<()> {
        let mut text =
            format!("pid {}\nboot {}\n", std::process::id(), uuid::Uuid::from_bytes(boot_id()));
        if let Some(address) = address {
            text.push_str(&format!("address {address}\n"));
        }
        let mut file = self.lock.lock();
        let mut write = || {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(text.as_bytes())
        };
        write().map_err(|source| io(format_args!("cannot write {LOCK}"), source))
    }

    fn check_format(&self) -> Result<()> {
        let path = self.path.join(FORMAT);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return self.write_format(&path);
            }
            Err(source) => return Err(io(format_args!("cannot read {}", path.display()), source)),
        };
        let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        let version = |name: &str| value(name).and_then(|number| number.trim().parse::<u32>().ok());
        let (Some(written), Some(least)) = (version("written-by "), version("readable-by ")) else {
            return Err(Error::corruption(format!("{} says nothing readable", path.display())));
        };
        if written < FORMAT_VERSION_OLDEST {
            return Err(Error::unsupported(format!(
                "{} was written by an older version, which this one does not read: format={written}, oldest={FORMAT_VERSION_OLDEST}",
                self.path.display()
            )));
        }
        let features = value("features").unwrap_or_default().trim();
        if least > FORMAT_VERSION || !features.is_empty() {
            return Err(Error::unsupported(format!(
                "{} was written by a newer version: format={least}, known={FORMAT_VERSION}, features={features}",
                self.path.display()
            )));
        }
        Ok(())
    }

    fn write_format(&self, path: &Path) -> Result<()> {
        let text = format!("written-by {FORMAT_VERSION}\nreadable-by {FORMAT_VERSION}\nfeatures\n");
        let write = || {
            let new = path.with_extension("new");
            let mut file = File::create(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, path)?;
            File::open(&self.path)?.sync_all()
        };
        write().map_err(|source| io(format_args!("cannot write {}", path.display()), source))
    }
}

/// Who it is, for a message.
impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "process {pid}")?,
            None => f.write_str("another process")?,
        }
        match &self.address {
            Some(address) => write!(f, ", serving at {address}"),
            None => Ok(()),
        }
    }
}

/// Whether a store was made in this directory.
pub fn is_data_directory(path: impl AsRef<Path>) -> bool {
    path.as_ref().join(FORMAT).is_file()
}

/// Refuses to make a store among files that are none of a store.
fn refuse_foreign(path: &Path) -> Result<()> {
    if is_data_directory(path) {
        return Ok(());
    }
    let entries = fs::read_dir(path)
        .map_err(|source| io(format_args!("cannot list {}", path.display()), source))?;
    for entry in entries {
        let entry =
            entry.map_err(|source| io(format_args!("cannot list {}", path.display()), source))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // What a file system has in it, or a service manager hides or logs there, does no harm.
        let is_harmless = name.starts_with('.') || name.ends_with(".log") || name == "lost+found";
        if !is_harmless && !OWN_NAMES.iter().any(|own| name.starts_with(own)) {
            let message = "there are other files, and no database: give a directory of its own";
            return Err(Error::invalid(format!("{message}: dir={}, has={name}", path.display())));
        }
    }
    Ok(())
}

fn in_use(path: &Path, holder: &Holder) -> Error {
    Error::new(ErrorKind::InUse, format!("data directory {} is held by {holder}", path.display()))
}

/// The machine's boot id: it changes with every start of the machine. Zero where there is none.
pub(crate) fn boot_id() -> [u8; 16] {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    uuid::Uuid::parse_str(text.trim()).map_or([0; 16], uuid::Uuid::into_bytes)
}

fn io(doing: impl std::fmt::Display, source: std::io::Error) -> Error {
    Error::io(doing, source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_directory_names_its_holder() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Holder::of(dir.path()).unwrap(), None);
        let held = Directory::hold(dir.path()).unwrap();
        held.set_address("127.0.0.1:16020").unwrap();
        let holder = Holder::of(dir.path()).unwrap().unwrap();
        assert_eq!(holder.pid, Some(std::process::id()));
        assert_eq!(holder.address.as_deref(), Some("127.0.0.1:16020"));
        let error = Directory::hold(dir.path()).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InUse);
        assert!(error.message().contains("127.0.0.1:16020"), "{error}");
        drop(held);
        assert_eq!(Holder::of(dir.path()).unwrap(), None);
        Directory::hold(dir.path()).unwrap();
    }

    #[test]
    fn no_store_is_made_among_files_of_something_else() {
        let dir = tempfile::tempdir().unwrap();
        for harmless in [".hidden", "lost+found", "server.log"] {
            fs::write(dir.path().join(harmless), "").unwrap();
        }
        fs::write(dir.path().join("a.csv"), "1,2").unwrap();
        let error = Directory::hold(dir.path()).map(|_| ()).unwrap_err();
        assert!(error.message().ends_with("has=a.csv"), "{error}");
        fs::remove_file(dir.path().join("a.csv")).unwrap();
        drop(Directory::hold(dir.path()).unwrap());
        // What comes later is nobody's concern.
        fs::write(dir.path().join("a.csv"), "1,2").unwrap();
        drop(Directory::hold(dir.path()).unwrap());
    }

    #[test]
    fn a_directory_of_a_newer_format_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        drop(Directory::hold(dir.path()).unwrap());
        let text = "written-by 9\nreadable-by 9\nfeatures\n";
        fs::write(dir.path().join(FORMAT), text).unwrap();
        let error = Directory::hold(dir.path()).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let text = "written-by 1\nreadable-by 1\nfeatures\n";
        fs::write(dir.path().join(FORMAT), text).unwrap();
        let error = Directory::hold(dir.path()).map(|_| ()).unwrap_err();
        assert!(error.message().contains("older version"), "{error}");
    }
}
