//! HBase's interface Thrift 1.

mod client;
mod recorded;
mod text;

use crate::support::TestServer;
use rowhouse_server::Options;

/// Starts a server with the interface.
fn server(set: impl FnOnce(&mut Options)) -> TestServer {
    TestServer::start_with(|options| {
        options.thrift = Some("127.0.0.1:0".into());
        set(options);
    })
}
