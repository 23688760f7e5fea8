//! Bulk loads: each client's staging directory, the files it may name, and the loads that are
//! already done.
//!
//! A client that times out repeats the call. By then the files may already be in the table and no
//! longer at the path that the client names, so finished loads are remembered until the client
//! cleans up.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::ErrorKind::NotFound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rowhouse_model::{Bytes, Error, ErrorKind, Result, TableName};

use crate::Options;
use crate::limits::{BULK_LOAD_CALLS_MAX, BULK_LOADS_MAX};

/// The files in one call, each with the family.
pub(crate) type FamilyPaths = Vec<(Bytes, String)>;

/// All clients' bulk loads.
pub(crate) struct BulkLoads {
    /// The data directory, with symbolic links resolved.
    data: PathBuf,
    sources: FileSources,
    /// Makes directory names unique across server runs.
    start_code: u64,
    loads: Mutex<Loads>,
}

/// Where clients may load files from, beside the staging directory.
enum FileSources {
    /// Wherever the server's process can read.
    Anywhere,
    /// Below this directory, with symbolic links resolved, if there is one.
    Below(Option<PathBuf>),
}

#[derive(Default)]
struct Loads {
    last_number: u64,
    /// Bulk loads by number, and the numbers by the directories handed to clients.
    by_number: BTreeMap<u64, Arc<BulkLoad>>,
    numbers: HashMap<String, u64>,
}

/// One client's bulk load.
#[derive(Default)]
pub(crate) struct BulkLoad {
    token: String,
    calls: Mutex<HashMap<FamilyPaths, Arc<Mutex<bool>>>>,
}

impl BulkLoad {
    /// Runs `load` once for these files and returns true if they are loaded. A call during the load
    /// waits for it; a call after a successful load returns `true` without running `load` again. A
    /// load without success is forgotten.
    ///
    /// # Errors
    /// What `load` fails with; `InvalidRequest` for more than [`BULK_LOAD_CALLS_MAX`] calls.
    pub(crate) fn once(
        &self,
        files: &FamilyPaths,
        load: impl FnOnce() -> Result<bool>,
    ) -> Result<bool> {
        let call = {
            let mut calls = self.calls.lock();
            if calls.len() >= BULK_LOAD_CALLS_MAX && !calls.contains_key(files) {
                return Err(Error::invalid(format!(
                    "too many calls in one bulk load: max={BULK_LOAD_CALLS_MAX}"
                )));
            }
            Arc::clone(calls.entry(files.clone()).or_default())
        };
        let mut loaded = call.lock();
        let result = if *loaded { Ok(true) } else { load() };
        *loaded = matches!(result, Ok(true));
        if !*loaded {
            let mut calls = self.calls.lock();
            // A call that waits for this one holds the third reference, and decides then.
            if Arc::strong_count(&call) == 2 {
                calls.remove(files);
            }
        }
        result
    }
}

impl BulkLoads {
    /// Starts with an empty staging directory: anything that an earlier run left there is removed.
    /// If users are checked, or there is a directory for files to load, no others are loaded.
    ///
    /// # Errors
    /// `Io`, also if there is no such directory.
    pub(crate) fn begin(options: &Options, start_code: u64) -> Result<Self> {
        let data = &options.data;
        let source = options.bulk_load_directory.as_ref();
        let source = source.map(|dir| {
            dir.canonicalize().map_err(|source| {
                Error::io(format_args!("--bulk-load-directory {}", dir.display()), source)
            })
        });
        let sources = match source.transpose()? {
            None if !options.users.is_checked() => FileSources::Anywhere,
            source => FileSources::Below(source),
        };
        let find = || {
            let data = data.canonicalize()?;
            let staging = data.join(STAGING_DIR);
            match fs::remove_dir_all(&staging) {
                Err(error) if error.kind() != NotFound => Err(error),
                _ => fs::create_dir(&staging).map(|()| data),
            }
        };
        let data = find().map_err(|source| {
            Error::io(format_args!("cannot empty {}", data.join(STAGING_DIR).display()), source)
        })?;
        Ok(Self { data, sources, start_code, loads: Mutex::default() })
    }

