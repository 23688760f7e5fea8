//! The file of master keys and users in the data directory.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rowhouse_format::token::Token;
use rowhouse_model::{Error, Result};

use super::keys::{Keys, User};

/// The file's name in the data directory.
const NAME: &str = "users";
/// Locked by whoever changes the file.
const LOCK: &str = "users.lock";
/// The next content, until it is on the disk.
const NEW: &str = "users.new";
/// The most bytes in the file.
const LEN_MAX: u64 = 64 << 20;
/// The permissions that others must not have.
const OTHERS: u32 = 0o077;
/// Has the system refuse a symbolic link.
const NO_LINK: i32 = rustix::fs::OFlags::NOFOLLOW.bits() as i32;

/// The master keys of a data directory and the users who have had tokens, which `rowhouse user`
/// changes, also while a server runs.
#[derive(Clone, Debug)]
pub struct UserFile {
    dir: PathBuf,
}

impl UserFile {
    /// Names the file in a data directory.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Makes a token for a user of the cluster, that lives so many milliseconds.
    ///
    /// # Errors
    /// `InvalidRequest` for an invalid name or life, and for an account that does not own the file;
    /// `Io`; `Corruption` of the file.
    pub fn issue(&self, name: &str, life_ms: i64, cluster_id: &str) -> Result<Token> {
        let sequence = i64::from_be_bytes(random()?) & i64::MAX;
        self.change(|keys, now_ms| {
            let identifier = keys.issue(name, life_ms, sequence, now_ms)?;
            Ok(keys.sign(&identifier, cluster_id).expect("the last key signs"))
        })
    }

    /// Refuses the tokens that a user has now. A running server ends their connections within
    /// seconds.
    ///
    /// # Errors
    /// As [`UserFile::issue`].
    pub fn revoke(&self, name: &str) -> Result<()> {
        self.change(|keys, now_ms| keys.revoke(name, now_ms))
    }

    /// Adds a master key, which signs tokens from now on; with `end_tokens` refuses all tokens that
    /// were made before.
    ///
    /// # Errors
    /// As [`UserFile::issue`].
    pub fn rotate_keys(&self, end_tokens: bool) -> Result<()> {
        let secret = random()?;
        self.change(|keys, now_ms| keys.rotate(secret, end_tokens, now_ms))
    }

    /// Returns the users, by name.
    ///
    /// # Errors
    /// `Io`; `Corruption` of the file.
    pub fn users(&self) -> Result<Vec<(String, User)>> {
        let Some(keys) = self.read()? else { return Ok(Vec::new()) };
        Ok(keys.users().map(|(name, user)| (name.to_owned(), *user)).collect())
    }

    /// Returns the file's path.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.join(NAME)
    }

    /// Reads the file, and makes a first key if there is none.
    pub(crate) fn read_or_create(&self) -> Result<Keys> {
        if let Some(read) = self.read()? {
            return Ok(read);
        }
        // Made by the server, for the server.
        self.update(|_, _| Ok(()))?;
        self.read()?.ok_or_else(|| Error::corruption(format!("{NAME} was removed")))
    }

    /// Reads the file; `None` if there is none. A symbolic link is an error: a change would replace
    /// it, and leave the file that it leads to.
    pub(crate) fn read(&self) -> Result<Option<Keys>> {
        let path = self.path();
        let failed = |source| Error::io(format_args!("cannot read {}", path.display()), source);
        let file = match OpenOptions::new().read(true).custom_flags(NO_LINK).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(failed(source)),
        };
        let metadata = file.metadata().map_err(failed)?;
        if metadata.mode() & OTHERS != 0 {
            return Err(Error::invalid(format!(
                "other accounts can read the secrets in {0}: mode={1:o}, run chmod 600 {0}",
                path.display(),
                metadata.mode() & 0o777
            )));
        }
        let mut text = String::new();
        file.take(LEN_MAX).read_to_string(&mut text).map_err(failed)?;
        Keys::parse(&text).map(Some).map_err(|error| error.with_context(path.display()))
    }

    /// Changes the file as [`UserFile::update`], for the account that owns it.
    fn change<T>(&self, change: impl FnOnce(&mut Keys, i64) -> Result<T>) -> Result<T> {
        // Without a file, the server that runs on the directory is to read it.
        let metadata = fs::metadata(self.dir.join(NAME)).or_else(|_| fs::metadata(&self.dir));
        let metadata = metadata.map_err(|source| {
            Error::io(format_args!("cannot read {}", self.dir.display()), source)
        })?;
        self.check_owner(metadata.uid(), rustix::process::geteuid().as_raw())?;
        self.update(change)
    }

    /// Checks that the account which changes the file owns it: the next content belongs to that
    /// account, and another one, as which the server runs, could not read it.
    ///
    /// # Errors
    /// `InvalidRequest` with the remedy.
    fn check_owner(&self, owner: u32, effective: u32) -> Result<()> {
        if owner == effective {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "the users in {} belong to another account, as which the server reads them: \
             owner={owner}, this account={effective}, run the command with sudo -u '#{owner}'",
            self.dir.display()
        )))
    }

    /// Changes the file: alone, and durably when this returns.
    fn update<T>(&self, change: impl FnOnce(&mut Keys, i64) -> Result<T>) -> Result<T> {
        let failed = |source| {
            let path = self.dir.join(NAME);
            Error::io(format_args!("cannot write {}", path.display()), source)
        };
        let lock = open(&self.dir.join(LOCK)).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let now_ms = now_ms();
        let mut keys = match self.read()? {
            Some(keys) => keys,
            None => Keys::new(random()?, now_ms),
        };
        let done = change(&mut keys, now_ms)?;
        let write = || {
            let new = self.dir.join(NEW);
            // One that a killed process left may have other permissions.
            match fs::remove_file(&new) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = open(&new)?;
            file.write_all(keys.to_text().as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, self.dir.join(NAME))?;
            File::open(&self.dir)?.sync_all()
        };
        write().map_err(failed)?;
        Ok(done)
    }
}

