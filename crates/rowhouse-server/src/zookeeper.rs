//! The ZooKeeper port.
use std::net::SocketAddr;
use tokio::net::TcpStream;
use crate::server::Context;
pub(crate) async fn serve(_: TcpStream, _: SocketAddr, _: Context) {}
