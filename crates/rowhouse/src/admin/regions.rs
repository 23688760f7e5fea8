//! Regions: splits, merges, assignments, and the switches that allow them.

use rowhouse_model::{Bytes, Error, ErrorKind, RegionInfo, RegionSwitch, Result};
use rowhouse_store::Store;

use super::Admin;
use crate::backend::Side;

impl Admin<'_> {
    /// Splits a table region in two at row `at`, which becomes the second region's first row, or in
    /// the middle of the region's data. Reads and writes continue meanwhile. See
    /// [`Table::regions`](crate::Table::regions) for the regions.
    ///
    /// ```
    /// # use rowhouse::{Database, Result};
    /// # async fn example(database: Database) -> Result<()> {
    /// let blog = database.table("blog").await?;
    /// let first = blog.regions().await?.remove(0);
    /// database.admin().split_region(&first, Some("m".into())).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `UnknownRegion` if the region no longer exists; `TableNotEnabled`; `InvalidRequest` if the
    /// row is not greater than the region's start row, and for a region without two rows to split
    /// between. A cluster refuses to split a region that still has reference files from an earlier
    /// split.
    pub async fn split_region(self, region: &RegionInfo, at: Option<Bytes>) -> Result<()> {
        match self.side() {
            Side::Embedded(it) => {
                let name = region.name().full;
                it.run(move |store| store.split_region(&name, at)).await
            }
            Side::Cluster(it) => it.admin().split_region(region, at).await,
        }
    }

    /// Merges adjacent regions in a table into one. Reads and writes continue meanwhile.
    ///
    /// ```
    /// # use rowhouse::{Database, Result};
    /// # async fn example(database: Database) -> Result<()> {
    /// let regions = database.table("blog").await?.regions().await?;
    /// database.admin().merge_regions(&regions[..2]).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Admin::split_region`]; `InvalidRequest` for fewer than two regions, and for regions
    /// that are not adjacent.
    pub async fn merge_regions(self, regions: &[RegionInfo]) -> Result<()> {
        match self.side() {
            Side::Embedded(it) => {
                let names: Vec<Bytes> = regions.iter().map(|region| region.name().full).collect();
                let merge = move |store: &Store| {
                    let names: Vec<&[u8]> = names.iter().map(|name| &name[..]).collect();
                    store.merge_regions(&names)
                };
                it.run(merge).await
            }
            Side::Cluster(it) => it.admin().merge_regions(regions).await,
        }
    }

    /// Brings an unassigned region back into service.
    ///
    /// ```
    /// # use rowhouse::{Database, Result};
    /// # async fn example(database: Database) -> Result<()> {
    /// let (region, server) = database.table("blog").await?.locate(b"bob").await?;
    /// if server.is_none() {
    ///     database.admin().assign_region(&region).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `UnknownRegion`; `TableNotEnabled`; `Connection` from a cluster.
    pub async fn assign_region(self, region: &RegionInfo) -> Result<()> {
        match self.side() {
            Side::Embedded(it) => {
                let name = region.name().full;
                it.run(move |store| store.assign_region(&name)).await
            }
            Side::Cluster(it) => it.admin().assign_region(region).await,
        }
    }

    /// Stops serving a region until it is assigned: reads and writes to its rows are refused. An
    /// embedded database and a rowhouse server serve it again after a restart.
    ///
    /// ```
    /// # use rowhouse::{Database, Result};
    /// # async fn example(database: Database) -> Result<()> {
    /// let (region, _) = database.table("blog").await?.locate(b"bob").await?;
    /// database.admin().unassign_region(&region).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Admin::assign_region`].
    pub async fn unassign_region(self, region: &RegionInfo) -> Result<()> {
        match self.side() {
            Side::Embedded(it) => {
                let name = region.name().full;
                it.run(move |store| store.unassign_region(&name)).await
            }
            Side::Cluster(it) => it.admin().unassign_region(region).await,
        }
    }

    /// Drops all cells of a region at once, without markers. Indexes of the table are built anew.
    ///
    /// ```
    /// # use rowhouse::{Database, Result};
    /// # async fn example(database: Database) -> Result<()> {
    /// let (region, _) = database.table("blog").await?.locate(b"bob").await?;
    /// database.admin().truncate_region(&region).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Admin::assign_region`]; `NotServingRegion` for an unassigned region; `InvalidRequest`
    /// for the region of an index.
    pub async fn truncate_region(self, region: &RegionInfo) -> Result<()> {
        match self.side() {
            Side::Embedded(it) => {
                let name = region.name().full;
                it.run(move |store| store.truncate_region(&name)).await
            }
            Side::Cluster(it) => it.admin().truncate_region(region).await,
        }
    }

    /// Moves a region to another server in a cluster, chosen by the cluster. Without another server
    /// the region stays.
    ///
    /// ```
    /// # use rowhouse::{Database, Result};
    /// # async fn example(database: Database) -> Result<()> {
    /// let (region, _) = database.table("blog").await?.locate(b"bob").await?;
    /// database.admin().move_region(&region).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Admin::assign_region`]; `NotServingRegion` for an unassigned region.
    pub async fn move_region(self, region: &RegionInfo) -> Result<()> {
        match self.side() {
            // There is no other server.
            Side::Embedded(it) => {
                let name = region.name();
                let found = it.store().find_region(&name.full);
                let unknown = || Error::new(ErrorKind::UnknownRegion, name.to_string());
                found.ok_or_else(unknown)?.check_serving()
            }
            Side::Cluster(it) => it.admin().move_region(region).await,
        }
    }

    /// Returns true if regions may be split or merged, a setting for all tables.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// use rowhouse::admin::RegionSwitch;
    ///
    /// let merges = database.admin().region_switch(RegionSwitch::Merge).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Unsupported` and `Connection` from a cluster.
    pub async fn region_switch(self, switch: RegionSwitch) -> Result<bool> {
        match self.side() {
            Side::Embedded(it) => Ok(it.store().region_switch(switch)),
            Side::Cluster(it) => it.admin().region_switch(switch).await,
        }
    }

    /// Sets permanently whether regions may be split or merged, automatically or by request, in all
    /// tables; returns the previous setting.
    ///
    /// ```
    /// use rowhouse::admin::RegionSwitch;
    ///
    /// // Can regions stay as they are during a bulk load?
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// let before = database.admin().set_region_switch(RegionSwitch::Split, false).await?;
    /// // Load the files.
    /// database.admin().set_region_switch(RegionSwitch::Split, before).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Admin::region_switch`]; `Io`.
    pub async fn set_region_switch(self, switch: RegionSwitch, on: bool) -> Result<bool> {
        match self.side() {
            Side::Embedded(it) => it.run(move |store| store.set_region_switch(switch, on)).await,
            Side::Cluster(it) => it.admin().set_region_switch(switch, on).await,
        }
    }
}
