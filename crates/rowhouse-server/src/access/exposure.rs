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
    let requires_proofs = options.users.is_checked() && !options.users.claimed;
    if is_protected(address, options, requires_proofs) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{flag} {address} is reached from other machines, and whoever connects can read the data: \
         use --tls-certificate FILE --tls-key FILE, without --plain allow, and require \
         certificates by --tls-clients CA-FILE or tokens by --users token, or accept it by \
         --allow-unauthenticated"
    )))
}

/// As [`refuse_exposed`], for a protocol without users: certificates alone are a proof.
///
/// # Errors
/// `InvalidRequest` with the ways to go on, and for a server that checks users and has been given
/// no user for the clients of the protocol.
pub(crate) fn refuse_exposed_without_users(
    address: SocketAddr,
    flag: &str,
    user: Option<&str>,
    options: &Options,
) -> Result<()> {
    if options.users.is_checked() && !options.users.claimed && user.is_none() {
        return Err(Error::invalid(format!(
            "users are checked, and the clients of {flag} have none: give the user for whom they \
             act by {flag}-user NAME"
        )));
    }
    if is_protected(address, options, false) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{flag} {address} is reached from other machines, and its protocol has no users: use \
         --tls-certificate FILE --tls-key FILE, without --plain allow, and require certificates \
         by --tls-clients CA-FILE, without --users token, or accept it by --allow-unauthenticated"
    )))
}

/// Returns true for a port on loopback, and for one whose clients need TLS and a proof.
fn is_protected(address: SocketAddr, options: &Options, requires_proofs: bool) -> bool {
    if address.ip().to_canonical().is_loopback() || options.allow_unauthenticated {
        return true;
    }
    let has_tls = options.tls.is_some() && options.plain != Some(Plain::Allow);
    let has_authorities = options.tls.as_ref().is_some_and(|tls| tls.clients.is_some());
    let requires_certificates = has_authorities && !are_certificates_optional(options);
    has_tls && (requires_certificates || requires_proofs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TlsFiles;

    #[test]
    fn a_protocol_without_users_needs_certificates_and_a_name_where_users_are_checked() {
        let refused = |address: &str, user: Option<&str>, set: &dyn Fn(&mut Options)| {
            let mut options = Options::new("data");
            set(&mut options);
            let address = address.parse().unwrap();
            let refused = refuse_exposed_without_users(address, "--thrift", user, &options);
            refused.err().map(|error| error.message().to_owned())
        };
        let token = |options: &mut Options| options.users = "token".parse().unwrap();
        assert_eq!(refused("127.0.0.1:1", None, &|_| {}), None);
        assert!(refused("127.0.0.1:1", None, &token).unwrap().contains("--thrift-user NAME"));
        assert_eq!(refused("127.0.0.1:1", Some("web"), &token), None);
        let exposed = "10.0.0.1:1";
        assert!(refused(exposed, Some("web"), &|_| {}).unwrap().contains("--tls-clients CA-FILE"));
        // No client of the protocol sends a token.
        let token_in_tls = |options: &mut Options| {
            token(options);
            options.tls = tls(true);
        };
        assert_eq!(refused(exposed, Some("web"), &token_in_tls), None);
        let either = |options: &mut Options| {
            options.users = "certificate,token".parse().unwrap();
            options.tls = tls(true);
        };
        assert!(refused(exposed, Some("web"), &either).is_some());
        assert_eq!(refused(exposed, None, &|options| options.tls = tls(true)), None);
        assert_eq!(refused(exposed, None, &|options| options.allow_unauthenticated = true), None);
    }

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
