//! Settings with which a database is opened.

use std::time::Duration;

use rowhouse_client::Settings as ClientSettings;
use rowhouse_model::{Durability, Error, Result};
use rowhouse_store::Settings as StoreSettings;

use crate::backend::Backend;
use crate::database::Database;
use crate::location::Location;

/// Settings with which a database is opened, from [`Database::builder`]. The defaults suit a
/// laptop.
///
/// Some settings are for embedded databases only, others for clusters only. Opening refuses a
/// setting that means nothing for the URL, and names the setting; it never ignores one.
///
/// ```
/// use std::time::Duration;
///
/// use rowhouse::{Database, Durability};
///
/// // How does a write survive a power failure, and how much memory is used?
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> rowhouse::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let url = dir.path().display().to_string();
/// let database = Database::builder(&url)
///     .durability(Durability::FsyncWal)
///     .block_cache_bytes(32 << 20)
///     .memstore_bytes_max(64 << 20)
///     .open()
///     .await?;
/// # database.close().await?;
///
/// // A directory has no calls that time out.
/// let builder = Database::builder(&url).call_timeout(Duration::from_secs(5));
/// let refused = builder.open().await.map(|_| ()).unwrap_err();
/// assert!(refused.message().contains("call_timeout"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is opened before `open`"]
pub struct DatabaseBuilder {
    url: String,
    durability: Durability,
    store: StoreSettings,
    only_existing: bool,
    client: ClientSettings,
    /// The names of settings that were set and mean something for embedded databases only.
    for_directories: Vec<&'static str>,
    /// The names of settings that were set and mean something for clusters only.
    for_clusters: Vec<&'static str>,
}

impl DatabaseBuilder {
    pub(crate) fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            durability: Durability::UseDefault,
            store: StoreSettings::default(),
            only_existing: false,
            client: ClientSettings::default(),
            for_directories: Vec::new(),
            for_clusters: Vec::new(),
        }
    }

    fn for_directories(mut self, name: &'static str) -> Self {
        self.for_directories.push(name);
        self
    }

    fn for_clusters(mut self, name: &'static str) -> Self {
        self.for_clusters.push(name);
        self
    }

    /// Opens the database.
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// use rowhouse::Database;
    ///
    /// // How long does a program wait for a cluster?
    /// # async fn example() -> rowhouse::Result<()> {
    /// let database = Database::builder("hbase+zk://zk1,zk2/hbase")
    ///     .user("reports")
    ///     .operation_timeout(Duration::from_secs(20))
    ///     .open()
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`crate::open`] and [`DatabaseBuilder::check`].
    pub async fn open(self) -> Result<Database> {
        let location = self.location()?;
        let durability = self.durability;
        let backend = match location {
            Location::Directory(path) => {
                Backend::embedded(path, self.store, self.only_existing, durability).await?
            }
            Location::Cluster(target) => Backend::cluster(&target, self.client, durability).await?,
        };
        Ok(Database::new(backend))
    }

    /// Checks the URL and the settings, without opening or reading anything.
    ///
    /// ```
    /// use rowhouse::Database;
    ///
    /// // Is an argument of a command a database?
    /// assert!(Database::builder("hbase://localhost").check().is_ok());
    /// assert!(Database::builder("http://localhost").check().is_err());
    /// assert!(Database::builder("data").user("bob").check().is_err());
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` for a URL in a form that [`crate::open`] does not list, for a setting that
    /// means nothing for this URL, and for a value outside the bounds.
    pub fn check(&self) -> Result<()> {
        self.location().map(|_| ())
    }

    /// Parses the URL; the settings fit it.
    fn location(&self) -> Result<Location> {
        let location = Location::parse(&self.url)?;
        let (unfit, of) = match location {
            Location::Directory(_) => (self.for_clusters.first(), "clusters"),
            Location::Cluster(_) => (self.for_directories.first(), "embedded databases"),
        };
        if let Some(name) = unfit {
            return Err(Error::invalid(format!("{name} is a setting of {of}: url={}", self.url)));
        }
        self.store.check()?;
        let ClientSettings { user, connect_timeout, call_timeout, operation_timeout, .. } =
            &self.client;
        // The default comes from the environment and may be empty.
        if user.is_empty() && self.for_clusters.contains(&"user") {
            return Err(Error::invalid("user must not be empty"));
        }
        let timeouts = [
            ("connect_timeout", connect_timeout),
            ("call_timeout", call_timeout),
            ("operation_timeout", operation_timeout),
            ("procedure_timeout", &self.client.procedure_timeout),
        ];
        match timeouts.iter().find(|(_, timeout)| timeout.is_zero()) {
            Some((name, _)) => Err(Error::invalid(format!("{name} must not be zero"))),
            None => Ok(location),
        }
    }
}

/// Settings for every database.
impl DatabaseBuilder {
    /// Sets the durability for mutations that name none ([`Durability::UseDefault`]), instead of
    /// their tables' durability.
    ///
    /// | durability | an acknowledged write survives |
    /// |---|---|
    /// | `SkipWal` | nothing, before its memstore is flushed |
    /// | `AsyncWal` | the end of the process, once it is in the log |
    /// | `SyncWal`, the default of tables | the end of the process |
    /// | `FsyncWal` | a power failure |
    ///
    /// In an embedded database, a power failure takes from the log at most the last
    /// [`wal_sync_interval`](Self::wal_sync_interval).
    ///
    /// ```
    /// # use rowhouse::{Database, Durability};
    /// let builder = Database::builder("accounts").durability(Durability::FsyncWal);
    /// # assert!(builder.check().is_ok());
    /// ```
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }
}

