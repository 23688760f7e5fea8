//! The data directory: the holder and format version (`docs/formats/data-directory.md`).

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use rowhouse_model::{Error, ErrorKind, Result};

use crate::disk::RealDisk;
use crate::manifest;

pub(crate) const LOCK: &str = "LOCK";
/// The line in [`LOCK`] for a server that does not serve yet.
const STARTING: &str = "starting";
const FORMAT: &str = "FORMAT";
/// The prefixes of names in a data directory.
const OWN_NAMES: [&str; 11] = [
    LOCK,
    FORMAT,
    "MANIFEST",
    "heat",
    "rowhouse.log",
    "users",
    "wal",
    "files",
    "staging",
    "tmp",
    "aside",
];
/// The format version that this code writes, and the oldest version that can read it.
const FORMAT_VERSION: u32 = 5;
/// The first version whose [`FORMAT`] has a checksum.
const FORMAT_VERSION_CHECKSUM: u32 = 3;
/// The prefix on the checksum line. The checksum covers everything before it.
const CHECKSUM: &str = "crc32c ";
/// The oldest version that this code reads.
const FORMAT_VERSION_OLDEST: u32 = 2;

/// The process that has a data directory open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// Process id.
    pub pid: Option<u32>,
    /// The address at which it serves HBase clients, if it does.
    pub address: Option<String>,
    /// Whether it is a server that does not serve yet.
    pub is_starting: bool,
}

impl Holder {
    /// Returns the directory's current holder; `None` when it is free or does not exist.
    pub fn of(dir: impl AsRef<Path>) -> Result<Option<Self>> {
        let path = dir.as_ref().join(LOCK);
        let file = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            Err(error) if is_missing(&error) => return Ok(None),
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
        // Unreadable parts only make a message less complete.
        let _ = file.read_to_string(&mut text);
        let value =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        Self {
            pid: value("pid").and_then(|pid| pid.parse().ok()),
            address: value("address").map(str::to_owned),
            is_starting: text.lines().any(|line| line == STARTING),
        }
    }
}

/// A data directory held by this process until it is dropped.
pub(crate) struct Directory {
    path: PathBuf,
    lock: Mutex<File>,
}

impl Directory {
    /// Locks a directory, creating it if it does not exist.
    ///
    /// # Errors
    /// `InUse`, with the holder; `Unsupported` for a directory with a newer format;
    /// `InvalidRequest` for one with other files.
    pub(crate) fn hold(path: &Path, state: HolderState<'_>) -> Result<Self> {
        create_data_directory(path)?;
        refuse_foreign(path)?;
        let file = match lock(path)? {
            Lock::Held(file) => file,
            Lock::NoFile => {
                let source = std::io::Error::from(std::io::ErrorKind::ReadOnlyFilesystem);
                return Err(io(format_args!("cannot write to {}", path.display()), source));
            }
        };
        let directory = Self { path: path.to_owned(), lock: Mutex::new(file) };
        directory.write_holder(state)?;
        directory.check_format()?;
        Ok(directory)
    }

    /// Locks an existing directory.
    ///
    /// # Errors
    /// As [`Directory::hold`]; `InvalidRequest` for one without a store.
    pub(crate) fn hold_existing(path: &Path, state: HolderState<'_>) -> Result<Self> {
        refuse_without_store(path)?;
        Self::hold(path, state)
    }

    /// Returns the directory's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Records the address at which this process serves clients.
    pub(crate) fn set_address(&self, address: &str) -> Result<()> {
        self.write_holder(HolderState::Serves(address))
    }

    fn write_holder(&self, state: HolderState<'_>) -> Result<()> {
        write_holder(&mut self.lock.lock(), state)
            .map_err(|source| io(format_args!("cannot write {LOCK}"), source))
    }

