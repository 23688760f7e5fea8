//! A port, on each address of its host.

use std::future::poll_fn;
use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use socket2::SockRef;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::limits::CONNECTIONS_WAITING_MAX;

/// How often another port is taken if the system's choice for one address is in use on another.
const TRIES: usize = 16;

/// Sockets that listen on one port, one for each address of the host.
#[derive(Debug)]
pub(crate) struct Listener {
    /// At least one.
    sockets: Vec<TcpListener>,
    /// The socket that is looked at first by the next accept: none waits for another.
    first: AtomicUsize,
}

impl Listener {
    /// Listens on all addresses of `HOST:PORT`. Those that this machine does not have, such as IPv6
    /// where it is off, are left out, unless there is no other.
    pub(crate) async fn bind(address: &str) -> Result<Self> {
        let mut addresses: Vec<SocketAddr> = Vec::new();
        for address in tokio::net::lookup_host(address).await? {
            // A host file may name one twice.
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        let is_any_port = addresses.iter().any(|address| address.port() == 0);
        let mut bound = bind_all(&addresses);
        for _ in 0..TRIES {
            match &bound {
                Err(error) if is_any_port && error.kind() == ErrorKind::AddrInUse => {
                    bound = bind_all(&addresses);
                }
                _ => break,
            }
        }
        Ok(Self { sockets: bound?, first: AtomicUsize::new(0) })
    }

    /// Returns the next connection to any of the addresses.
    pub(crate) async fn accept(&self) -> Result<(TcpStream, SocketAddr)> {
        if let [socket] = &self.sockets[..] {
            return socket.accept().await;
        }
        let first = self.first.fetch_add(1, Ordering::Relaxed);
        poll_fn(|context| {
            let count = self.sockets.len();
            let sockets = (0..count).map(|at| &self.sockets[(first.wrapping_add(at)) % count]);
            let mut ready = sockets.map(|socket| socket.poll_accept(context));
            ready.find(Poll::is_ready).unwrap_or(Poll::Pending)
        })
        .await
    }

    /// Returns the addresses, of which there is at least one.
    pub(crate) fn addresses(&self) -> Result<Vec<SocketAddr>> {
        self.sockets.iter().map(TcpListener::local_addr).collect()
    }
}

/// Binds the addresses to one port.
fn bind_all(addresses: &[SocketAddr]) -> Result<Vec<TcpListener>> {
    let mut sockets: Vec<TcpListener> = Vec::new();
    let mut failed = None;
    for address in addresses {
        let mut address = *address;
        if let (0, Some(first)) = (address.port(), sockets.first()) {
            address.set_port(first.local_addr()?.port());
        }
        match bind_one(address) {
            Ok(socket) => sockets.push(socket),
            Err(error) if is_missing(&error) => {
                tracing::debug!(%address, %error, "an address of the host is not one of this machine");
                failed = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    if sockets.is_empty() {
        return Err(failed.unwrap_or_else(|| ErrorKind::AddrNotAvailable.into()));
    }
    Ok(sockets)
}

/// Returns true if the machine does not have the address, or its family of addresses.
fn is_missing(error: &Error) -> bool {
    error.kind() == ErrorKind::AddrNotAvailable
        || error.raw_os_error() == Some(rustix::io::Errno::AFNOSUPPORT.raw_os_error())
}

/// As [`TcpListener::bind`], with a backlog for a client burst. When the standard library's
/// 128-entry backlog is full, the next connection waits one second, and longer with each retry.
fn bind_one(address: SocketAddr) -> Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // `SO_REUSEADDR` has a different meaning on Windows.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    if address.is_ipv6() && address.ip().is_unspecified() {
        // `[::]` takes IPv4 clients, too, however the machine is configured.
        SockRef::from(&socket).set_only_v6(false)?;
    }
    socket.bind(address)?;
    socket.listen(CONNECTIONS_WAITING_MAX)
}

// Elsewhere 127.0.0.2 has to be configured.
#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|text| text.parse().expect("an address")).collect()
    }

    #[tokio::test]
    async fn a_port_listens_on_every_address() {
        let sockets = bind_all(&addresses(&["127.0.0.1:0", "127.0.0.2:0"])).unwrap();
        let listener = Listener { sockets, first: AtomicUsize::new(0) };
        let bound = listener.addresses().unwrap();
        assert_eq!(bound[0].port(), bound[1].port());
        for address in [bound[1], bound[0], bound[0], bound[1]] {
            let (connected, accepted) =
                tokio::join!(TcpStream::connect(address), listener.accept());
            let (stream, _) = accepted.unwrap();
            assert_eq!(stream.local_addr().unwrap(), address);
            drop(connected.unwrap());
        }
    }

    #[tokio::test]
    async fn connections_to_several_addresses_are_accepted_in_turn() {
        let sockets = bind_all(&addresses(&["127.0.0.1:0", "127.0.0.2:0"])).unwrap();
        let listener = Listener { sockets, first: AtomicUsize::new(0) };
        let bound = listener.addresses().unwrap();
        let mut open = Vec::new();
        for address in [bound[0], bound[0], bound[0], bound[1]] {
            open.push(TcpStream::connect(address).await.unwrap());
        }
        let mut accepted = Vec::new();
        for _ in 0..2 {
            accepted.push(listener.accept().await.unwrap().0.local_addr().unwrap());
        }
        assert!(accepted.contains(&bound[1]), "{accepted:?}");
    }

    #[tokio::test]
    async fn addresses_of_other_machines_are_left_out() {
        let bound = bind_all(&addresses(&["192.0.2.1:0", "127.0.0.1:0"])).unwrap();
        assert_eq!(bound.len(), 1);
        assert!(bind_all(&addresses(&["192.0.2.1:0"])).is_err());
        assert!(bind_all(&[]).is_err());
        // One that is in use is not.
        let taken = bound[0].local_addr().unwrap();
        let both = addresses(&[&format!("127.0.0.2:{}", taken.port()), &taken.to_string()]);
        assert_eq!(bind_all(&both).unwrap_err().kind(), ErrorKind::AddrInUse);
    }
}
