//! Decides about connections without TLS to a server that has a certificate.

use std::net::IpAddr;

use crate::Plain;

/// Why a plain connection is refused, as clients show it.
const REFUSAL: &str = "this server accepts TLS only: connect to hbase+tls://, or set \
                       hbase.client.netty.tls.enabled=true (HBase 2.6 or later), or start the \
                       server with --plain allow";

/// Returns why a plain connection from `peer` is refused; `None` if it is not. Where nothing is
/// set, plain connections are accepted over loopback alone: nobody on the network reads their
/// bytes.
pub(super) fn refusal(plain: Option<Plain>, peer: IpAddr) -> Option<&'static str> {
    let is_allowed = match plain {
        Some(Plain::Allow) => true,
        Some(Plain::Refuse) => false,
        None => peer.to_canonical().is_loopback(),
    };
    (!is_allowed).then_some(REFUSAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_connections_are_accepted_over_loopback_unless_set_otherwise() {
        let is_refused = |plain, peer: &str| refusal(plain, peer.parse().unwrap()).is_some();
        for local in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert!(!is_refused(None, local), "{local}");
            assert!(is_refused(Some(Plain::Refuse), local), "{local}");
        }
        for remote in ["10.0.0.1", "192.168.1.7", "2001:db8::1", "::ffff:10.0.0.1"] {
            assert!(is_refused(None, remote), "{remote}");
            assert!(!is_refused(Some(Plain::Allow), remote), "{remote}");
        }
    }
}
