//! Client settings.

use std::time::Duration;

/// Limits for a [`crate::Client`]. The defaults are HBase's, except for an operation's total time,
/// for which HBase allows twenty minutes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The user name sent to servers; the default is `HADOOP_USER_NAME`, else `USER`, else
    /// `rowhouse`.
    pub user: String,
    /// Timeout for opening a connection; 10 seconds by default.
    pub connect_timeout: Duration,
    /// Timeout for one call, including the wait in the queue; 60 seconds by default.
    pub call_timeout: Duration,
    /// Maximum time for an operation without success, including all retries: for a get or mutation
    /// as a whole, for a batch or scan since the last answer. 2 minutes by default.
    pub operation_timeout: Duration,
    /// Timeout for a master procedure, for example creating or disabling a table. 10 minutes by
    /// default.
    pub procedure_timeout: Duration,
    /// Maximum retries for a failed call; 15 by default.
    pub retries_max: u32,
    /// The wait before the first retry; later waits are up to 200 times as long. 100 milliseconds
    /// by default.
    pub retry_pause: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        let user = ["HADOOP_USER_NAME", "USER"].iter().find_map(|name| std::env::var(name).ok());
        Self {
            user: user.unwrap_or_else(|| "rowhouse".to_owned()),
            connect_timeout: Duration::from_secs(10),
            call_timeout: Duration::from_secs(60),
            operation_timeout: Duration::from_secs(120),
            procedure_timeout: Duration::from_secs(600),
            retries_max: 15,
            retry_pause: Duration::from_millis(100),
        }
    }
}
