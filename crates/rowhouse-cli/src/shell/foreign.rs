//! Unsupported commands from HBase's shell: they are refused by name, with the alternative, instead
//! of as typing mistakes.

/// Returns the reason why HBase's command `name` is not supported, and the alternative; `None` if
/// HBase has no such command. The list covers HBase's shell 2.4, the last that is published on its
/// own, and the additions in 2.5 and 2.6.
pub(super) fn alternative_to(name: &str) -> Option<&'static str> {
    let has =
        |(names, _): &&(&str, &str)| names.split_ascii_whitespace().any(|known| known == name);
    ABSENT.iter().find(has).map(|(_, instead)| *instead)
}

/// HBase command names, separated by spaces, and the alternative to them.
const ABSENT: [(&str, &str); 22] = [
    (
        "add_peer append_peer_exclude_namespaces append_peer_exclude_tableCFs append_peer_namespaces
         append_peer_tableCFs disable_peer disable_table_replication enable_peer enable_table_replication
         get_peer_config list_peer_configs list_peers list_replicated_tables peer_modification_enabled
         peer_modification_switch remove_peer remove_peer_exclude_namespaces remove_peer_exclude_tableCFs
         remove_peer_namespaces remove_peer_tableCFs set_peer_bandwidth set_peer_exclude_namespaces
         set_peer_exclude_tableCFs set_peer_namespaces set_peer_replicate_all set_peer_serial
         set_peer_tableCFs show_peer_tableCFs transit_peer_sync_replication_state update_peer_config",
        "rowhouse has no peers of its own: it takes what HBase replicates to it; rowhouse backup copies a database,
         rowhouse export hands a table to a cluster",
    ),
    (
        "add_rsgroup alter_rsgroup_config balance_rsgroup get_namespace_rsgroup get_rsgroup get_server_rsgroup
         get_table_rsgroup list_rsgroups move_namespaces_rsgroup move_servers_namespaces_rsgroup
         move_servers_rsgroup move_servers_tables_rsgroup move_tables_rsgroup remove_rsgroup
         remove_servers_rsgroup rename_rsgroup show_rsgroup_config",
        "there are no groups of servers: one process serves all tables",
    ),
    (
        "add_labels clear_auths get_auths list_labels set_auths set_visibility",
        "there are no visibility labels",
    ),
    (
        "grant list_security_capabilities revoke user_permission whoami",
        "there is no access control: every client of the server may do everything",
    ),
    (
        "disable_exceed_throttle_quota disable_rpc_throttle enable_exceed_throttle_quota enable_rpc_throttle
         list_quota_snapshots list_quota_table_sizes list_quotas set_quota",
        "there are no quotas; rowhouse stats shows disk usage",
    ),
    (
        "get_balancer_decisions get_balancer_rejections",
        "a server writes the moves of its balancer to rowhouse.log; balancer 'dry_run' counts them",
    ),
    (
        "catalogjanitor_enabled catalogjanitor_run catalogjanitor_switch cleaner_chore_enabled cleaner_chore_run
         cleaner_chore_switch flush_master_store hbck_chore_run list_unknownservers",
        "the store maintains itself; rowhouse check finds damage",
    ),
    (
        "normalize normalizer_enabled normalizer_switch",
        "regions are not normalized; split and merge_region change them",
    ),
    ("clear_block_cache", "the block cache evicts by itself; BLOCKCACHE => false of a family \
                           keeps its blocks out"),
    (
        "clear_compaction_queues compact_rs",
        "compact and major_compact request compactions of a table, and compaction_state shows them",
    ),
    ("compaction_switch", "alter 'TABLE', COMPACTION_ENABLED => false stops compactions of a table"),
    ("alter_async alter_status", "alter is done in all regions when it returns"),
    ("change_sft change_sft_all", "the manifest of the store tracks files"),
    (
        "get_table table_help",
        "there are no variables: each command names its table, and help 'COMMAND' explains it",
    ),
    (
        "list_locks list_procedures rit",
        "a command that changes tables is complete when it returns, so nothing is pending",
    ),
    ("regioninfo", "list_regions 'TABLE' shows the boundaries of regions"),
    ("close_region", "unassign takes a region out of service"),
    ("reopen_regions", "no region needs to be reopened: alter takes effect at once"),
    ("list_snapshot_sizes", "snapshots share files with their tables; list_snapshots lists them"),
    (
        "is_in_maintenance_mode stop_master update_all_config update_config",
        "a server is stopped by Ctrl-C or SIGTERM, and set by the arguments of rowhouse serve",
    ),
    ("wal_roll", "log segments are rolled and recycled automatically; flush 'TABLE' writes a \
                  table to files"),
    (
        "clear_slowlog_responses get_largelog_responses get_slowlog_responses trace zk_dump",
        "a server reports in rowhouse.log, in its data directory, and in status 'detailed'",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::shell::commands;

    #[test]
    fn each_name_is_there_once_and_is_no_command_of_ours() {
        let mut names = BTreeSet::new();
        for name in ABSENT.iter().flat_map(|(names, _)| names.split_ascii_whitespace()) {
            assert!(names.insert(name), "{name} is there twice");
            assert!(commands::find(name).is_none(), "{name} is a command");
            assert!(alternative_to(name).is_some());
        }
        assert_eq!(alternative_to("gte"), None);
    }
}