    /// Refuses an unknown format, and writes the current one if there is none or an older one.
    fn check_format(&self) -> Result<()> {
        match read_format(&self.path)? {
            Some(FORMAT_VERSION..) => return Ok(()),
            Some(older) => {
                tracing::info!(format = older, present = FORMAT_VERSION, "data directory upgraded");
            }
            // The files' own versions are checked later.
            None if is_data_directory(&self.path) => {
                tracing::warn!(dir = %self.path.display(), "{FORMAT} is missing and is written \
                                                            again");
            }
            None => {}
        }
        self.write_format(&self.path.join(FORMAT))
    }

    fn write_format(&self, path: &Path) -> Result<()> {
        let text = format_text();
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

/// What this process does with the directory that it holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HolderState<'a> {
    /// It uses the directory itself.
    Embedded,
    /// It is going to serve clients.
    Starting,
    /// It serves clients at this address.
    Serves(&'a str),
}

/// Writes the holder into the lock file.
fn write_holder(file: &mut File, state: HolderState<'_>) -> std::io::Result<()> {
    let mut text =
        format!("pid {}\nboot {}\n", std::process::id(), uuid::Uuid::from_bytes(boot_id()));
    match state {
        HolderState::Embedded => {}
        HolderState::Starting => text.push_str(&format!("{STARTING}\n")),
        HolderState::Serves(address) => text.push_str(&format!("address {address}\n")),
    }
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(text.as_bytes())
}

/// Returns the [`FORMAT`] contents.
fn format_text() -> String {
    let text = format!("written-by {FORMAT_VERSION}\nreadable-by {FORMAT_VERSION}\nfeatures\n");
    let crc = crc32c::crc32c(text.as_bytes());
    format!("{text}{CHECKSUM}{crc:08x}\n")
}

/// Returns the version that wrote a directory; `None` without a [`FORMAT`].
///
/// # Errors
/// `Corruption` for a damaged file; `Unsupported` for a version that this code does not read.
fn read_format(dir: &Path) -> Result<Option<u32>> {
    let path = dir.join(FORMAT);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(io(format_args!("cannot read {}", path.display()), source)),
    };
    parse_format(&String::from_utf8_lossy(&bytes), dir).map(Some)
}

fn parse_format(text: &str, dir: &Path) -> Result<u32> {
    let damaged = |what: &str| {
        let path = dir.join(FORMAT);
        Error::corruption(format!("{} is damaged: {what}; nothing was changed", path.display()))
    };
    let (body, checksum) = match text.rfind(CHECKSUM) {
        Some(at) => (&text[..at], Some(&text[at + CHECKSUM.len()..])),
        None => (text, None),
    };
    let crc = format!("{:08x}\n", crc32c::crc32c(body.as_bytes()));
    if checksum.is_some_and(|checksum| checksum != crc) {
        return Err(damaged("it fails its checksum"));
    }
    let value = |name: &str| body.lines().find_map(|line| line.strip_prefix(name));
    let version = |name: &str| value(name).and_then(|number| number.trim().parse::<u32>().ok());
    let (Some(written), Some(least)) = (version("written-by "), version("readable-by ")) else {
        return Err(damaged("it is unreadable"));
    };
    if checksum.is_none() && written >= FORMAT_VERSION_CHECKSUM {
        return Err(damaged("it has no checksum"));
    }
    if written < FORMAT_VERSION_OLDEST {
        return Err(Error::unsupported(format!(
            "{} was written by an older version, which this one does not read: format={written}, oldest={FORMAT_VERSION_OLDEST}",
            dir.display()
        )));
    }
    let features = value("features").unwrap_or_default().trim();
    if least > FORMAT_VERSION || !features.is_empty() {
        return Err(Error::unsupported(format!(
            "{} was written by a newer version: format={least}, known={FORMAT_VERSION}, features={features}",
            dir.display()
        )));
    }
    Ok(written)
}

/// A data directory opened for reading only: it may be on a read-only mount.
pub(crate) struct ReadOnlyDirectory {
    /// The lock, if there is a file to lock.
    _lock: Option<File>,
    /// Defects in the files read here. The rest of the store can still be read.
    pub(crate) wrong: Vec<Error>,
    /// Why other processes can write to the directory meanwhile.
    pub(crate) unlocked: Option<String>,
}

impl ReadOnlyDirectory {
    /// Opens an existing directory for reading.
    ///
    /// # Errors
    /// `InUse`, with the holder; `Unsupported` for a directory with a newer format;
    /// `InvalidRequest` for one without a store.
    pub(crate) fn at(path: &Path) -> Result<Self> {
        refuse_without_store(path)?;
        let (lock, unlocked) = match lock(path)? {
            Lock::Held(mut file) => {
                // On a read-only mount the holder cannot be recorded.
                let _ = write_holder(&mut file, HolderState::Embedded);
                (Some(file), None)
            }
            Lock::NoFile => {
                let dir = path.display();
                let why = format!(
                    "{dir} is on a read-only mount and has no {LOCK}: it is read without a lock"
                );
                (None, Some(why))
            }
        };
        let wrong = match read_format(path) {
            Ok(Some(_)) => None,
            Ok(None) => Some(Error::corruption(format!(
                "{} is missing; the next open writes it again",
                path.join(FORMAT).display()
            ))),
            Err(error) if error.kind() == ErrorKind::Corruption => Some(error),
            Err(error) => return Err(error),
        };
        Ok(Self { _lock: lock, wrong: wrong.into_iter().collect(), unlocked })
    }
}

enum Lock {
    Held(File),
    /// There is no file to lock, and none can be created.
    NoFile,
}

/// Locks a directory without changing it, except for creating the lock file where possible.
fn lock(dir: &Path) -> Result<Lock> {
    let path = dir.join(LOCK);
    let cannot_open = |source| io(format_args!("cannot open {}", path.display()), source);
    let made = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
    let file = match made {
        Ok(file) => file,
        Err(error) => {
            let is_read_only = error.kind() == std::io::ErrorKind::ReadOnlyFilesystem;
            if !is_read_only && error.kind() != std::io::ErrorKind::PermissionDenied {
                return Err(cannot_open(error));
            }
            // Locking needs no write permission.
            match File::open(&path) {
                Ok(file) => file,
                Err(missing) if is_read_only && missing.kind() == std::io::ErrorKind::NotFound => {
                    return Ok(Lock::NoFile);
                }
                Err(_) => return Err(cannot_open(error)),
            }
        }
    };
    match file.try_lock() {
        Ok(()) => Ok(Lock::Held(file)),
        Err(TryLockError::WouldBlock) => Err(in_use(dir, &Holder::read(file))),
        Err(TryLockError::Error(source)) => {
            Err(io(format_args!("cannot lock {}", path.display()), source))
        }
    }
}

/// Describes the holder for a message.
impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "process {pid}")?,
            None => f.write_str("another process")?,
        }
        match &self.address {
            Some(address) => write!(f, ", serving at {address}"),
            None if self.is_starting => f.write_str(", a server that is starting"),
            None => Ok(()),
        }
    }
}