/// Settings for embedded databases: memory, durability, disk and waits.
impl DatabaseBuilder {
    /// Refuses a directory without a database instead of creating one there.
    ///
    /// ```
    /// use rowhouse::Database;
    ///
    /// // Is a mistyped directory an error?
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # let dir = tempfile::tempdir().unwrap();
    /// let mistyped = dir.path().join("dta").display().to_string();
    /// assert!(Database::builder(mistyped).only_existing().open().await.is_err());
    /// # }
    /// ```
    pub fn only_existing(mut self) -> Self {
        self.only_existing = true;
        self.for_directories("only_existing")
    }

    /// Sets how many bytes from data and index blocks in files are cached in memory. Default 128
    /// MiB.
    ///
    /// ```
    /// # use rowhouse::Database;
    /// let builder = Database::builder("data").block_cache_bytes(1 << 30);
    /// # assert!(builder.check().is_ok());
    /// ```
    pub fn block_cache_bytes(mut self, bytes: u64) -> Self {
        self.store.block_cache_bytes = bytes;
        self.for_directories("block_cache_bytes")
    }

    /// Sets the bytes that all memstores together may hold. Above it writers wait for flushes, up
    /// to [`DatabaseBuilder::busy_wait`]. Default 128 MiB.
    ///
    /// ```
    /// # use rowhouse::Database;
    /// let builder = Database::builder("data").memstore_bytes_max(64 << 20);
    /// # assert!(builder.check().is_ok());
    /// ```
    pub fn memstore_bytes_max(mut self, bytes: u64) -> Self {
        self.store.memstore_bytes_max = bytes;
        self.for_directories("memstore_bytes_max")
    }

    /// Sets the bytes that a memstore for one region and family may hold before it is flushed, for
    /// tables that do not declare `MEMSTORE_FLUSHSIZE`. Default 32 MiB.
    ///
    /// ```
    /// # use rowhouse::Database;
    /// let builder = Database::builder("data").memstore_flush_bytes(8 << 20);
    /// # assert!(builder.check().is_ok());
    /// ```
    pub fn memstore_flush_bytes(mut self, bytes: u64) -> Self {
        self.store.memstore_flush_bytes = bytes;
        self.for_directories("memstore_flush_bytes")
    }

    /// Sets the bytes in flushed memstores that open scans and transactions may hold together.
    /// Above it they continue in files, the oldest first; those that cannot end with an error.
    /// Default: [`DatabaseBuilder::memstore_bytes_max`].
    ///
    /// ```
    /// # use rowhouse::Database;
    /// let builder = Database::builder("data").reader_memstore_bytes_max(64 << 20);
    /// # assert!(builder.check().is_ok());
    /// ```
    pub fn reader_memstore_bytes_max(mut self, bytes: u64) -> Self {
        self.store.reader_memstore_bytes_max = Some(bytes);
        self.for_directories("reader_memstore_bytes_max")
    }

    /// Sets the bytes that all indexes in memory may hold together. An index that would need more
    /// is off. Default 256 MiB.
    ///
    /// ```
    /// # use rowhouse::Database;
    /// let builder = Database::builder("data").index_memory_bytes_max(1 << 30);
    /// # assert!(builder.check().is_ok());
    /// ```
    pub fn index_memory_bytes_max(mut self, bytes: u64) -> Self {
        self.store.index_memory_bytes_max = bytes;
        self.for_directories("index_memory_bytes_max")
    }

