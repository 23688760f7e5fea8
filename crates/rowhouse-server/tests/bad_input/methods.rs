//! Calls every method with an empty message.

use std::fmt::Write;

use expect_test::expect;
use rowhouse_format::rpc::Method;

use crate::scene::{frame, header};
use crate::support::{Client, TestServer, head};

#[test]
fn every_method_is_answered_and_those_that_are_never_done_say_why() {
    let server = TestServer::start();
    server.create_table("t", &["cf"], &[]);
    let mut refused = String::new();
    for &method in Method::ALL {
        let mut client = Client::connect_as(server.address(), &head(method.service()));
        client.send_bytes(&frame(&header(method.name()), &[], &[]));
        let response = client.receive().unwrap_or_else(|| panic!("{method:?} is not answered"));
        let Err(exception) = response.outcome else { continue };
        assert!(!exception.message.contains("broke off"), "{method:?}: {}", exception.message);
        assert!(!exception.message.contains("unknown method"), "{method:?}");
        let name = format!("{}.{} is not supported: ", method.service().name(), method.name());
        if exception.message.starts_with(&name) {
            assert!(exception.do_not_retry, "{method:?}");
            writeln!(refused, "{}", exception.message).unwrap();
        }
    }
    expect![[r#"
        ClientService.ExecRegionServerService is not supported: only regions have coprocessors
        AdminService.UpdateFavoredNodes is not supported: files are on one machine
        AdminService.OpenRegion is not supported: there is no master in another process
        AdminService.CloseRegion is not supported: there is no master in another process
        AdminService.ExecuteProcedures is not supported: there is no master in another process
        AdminService.Replay is not supported: a region has no replicas
        MasterService.ExecMasterService is not supported: only regions have coprocessors
        MasterService.AddReplicationPeer is not supported: there is no replication
        MasterService.UpdateReplicationPeerConfig is not supported: there is no replication
        HbckService.SetTableStateInMeta is not supported: hbase:meta is synthesized from the manifest
        HbckService.SetRegionStateInMeta is not supported: hbase:meta is synthesized from the manifest
    "#]]
    .assert_eq(&refused);
}
