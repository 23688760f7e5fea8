//! What a user tunes.

use std::time::Duration;

/// Limits of a [`crate::Client`]. The defaults are HBase's, but for the total time of an
/// operation, which HBase leaves at twenty minutes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Who the client says it is; by default `HADOOP_USER_NAME`, else `USER`, else `rowhouse`.
    pub user: String,
    /// How long a connection may take to be made; 10 seconds by default.
    pub connect_timeout: Duration,
    /// How long one call may take, waiting for its turn included; 60 seconds by default.
    pub call_timeout: Duration,
    /// How long an operation may go on without success, all repetitions included: a get or a
    /// mutation as a whole, a batch or a scan since it last got an answer. 2 minutes by default.
    pub operation_timeout: Duration,
    /// How long a procedure of the master may take: creating a table, disabling one. 10 minutes
    /// by default.
    pub procedure_timeout: Duration,
    /// How often a failed call is repeated; 15 by default.
    pub retries_max: u32,
    /// The wait before the first repetition; later ones wait longer, up to 200 times as long.
    /// 100 milliseconds by default.
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
