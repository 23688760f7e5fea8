//! Where the requests to a table are.

use rowhouse_model::{HeatReport, Result, TableName};

use super::Admin;
use crate::backend::Side;

impl Admin<'_> {
    /// Returns a table's heat between two times in milliseconds since 1970: the requests by row key
    /// and minute, and the hottest rows. An embedded database and a rowhouse server retain a week's
    /// data. For an Apache HBase cluster it is one column with the requests to each region since
    /// that was opened, whatever the times ([`HeatReport::is_by_region`]).
    ///
    /// ```
    /// # use rowhouse::{Database, Result};
    /// # async fn example(database: Database) -> Result<()> {
    /// use rowhouse::admin::{LoadKind, LoadProfile};
    ///
    /// let heat = database.admin().heat("mail", i64::MIN, i64::MAX).await?;
    /// let mail = database.table("mail").await?;
    /// let regions = mail.regions().await?.into_iter().map(|region| region.range).collect();
    /// let writes = LoadProfile::of_heat(&heat, LoadKind::Writes, regions);
    /// println!("{}", writes.judge(mail.key_schema().ok()));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`; `Connection` from a cluster.
    pub async fn heat(self, table: &str, from_millis: i64, to_millis: i64) -> Result<HeatReport> {
        let table = TableName::parse(table)?;
        match self.side() {
            Side::Embedded(it) => Ok(it.store().table(&table)?.heat(from_millis, to_millis)),
            Side::Cluster(it) if it.server_keeps_indexes().await? => {
                it.admin().heat(&table, from_millis, to_millis).await
            }
            Side::Cluster(it) => it.admin().heat_by_region(&table).await,
        }
    }
}
