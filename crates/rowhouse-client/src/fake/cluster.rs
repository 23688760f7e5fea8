//! A cluster with one server and one table, `t`; each test supplies the answers to data calls.

use std::sync::Arc;
use std::time::Duration;

use rowhouse_format::convert::scan::{OpenScan, ScanResult, ScannedRow};
use rowhouse_format::convert::{CellPlacement, names, region as wire_region, result};
use rowhouse_format::proto;
use rowhouse_format::rpc::{Method, Request};
use rowhouse_model::{
    Cell, CellKind, RegionInfo, Row, RowRange, ServerName, TableName, TableState, Timestamp,
};
use tokio::net::TcpListener;

use super::{FakeServer, Handler, Reply};
use crate::{Client, Settings, Table, Target};

/// The server and a client for it.
pub(crate) struct FakeCluster {
    pub(crate) server: FakeServer,
    pub(crate) table: Table,
}

fn table() -> TableName {
    TableName::parse("t").unwrap()
}

/// Returns a region in the table.
pub(crate) fn region(start: &'static str, stop: &'static str) -> RegionInfo {
    RegionInfo::new(table(), RowRange::new(start, stop), 5)
}

pub(crate) fn cell(row: impl AsRef<[u8]>, qualifier: &str, value: impl AsRef<[u8]>) -> Cell {
    Cell::new(row, "cf", qualifier, Timestamp::MIN, CellKind::Put, value).unwrap()
}

impl FakeCluster {
    /// Starts a cluster whose table is split at `splits`. Retries are fast: the pause is one
    /// millisecond and the call timeout 300 milliseconds.
    pub(crate) async fn start(
        splits: &[&'static str],
        state: TableState,
        handler: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let bounds: Vec<_> = [&[""], splits, &[""]].concat();
        let regions: Vec<_> = bounds.windows(2).map(|pair| region(pair[0], pair[1])).collect();
        let answer: Handler =
            Arc::new(move |request| match catalog(request, port, &regions, state) {
                Some(reply) => reply,
                None => handler(request),
            });
        let server = FakeServer::serve(listener, answer);
        let target = Target::parse(&format!("hbase://127.0.0.1:{port}")).unwrap();
        let settings = Settings {
            retry_pause: Duration::from_millis(1),
            call_timeout: Duration::from_millis(300),
            ..Settings::default()
        };
        let client = Client::connect_with(&target, settings).await.unwrap();
        Self { table: client.table(&table()), server }
    }

    /// Returns the requests received for this method, except those about hbase:meta.
    pub(crate) fn requests(&self, method: Method) -> Vec<Request> {
        let requests = self.server.requests().into_iter();
        requests.filter(|request| request.method == method && request.priority == 0).collect()
    }

    /// Returns how often a region was looked up in hbase:meta.
    pub(crate) fn lookups(&self) -> usize {
        let requests = self.server.requests().into_iter();
        requests.filter(|request| request.method == Method::Scan && request.priority > 0).count()
    }
}

/// Answers calls about the cluster and hbase:meta.
fn catalog(
    request: &Request,
    port: u16,
    regions: &[RegionInfo],
    state: TableState,
) -> Option<Reply> {
    let here = ServerName { host: "127.0.0.1".into(), port, start_code: 1 };
    Some(match request.method {
        Method::GetClusterId => {
            let cluster_id = Some("fake".to_owned());
            Reply::answer(request, &proto::GetClusterIdResponse { cluster_id }, &[])
        }
        Method::GetMetaRegionLocations => {
            let meta = wire_region::location_to_proto(&RegionInfo::meta(), Some(&here), None);
            let message = proto::GetMetaRegionLocationsResponse { meta_locations: vec![meta] };
            Reply::answer(request, &message, &[])
        }
        Method::Get if request.priority > 0 => {
            let state = prost::Message::encode_to_vec(&names::state_to_proto(state));
            let at = Timestamp::MIN;
            let cell = Cell::new("t", "table", "state", at, CellKind::Put, state).unwrap();
            let row = Row::new(vec![cell]);
            let result = Some(result::to_proto(&row, CellPlacement::Block));
            Reply::answer(request, &proto::GetResponse { result }, &row.to_cells())
        }
        Method::Scan if request.priority > 0 => {
            let scan = request.message::<proto::ScanRequest>().unwrap().scan.unwrap();
            let open = OpenScan::from_proto(scan).unwrap();
            // `t,ROW,99999999999999`: a reversed scan that starts at the row's region.
            let row = open.start_row.strip_prefix(b"t,").unwrap();
            let row = row.strip_suffix(b",99999999999999").unwrap();
            let candidates = regions.iter().rev().filter(|region| region.range.start <= row);
            let rows = candidates.map(|region| meta_row(region, &here)).collect();
            let answer = ScanResult { rows, more_results: false, ..Default::default() };
            let cells: Vec<_> = answer.cells().map(|cell| cell.to_cell()).collect();
            Reply::answer(request, &answer.to_proto(CellPlacement::Block), &cells)
        }
        _ => return None,
    })
}

fn meta_row(region: &RegionInfo, server: &ServerName) -> ScannedRow {
    let name = region.name().full;
    let cell = |qualifier, value: &[u8]| {
        Cell::new(&name, "info", qualifier, Timestamp::MIN, CellKind::Put, value).unwrap()
    };
    let address = format!("{}:{}", server.host, server.port);
    let info = wire_region::to_pbuf(region);
    let row = Row::new(vec![cell("regioninfo", &info), cell("server", address.as_bytes())]);
    ScannedRow { row, partial: false }
}
