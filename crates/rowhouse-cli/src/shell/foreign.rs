//! Commands of HBase's shell that are not here yet: they are refused by name, not taken for typing
//! mistakes.

/// Whether HBase's shell (2.4, the last whose commands are published on their own) has `name`.
pub(super) fn is_hbases(name: &str) -> bool {
    NAMES.split_ascii_whitespace().any(|known| known == name)
}

const NAMES: &str = "
    add_labels add_peer add_rsgroup alter_async  alter_rsgroup_config
    alter_status append append_peer_exclude_namespaces append_peer_exclude_tableCFs
    append_peer_namespaces append_peer_tableCFs balance_rsgroup balance_switch
    balancer balancer_enabled catalogjanitor_enabled catalogjanitor_run
    catalogjanitor_switch cleaner_chore_enabled cleaner_chore_run cleaner_chore_switch
    clear_auths clear_block_cache clear_compaction_queues clear_deadservers
    clear_slowlog_responses clone_table_schema close_region
    compact_rs compaction_state compaction_switch decommission_regionservers
    
     disable_exceed_throttle_quota disable_peer disable_rpc_throttle
    disable_table_replication   enable_exceed_throttle_quota enable_peer
    enable_rpc_throttle enable_table_replication get_auths get_balancer_decisions
    get_balancer_rejections get_largelog_responses get_namespace_rsgroup get_peer_config
    get_rsgroup get_server_rsgroup get_slowlog_responses get_table
    get_table_rsgroup grant hbck_chore_run is_in_maintenance_mode list_deadservers
    list_decommissioned_regionservers list_labels list_liveservers list_locks
    list_peer_configs list_peers list_procedures list_quota_snapshots list_quota_table_sizes
    list_quotas list_replicated_tables list_rsgroups list_security_capabilities
    list_snapshot_sizes locate_region
    move_namespaces_rsgroup move_servers_namespaces_rsgroup
    move_servers_rsgroup move_servers_tables_rsgroup move_tables_rsgroup normalize
    normalizer_enabled normalizer_switch processlist recommission_regionserver regioninfo
    remove_peer remove_peer_exclude_namespaces remove_peer_exclude_tableCFs
    remove_peer_namespaces remove_peer_tableCFs remove_rsgroup remove_servers_rsgroup
    rename_rsgroup revoke rit set_auths set_peer_bandwidth
    set_peer_exclude_namespaces set_peer_exclude_tableCFs set_peer_namespaces
    set_peer_replicate_all set_peer_serial set_peer_tableCFs set_quota set_visibility
    show_filters show_peer_tableCFs show_rsgroup_config snapshot_cleanup_enabled
    snapshot_cleanup_switch status
    stop_master stop_regionserver table_help trace
    update_all_config update_config update_peer_config user_permission wal_roll whoami
    zk_dump
";
