//! HBase's interface Thrift 1.

mod client;
mod connections;
mod recorded;
mod scans;
mod text;

use rowhouse_server::Options;

use self::client::{CARRIAGES, ThriftClient};
use crate::support::TestServer;

/// Returns a client in the binary protocol without frames, as happybase connects.
fn connect(server: &TestServer) -> ThriftClient {
    ThriftClient::connect(server.thrift(), CARRIAGES[0])
}

/// Starts a server with the interface.
fn server(set: impl FnOnce(&mut Options)) -> TestServer {
    TestServer::start_with(|options| {
        options.thrift = Some("127.0.0.1:0".into());
        set(options);
    })
}
