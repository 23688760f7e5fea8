//! Notifies a service manager, as `sd_notify` does: a datagram to the socket in `NOTIFY_SOCKET`.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The database takes calls.
pub(super) const READY: &str = "READY=1";
/// The server closes the database.
pub(super) const STOPPING: &str = "STOPPING=1";

/// Sends a state to the service manager, if one started the server. A failure is logged.
pub(super) fn notify(state: &str) {
    let Some(socket) = env::var_os("NOTIFY_SOCKET") else { return };
    if let Err(error) = send(&socket, state) {
        let socket = socket.display();
        tracing::warn!(%error, %socket, state, "the service manager was not notified");
    }
}

/// Sends a state to a socket: a path, or an abstract name after `@`.
fn send(socket: &OsStr, state: &str) -> io::Result<()> {
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address(socket)?).map(drop)
}

#[cfg(target_os = "linux")]
fn address(socket: &OsStr) -> io::Result<SocketAddr> {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::ffi::OsStrExt;
    match socket.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(socket),
    }
}

#[cfg(not(target_os = "linux"))]
fn address(socket: &OsStr) -> io::Result<SocketAddr> {
    SocketAddr::from_pathname(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(receiver: &UnixDatagram, socket: &OsStr) -> String {
        send(socket, READY).unwrap();
        let mut buffer = [0; 64];
        let length = receiver.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    }

    #[test]
    fn a_socket_with_a_path_receives_the_state() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notify");
        let receiver = UnixDatagram::bind(&path).unwrap();
        assert_eq!(received(&receiver, path.as_os_str()), "READY=1");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_abstract_socket_receives_the_state() {
        let name = format!("@rowhouse-readiness-{}", std::process::id());
        let receiver = UnixDatagram::bind_addr(&address(OsStr::new(&name)).unwrap()).unwrap();
        assert_eq!(received(&receiver, OsStr::new(&name)), "READY=1");
    }

    #[test]
    fn a_socket_without_a_receiver_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert!(send(dir.path().join("none").as_os_str(), READY).is_err());
    }
}
