//! Decides which user a connection acts for.

use rowhouse_format::token::TokenIdentifier;
use rowhouse_model::{Error, Result};

use crate::UserSources;

/// The most bytes in a user name.
pub(super) const USER_LEN_MAX: usize = 255;

/// A connection's user, and the proof.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) user: String,
    pub(crate) proof: Proof,
}

/// How a user is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Proof {
    /// The client says so.
    #[default]
    Claim,
    /// A certificate, valid until then, in milliseconds since 1970.
    Certificate { until_ms: i64 },
    /// A token.
    Token(TokenIdentifier),
}

impl Proof {
    /// Returns HBase's name for the authentication method.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::Claim => "SIMPLE",
            Self::Certificate { .. } => "CERTIFICATE",
            Self::Token(_) => "TOKEN",
        }
    }
}

/// The user whom a client certificate names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CertificateUser {
    pub(crate) name: String,
    pub(crate) until_ms: i64,
}

/// The users in a connection header.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Claim<'a> {
    pub(crate) user: Option<&'a str>,
    /// The user who acts for the other one.
    pub(crate) real_user: Option<&'a str>,
}

/// Decides about a connection with these proofs. A certificate that counts and names no user is an
/// error with the reason. A proof overrides the claim, since stock clients claim their operating
/// system's user beside a certificate. Two proofs that differ, a claim beside a token, which stock
/// clients do not send, and a claim to act for another user contradict it.
///
/// # Errors
/// Why the client is refused, and the remedy.
pub(crate) fn decide(
    sources: UserSources,
    certificate: Option<&Result<CertificateUser, String>>,
    token: Option<&TokenIdentifier>,
    claim: Claim<'_>,
    now_ms: i64,
) -> Result<Identity, String> {
    let certificate = certificate.filter(|_| sources.certificate);
    let token = token.filter(|_| sources.token);
    let identity = match (certificate, token) {
        (Some(Ok(certificate)), Some(token)) if certificate.name != token.user => {
            return Err(format!(
                "the token's user ({}) is not the client certificate's ({}): use a token of that \
                 user, or start the server with --users token",
                token.user, certificate.name
            ));
        }
        (Some(Err(why)), None) => return Err(why.clone()),
        (Some(Ok(certificate)), None) if certificate.until_ms <= now_ms => {
            let until_ms = certificate.until_ms;
            return Err(format!("the client certificate has ended: at_ms={until_ms}"));
        }
        (_, Some(token)) => {
            Identity { user: token.user.clone(), proof: Proof::Token(token.clone()) }
        }
        (Some(Ok(certificate)), None) => Identity {
            user: certificate.name.clone(),
            proof: Proof::Certificate { until_ms: certificate.until_ms },
        },
        (None, None) if sources.claimed => {
            let user = claim.user.unwrap_or_default().to_owned();
            return Ok(Identity { user, proof: Proof::Claim });
        }
        (None, None) => return Err(required(sources)),
    };
    let is_deliberate = token.is_some() || claim.real_user.is_some();
    match claim.user {
        Some(claimed) if is_deliberate && claimed != identity.user => Err(format!(
            "Authenticated user ({}, auth:{}) doesn't match what the client claims to be \
             ({claimed}): a user cannot act for another one; connect as {claimed}",
            identity.user,
            identity.proof.method()
        )),
        _ => Ok(identity),
    }
}

/// Returns why a client without a proof is refused, beginning with HBase's text.
fn required(sources: UserSources) -> String {
    let certificate = "with TLS and a client certificate (hbase.rpc.tls.keystore.location)";
    let token = "with a token, which `rowhouse user token NAME` makes, and \
                 hbase.security.authentication=kerberos";
    let remedy = match (sources.certificate, sources.token) {
        (true, true) => format!("{certificate}, or {token}"),
        (true, false) => certificate.to_owned(),
        (false, _) => token.to_owned(),
    };
    format!("Authentication is required: connect {remedy}")
}

