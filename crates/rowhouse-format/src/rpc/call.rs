//! The table that lists services and methods.

// HBase has a message named `Option`; the glob import below must not shadow the standard type.
use std::option::Option;

use bytes::Bytes;
use prost::Message;
use rowhouse_model::Result;

use super::wire::decode_message;
use crate::proto::*;

/// A request message, with the method and response type.
pub trait Call: Message + Default {
    /// The method that the message requests.
    const METHOD: Method;
    /// The response's message type.
    type Answer: Message + Default;
}

/// A call's two messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// From the client.
    Request,
    /// From the server.
    Response,
}

/// Generates [`Service`], [`Method`] and [`Call`] from the table at this file's end. A request
/// message marked `shared` belongs to several methods and has no [`Call`] implementation. `()`
/// stands for a message that `proto/` does not declare: a request that is answered without
/// decoding, or a response without fields.
macro_rules! calls {
    ($($service:ident $service_name:literal {
        $($method:ident $name:literal $unique:ident $request:ty => $response:ty;)*
    })*) => {
        /// A service that a server has; each connection uses one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Service {
            $(#[doc = concat!("`", $service_name, "`")] $service,)*
        }

        impl Service {
            /// Every service.
            pub const ALL: &[Self] = &[$(Self::$service),*];

            /// Returns HBase's name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$service => $service_name,)* }
            }
        }

        /// A service's method.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Method {
            $($(#[doc = concat!("`", $service_name, ".", $name, "`")] $method,)*)*
        }

        impl Method {
            /// Every method, performance-critical ones first.
            pub const ALL: &[Self] = &[$($(Self::$method),*),*];

            /// Returns HBase's name.
            pub const fn name(self) -> &'static str {
                match self { $($(Self::$method => $name,)*)* }
            }

            /// Returns the method's service.
            pub const fn service(self) -> Service {
                match self { $($(Self::$method => Service::$service,)*)* }
            }

            /// Decodes a message for this method and encodes it again. If the bytes are unchanged,
            /// they contain no undeclared field.
            ///
            /// # Errors
            /// `Protocol` if the bytes are not such a message.
            pub fn recode(self, side: Side, message: Bytes) -> Result<Vec<u8>> {
                match (self, side) {
                    $($(
                        (Self::$method, Side::Request) => recode::<$request>(message),
                        (Self::$method, Side::Response) => recode::<$response>(message),
                    )*)*
                }
            }
        }

        $($(calls!(@$unique $method $request, $response);)*)*
    };
    (@call $method:ident $request:ty, $response:ty) => {
        impl Call for $request {
            const METHOD: Method = Method::$method;
            type Answer = $response;
        }
    };
    (@shared $method:ident $request:ty, $response:ty) => {};
}

impl Service {
    /// Returns the service with HBase's name `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|service| service.name() == name)
    }
}

impl Method {
    /// Returns the method in `service` with HBase's name `name`.
    pub fn from_name(service: Service, name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|method| method.service() == service && method.name() == name)
    }
}

fn recode<M: Message + Default>(message: Bytes) -> Result<Vec<u8>> {
    Ok(decode_message::<M>(message)?.encode_to_vec())
}

