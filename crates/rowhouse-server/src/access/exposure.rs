//! Decides about ports that other machines can reach.

use std::net::SocketAddr;

use rowhouse_model::{Error, Result};

use super::are_certificates_optional;
use crate::{Options, Plain};

/// Refuses a port off loopback to which clients connect without TLS and a proof of the user, unless
/// that is allowed. `flag` names the port on the command line.
///
/// # Errors
/// `InvalidRequest` with the ways to go on.
pub(crate) fn refuse_exposed(address: SocketAddr, flag: &str, options: &Options) -> Result<()> {
    if address.ip().to_canonical().is_loopback() || options.allow_unauthenticated {
        return Ok(());
    }
    let has_tls = options.tls.is_some() && options.plain != Some(Plain::Allow);
    let has_authorities = options.tls.as_ref().is_some_and(|tls| tls.clients.is_some());
    let requires_certificates = has_authorities && !are_certificates_optional(options);
    let requires_proofs = options.users.is_checked() && !options.users.claimed;
    if has_tls && (requires_certificates || requires_proofs) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{flag} {address} is reached from other machines, and whoever connects can read the data: \
         use --tls-certificate FILE --tls-key FILE, without --plain allow, and require \
         certificates by --tls-clients CA-FILE or tokens by --users token, or accept it by \
         --allow-unauthenticated"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TlsFiles;

    fn is_refused(address: &str, set: impl FnOnce(&mut Options)) -> bool {
        let mut options = Options::new("data");
        set(&mut options);
        let refused = refuse_exposed(address.parse().unwrap(), "--listen", &options);
        if let Err(error) = &refused {
            let ways =
                ["--tls-clients CA-FILE", "--users token", "--allow-unauthenticated", address];
            assert!(ways.iter().all(|way| error.message().contains(way)), "{error}");
        }
        refused.is_err()
    }

    fn tls(clients: bool) -> Option<TlsFiles> {
        let clients = clients.then(|| "ca.pem".into());
        Some(TlsFiles { certificate: "c.pem".into(), key: "c.key".into(), clients })
    }

    #[test]
    fn ports_on_loopback_need_nothing() {
        for address in ["127.0.0.1:1", "127.3.2.1:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
            assert!(!is_refused(address, |_| {}), "{address}");
        }
    }

    #[test]
    fn other_ports_need_certificates_of_clients_or_the_word_of_the_operator() {
        for address in ["0.0.0.0:1", "[::]:1", "10.0.0.1:1", "[2001:db8::1]:1"] {
            assert!(is_refused(address, |_| {}), "{address}");
            assert!(is_refused(address, |options| options.tls = tls(false)), "{address}");
            assert!(!is_refused(address, |options| options.tls = tls(true)), "{address}");
            assert!(!is_refused(address, |options| options.allow_unauthenticated = true));
            let plain_too = |options: &mut Options| {
                options.tls = tls(true);
                options.plain = Some(Plain::Allow);
            };
            assert!(is_refused(address, plain_too), "{address}");
        }
    }

    #[test]
    fn other_ports_need_tls_and_users_that_are_all_checked() {
        for (users, clients, expected) in [
            ("token", false, false),
            ("token", true, false),
            ("certificate", true, false),
            // Either is required.
            ("certificate,token", true, false),
            // Whoever connects may claim to be anybody.
            ("claimed", false, true),
            ("token,claimed", false, true),
            ("certificate,token,claimed", true, true),
            // A certificate is required in any case.
            ("token,claimed", true, false),
            ("certificate,claimed", true, false),
        ] {
            let set = |options: &mut Options| {
                options.users = users.parse().unwrap();
                options.tls = tls(clients);
            };
            assert_eq!(is_refused("10.0.0.1:1", set), expected, "{users} {clients}");
        }
        // Tokens without TLS.
        assert!(is_refused("10.0.0.1:1", |options| options.users = "token".parse().unwrap()));
        let plain_too = |options: &mut Options| {
            options.users = "token".parse().unwrap();
            options.tls = tls(false);
            options.plain = Some(Plain::Allow);
        };
        assert!(is_refused("10.0.0.1:1", plain_too));
    }
}
