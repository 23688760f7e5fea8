//! Sends a recorded client's requests to this server.

use std::collections::{BTreeMap, BTreeSet};

use bytes::{BufMut, Bytes, BytesMut};
use prost::Message;
use rowhouse_format::convert::names::server_from_proto;
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_format::proto::get_procedure_result_response::State;
use rowhouse_format::rpc::{Body, Method, Service, decode_message};
use rowhouse_model::{ServerName, escape};

use crate::names::Names;
use crate::recorded::{Call, Opening, Scenario};
use crate::support::{Client, TestServer};
use crate::{show, zookeeper};

/// Both servers' answers to one request, as text.
pub(crate) struct Exchange {
    pub(crate) scenario: String,
    pub(crate) call: u32,
    pub(crate) method: &'static str,
    pub(crate) apache: String,
    pub(crate) ours: String,
}

/// Replays a scenario against a new server.
pub(crate) fn replay(scenario: &Scenario) -> Vec<Exchange> {
    let server = TestServer::start();
    let mut replay = Replay {
        apache: apaches_names(),
        ours: our_names(&server),
        scanners: BTreeMap::new(),
        procedures: BTreeMap::new(),
        ended: BTreeSet::new(),
    };
    let mut exchanges = zookeeper::replay(scenario, &server, &mut replay);
    let mut connections = Vec::new();
    for opening in &scenario.connections {
        let mut client = Client::silent(server.address());
        match opening {
            Opening::Calls(bytes) => client.send_bytes(bytes),
            Opening::Registry(answer) => {
                client.send_bytes(b"Regist");
                let (_, body) = client.receive_body();
                assert!(client.receive().is_none(), "the registry's connection stays open");
                let text = |body: &Body| {
                    let message: proto::GetConnectionRegistryResponse = body.message().unwrap();
                    message.cluster_id
                };
                replay.apache.add_cluster_id(&text(answer));
                exchanges.push(Exchange {
                    scenario: scenario.name.clone(),
                    call: u32::MAX,
                    method: "Regist",
                    apache: replay.apache.mask(&text(answer)),
                    ours: replay.ours.mask(&text(&body)),
                });
            }
        }
        connections.push(client);
    }
    for call in &scenario.calls {
        let Some(message) = replay.translate(call) else { continue };
        let client = &mut connections[call.connection];
        client.send_bytes(&frame(call, &message));
        let response = client.receive().expect("the server closed the connection");
        assert_eq!(response.call_id, call.id);
        replay.learn(call, &response.outcome);
        exchanges.push(Exchange {
            scenario: scenario.name.clone(),
            call: call.id,
            method: call.method.name(),
            apache: replay.apache.mask(&show::answer(call.method, &call.answer)),
            ours: replay.ours.mask(&show::answer(call.method, &response.outcome)),
        });
    }
    server.stop();
    exchanges
}

/// Both clusters' names and numbers.
pub(crate) struct Replay {
    pub(crate) apache: Names,
    pub(crate) ours: Names,
    /// HBase's numbers and this server's corresponding numbers.
    scanners: BTreeMap<u64, u64>,
    procedures: BTreeMap<u64, u64>,
    /// HBase's scanners that stayed open while this server's were refused or at their end.
    ended: BTreeSet<u64>,
}

impl Replay {
    /// Translates a request's message for this server; returns `None` for a request that depends on
    /// an answer from HBase that this server did not give.
    fn translate(&self, call: &Call) -> Option<Bytes> {
        let bytes = call.message.clone();
        Some(match call.method {
            Method::Get => self.with_region::<proto::GetRequest>(bytes, |get| &mut get.region),
            Method::Mutate => {
                self.with_region::<proto::MutateRequest>(bytes, |mutate| &mut mutate.region)
            }
            Method::Multi => {
                let mut message: proto::MultiRequest = decode_message(bytes).unwrap();
                for action in &mut message.region_action {
                    self.translate_region(&mut action.region);
                }
                message.encode_to_vec().into()
            }
            Method::Scan => {
                let mut message: proto::ScanRequest = decode_message(bytes).unwrap();
                if let Some(region) = &mut message.region {
                    self.translate_region(region);
                }
                if let Some(scanner) = &mut message.scanner_id {
                    if self.ended.contains(scanner) {
                        return None;
                    }
                    *scanner = self.scanners[scanner];
                }
                message.encode_to_vec().into()
            }
            Method::GetProcedureResult => {
                let answer = call.answer.as_ref().unwrap();
                let answer: proto::GetProcedureResultResponse = answer.message().unwrap();
                if answer.state() == State::Running {
                    return None;
                }
                let mut message: proto::GetProcedureResultRequest = decode_message(bytes).unwrap();
                message.proc_id = *self.procedures.get(&message.proc_id)?;
                message.encode_to_vec().into()
            }
            _ => bytes,
        })
    }