    /// Creates a directory for a client that loads into `table` and returns its path, which is the
    /// token. With more than [`BULK_LOADS_MAX`] unfinished loads the oldest is forgotten.
    pub(crate) fn prepare(&self, table: &TableName) -> Result<String> {
        let mut loads = self.loads.lock();
        let number = loads.last_number + 1;
        loads.last_number = number;
        let table = table.to_string().replace(':', "_");
        let dir = self.staging().join(format!("{table}__{:x}__{number}", self.start_code));
        fs::create_dir(&dir)
            .map_err(|source| Error::io(format_args!("cannot make {}", dir.display()), source))?;
        let token = dir.to_string_lossy().into_owned();
        let load = BulkLoad { token: token.clone(), ..BulkLoad::default() };
        loads.by_number.insert(number, Arc::new(load));
        loads.numbers.insert(token.clone(), number);
        if loads.by_number.len() > BULK_LOADS_MAX
            && let Some((_, oldest)) = loads.by_number.pop_first()
        {
            loads.numbers.remove(&oldest.token);
            remove_dir(&oldest.token)?;
        }
        Ok(token)
    }

    /// Returns the bulk load for a token. The load is empty if another server run issued the token.
    ///
    /// # Errors
    /// `InvalidRequest` for a token that no server on this data directory issues.
    pub(crate) fn find(&self, token: &str) -> Result<Arc<BulkLoad>> {
        self.check_token(token)?;
        let loads = self.loads.lock();
        let number = loads.numbers.get(token);
        let load = number.and_then(|number| loads.by_number.get(number));
        Ok(load.cloned().unwrap_or_default())
    }

    /// Forgets a finished bulk load and removes the directory. An unknown token counts as finished.
    ///
    /// # Errors
    /// As [`BulkLoads::find`].
    pub(crate) fn clean_up(&self, token: &str) -> Result<()> {
        self.check_token(token)?;
        let mut loads = self.loads.lock();
        let Some(number) = loads.numbers.remove(token) else { return Ok(()) };
        loads.by_number.remove(&number);
        remove_dir(token)
    }

    /// Returns the path of the file that a client names, if the server may load it: a regular file
    /// on this machine, outside the store's own files.
    ///
    /// # Errors
    /// `InvalidRequest` for any other file; `Io` for one that cannot be found. Where files come
    /// from certain directories alone, there is one error for all others, so that it does not tell
    /// which exist.
    pub(crate) fn local_file(&self, named: &str) -> Result<PathBuf> {
        let FileSources::Below(source) = &self.sources else { return self.readable_file(named) };
        let staging = self.staging();
        let is_below = |path: &PathBuf| {
            let mut sources = source.iter().chain([&staging]);
            sources.any(|source| path.starts_with(source))
        };
        self.readable_file(named).ok().filter(is_below).ok_or_else(|| {
            Error::new(
                ErrorKind::AccessDenied,
                format!(
                    "there is no file to load below the directory of --bulk-load-directory or of \
                     this bulk load: {named}"
                ),
            )
        })
    }

    fn readable_file(&self, named: &str) -> Result<PathBuf> {
        let path = local_path(named)?;
        let io =
            |source| Error::io(format_args!("cannot find the HFile {}", path.display()), source);
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Error::invalid(format!("path does not name a file: {named}")));
        };
        let path = dir.canonicalize().map_err(io)?.join(name);
        // Refuse symbolic links: a link would load the target under another name.
        if !path.symlink_metadata().map_err(io)?.is_file() {
            return Err(Error::invalid(format!("Path does not reference a file: {named}")));
        }
        if path.starts_with(&self.data) && !path.starts_with(self.staging()) {
            return Err(Error::invalid(format!(
                "a file of the data directory cannot be loaded: {named}"
            )));
        }
        Ok(path)
    }

    fn staging(&self) -> PathBuf {
        self.data.join(STAGING_DIR)
    }

    fn check_token(&self, token: &str) -> Result<()> {
        let path = Path::new(token);
        let is_ours = path.parent() == Some(&self.staging()) && path.file_name().is_some();
        if is_ours {
            return Ok(());
        }
        let staging = self.staging();
        Err(Error::invalid(format!(
            "a bulk token is a directory in {}: token={token}",
            staging.display()
        )))
    }
}

