//! A server on a temporary directory, and a small blocking client.

#![allow(dead_code, unused_imports, reason = "each test takes what it needs")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod client;
mod table;
#[cfg(feature = "tls")]
pub(crate) mod tls;

pub(crate) use client::{Client, head};
pub(crate) use table::{
    counter, get, increment, mutate, next, open, put, put_many, put_message, put_two, put_wide_row,
    rows_of, scan,
};

use std::path::Path;

use bytes::Bytes;
use rowhouse_format::convert::names;
use rowhouse_format::convert::region::{self, RegionRef};
use rowhouse_format::proto;
use rowhouse_format::rpc::Service;
use rowhouse_model::{Error, FamilyDescriptor, RegionInfo, TableDescriptor, TableName};
use rowhouse_server::{Options, Server, ServerBuilder};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A running server.
pub(crate) struct TestServer {
    runtime: Runtime,
    server: Option<Server>,
    address: String,
    dir: TempDir,
}

impl TestServer {
    /// Starts a server in a new directory.
    pub(crate) fn start() -> Self {
        Self::start_in(tempfile::tempdir().unwrap())
    }

    /// Starts a server in `dir`.
    pub(crate) fn start_in(dir: TempDir) -> Self {
        Self::start_on(runtime(), dir, |_| {})
    }

    /// Starts a server in `dir` with modified options.
    pub(crate) fn restart_with(dir: TempDir, set: impl FnOnce(&mut Options)) -> Self {
        Self::start_on(runtime(), dir, set)
    }

    /// Starts a server with modified options on one runtime thread: blocking that thread blocks all
    /// calls.
    pub(crate) fn start_on_one_thread(set: impl FnOnce(&mut Options)) -> Self {
        Self::start_on(runtime_of(1), tempfile::tempdir().unwrap(), set)
    }

    /// Starts a server with modified options.
    pub(crate) fn start_with(set: impl FnOnce(&mut Options)) -> Self {
        Self::start_on(runtime(), tempfile::tempdir().unwrap(), set)
    }

    /// Starts a server in `dir` with parts of a program.
    pub(crate) fn start_built(
        dir: TempDir,
        build: impl FnOnce(ServerBuilder) -> ServerBuilder,
    ) -> Self {
        let runtime = runtime();
        let builder = build(Server::builder(options(dir.path())));
        let server = runtime.block_on(builder.start()).unwrap();
        Self { runtime, address: server.address().to_owned(), server: Some(server), dir }
    }

    fn start_on(runtime: Runtime, dir: TempDir, set: impl FnOnce(&mut Options)) -> Self {
        let mut options = options(dir.path());
        set(&mut options);
        let server = runtime.block_on(Server::start(options)).unwrap();
        Self { runtime, address: server.address().to_owned(), server: Some(server), dir }
    }

    /// Stops the server; returns the directory.
    pub(crate) fn stop(mut self) -> TempDir {
        let server = self.server.take().unwrap();
        self.runtime.block_on(server.stop()).unwrap();
        self.dir
    }

    /// Ends the server without stopping it; returns the directory.
    pub(crate) fn abandon(self) -> TempDir {
        drop(self.server);
        // Waits for the server's remaining worker threads.
        drop(self.runtime);
        self.dir
    }

    /// Returns once a client has requested to stop the server.
    pub(crate) fn wait_for_stop_request(&self) {
        self.runtime.block_on(self.server.as_ref().unwrap().stop_requested());
    }

    /// Has the server read the certificate files again.
    pub(crate) fn reload_certificates(&self) {
        self.runtime.block_on(self.server.as_ref().unwrap().reload_certificates());
    }

    /// Returns `host:port` for the RPC port.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Returns `host:port` for the ZooKeeper port.
    pub(crate) fn zookeeper(&self) -> std::net::SocketAddr {
        self.server.as_ref().unwrap().zookeeper().unwrap()
    }

    /// The address for HBase's Thrift interface.
    pub(crate) fn thrift(&self) -> std::net::SocketAddr {
        self.server.as_ref().unwrap().thrift().unwrap()
    }