/// Creates a directory for a store, with mode 0700: the files have the cells from all tables in
/// clear. One that exists stays as it is.
///
/// # Errors
/// `Io`.
pub fn create_data_directory(path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let create = || {
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs::create_dir_all(parent)?;
        }
        match DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && path.is_dir() => {
                Ok(())
            }
            created => created,
        }
    };
    create().map_err(|source| io(format_args!("cannot make {}", path.display()), source))
}

/// Returns true if a store was created in this directory.
pub fn is_data_directory(path: impl AsRef<Path>) -> bool {
    // Each file here suffices to read the store.
    [FORMAT, manifest::PATH, manifest::COPY_PATH]
        .iter()
        .any(|name| path.as_ref().join(name).is_file())
}

/// Returns the cluster id of the store in a directory, which may be open elsewhere.
///
/// # Errors
/// `InvalidRequest` for a directory without a store; `Io`; `Corruption` if it cannot be read.
pub fn cluster_id_of(path: impl AsRef<Path>) -> Result<String> {
    let path = path.as_ref();
    refuse_without_store(path)?;
    manifest::read_cluster_id(&RealDisk::read_only(path))
}

fn refuse_without_store(path: &Path) -> Result<()> {
    if is_data_directory(path) {
        return Ok(());
    }
    let dir = path.display();
    Err(Error::invalid(match fs::metadata(path) {
        Ok(entry) if entry.is_dir() => format!("{dir} is not a data directory: it has no {FORMAT}"),
        Ok(_) => format!("not a directory: {dir}"),
        Err(error) if is_missing(&error) => format!("no such directory: {dir}"),
        Err(source) => return Err(io(format_args!("cannot read {dir}"), source)),
    }))
}