/// Returns the absolute path that a client names, either without a scheme or with `file:`.
fn local_path(named: &str) -> Result<PathBuf> {
    let scheme = named.split_once(':').map(|(scheme, _)| scheme);
    let scheme = scheme.filter(|scheme| !scheme.contains('/'));
    let path = match scheme {
        None => named,
        Some("file") => {
            let rest = &named["file:".len()..];
            // `file:///a` has an empty host, `file:/a` has no host.
            rest.strip_prefix("//").unwrap_or(rest)
        }
        Some(_) => {
            let message =
                format!("only local files of the server can be loaded (file:/…): {named}");
            return Err(Error::unsupported(message));
        }
    };
    if path.starts_with('/') {
        return Ok(PathBuf::from(path));
    }
    Err(Error::invalid(format!("a path to an HFile must begin with / or file:/: {named}")))
}

fn remove_dir(dir: &str) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(source) if source.kind() != NotFound => {
            Err(Error::io(format_args!("cannot remove {dir}"), source))
        }
        _ => Ok(()),
    }
}

/// The staging directory in the data directory; emptied when a server starts.
const STAGING_DIR: &str = "staging";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use expect_test::{Expect, expect};

    use super::*;

    fn begin(data: &Path) -> BulkLoads {
        BulkLoads::begin(&Options::new(data), 1).unwrap()
    }

    #[test]
    fn servers_with_users_load_files_of_two_directories_and_hide_all_others() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let data = root.join("data");
        fs::create_dir_all(root.join("in/deep")).unwrap();
        fs::create_dir_all(&data).unwrap();
        let mut options = Options::new(&data);
        options.users = "token".parse().unwrap();
        options.bulk_load_directory = Some(root.join("in"));
        let loads = BulkLoads::begin(&options, 1).unwrap();
        let token = loads.prepare(&TableName::parse("t").unwrap()).unwrap();
        let token = Path::new(&token);
        for file in [root.join("out"), root.join("in/deep/1"), token.join("2")] {
            fs::write(file, b"").unwrap();
        }
        symlink(root.join("out"), root.join("in/link")).unwrap();
        symlink(&root, root.join("in/way")).unwrap();
        let named = |path: PathBuf| path.to_str().unwrap().to_owned();
        for allowed in [root.join("in/deep/1"), root.join("in/deep/../deep/1"), token.join("2")] {
            assert!(loads.local_file(&named(allowed)).is_ok());
        }
        let refusals = ["out", "none", "in/none", "in/link", "in/way/out", "in", "data/staging"];
        let refusals = refusals.map(|path| {
            let path = named(root.join(path));
            let error = loads.local_file(&path).unwrap_err();
            (error.kind(), error.message().replace(&path, "PATH"))
        });
        assert!(refusals.iter().all(|refusal| *refusal == refusals[0]), "{refusals:?}");
        // Without a directory, the staging directories alone.
        options.bulk_load_directory = None;
        let loads = BulkLoads::begin(&options, 2).unwrap();
        assert!(loads.local_file(&named(root.join("in/deep/1"))).is_err());
        options.bulk_load_directory = Some(root.join("none"));
        let error = BulkLoads::begin(&options, 3).err().unwrap();
        assert!(error.message().contains("--bulk-load-directory"), "{error}");
    }

    #[test]
    fn only_local_files_outside_the_store_are_accepted() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let data = root.join("data");
        fs::create_dir_all(data.join("files")).unwrap();
        let loads = begin(&data);
        let token = loads.prepare(&TableName::parse("n:t").unwrap()).unwrap();
        for file in ["out", "data/MANIFEST", "data/files/1.hfile", &format!("{token}/cf")] {
            fs::write(root.join(file), b"").unwrap();
        }
        symlink(root.join("out"), root.join("link")).unwrap();
        symlink(root.join("data"), root.join("way")).unwrap();
        let root = root.to_str().unwrap();
        let check = |named: String, expected: Expect| {
            let resolved = loads.local_file(&named).map(|path| path.to_str().unwrap().to_owned());
            let resolved = resolved.unwrap_or_else(|error| error.message().to_owned());
            expected.assert_eq(&resolved.replace(root, "ROOT"));
        };
        check(format!("{root}/out"), expect!["ROOT/out"]);
        check(format!("file:{root}/out"), expect!["ROOT/out"]);
        check(format!("file://{root}/data/../out"), expect!["ROOT/out"]);
        check(format!("{token}/cf"), expect!["ROOT/data/staging/n_t__1__1/cf"]);
        check(format!("{root}/link"), expect!["Path does not reference a file: ROOT/link"]);
        check(format!("{root}/data"), expect!["Path does not reference a file: ROOT/data"]);
        check(
            format!("{root}/way/MANIFEST"),
            expect!["a file of the data directory cannot be loaded: ROOT/way/MANIFEST"],
        );
        check(
            format!("{root}/data/staging/../files/1.hfile"),
            expect![
                "a file of the data directory cannot be loaded: ROOT/data/staging/../files/1.hfile"
            ],
        );
        check(
            format!("{root}/none"),
            expect!["cannot find the HFile ROOT/none: No such file or directory (os error 2)"],
        );
        check("/".into(), expect!["path does not name a file: /"]);
        check(
            "out/cf/1".into(),
            expect!["a path to an HFile must begin with / or file:/: out/cf/1"],
        );
        check(
            "file://host/out".into(),
            expect!["a path to an HFile must begin with / or file:/: file://host/out"],
        );
        check(
            "hdfs://host:9000/out".into(),
            expect!["only local files of the server can be loaded (file:/…): hdfs://host:9000/out"],
        );
    }

    #[test]
    fn finished_load_is_remembered_until_clean_up() {
        let dir = tempfile::tempdir().unwrap();
        let loads = begin(dir.path());
        let token = loads.prepare(&TableName::parse("t").unwrap()).unwrap();
        let files = vec![(Bytes::from_static(b"cf"), "/out".to_owned())];
        let load = loads.find(&token).unwrap();
        // A load that fails or does not fit is retried; a finished one is not.
        assert!(load.once(&files, || Err(Error::invalid("no"))).is_err());
        assert!(!load.once(&files, || Ok(false)).unwrap());
        assert!(load.calls.lock().is_empty());
        assert!(load.once(&files, || Ok(true)).unwrap());
        let again = loads.find(&token).unwrap();
        assert!(again.once(&files, || panic!("it is loaded already")).unwrap());
        assert!(Path::new(&token).is_dir());
        loads.clean_up(&token).unwrap();
        assert!(!Path::new(&token).exists());
        loads.clean_up(&token).unwrap();
        for stranger in ["/etc", "", "staging/t", &format!("{token}/../../files")] {
            assert!(loads.clean_up(stranger).is_err(), "{stranger}");
            assert!(loads.find(stranger).is_err(), "{stranger}");
        }
    }

    #[test]
    fn the_calls_of_a_load_are_bounded_and_failures_do_not_count() {
        let load = BulkLoad::default();
        let files = |number: usize| vec![(Bytes::from_static(b"cf"), format!("/{number}"))];
        for number in 0..BULK_LOAD_CALLS_MAX {
            assert!(load.once(&files(number), || Ok(true)).unwrap());
            assert!(load.once(&files(BULK_LOAD_CALLS_MAX), || Err(Error::invalid("no"))).is_err());
        }
        let error = load.once(&files(BULK_LOAD_CALLS_MAX), || Ok(true)).unwrap_err();
        assert!(error.message().contains("too many calls"), "{error}");
        // A repeated call is answered.
        assert!(load.once(&files(0), || panic!("it is loaded already")).unwrap());
    }

    #[test]
    fn leftover_directories_are_removed_and_excess_loads_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let left = begin(dir.path()).prepare(&TableName::parse("t").unwrap()).unwrap();
        fs::write(Path::new(&left).join("file"), b"").unwrap();
        let loads = BulkLoads::begin(&Options::new(dir.path()), 2).unwrap();
        assert!(!Path::new(&left).exists());
        let table = TableName::parse("t").unwrap();
        let first = loads.prepare(&table).unwrap();
        for _ in 0..BULK_LOADS_MAX {
            loads.prepare(&table).unwrap();
        }
        assert!(!Path::new(&first).exists());
        assert_eq!(loads.loads.lock().numbers.len(), BULK_LOADS_MAX);
    }
}