    /// `host:port` for metrics and health.
    pub(crate) fn web(&self) -> std::net::SocketAddr {
        self.server.as_ref().unwrap().web().unwrap()
    }

    /// `host:port` for HBase's REST interface.
    #[allow(dead_code, reason = "not every program with this module has such tests")]
    pub(crate) fn rest(&self) -> std::net::SocketAddr {
        self.server.as_ref().unwrap().rest().unwrap()
    }

    /// Returns true if nothing is served over HTTP.
    pub(crate) fn has_no_web(&self) -> bool {
        self.server.as_ref().unwrap().web().is_none()
    }

    /// Returns the data directory.
    pub(crate) fn data(&self) -> &Path {
        self.dir.path()
    }

    /// Connects to the client service.
    pub(crate) fn client(&self) -> Client {
        self.connect(Service::Client)
    }

    /// Connects to a service.
    pub(crate) fn connect(&self, service: Service) -> Client {
        Client::connect(&self.address, service)
    }

    /// Creates a table; returns the regions, in order.
    pub(crate) fn create_table(
        &self,
        name: &str,
        families: &[&str],
        splits: &[&[u8]],
    ) -> Vec<RegionInfo> {
        let mut table = TableDescriptor::new(TableName::parse(name).unwrap());
        for &family in families {
            let family = FamilyDescriptor::new(Bytes::copy_from_slice(family.as_bytes())).unwrap();
            table = table.family(family);
        }
        let message = proto::CreateTableRequest {
            table_schema: rowhouse_format::convert::table::to_proto(&table),
            split_keys: splits.iter().map(|key| Bytes::copy_from_slice(key)).collect(),
            ..Default::default()
        };
        self.connect(Service::Master).call(&message).unwrap();
        self.regions(name)
    }

    /// Disables a table.
    pub(crate) fn disable_table(&self, name: &str) {
        let table_name = table_name(name);
        let message = proto::DisableTableRequest { table_name, ..Default::default() };
        self.connect(Service::Master).call(&message).unwrap();
    }

    /// Flushes a table's memstores.
    pub(crate) fn flush_table(&self, name: &str) {
        let message =
            proto::FlushTableRequest { table_name: table_name(name), ..Default::default() };
        self.connect(Service::Master).call(&message).unwrap();
    }

    /// Drops a disabled table.
    pub(crate) fn drop_table(&self, name: &str) {
        let table_name = table_name(name);
        let message = proto::DeleteTableRequest { table_name, ..Default::default() };
        self.connect(Service::Master).call(&message).unwrap();
    }

    /// Returns a table's regions, in order.
    pub(crate) fn regions(&self, name: &str) -> Vec<RegionInfo> {
        let mut admin = self.connect(Service::Admin);
        let regions = admin.call(&proto::GetOnlineRegionRequest::default()).unwrap().region_info;
        let regions = regions.into_iter().map(|region| region::from_proto(region).unwrap());
        let table = TableName::parse(name).unwrap();
        let mut regions: Vec<_> = regions.filter(|region| region.table == table).collect();
        regions.sort_by(|a, b| a.range.start.cmp(&b.range.start));
        regions
    }
}

/// Creates a runtime for a server.
pub(crate) fn runtime() -> Runtime {
    runtime_of(2)
}

fn runtime_of(threads: usize) -> Runtime {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(threads).enable_all().build().unwrap()
}

/// Returns options with free loopback ports.
pub(crate) fn options(data: &Path) -> Options {
    let mut options = Options::new(data);
    options.listen = "127.0.0.1:0".into();
    options.zookeeper = Some("127.0.0.1:0".into());
    options
}

/// Returns the error from a server that fails to start with `options`.
pub(crate) fn start_error(options: Options) -> Error {
    match runtime().block_on(Server::start(options)) {
        Ok(_) => panic!("the server started"),
        Err(error) => error,
    }
}

/// Returns a region's name as used in requests.
pub(crate) fn region_ref(region: &RegionInfo) -> RegionRef {
    RegionRef::Full(region.name().full)
}

/// Encodes a table's name.
pub(crate) fn table_name(name: &str) -> proto::TableName {
    names::table_to_proto(&TableName::parse(name).unwrap())
}