/// Refuses to create a store among files from other programs.
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
        // Files that belong to the file system, and hidden files or logs from a service manager, do
        // no harm.
        let is_harmless = name.starts_with('.') || name.ends_with(".log") || name == "lost+found";
        if !is_harmless && !OWN_NAMES.iter().any(|own| name.starts_with(own)) {
            let message = "the directory has other files and no database: choose an empty \
                           directory";
            return Err(Error::invalid(format!("{message}: dir={}, has={name}", path.display())));
        }
    }
    Ok(())
}

/// Returns true if there is no entry with that name, or no directory that could have one.
fn is_missing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

fn in_use(path: &Path, holder: &Holder) -> Error {
    Error::new(ErrorKind::InUse, format!("data directory {} is held by {holder}", path.display()))
}

/// Returns the machine's boot id, which changes with every boot. Zero if the system has none.
pub(crate) fn boot_id() -> [u8; 16] {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    uuid::Uuid::parse_str(text.trim()).map_or([0; 16], uuid::Uuid::into_bytes)
}

fn io(doing: impl std::fmt::Display, source: std::io::Error) -> Error {
    Error::io(doing, source)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_new_directory_is_the_users_alone_and_an_existing_one_keeps_its_mode() {
        let dir = tempfile::tempdir().unwrap();
        let new = dir.path().join("parent/new");
        drop(Directory::hold(&new, HolderState::Embedded).unwrap());
        assert_eq!(mode(&new), 0o700);
        let existing = dir.path().join("existing");
        DirBuilder::new().mode(0o750).create(&existing).unwrap();
        fs::set_permissions(&existing, fs::Permissions::from_mode(0o750)).unwrap();
        drop(Directory::hold(&existing, HolderState::Embedded).unwrap());
        assert_eq!(mode(&existing), 0o750);
        fs::write(dir.path().join("file"), "").unwrap();
        assert!(create_data_directory(dir.path().join("file")).is_err());
    }

    #[test]
    fn a_held_directory_names_its_holder() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Holder::of(dir.path()).unwrap(), None);
        let held = Directory::hold(dir.path(), HolderState::Starting).unwrap();
        let holder = Holder::of(dir.path()).unwrap().unwrap();
        assert!(holder.is_starting && holder.address.is_none(), "{holder}");
        held.set_address("127.0.0.1:16020").unwrap();
        let holder = Holder::of(dir.path()).unwrap().unwrap();
        assert_eq!(holder.pid, Some(std::process::id()));
        assert_eq!(holder.address.as_deref(), Some("127.0.0.1:16020"));
        assert!(!holder.is_starting);
        let error = Directory::hold(dir.path(), HolderState::Embedded).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InUse);
        assert!(error.message().contains("127.0.0.1:16020"), "{error}");
        drop(held);
        assert_eq!(Holder::of(dir.path()).unwrap(), None);
        fs::write(dir.path().join("file"), "").unwrap();
        assert_eq!(Holder::of(dir.path().join("file")).unwrap(), None);
        fs::remove_file(dir.path().join("file")).unwrap();
        Directory::hold(dir.path(), HolderState::Embedded).unwrap();
    }

    #[test]
    fn no_store_is_made_among_files_of_something_else() {
        let dir = tempfile::tempdir().unwrap();
        for harmless in [".hidden", "lost+found", "server.log"] {
            fs::write(dir.path().join(harmless), "").unwrap();
        }
        fs::write(dir.path().join("a.csv"), "1,2").unwrap();
        let error = Directory::hold(dir.path(), HolderState::Embedded).map(|_| ()).unwrap_err();
        assert!(error.message().ends_with("has=a.csv"), "{error}");
        fs::remove_file(dir.path().join("a.csv")).unwrap();
        drop(Directory::hold(dir.path(), HolderState::Embedded).unwrap());
        // Files that appear later are not checked.
        fs::write(dir.path().join("a.csv"), "1,2").unwrap();
        drop(Directory::hold(dir.path(), HolderState::Embedded).unwrap());
    }

    #[test]
    fn a_directory_of_a_newer_format_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        drop(Directory::hold(dir.path(), HolderState::Embedded).unwrap());
        let text = "written-by 9\nreadable-by 9\nfeatures\n";
        let crc = crc32c::crc32c(text.as_bytes());
        fs::write(dir.path().join(FORMAT), format!("{text}crc32c {crc:08x}\n")).unwrap();
        let error = Directory::hold(dir.path(), HolderState::Embedded).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let text = "written-by 1\nreadable-by 1\nfeatures\n";
        fs::write(dir.path().join(FORMAT), text).unwrap();
        let error = Directory::hold(dir.path(), HolderState::Embedded).map(|_| ()).unwrap_err();
        assert!(error.message().contains("older version"), "{error}");
    }

    #[test]
    fn every_flipped_bit_of_the_format_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let whole = format_text().into_bytes();
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                fs::write(dir.path().join(FORMAT), &damaged).unwrap();
                let read = read_format(dir.path());
                assert!(read.is_err(), "byte {at} bit {bit}: {read:?}");
            }
        }
    }

    #[test]
    fn a_directory_of_an_older_format_is_upgraded_when_it_is_held_and_not_when_it_is_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let old = "written-by 2\nreadable-by 2\nfeatures\n";
        fs::write(dir.path().join(FORMAT), old).unwrap();
        assert!(ReadOnlyDirectory::at(dir.path()).unwrap().wrong.is_empty());
        assert_eq!(fs::read_to_string(dir.path().join(FORMAT)).unwrap(), old);
        drop(Directory::hold(dir.path(), HolderState::Embedded).unwrap());
        assert_eq!(fs::read_to_string(dir.path().join(FORMAT)).unwrap(), format_text());
    }

    #[test]
    fn a_missing_format_is_reported_by_a_check_and_rewritten_by_an_open() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(manifest::PATH), "").unwrap();
        let look = ReadOnlyDirectory::at(dir.path()).unwrap();
        assert!(look.wrong[0].message().contains("FORMAT is missing"), "{:?}", look.wrong);
        drop(look);
        drop(Directory::hold_existing(dir.path(), HolderState::Embedded).unwrap());
        assert!(ReadOnlyDirectory::at(dir.path()).unwrap().wrong.is_empty());
    }

    #[test]
    fn a_directory_that_is_held_is_not_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let held = Directory::hold(dir.path(), HolderState::Embedded).unwrap();
        let error = ReadOnlyDirectory::at(dir.path()).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InUse);
        drop(held);
        let look = ReadOnlyDirectory::at(dir.path()).unwrap();
        assert_eq!(
            Directory::hold(dir.path(), HolderState::Embedded).map(|_| ()).unwrap_err().kind(),
            ErrorKind::InUse
        );
        drop(look);
    }
}