calls! {
    Client "ClientService" {
        Get "Get" call GetRequest => GetResponse;
        Mutate "Mutate" call MutateRequest => MutateResponse;
        Scan "Scan" call ScanRequest => ScanResponse;
        Multi "Multi" call MultiRequest => MultiResponse;
        PrepareBulkLoad "PrepareBulkLoad" call PrepareBulkLoadRequest => PrepareBulkLoadResponse;
        BulkLoadHFile "BulkLoadHFile" call BulkLoadHFileRequest => BulkLoadHFileResponse;
        CleanupBulkLoad "CleanupBulkLoad" call CleanupBulkLoadRequest => CleanupBulkLoadResponse;
        ExecService "ExecService" call CoprocessorServiceRequest => CoprocessorServiceResponse;
        ExecRegionServerService "ExecRegionServerService"
            shared CoprocessorServiceRequest => CoprocessorServiceResponse;
    }
    Admin "AdminService" {
        GetRegionInfo "GetRegionInfo" call GetRegionInfoRequest => GetRegionInfoResponse;
        GetStoreFile "GetStoreFile" call GetStoreFileRequest => GetStoreFileResponse;
        GetOnlineRegion "GetOnlineRegion" call GetOnlineRegionRequest => GetOnlineRegionResponse;
        FlushRegion "FlushRegion" call FlushRegionRequest => FlushRegionResponse;
        CompactRegion "CompactRegion" call CompactRegionRequest => CompactRegionResponse;
        GetServerInfo "GetServerInfo" call GetServerInfoRequest => GetServerInfoResponse;
        GetRegionLoad "GetRegionLoad" call GetRegionLoadRequest => GetRegionLoadResponse;
        WarmupRegion "WarmupRegion" call WarmupRegionRequest => WarmupRegionResponse;
        CompactionSwitch "CompactionSwitch"
            call CompactionSwitchRequest => CompactionSwitchResponse;
        ClearCompactionQueues "ClearCompactionQueues"
            call ClearCompactionQueuesRequest => ClearCompactionQueuesResponse;
        ClearRegionBlockCache "ClearRegionBlockCache"
            call ClearRegionBlockCacheRequest => ClearRegionBlockCacheResponse;
        RollWALWriter "RollWALWriter" call RollWalWriterRequest => RollWalWriterResponse;
        StopServer "StopServer" call StopServerRequest => StopServerResponse;
        UpdateConfiguration "UpdateConfiguration"
            call UpdateConfigurationRequest => UpdateConfigurationResponse;
        GetSlowLogResponses "GetSlowLogResponses"
            shared SlowLogResponseRequest => SlowLogResponses;
        GetLargeLogResponses "GetLargeLogResponses"
            shared SlowLogResponseRequest => SlowLogResponses;
        ClearSlowLogsResponses "ClearSlowLogsResponses"
            call ClearSlowLogResponseRequest => ClearSlowLogResponses;
        GetServerLogEntries "GetLogEntries" shared LogRequest => LogEntry;
        GetCachedFilesList "GetCachedFilesList" shared () => ();
        GetSpaceQuotaSnapshots "GetSpaceQuotaSnapshots" shared () => ();
        UpdateFavoredNodes "UpdateFavoredNodes" shared () => ();
        OpenRegion "OpenRegion" shared () => ();
        CloseRegion "CloseRegion" shared () => ();
        ExecuteProcedures "ExecuteProcedures" shared () => ();
        ReplicateWALEntry "ReplicateWALEntry"
            call ReplicateWalEntryRequest => ReplicateWalEntryResponse;
        Replay "Replay" shared () => ();
    }
    ClientMeta "ClientMetaService" {
        GetClusterId "GetClusterId" call GetClusterIdRequest => GetClusterIdResponse;
        GetActiveMaster "GetActiveMaster" call GetActiveMasterRequest => GetActiveMasterResponse;
        GetMasters "GetMasters" call GetMastersRequest => GetMastersResponse;
        GetMetaRegionLocations "GetMetaRegionLocations"
            call GetMetaRegionLocationsRequest => GetMetaRegionLocationsResponse;
        GetBootstrapNodes "GetBootstrapNodes"
            call GetBootstrapNodesRequest => GetBootstrapNodesResponse;
    }
    Master "MasterService" {
        IsMasterRunning "IsMasterRunning" call IsMasterRunningRequest => IsMasterRunningResponse;
        GetProcedureResult "getProcedureResult"
            call GetProcedureResultRequest => GetProcedureResultResponse;
        AbortProcedure "AbortProcedure" call AbortProcedureRequest => AbortProcedureResponse;
        ExecProcedure "ExecProcedure" call ExecProcedureRequest => ExecProcedureResponse;
        ExecProcedureWithRet "ExecProcedureWithRet"
            shared ExecProcedureRequest => ExecProcedureResponse;
        IsProcedureDone "IsProcedureDone" call IsProcedureDoneRequest => IsProcedureDoneResponse;
        ExecMasterService "ExecMasterService"
            shared CoprocessorServiceRequest => CoprocessorServiceResponse;
        GetClusterStatus "GetClusterStatus"
            call GetClusterStatusRequest => GetClusterStatusResponse;
        GetSecurityCapabilities "getSecurityCapabilities"
            call SecurityCapabilitiesRequest => SecurityCapabilitiesResponse;
        IsBalancerEnabled "IsBalancerEnabled"
            call IsBalancerEnabledRequest => IsBalancerEnabledResponse;
        SetBalancerRunning "SetBalancerRunning"
            call SetBalancerRunningRequest => SetBalancerRunningResponse;
        Balance "Balance" call BalanceRequest => BalanceResponse;
        SetSplitOrMergeEnabled "SetSplitOrMergeEnabled"
            call SetSplitOrMergeEnabledRequest => SetSplitOrMergeEnabledResponse;
        IsSplitOrMergeEnabled "IsSplitOrMergeEnabled"
            call IsSplitOrMergeEnabledRequest => IsSplitOrMergeEnabledResponse;
        SwitchSnapshotCleanup "SwitchSnapshotCleanup"
            call SetSnapshotCleanupRequest => SetSnapshotCleanupResponse;
        IsSnapshotCleanupEnabled "IsSnapshotCleanupEnabled"
            call IsSnapshotCleanupEnabledRequest => IsSnapshotCleanupEnabledResponse;
        Normalize "Normalize" call NormalizeRequest => NormalizeResponse;
        SetNormalizerRunning "SetNormalizerRunning"
            call SetNormalizerRunningRequest => SetNormalizerRunningResponse;
        IsNormalizerEnabled "IsNormalizerEnabled"
            call IsNormalizerEnabledRequest => IsNormalizerEnabledResponse;
        RunCatalogScan "RunCatalogScan" call RunCatalogScanRequest => RunCatalogScanResponse;
        EnableCatalogJanitor "EnableCatalogJanitor"
            call EnableCatalogJanitorRequest => EnableCatalogJanitorResponse;
        IsCatalogJanitorEnabled "IsCatalogJanitorEnabled"
            call IsCatalogJanitorEnabledRequest => IsCatalogJanitorEnabledResponse;
        RunCleanerChore "RunCleanerChore" call RunCleanerChoreRequest => RunCleanerChoreResponse;
        SetCleanerChoreRunning "SetCleanerChoreRunning"
            call SetCleanerChoreRunningRequest => SetCleanerChoreRunningResponse;
        IsCleanerChoreEnabled "IsCleanerChoreEnabled"
            call IsCleanerChoreEnabledRequest => IsCleanerChoreEnabledResponse;
        Shutdown "Shutdown" call ShutdownRequest => ShutdownResponse;
        StopMaster "StopMaster" call StopMasterRequest => StopMasterResponse;
        FlushMasterStore "FlushMasterStore"
            call FlushMasterStoreRequest => FlushMasterStoreResponse;
        GetMasterLogEntries "GetLogEntries" shared LogRequest => LogEntry;
        ListDecommissionedRegionServers "ListDecommissionedRegionServers"
            call ListDecommissionedRegionServersRequest => ListDecommissionedRegionServersResponse;
        DecommissionRegionServers "DecommissionRegionServers"
            call DecommissionRegionServersRequest => DecommissionRegionServersResponse;
        RecommissionRegionServer "RecommissionRegionServer"
            call RecommissionRegionServerRequest => RecommissionRegionServerResponse;
        ClearDeadServers "ClearDeadServers"
            call ClearDeadServersRequest => ClearDeadServersResponse;
        GetProcedures "GetProcedures" shared () => ();
        GetLocks "GetLocks" shared () => ();
        SetQuota "SetQuota" shared () => ();
        GetQuotaStates "GetQuotaStates" shared () => ();
        GetSpaceQuotaRegionSizes "GetSpaceQuotaRegionSizes" shared () => ();
        SwitchRpcThrottle "SwitchRpcThrottle"
            call SwitchRpcThrottleRequest => SwitchRpcThrottleResponse;
        IsRpcThrottleEnabled "IsRpcThrottleEnabled"
            call IsRpcThrottleEnabledRequest => IsRpcThrottleEnabledResponse;
        SwitchExceedThrottleQuota "SwitchExceedThrottleQuota"
            call SwitchExceedThrottleQuotaRequest => SwitchExceedThrottleQuotaResponse;
        Grant "Grant" shared () => ();
        Revoke "Revoke" shared () => ();
        GetUserPermissions "GetUserPermissions" shared () => ();
        HasUserPermissions "HasUserPermissions" shared () => ();
        ListReplicationPeers "ListReplicationPeers" call ListReplicationPeersRequest => ();
        GetReplicationPeerConfig "GetReplicationPeerConfig"
            call GetReplicationPeerConfigRequest => ();
        IsReplicationPeerEnabled "IsReplicationPeerEnabled"
            call GetReplicationPeerStateRequest => ();
        AddReplicationPeer "AddReplicationPeer" shared () => ();
        UpdateReplicationPeerConfig "UpdateReplicationPeerConfig" shared () => ();
        RemoveReplicationPeer "RemoveReplicationPeer" call RemoveReplicationPeerRequest => ();
        EnableReplicationPeer "EnableReplicationPeer" call EnableReplicationPeerRequest => ();
        DisableReplicationPeer "DisableReplicationPeer" call DisableReplicationPeerRequest => ();
        ReplicationPeerModificationSwitch "ReplicationPeerModificationSwitch"
            call ReplicationPeerModificationSwitchRequest => ReplicationPeerModificationSwitchResponse;
        IsReplicationPeerModificationEnabled "IsReplicationPeerModificationEnabled"
            call IsReplicationPeerModificationEnabledRequest => IsReplicationPeerModificationEnabledResponse;
        GetReplicationPeerModificationProcedures "GetReplicationPeerModificationProcedures"
            shared () => ();
        IsMasterInMaintenanceMode "IsMasterInMaintenanceMode"
            call IsInMaintenanceModeRequest => IsInMaintenanceModeResponse;
        CreateTable "CreateTable" call CreateTableRequest => CreateTableResponse;
        DeleteTable "DeleteTable" call DeleteTableRequest => DeleteTableResponse;
        TruncateTable "truncateTable" call TruncateTableRequest => TruncateTableResponse;
        SplitRegion "SplitRegion" call SplitTableRegionRequest => SplitTableRegionResponse;
        MergeTableRegions "MergeTableRegions"
            call MergeTableRegionsRequest => MergeTableRegionsResponse;
        TruncateRegion "TruncateRegion" call TruncateRegionRequest => TruncateRegionResponse;
        OfflineRegion "OfflineRegion" call OfflineRegionRequest => OfflineRegionResponse;
        GetLastMajorCompactionTimestamp "getLastMajorCompactionTimestamp"
            call MajorCompactionTimestampRequest => MajorCompactionTimestampResponse;
        GetLastMajorCompactionTimestampForRegion "getLastMajorCompactionTimestampForRegion"
            call MajorCompactionTimestampForRegionRequest => MajorCompactionTimestampResponse;
        MoveRegion "MoveRegion" call MoveRegionRequest => MoveRegionResponse;
        AssignRegion "AssignRegion" call AssignRegionRequest => AssignRegionResponse;
        UnassignRegion "UnassignRegion" call UnassignRegionRequest => UnassignRegionResponse;
        EnableTable "EnableTable" call EnableTableRequest => EnableTableResponse;
        DisableTable "DisableTable" call DisableTableRequest => DisableTableResponse;
        ModifyTable "ModifyTable" call ModifyTableRequest => ModifyTableResponse;
        FlushTable "FlushTable" call FlushTableRequest => FlushTableResponse;
        AddColumn "AddColumn" call AddColumnRequest => AddColumnResponse;
        ModifyColumn "ModifyColumn" call ModifyColumnRequest => ModifyColumnResponse;
        DeleteColumn "DeleteColumn" call DeleteColumnRequest => DeleteColumnResponse;
        ModifyTableStoreFileTracker "ModifyTableStoreFileTracker"
            call ModifyTableStoreFileTrackerRequest => ModifyTableStoreFileTrackerResponse;
        ModifyColumnStoreFileTracker "ModifyColumnStoreFileTracker"
            call ModifyColumnStoreFileTrackerRequest => ModifyColumnStoreFileTrackerResponse;
        GetSchemaAlterStatus "GetSchemaAlterStatus"
            call GetSchemaAlterStatusRequest => GetSchemaAlterStatusResponse;
        GetTableDescriptors "GetTableDescriptors"
            call GetTableDescriptorsRequest => GetTableDescriptorsResponse;
        ListTableDescriptorsByState "ListTableDescriptorsByState"
            call ListTableDescriptorsByStateRequest => ListTableDescriptorsByStateResponse;
        ListTableDescriptorsByNamespace "ListTableDescriptorsByNamespace"
            call ListTableDescriptorsByNamespaceRequest => ListTableDescriptorsByNamespaceResponse;
        GetTableNames "GetTableNames" call GetTableNamesRequest => GetTableNamesResponse;
        ListTableNamesByState "ListTableNamesByState"
            call ListTableNamesByStateRequest => ListTableNamesByStateResponse;
        ListTableNamesByNamespace "ListTableNamesByNamespace"
            call ListTableNamesByNamespaceRequest => ListTableNamesByNamespaceResponse;
        GetTableState "GetTableState" call GetTableStateRequest => GetTableStateResponse;
        Snapshot "Snapshot" call SnapshotRequest => SnapshotResponse;
        GetCompletedSnapshots "GetCompletedSnapshots"
            call GetCompletedSnapshotsRequest => GetCompletedSnapshotsResponse;
        DeleteSnapshot "DeleteSnapshot" call DeleteSnapshotRequest => DeleteSnapshotResponse;
        IsSnapshotDone "IsSnapshotDone" call IsSnapshotDoneRequest => IsSnapshotDoneResponse;
        RestoreSnapshot "RestoreSnapshot"
            call RestoreSnapshotRequest => RestoreSnapshotResponse;
        CreateNamespace "CreateNamespace" call CreateNamespaceRequest => CreateNamespaceResponse;
        ModifyNamespace "ModifyNamespace" call ModifyNamespaceRequest => ModifyNamespaceResponse;
        DeleteNamespace "DeleteNamespace" call DeleteNamespaceRequest => DeleteNamespaceResponse;
        GetNamespaceDescriptor "GetNamespaceDescriptor"
            call GetNamespaceDescriptorRequest => GetNamespaceDescriptorResponse;
        ListNamespaces "ListNamespaces" call ListNamespacesRequest => ListNamespacesResponse;
        ListNamespaceDescriptors "ListNamespaceDescriptors"
            call ListNamespaceDescriptorsRequest => ListNamespaceDescriptorsResponse;
    }
    Hbck "HbckService" {
        RunHbckChore "RunHbckChore" call RunHbckChoreRequest => RunHbckChoreResponse;
        SetTableStateInMeta "SetTableStateInMeta" shared () => ();
        SetRegionStateInMeta "SetRegionStateInMeta" shared () => ();
        Assigns "Assigns" call AssignsRequest => AssignsResponse;
        Unassigns "Unassigns" call UnassignsRequest => UnassignsResponse;
        BypassProcedure "BypassProcedure" call BypassProcedureRequest => BypassProcedureResponse;
        ScheduleServerCrashProcedure "ScheduleServerCrashProcedure"
            call ScheduleServerCrashProcedureRequest => ScheduleServerCrashProcedureResponse;
        ScheduleSCPsForUnknownServers "ScheduleSCPsForUnknownServers"
            call ScheduleScPsForUnknownServersRequest => ScheduleScPsForUnknownServersResponse;
        FixMeta "FixMeta" call FixMetaRequest => FixMetaResponse;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_its_name_only_in_its_service() {
        for &method in Method::ALL {
            for &service in Service::ALL {
                let named = Method::from_name(service, method.name());
                assert_eq!(named == Some(method), service == method.service(), "{method:?}");
            }
        }
    }
}