    /// Sets the maximum cell bytes in one mutation, or in several mutations that apply atomically;
    /// 16 MiB to 1 GiB. Default 256 MiB.
    ///
    /// ```
    /// # use rowhouse::Database;
    /// let builder = Database::builder("data").mutation_bytes_max(1 << 30);
    /// # assert!(builder.check().is_ok());
    /// ```
    pub fn mutation_bytes_max(mut self, bytes: usize) -> Self {
        self.store.mutation_bytes_max = bytes;
        self.for_directories("mutation_bytes_max")
    }

    /// Sets how long a write that does not request a sync may stay unsynced: the most that a power
    /// failure can lose. Default 1 second.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use rowhouse::Database;
    /// let builder = Database::builder("data").wal_sync_interval(Duration::from_millis(50));
    /// # assert!(builder.check().is_ok());
    /// ```
    pub fn wal_sync_interval(mut self, interval: Duration) -> Self {
        self.store.wal_sync_interval = interval;
        self.for_directories("wal_sync_interval")
    }

    /// Sets the disk bytes that writes leave free, for flushes, compactions and a clean stop.
    /// Writes that would use them are refused with `RegionTooBusy`. Default 256 MiB.
    ///
    /// ```
    /// # use rowhouse::Database;
    /// let builder = Database::builder("data").disk_reserve_bytes(1 << 30);
    /// # assert!(builder.check().is_ok());
    /// ```
    pub fn disk_reserve_bytes(mut self, bytes: u64) -> Self {
        self.store.disk_reserve_bytes = bytes;
        self.for_directories("disk_reserve_bytes")
    }

    /// Sets how many files stay open at most, each a file descriptor. Default 512.
    ///
    /// ```
    /// # use rowhouse::Database;
    /// let builder = Database::builder("data").open_files_max(128);
    /// # assert!(builder.check().is_ok());
    /// ```
    pub fn open_files_max(mut self, files: usize) -> Self {
        self.store.open_files_max = files;
        self.for_directories("open_files_max")
    }

    /// Sets how long a writer waits for memory, or for compactions to reduce the file count, before
    /// it is refused with `RegionTooBusy`. Default 10 seconds.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use rowhouse::Database;
    /// let builder = Database::builder("data").busy_wait(Duration::from_secs(60));
    /// # assert!(builder.check().is_ok());
    /// ```
    pub fn busy_wait(mut self, wait: Duration) -> Self {
        self.store.busy_wait = wait;
        self.for_directories("busy_wait")
    }

    /// Sets how long a scan may take: it retains files and memstores that nothing else needs. An
    /// older scan ends with `UnknownScanner`. Default 1 hour; `Duration::MAX` sets no limit.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use rowhouse::Database;
    /// let builder = Database::builder("data").scan_age_max(Duration::from_secs(300));
    /// # assert!(builder.check().is_ok());
    /// ```
    pub fn scan_age_max(mut self, age: Duration) -> Self {
        self.store.scan_age_max = age;
        self.for_directories("scan_age_max")
    }
}

/// Settings for clusters: the user, timeouts and retries.
impl DatabaseBuilder {
    /// Sets the user name that is sent to servers, which trust it. Default: the environment
    /// variable `HADOOP_USER_NAME`, else `USER`, else `rowhouse`.
    ///
    /// ```
    /// # use rowhouse::Database;
    /// let builder = Database::builder("hbase://localhost").user("reports");
    /// # assert!(builder.check().is_ok());
    /// ```
    pub fn user(mut self, name: &str) -> Self {
        name.clone_into(&mut self.client.user);
        self.for_clusters("user")
    }

