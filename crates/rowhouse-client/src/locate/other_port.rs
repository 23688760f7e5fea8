//! The protocol on a port that does not speak the protocol that its URL means: a cluster has
//! several ports, which are easily confused.

use std::sync::Arc;
use std::time::Duration;

use rowhouse_model::{Error, ErrorKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::registry::Registry;
use super::zookeeper;
use crate::connection::{Address, Connections};
use crate::retry::from_now;
use crate::{Settings, Target};

/// Limit on the time for the check, which is made after a failure.
const LIMIT: Duration = Duration::from_secs(2);

/// Returns the error for a cluster that was not located. It names the right URL if an address is
/// another port in a cluster.
pub(crate) async fn explained(target: &Target, settings: &Arc<Settings>, error: Error) -> Error {
    match timeout(LIMIT, mistake(target, settings)).await {
        Ok(Some(message)) => Error::new(ErrorKind::InvalidRequest, message).with_source(error),
        _ => error,
    }
}

async fn mistake(target: &Target, settings: &Arc<Settings>) -> Option<String> {
    let (servers, right) = match target {
        Target::Servers(servers) => {
            (servers, Target::ZooKeeper { servers: servers.clone(), znode: "/hbase".to_owned() })
        }
        Target::ZooKeeper { servers, .. } => (servers, Target::Servers(servers.clone())),
    };
    for (host, port) in servers {
        let address = Address { host: host.clone(), port: *port };
        let is_other = match target {
            Target::Servers(_) => zookeeper::answers(&address).await,
            Target::ZooKeeper { .. } => {
                let connections = Arc::new(Connections::new(Arc::clone(settings)));
                let registry = Registry::new(&right, connections, Arc::clone(settings));
                registry.cluster_id(from_now(LIMIT)).await.is_ok()
            }
        };
        if is_other {
            let (actual, expected) = match target {
                Target::Servers(_) => ("ZooKeeper", "HBase's RPC"),
                Target::ZooKeeper { .. } => ("HBase's RPC", "ZooKeeper"),
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
        let mut stream = TcpStream::connect((&*address.host, address.port)).await?;
        stream.write_all(b"HEAD / HTTP/1.0\r\n\r\n").await?;
        let mut begin = [0; 5];
        stream.read_exact(&mut begin).await?;
        std::io::Result::Ok(begin)
    };
    answer.await.is_ok_and(|begin| begin == *b"HTTP/")
}
