//! Registered followers of changes.

use rowhouse_model::{FollowerStatus, Result};

use super::Admin;
use crate::backend::Side;

impl Admin<'_> {
    /// Returns the registered followers of changes by name: the table, the saved position, how far
    /// each lags, and whether it has lost its place.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// for follower in database.admin().list_followers().await? {
    ///     println!("{} of {}: {} bytes", follower.name, follower.table, follower.lag_bytes);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` on an Apache HBase cluster; `Connection`.
    pub async fn list_followers(self) -> Result<Vec<FollowerStatus>> {
        match self.side() {
            Side::Embedded(it) => Ok(it.run(rowhouse_store::Store::followers).await),
            Side::Cluster(it) => it.admin().list_followers().await,
        }
    }

    /// Removes a registered follower. The log that is retained for it alone is removed.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// database.admin().drop_follower("counts").await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` if there is none with this name, and on an Apache HBase cluster.
    pub async fn drop_follower(self, name: &str) -> Result<()> {
        let name = name.to_owned();
        match self.side() {
            Side::Embedded(it) => it.run(move |store| store.drop_follower(&name)).await,
            Side::Cluster(it) => it.admin().drop_follower(&name).await,
        }
    }
}
