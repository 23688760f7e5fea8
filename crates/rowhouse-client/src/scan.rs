//! Scans.

use rowhouse_model::{Error, Result, Row};

/// The rows of a scan, in key order (or from the last to the first), read as they are asked for.
///
/// Regions that move, split or fail on the way are followed: every row comes once. The scan is one
/// moment's view of each row, not of the table. Dropping it closes what is open on the server.
pub struct Scanner {}

impl Scanner {
    /// The next row; `None` behind the last. A caller that stops waiting and asks again later
    /// misses no row.
    ///
    /// # Errors
    /// As [`crate::Table::get`]; the scan ends there.
    pub async fn next(&mut self) -> Result<Option<Row>> {
        Err(Error::unsupported("the client is not finished yet"))
    }
}
