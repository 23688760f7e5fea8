//! The protocol on a port that does not speak the protocol that its URL means: a cluster has
//! several ports, which are easily confused.

use std::sync::Arc;
use std::time::Duration;

use rowhouse_model::{Error, ErrorKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use super::registry::Registry;
use super::zookeeper;
use crate::connection::{Address, Connections, dial};
use crate::retry::from_now;
use crate::transport::Transport;
use crate::{Place, Settings, Target};

/// Limit on the time for the check, which is made after a failure.
const LIMIT: Duration = Duration::from_secs(2);

/// Returns the error for a cluster that was not located. It names the right URL if an address is
/// another port in a cluster.
pub(crate) async fn explained(
    target: &Target,
    settings: &Arc<Settings>,
    transport: &Transport,
    error: Error,
) -> Error {
    match timeout(LIMIT, mistake(target, settings, transport)).await {
        Ok(Some(message)) => Error::new(ErrorKind::InvalidRequest, message).with_source(error),
        _ => error,
    }
}

async fn mistake(
    target: &Target,
    settings: &Arc<Settings>,
    transport: &Transport,
) -> Option<String> {
    let (servers, right) = match &target.place {
        Place::Servers(servers) => {
            (servers, Place::ZooKeeper { servers: servers.clone(), znode: "/hbase".to_owned() })
        }
        Place::ZooKeeper { servers, .. } => (servers, Place::Servers(servers.clone())),
    };
    let right = Target { place: right, ..target.clone() };
    for (host, port) in servers {
        let address = Address { host: host.clone(), port: *port };
        let is_other = match target.place {
            Place::Servers(_) => zookeeper::answers(&address).await,
            Place::ZooKeeper { .. } => {
                let connections =
                    Arc::new(Connections::new(Arc::clone(settings), transport.clone()));
                let registry = Registry::new(&right, connections, Arc::clone(settings));
                let id = registry.cluster_id(from_now(LIMIT)).await;
                // A server that checks users speaks RPC too.
                id.map_or_else(|it| it.error.kind() == ErrorKind::AccessDenied, |_| true)
            }
        };
        if is_other {
            let (actual, expected) = match target.place {
                Place::Servers(_) => ("ZooKeeper", "HBase's RPC"),
                Place::ZooKeeper { .. } => ("HBase's RPC", "ZooKeeper"),
            };
            return Some(format!(
                "{address} is a port of {actual}, not of {expected}; connect to {right}"
            ));
        }
        if speaks_http(&address).await {
            return Some(format!(
                "{address} is a port for web pages, not one for clients: url={target}"
            ));
        }
    }
    None
}

/// Returns true if the port answers an HTTP request.
async fn speaks_http(address: &Address) -> bool {
    let answer = async {
        let mut stream = dial(address).await?;
        stream.write_all(b"HEAD / HTTP/1.0\r\n\r\n").await?;
        let mut begin = [0; 5];
        stream.read_exact(&mut begin).await?;
        std::io::Result::Ok(begin)
    };
    answer.await.is_ok_and(|begin| begin == *b"HTTP/")
}