    fn with_region<M: Message + Default>(
        &self,
        bytes: Bytes,
        region: impl Fn(&mut M) -> &mut proto::RegionSpecifier,
    ) -> Bytes {
        let mut message: M = decode_message(bytes).unwrap();
        self.translate_region(region(&mut message));
        message.encode_to_vec().into()
    }

    fn translate_region(&self, region: &mut proto::RegionSpecifier) {
        if region.value.starts_with(b"hbase:meta,") {
            return;
        }
        let unknown = || panic!("unknown region {}", escape(&region.value));
        let place = self.apache.place_of(&region.value).unwrap_or_else(unknown);
        region.value = self.ours.region_at(place).expect("a region we did not tell of").clone();
    }

    /// Records the names and numbers in the two answers.
    fn learn(&mut self, call: &Call, ours: &Result<Body, Exception>) {
        for (names, answer) in [(&mut self.apache, &call.answer), (&mut self.ours, ours)] {
            let Ok(body) = answer else { continue };
            show::regions(call.method, body).iter().for_each(|region| names.add_region(region));
        }
        match call.method {
            Method::Scan => self.learn_scanner(&call.answer, ours),
            Method::CreateTable
            | Method::DeleteTable
            | Method::EnableTable
            | Method::DisableTable
            | Method::FlushTable
            | Method::CreateNamespace
            | Method::ModifyNamespace
            | Method::DeleteNamespace => {
                // All these answers carry one number under the same tag.
                let procedure = |answer: &Result<Body, Exception>| {
                    answer.as_ref().ok()?.message::<proto::CreateTableResponse>().unwrap().proc_id
                };
                if let (Some(apache), Some(ours)) = (procedure(&call.answer), procedure(ours)) {
                    self.procedures.insert(apache, ours);
                }
            }
            Method::GetClusterId => {
                let id = |answer: &Body| {
                    answer.message::<proto::GetClusterIdResponse>().unwrap().cluster_id().to_owned()
                };
                self.apache.add_cluster_id(&id(call.answer.as_ref().unwrap()));
            }
            Method::GetClusterStatus => {
                let answer = call.answer.as_ref().unwrap();
                let answer: proto::GetClusterStatusResponse = answer.message().unwrap();
                let id = answer.cluster_status.cluster_id.unwrap();
                self.apache.add_cluster_id(&id.cluster_id);
            }
            _ => {}
        }
    }

    fn learn_scanner(&mut self, apache: &Result<Body, Exception>, ours: &Result<Body, Exception>) {
        let read = |answer: &Result<Body, Exception>| {
            answer.as_ref().ok().map(|body| body.message::<proto::ScanResponse>().unwrap())
        };
        let Some((apache, answer)) = read(apache).and_then(|open| Some((open.scanner_id?, open)))
        else {
            return;
        };
        let ours = read(ours);
        if let Some(ours) = ours.as_ref().and_then(|open| open.scanner_id) {
            self.scanners.insert(apache, ours);
        }
        let at_end = |answer: &proto::ScanResponse| answer.more_results_in_region == Some(false);
        if ours.is_none_or(|ours| at_end(&ours)) && !at_end(&answer) {
            self.ended.insert(apache);
        }
    }
}

/// Builds the request's frame with a different message.
fn frame(call: &Call, message: &Bytes) -> BytesMut {
    let mut bytes = BytesMut::new();
    let len = call.header.len()
        + prost::length_delimiter_len(message.len())
        + message.len()
        + call.cells.len();
    bytes.put_u32(len as u32);
    bytes.put_slice(&call.header);
    prost::encode_length_delimiter(message.len(), &mut bytes).unwrap();
    bytes.put_slice(message);
    bytes.put_slice(&call.cells);
    bytes
}

fn apaches_names() -> Names {
    let mut names = Names::default();
    names.add_servers_on("hbase.test");
    names
}

/// This server is master and region server in one. HBase has two servers, which get the same
/// placeholder.
fn our_names(server: &TestServer) -> Names {
    let mut names = Names::default();
    let mut registry = server.connect(Service::ClientMeta);
    let master = registry.call(&proto::GetActiveMasterRequest::default()).unwrap();
    let master: ServerName = server_from_proto(master.server_name.unwrap()).unwrap();
    assert_eq!(format!("{}:{}", master.host, master.port), server.address());
    names.add_server(&master);
    let id = registry.call(&proto::GetClusterIdRequest::default()).unwrap();
    names.add_cluster_id(id.cluster_id());
    names
}