/// Opens a file that is written, for this account alone.
fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600).custom_flags(NO_LINK).open(path)
}

/// Returns random bytes for secrets.
///
/// # Errors
/// `Io` if the system gives none.
pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::io("the system gives no random bytes", std::io::Error::other(error.to_string()))
    })?;
    Ok(bytes)
}

/// Returns a text that nobody can guess.
///
/// # Errors
/// As [`random`].
#[cfg(feature = "web")]
pub(crate) fn new_secret() -> Result<String> {
    Ok(random::<32>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns the time in milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use rowhouse_format::token::TokenIdentifier;

    use super::*;

    #[test]
    fn changes_are_in_the_file_which_others_cannot_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = UserFile::at(dir.path());
        assert!(file.users().unwrap().is_empty());
        let token = file.issue("alice", 60_000, "cluster").unwrap();
        file.revoke("alice").unwrap();
        let users = file.users().unwrap();
        assert_eq!(users[0].0, "alice");
        let identifier = TokenIdentifier::parse(&token.identifier).unwrap();
        assert_eq!(users[0].1.issued_ms, Some(identifier.issued_ms));
        assert!(users[0].1.revoked_ms >= users[0].1.issued_ms);
        let mode = fs::metadata(dir.path().join(NAME)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(!dir.path().join(NEW).exists());
    }

    #[test]
    fn changes_at_the_same_time_are_all_made() {
        let dir = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for number in 0..8 {
                let file = UserFile::at(dir.path());
                scope.spawn(move || file.revoke(&format!("user{number}")).unwrap());
            }
        });
        assert_eq!(UserFile::at(dir.path()).users().unwrap().len(), 8);
    }

    #[test]
    fn a_file_that_others_can_read_is_refused_with_the_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let file = UserFile::at(dir.path());
        file.revoke("alice").unwrap();
        let path = dir.path().join(NAME);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let error = file.users().unwrap_err();
        assert!(error.message().contains("chmod 600"), "{error}");
    }

    #[test]
    fn symbolic_links_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = UserFile::at(dir.path());
        file.revoke("alice").unwrap();
        let target = dir.path().join("elsewhere");
        for name in [NAME, LOCK, NEW] {
            let path = dir.path().join(name);
            let before = fs::read(&path).unwrap_or_default();
            fs::write(&target, &before).unwrap();
            fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
            let _ = fs::remove_file(&path);
            std::os::unix::fs::symlink(&target, &path).unwrap();
            // What a killed process left is removed.
            assert_eq!(file.revoke("bob").is_ok(), name == NEW, "{name}");
            assert_eq!(fs::read(&target).unwrap(), before, "{name}");
            let _ = fs::remove_file(&path);
            if name != NEW {
                fs::rename(&target, &path).unwrap();
            }
        }
    }

    #[test]
    fn an_account_that_does_not_own_the_file_is_refused_with_the_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let file = UserFile::at(dir.path());
        assert!(file.check_owner(1000, 1000).is_ok());
        let error = file.check_owner(1000, 0).unwrap_err();
        assert!(error.message().contains("sudo -u '#1000'"), "{error}");
        // Only root can give a directory away.
        if std::os::unix::fs::chown(dir.path(), Some(1000), None).is_ok()
            && rustix::process::geteuid().is_root()
        {
            assert!(file.revoke("alice").is_err());
            assert!(!dir.path().join(LOCK).exists());
            assert!(file.read_or_create().is_ok());
        }
    }

    #[test]
    fn an_unfinished_file_of_a_killed_process_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(NEW), "half a fi").unwrap();
        UserFile::at(dir.path()).revoke("alice").unwrap();
        assert_eq!(UserFile::at(dir.path()).users().unwrap().len(), 1);
    }

    #[test]
    fn a_damaged_file_is_neither_read_nor_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        let mut damaged = open(&path).unwrap();
        damaged.write_all(b"rowhouse users 1\nkey 1").unwrap();
        let file = UserFile::at(dir.path());
        assert!(file.users().is_err());
        assert!(file.revoke("alice").is_err());
        assert_eq!(fs::read(&path).unwrap(), b"rowhouse users 1\nkey 1");
    }
}
