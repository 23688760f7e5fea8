//! Every method that Apache HBase declares is known here, or the service is omitted for a stated
//! reason.

use std::collections::BTreeSet;

use rowhouse_format::rpc::{Method, Service};

/// Services that database clients do not call.
const SERVICES_LEFT_OUT: &[(&str, &str)] = &[
    ("AccessControlService", "an endpoint of secure clusters, called through ExecService"),
    ("BootstrapNodeService", "region servers ask each other; clients call GetBootstrapNodes"),
    ("ConnectionRegistryService", "only the opening of a connection asks, before any service"),
    ("LockService", "locks of the master that outlive a call; only HBCK1 took them"),
    ("RegionServerStatusService", "region servers report to a master in another process"),
];

#[test]
fn every_method_of_hbase_is_known_or_its_service_is_left_out() {
    let mut known = 0;
    let mut left_out = BTreeSet::new();
    for line in include_str!("services.txt").lines().filter(|line| !line.starts_with('#')) {
        let (service, method) = line.split_once(' ').unwrap();
        match Service::from_name(service) {
            Some(service) => {
                assert!(Method::from_name(service, method).is_some(), "{line} is not known");
                known += 1;
            }
            None => _ = left_out.insert(service),
        }
    }
    assert_eq!(known, Method::ALL.len(), "a method is known that HBase does not have");
    let expected: BTreeSet<_> = SERVICES_LEFT_OUT.iter().map(|(service, _)| *service).collect();
    assert_eq!(left_out, expected);
}