    /// Sets the timeout for opening a connection. Default 10 seconds.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use rowhouse::Database;
    /// let cluster = Database::builder("hbase://localhost");
    /// let builder = cluster.connect_timeout(Duration::from_secs(2));
    /// # assert!(builder.check().is_ok());
    /// ```
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.client.connect_timeout = timeout;
        self.for_clusters("connect_timeout")
    }

    /// Sets the timeout for one call, including the wait in the queue. Default 60 seconds.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use rowhouse::Database;
    /// let builder = Database::builder("hbase://localhost").call_timeout(Duration::from_secs(10));
    /// # assert!(builder.check().is_ok());
    /// ```
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.client.call_timeout = timeout;
        self.for_clusters("call_timeout")
    }

    /// Sets the maximum time for an operation without success, including all retries: for a get or
    /// a mutation as a whole, for a batch or scan since the last answer. Default 2 minutes.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use rowhouse::Database;
    /// let cluster = Database::builder("hbase+zk://zk1/hbase");
    /// let builder = cluster.operation_timeout(Duration::from_secs(5));
    /// # assert!(builder.check().is_ok());
    /// ```
    pub fn operation_timeout(mut self, timeout: Duration) -> Self {
        self.client.operation_timeout = timeout;
        self.for_clusters("operation_timeout")
    }

    /// Sets the timeout for table changes, for example for creating or disabling one. Default 10
    /// minutes.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use rowhouse::Database;
    /// let cluster = Database::builder("hbase://localhost");
    /// let builder = cluster.procedure_timeout(Duration::from_secs(60));
    /// # assert!(builder.check().is_ok());
    /// ```
    pub fn procedure_timeout(mut self, timeout: Duration) -> Self {
        self.client.procedure_timeout = timeout;
        self.for_clusters("procedure_timeout")
    }

    /// Sets how often a failed call is repeated at most. Default 15.
    ///
    /// ```
    /// # use rowhouse::Database;
    /// let builder = Database::builder("hbase://localhost").retries_max(3);
    /// # assert!(builder.check().is_ok());
    /// ```
    pub fn retries_max(mut self, retries: u32) -> Self {
        self.client.retries_max = retries;
        self.for_clusters("retries_max")
    }

    /// Sets the wait before the first retry; later waits are up to 200 times as long. Default 100
    /// milliseconds.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use rowhouse::Database;
    /// let builder = Database::builder("hbase://localhost").retry_pause(Duration::from_millis(20));
    /// # assert!(builder.check().is_ok());
    /// ```
    pub fn retry_pause(mut self, pause: Duration) -> Self {
        self.client.retry_pause = pause;
        self.for_clusters("retry_pause")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_of_the_other_backend_is_refused_by_its_name() {
        let directory = "data";
        let cluster = "hbase://localhost:1";
        let second = Duration::from_secs(1);
        type Set = fn(DatabaseBuilder, Duration) -> DatabaseBuilder;
        let of_directories: [(&str, Set); 12] = [
            ("only_existing", |builder, _| builder.only_existing()),
            ("block_cache_bytes", |builder, _| builder.block_cache_bytes(1 << 20)),
            ("memstore_bytes_max", |builder, _| builder.memstore_bytes_max(1 << 20)),
            ("memstore_flush_bytes", |builder, _| builder.memstore_flush_bytes(1 << 20)),
            ("reader_memstore_bytes_max", |builder, _| builder.reader_memstore_bytes_max(1 << 20)),
            ("index_memory_bytes_max", |builder, _| builder.index_memory_bytes_max(1 << 20)),
            ("mutation_bytes_max", |builder, _| builder.mutation_bytes_max(16 << 20)),
            ("wal_sync_interval", DatabaseBuilder::wal_sync_interval),
            ("disk_reserve_bytes", |builder, _| builder.disk_reserve_bytes(1 << 20)),
            ("open_files_max", |builder, _| builder.open_files_max(100)),
            ("busy_wait", DatabaseBuilder::busy_wait),
            ("scan_age_max", DatabaseBuilder::scan_age_max),
        ];
        let of_clusters: [(&str, Set); 7] = [
            ("user", |builder, _| builder.user("bob")),
            ("connect_timeout", DatabaseBuilder::connect_timeout),
            ("call_timeout", DatabaseBuilder::call_timeout),
            ("operation_timeout", DatabaseBuilder::operation_timeout),
            ("procedure_timeout", DatabaseBuilder::procedure_timeout),
            ("retries_max", |builder, _| builder.retries_max(3)),
            ("retry_pause", DatabaseBuilder::retry_pause),
        ];
        let check = |url: &str, set: Set| set(DatabaseBuilder::new(url), second).check();
        for (name, set) in of_directories {
            check(directory, set).unwrap();
            let message = check(cluster, set).unwrap_err().message().to_owned();
            assert_eq!(
                message,
                format!("{name} is a setting of embedded databases: url={cluster}")
            );
        }
        for (name, set) in of_clusters {
            check(cluster, set).unwrap();
            let message = check(directory, set).unwrap_err().message().to_owned();
            assert_eq!(message, format!("{name} is a setting of clusters: url={directory}"));
        }
    }

    #[test]
    fn values_out_of_their_bounds_are_refused_by_name() {
        let cluster = || DatabaseBuilder::new("hbase://localhost:1");
        for (builder, name) in [
            (cluster().user(""), "user"),
            (cluster().call_timeout(Duration::ZERO), "call_timeout"),
            (cluster().procedure_timeout(Duration::ZERO), "procedure_timeout"),
            (DatabaseBuilder::new("data").mutation_bytes_max(1), "mutation_bytes_max"),
        ] {
            let error = builder.check().unwrap_err();
            assert!(error.message().starts_with(name), "{error}");
        }
    }
}
