//! Table flushes and compactions.

use rowhouse_model::{Bytes, CompactionState, Error, ErrorKind, Result, TableName, TableState};
use rowhouse_store::CompactionKind;

use super::Admin;
use crate::backend::Side;

impl Admin<'_> {
    /// Flushes a table's memstores to files.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// database.admin().flush("blog").await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotEnabled`.
    pub async fn flush(self, name: &str) -> Result<()> {
        let name = TableName::parse(name)?;
        match self.side() {
            Side::Embedded(it) => it.run(move |store| store.table(&name)?.flush()).await,
            Side::Cluster(it) => it.admin().flush_table(&name).await,
        }
    }

    /// Flushes one family's memstores.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// database.admin().flush_family("blog", "cf").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Admin::flush`]; `NoSuchColumnFamily`.
    pub async fn flush_family(self, name: &str, family: &str) -> Result<()> {
        let name = TableName::parse(name)?;
        match self.side() {
            Side::Embedded(it) => {
                let family = family.to_owned();
                it.run(move |store| store.table(&name)?.flush_family(family.as_bytes())).await
            }
            Side::Cluster(it) => it.admin().flush_family(&name, family.as_bytes()).await,
        }
    }

    /// Requests that a table, or a family in it, is compacted, without waiting for it. A minor
    /// compaction runs only if one is due. A major compaction merges all files in each region and
    /// drops the cells that no reader can see.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rowhouse::admin::{CompactionKind, CompactionState};
    ///
    /// // How are deleted cells removed from the disk now?
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// let admin = database.admin();
    /// admin.flush("blog").await?;
    /// admin.compact("blog", None, CompactionKind::Major).await?;
    /// while admin.compaction_state("blog").await? != CompactionState::None {
    ///     tokio::time::sleep(Duration::from_millis(100)).await;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotEnabled`; `NoSuchColumnFamily`.
    pub async fn compact(
        self,
        name: &str,
        family: Option<&str>,
        kind: CompactionKind,
    ) -> Result<()> {
        let family = family.map(|family| Bytes::copy_from_slice(family.as_bytes()));
        let name = TableName::parse(name)?;
        match self.side() {
            Side::Embedded(it) => {
                let table = it.store().table(&name)?;
                if table.state() == TableState::Disabled {
                    return Err(Error::new(ErrorKind::TableNotEnabled, name.to_string()));
                }
                let mut regions = table.regions().iter();
                regions.try_for_each(|it| it.request_compaction(kind, family.as_deref()))
            }
            Side::Cluster(it) => {
                it.admin().compact_table(&name, family, kind == CompactionKind::Major).await
            }
        }
    }

    /// Returns the compactions that are running or queued in any table region; see
    /// [`Admin::compact`].
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// println!("{:?}", database.admin().compaction_state("blog").await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn compaction_state(self, name: &str) -> Result<CompactionState> {
        let name = TableName::parse(name)?;
        match self.side() {
            Side::Embedded(it) => {
                let table = it.store().table(&name)?;
                let states = table.regions().iter().map(|region| region.compaction_state());
                Ok(states.fold(CompactionState::None, CompactionState::with))
            }
            Side::Cluster(it) => it.admin().compaction_state(&name).await,
        }
    }
}