/// Checks a user name.
///
/// # Errors
/// `InvalidRequest` for an empty or long name, one with control characters, and one that begins or
/// ends with a blank.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let why = if name.is_empty() || name.len() > USER_LEN_MAX {
        format!("a user name has 1 to {USER_LEN_MAX} bytes: len={}", name.len())
    } else if name.trim() != name || name.chars().any(char::is_control) {
        format!("a user name has no control characters, and no blanks at the ends: {name:?}")
    } else {
        return Ok(());
    };
    Err(Error::invalid(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(text: &str) -> UserSources {
        text.parse().unwrap()
    }

    fn certificate(name: &str) -> Result<CertificateUser, String> {
        Ok(CertificateUser { name: name.into(), until_ms: 9 })
    }

    fn token(user: &str) -> TokenIdentifier {
        TokenIdentifier { user: user.into(), key_id: 1, issued_ms: 0, expires_ms: 9, sequence: 0 }
    }

    /// Returns the user and the method, or the refusal, of a connection.
    fn decided(
        counted: &str,
        certificate_user: Option<&str>,
        token_user: Option<&str>,
        claimed: Option<&str>,
        real_user: Option<&str>,
    ) -> Result<String, String> {
        let certificate = certificate_user.map(certificate);
        let token = token_user.map(token);
        let claim = Claim { user: claimed, real_user };
        decide(sources(counted), certificate.as_ref(), token.as_ref(), claim, 8)
            .map(|identity| format!("{} {}", identity.user, identity.proof.method()))
    }

    #[test]
    fn the_user_is_that_of_the_strongest_proof_that_counts() {
        for (counted, certificate, token, claimed, expected) in [
            ("claimed", None, None, Some("eve"), "eve SIMPLE"),
            ("claimed", None, None, None, " SIMPLE"),
            // Proofs that do not count are ignored.
            ("claimed", Some("alice"), None, Some("eve"), "eve SIMPLE"),
            ("token", Some("alice"), Some("bob"), None, "bob TOKEN"),
            ("certificate", Some("alice"), None, None, "alice CERTIFICATE"),
            // The operating system's user beside a certificate.
            ("certificate", Some("alice"), None, Some("root"), "alice CERTIFICATE"),
            ("certificate,claimed", Some("alice"), None, Some("root"), "alice CERTIFICATE"),
            ("certificate,claimed", None, None, Some("eve"), "eve SIMPLE"),
            ("certificate,token", Some("bob"), Some("bob"), Some("bob"), "bob TOKEN"),
            ("certificate,token", None, Some("bob"), None, "bob TOKEN"),
            ("token,claimed", None, None, Some("eve"), "eve SIMPLE"),
        ] {
            let user = decided(counted, certificate, token, claimed, None);
            assert_eq!(user.as_deref(), Ok(expected), "{counted}");
        }
    }

    #[test]
    fn contradictions_are_refused_with_the_remedy() {
        let refused = |certificate, token, claimed, real_user, parts: &[&str]| {
            let refused = decided("certificate,token", certificate, token, claimed, real_user);
            let why = refused.unwrap_err();
            assert!(parts.iter().all(|part| why.contains(part)), "{why}");
        };
        refused(Some("alice"), Some("bob"), None, None, &["alice", "bob", "--users token"]);
        let claims = ["doesn't match what the client claims to be", "connect as eve"];
        refused(None, Some("bob"), Some("eve"), None, &claims);
        // Stock clients send a real user only for `doAs`.
        refused(Some("alice"), None, Some("eve"), Some("alice"), &claims);
    }

    #[test]
    fn clients_without_a_proof_are_refused_with_the_ways_that_count() {
        for (counted, remedies) in [
            ("certificate", &["hbase.rpc.tls.keystore.location"][..]),
            ("token", &["rowhouse user token NAME"]),
            ("certificate,token", &["hbase.rpc.tls.keystore.location", "rowhouse user token NAME"]),
        ] {
            let why = decided(counted, None, None, Some("eve"), None).unwrap_err();
            assert!(why.starts_with("Authentication is required"), "{why}");
            assert!(remedies.iter().all(|remedy| why.contains(remedy)), "{why}");
        }
        // What does not count is no proof.
        assert!(decided("token", Some("alice"), None, None, None).is_err());
        assert!(decided("certificate", None, Some("bob"), None, None).is_err());
    }

    #[test]
    fn a_certificate_without_a_user_is_refused_unless_it_does_not_count() {
        let nameless = Err("no common name".to_owned());
        let decided = |counted: &str, token: Option<&TokenIdentifier>| {
            decide(sources(counted), Some(&nameless), token, Claim::default(), 8)
        };
        assert_eq!(decided("certificate", None), Err("no common name".to_owned()));
        assert_eq!(decided("certificate,claimed", None), Err("no common name".to_owned()));
        assert!(decided("claimed", None).is_ok());
        assert!(decided("certificate,token", Some(&token("bob"))).is_ok());
    }

    #[test]
    fn a_certificate_that_has_ended_is_refused() {
        let alice = certificate("alice");
        let decided =
            |now_ms| decide(sources("certificate"), Some(&alice), None, Claim::default(), now_ms);
        assert!(decided(8).is_ok());
        assert_eq!(decided(9), Err("the client certificate has ended: at_ms=9".to_owned()));
    }

    #[test]
    fn names_that_would_not_be_seen_are_refused() {
        for name in ["alice", "hbase/db1@EXAMPLE.ORG", "Alice Liddell", "爱丽丝"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in ["", " alice", "a\nb", "a\u{7f}", &"a".repeat(256)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
