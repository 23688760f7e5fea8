//! Opens a socket to a host, which may have several addresses.

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::Address;

/// How long an address may take before the next one is tried beside it, as in RFC 8305.
const NEXT_ADDRESS_WAIT: Duration = Duration::from_millis(250);

/// Connects to the first of the host's addresses that accepts, in the order of the system.
pub(crate) async fn dial(address: &Address) -> Result<TcpStream> {
    let addresses = lookup_host((&*address.host, address.port)).await?;
    first_of(addresses, TcpStream::connect).await
}

/// Returns the first connection, or the last error.
async fn first_of<T, F>(
    mut addresses: impl Iterator<Item = SocketAddr>,
    connect: impl Fn(SocketAddr) -> F,
) -> Result<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    let mut connecting = JoinSet::new();
    let mut failed = Error::new(ErrorKind::NotFound, "the host has no address");
    loop {
        let next = addresses.next();
        let is_last = next.is_none();
        if let Some(address) = next {
            connecting.spawn(connect(address));
        }
        let ended = if is_last {
            connecting.join_next().await
        } else {
            timeout(NEXT_ADDRESS_WAIT, connecting.join_next()).await.unwrap_or_default()
        };
        match ended {
            Some(Ok(Ok(connection))) => return Ok(connection),
            Some(Ok(Err(error))) => failed = error,
            Some(Err(error)) => failed = error.into(),
            None if is_last => return Err(failed),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    fn addresses(ports: &[u16]) -> impl Iterator<Item = SocketAddr> {
        ports.iter().map(|port| SocketAddr::from(([127, 0, 0, 1], *port)))
    }

    /// Connects to port 1 never, and to ports from 10 on at once.
    async fn connect(address: SocketAddr) -> Result<u16> {
        match address.port() {
            1 => pending().await,
            port if port < 10 => Err(Error::other(port.to_string())),
            port => Ok(port),
        }
    }

    #[tokio::test]
    async fn the_first_address_that_accepts_is_taken() {
        for ports in [&[10, 11][..], &[2, 10], &[1, 10], &[1, 2, 3, 10, 11], &[2, 1, 10]] {
            assert_eq!(first_of(addresses(ports), connect).await.unwrap(), 10, "{ports:?}");
        }
    }

    #[tokio::test]
    async fn the_last_error_is_returned_after_all_addresses() {
        let error = first_of(addresses(&[2, 3]), connect).await.unwrap_err();
        assert_eq!(error.to_string(), "3");
        let none = first_of(addresses(&[]), connect).await.unwrap_err();
        assert_eq!(none.to_string(), "the host has no address");
    }
}
