//! Region administration: assignment, splits, merges and compactions.

use rowhouse_format::convert::region::{self, RegionRef};
use rowhouse_format::proto;
use rowhouse_model::{
    Bytes, CompactionState, Error, ErrorKind, RegionInfo, RegionSwitch, Result, TableName,
    TableState,
};

use super::Admin;
use crate::connection::{Address, CallRequest};
use crate::locate::Located;
use crate::retry::Attempts;

impl Admin {
    /// Splits a region in two at row `at`, which becomes the first row in the second region, or
    /// halfway through the region's data.
    ///
    /// # Errors
    /// `UnknownRegion`; `InvalidRequest` for a row that is not greater than the region's start row,
    /// and for a region that cannot be split.
    pub async fn split_region(&self, region: &RegionInfo, at: Option<Bytes>) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let message = proto::SplitTableRegionRequest {
            region_info: region::to_proto(region),
            split_row: at,
            nonce_group,
            nonce,
        };
        let answer = self.call(message).await?;
        self.wait_for(answer.proc_id).await?;
        self.client.locator().forget_table(&region.table);
        Ok(())
    }

    /// Brings a region into service.
    ///
    /// # Errors
    /// `UnknownRegion`; `TableNotEnabled`.
    pub async fn assign_region(&self, region: &RegionInfo) -> Result<()> {
        let region = specifier(region);
        self.call(proto::AssignRegionRequest { region, r#override: None }).await.map(|_| ())
    }

    /// Removes a region from service until it is assigned.
    ///
    /// # Errors
    /// `UnknownRegion`; `TableNotEnabled`.
    pub async fn unassign_region(&self, region: &RegionInfo) -> Result<()> {
        let name = specifier(region);
        self.call(proto::UnassignRegionRequest { region: name, force: None }).await?;
        self.client.locator().forget_table(&region.table);
        Ok(())
    }

    /// Drops all cells of a region, and waits until the region accepts reads and writes again.
    ///
    /// # Errors
    /// `UnknownRegion`; `TableNotEnabled`; the master's error.
    pub async fn truncate_region(&self, region: &RegionInfo) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let region_info = region::to_proto(region);
        let message = proto::TruncateRegionRequest { region_info, nonce_group, nonce };
        let answer = self.call(message).await?;
        self.wait_for(answer.proc_id).await?;
        self.client.locator().forget_table(&region.table);
        Ok(())
    }

    /// Moves a region to another server, chosen by the master.
    ///
    /// # Errors
    /// `UnknownRegion`; the master's error.
    pub async fn move_region(&self, region: &RegionInfo) -> Result<()> {
        let name = specifier(region);
        self.call(proto::MoveRegionRequest { region: name, dest_server_name: None }).await?;
        self.client.locator().forget_table(&region.table);
        Ok(())
    }

    /// Returns true if a switch is on.
    ///
    /// # Errors
    /// The master's error.
    pub async fn region_switch(&self, switch: RegionSwitch) -> Result<bool> {
        let switch_type = switch_type(switch).into();
        Ok(self.call(proto::IsSplitOrMergeEnabledRequest { switch_type }).await?.enabled)
    }

    /// Turns a switch on or off for all tables; returns the previous state.
    ///
    /// # Errors
    /// The master's error; `Protocol` if the answer lacks the previous state.
    pub async fn set_region_switch(&self, switch: RegionSwitch, on: bool) -> Result<bool> {
        let message = proto::SetSplitOrMergeEnabledRequest {
            enabled: on,
            synchronous: Some(true),
            switch_types: vec![switch_type(switch).into()],
        };
        let before = self.call(message).await?.prev_value;
        let nothing = || {
            Error::new(
                ErrorKind::Protocol,
                "the master does not return the previous value of \
                                                a switch",
            )
        };
        before.first().copied().ok_or_else(nothing)
    }

    /// Merges adjacent regions in a table.
    ///
    /// # Errors
    /// `UnknownRegion`; `InvalidRequest` for regions that are not adjacent or cannot be merged.
    pub async fn merge_regions(&self, regions: &[RegionInfo]) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let message = proto::MergeTableRegionsRequest {
            region: regions.iter().map(specifier).collect(),
            forcible: None,
            nonce_group,
            nonce,
        };
        let answer = self.call(message).await?;
        self.wait_for(answer.proc_id).await?;
        for region in regions {
            self.client.locator().forget_table(&region.table);
        }
        Ok(())
    }

    /// Requests a compaction for a table, or for one family in it, without waiting for it: a major
    /// compaction with `major`, otherwise a minor compaction if one is due.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`.
    pub async fn compact_table(
        &self,
        table: &TableName,
        family: Option<Bytes>,
        major: bool,
    ) -> Result<()> {
        if self.table_state(table).await? == TableState::Disabled {
            return Err(Error::new(ErrorKind::TableNotEnabled, table.to_string()));
        }
        for (region, _) in self.client.table(table).regions().await? {
            let build = |located: &Located| {
                let region = located.as_region_ref().to_proto();
                let major = Some(major);
                let family = family.clone();
                Ok((proto::CompactRegionRequest { region, major, family }, Vec::new()))
            };
            self.client.call_row(table, &region.range.start, true, build).await?;
        }
        Ok(())
    }

    /// Returns the compactions that are running or queued in any region of a table. An unassigned
    /// region, and so every region in a disabled table, counts as having none, as in HBase's
    /// client.
    ///
    /// # Errors
    /// `TableNotFound`; `Connection` and `Timeout` for a server that does not answer on the first
    /// attempt.
    pub async fn compaction_state(&self, table: &TableName) -> Result<CompactionState> {
        let mut state = CompactionState::None;
        for (region, server) in self.client.table(table).regions().await? {
            let Some(server) = server else { continue };
            let message = proto::GetRegionInfoRequest {
                region: specifier(&region),
                compaction_state: Some(true),
                ..Default::default()
            };
            let deadline = Attempts::new(self.client.settings()).deadline();
            let request = CallRequest { message, cells: &[], is_meta_call: false, deadline };
            match self.client.connections().call(&Address::from(&server), request).await {
                Ok((answer, _)) => {
                    let of_region = region::compaction_state_from_proto(answer.compaction_state());
                    state = state.with(of_region);
                }
                Err(failure) if failure.error.kind() == ErrorKind::NotServingRegion => {}
                Err(failure) => return Err(failure.error),
            }
        }
        Ok(state)
    }
}

/// Returns a region's name for requests to the master.
pub(super) fn specifier(region: &RegionInfo) -> proto::RegionSpecifier {
    RegionRef::encoded(&region.name().encoded).to_proto()
}

fn switch_type(switch: RegionSwitch) -> proto::MasterSwitchType {
    match switch {
        RegionSwitch::Split => proto::MasterSwitchType::Split,
        RegionSwitch::Merge => proto::MasterSwitchType::Merge,
    }
}
