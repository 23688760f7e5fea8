//! Behavior that HBase chooses by the release a client announces, and calls that only older clients
//! make.

use crate::support::{Client, TestServer, region_ref, table_name};
use rowhouse_format::convert::{CellPlacement, get};
use rowhouse_format::proto;
use rowhouse_format::rpc::{ConnectionHead, Service};
use rowhouse_model::Get;

fn client(server: &TestServer, version: Option<&str>) -> Client {
    let head = ConnectionHead {
        client_version: version.map(str::to_owned),
        client_release: None,
        ..crate::support::head(Service::Client)
    };
    Client::connect_as(server.address(), &head)
}

#[test]
fn a_get_has_its_cells_in_the_message_for_clients_before_1_3() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    crate::support::put(&mut server.client(), &region, "r", "v").unwrap();
    for (version, cells_in) in [
        (None, CellPlacement::Message),
        (Some("1.1.5"), CellPlacement::Message),
        (Some("1.2.12"), CellPlacement::Message),
        (Some("1.3.6"), CellPlacement::Block),
        (Some("2.6.4-hadoop3"), CellPlacement::Block),
    ] {
        let message = proto::GetRequest {
            region: region_ref(&region).to_proto(),
            get: get::to_proto(&Get::new("r").unwrap()),
        };
        let (answer, cells) = client(&server, version).call_with(&message, &[]).unwrap();
        let in_message = answer.result.unwrap().cell.len();
        assert_eq!(in_message, (cells_in == CellPlacement::Message) as usize, "{version:?}");
        assert_eq!(cells.is_empty(), cells_in == CellPlacement::Message, "{version:?}");
    }
}

fn procedure(
    signature: &str,
    instance: &str,
    configuration: &[(&str, &str)],
) -> proto::ProcedureDescription {
    let pair = |&(name, value): &(&str, &str)| proto::NameStringPair {
        name: name.into(),
        value: value.into(),
    };
    proto::ProcedureDescription {
        signature: signature.into(),
        instance: Some(instance.into()),
        configuration: configuration.iter().map(pair).collect(),
        ..Default::default()
    }
}

#[test]
fn a_flush_and_a_snapshot_are_started_as_procedures() {
    // The test counts files, so none may be compacted.
    let server = TestServer::start_with(|options| options.settings.compaction.files_min = 100);
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    crate::support::put(&mut server.client(), &region, "r", "v").unwrap();
    let mut master = server.connect(Service::Master);
    let mut run = |procedure: proto::ProcedureDescription| {
        let request = proto::ExecProcedureRequest { procedure: procedure.clone() };
        master.call(&request).map_err(|exception| exception.message)?;
        let request = proto::IsProcedureDoneRequest { procedure: Some(procedure) };
        master.call(&request).map(|answer| answer.done()).map_err(|exception| exception.message)
    };
    let files = || {
        let files = std::fs::read_dir(server.data().join("files")).unwrap();
        files.map(|file| file.unwrap().file_name()).collect::<Vec<_>>()
    };
    assert_eq!(run(procedure("online-snapshot", "s", &[("table", "t")])), Ok(true));
    let flushed = files();
    assert_eq!(flushed.len(), 1, "{flushed:?}");
    crate::support::put(&mut server.client(), &region, "r", "w").unwrap();
    assert_eq!(run(procedure("flush-table-proc", "t", &[("family", "cf")])), Ok(true));
    assert_eq!(files().len(), 2);
    crate::support::put(&mut server.client(), &region, "r", "x").unwrap();
    assert_eq!(run(procedure("flush-table-proc", "t", &[])), Ok(true));
    assert_eq!(files().len(), 3);
    assert!(run(procedure("flush-table-proc", "t", &[("family", "nope")])).is_err());
    assert!(run(procedure("flush-table-proc", "nope", &[])).is_err());
    let unknown = run(procedure("rolllog-proc", "t", &[])).unwrap_err();
    assert_eq!(unknown, "The procedure is not registered: rolllog-proc");
    let mut master = server.connect(Service::Master);
    let listed = master.call(&proto::GetCompletedSnapshotsRequest {}).unwrap();
    assert_eq!(listed.snapshots.len(), 1);
    assert!(master.call(&proto::GetTableStateRequest { table_name: table_name("t") }).is_ok());
}
