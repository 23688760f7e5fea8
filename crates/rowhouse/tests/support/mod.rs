//! Runs the tests of the facade on both backends.

use std::path::PathBuf;

use rowhouse::Database;
use rowhouse_server::{Options, Server};

/// Returns the options of a server that listens on free ports of the loopback interface.
pub(crate) fn loopback(data: impl Into<PathBuf>) -> Options {
    Options { listen: "127.0.0.1:0".into(), zookeeper: "127.0.0.1:0".into(), ..Options::new(data) }
}

/// Runs a test on an embedded database, then through a server; the second argument of `test` is
/// whether there is a server.
pub(crate) async fn on_both<T: Future<Output = ()>>(test: impl Fn(Database, bool) -> T) {
    let dir = tempfile::tempdir().unwrap();
    test(rowhouse::open(dir.path().to_str().unwrap()).await.unwrap(), false).await;
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(loopback(dir.path())).await.unwrap();
    test(rowhouse::open(format!("hbase://{}", server.address())).await.unwrap(), true).await;
    server.stop().await.unwrap();
}
