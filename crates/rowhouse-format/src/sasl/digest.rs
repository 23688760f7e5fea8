//! The challenge and the response of DIGEST-MD5, and the digests in them.

use std::fmt;

use md5::{Digest, Md5};
use rowhouse_model::Result;
use subtle::ConstantTimeEq;

use super::directives::{Directives, invalid, push_plain, push_quoted};

/// The realm of HBase's servers.
const REALM: &str = "default";
/// The service that clients authenticate to. Java joins HBase's protocol, which is null, and
/// [`REALM`].
const DIGEST_URI: &str = "null/default";
/// The only protection that is served: authentication. Integrity and secrecy are left to TLS.
const QOP: &str = "auth";
/// A nonce is used once.
const NONCE_COUNT: &str = "00000001";

/// A server's challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// The realm that is offered.
    pub realm: String,
    /// A random text that the server uses once.
    pub nonce: String,
}

impl Challenge {
    /// Returns a challenge of an HBase server with this nonce.
    pub fn new(nonce: String) -> Self {
        Self { realm: REALM.to_owned(), nonce }
    }

    /// Returns the message.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = String::new();
        push_quoted(&mut out, "realm", &self.realm);
        push_quoted(&mut out, "nonce", &self.nonce);
        push_quoted(&mut out, "qop", QOP);
        push_plain(&mut out, "charset", "utf-8");
        push_plain(&mut out, "algorithm", "md5-sess");
        out.into_bytes()
    }

    /// Parses the message.
    ///
    /// # Errors
    /// `Protocol` for other bytes; `Unsupported` for a server that demands integrity or secrecy
    /// (`hbase.rpc.protection`), or another algorithm.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let directives = Directives::parse(bytes)?;
        let qops = directives.value("qop").unwrap_or(QOP);
        if !qops.split(',').any(|qop| qop.trim() == QOP) {
            return Err(rowhouse_model::Error::unsupported(format!(
                "the server requires protection that is not supported, set \
                 hbase.rpc.protection=authentication there: qop={qops}"
            )));
        }
        let algorithm = directives.value("algorithm").unwrap_or_default();
        if algorithm != "md5-sess" {
            let message = format!("unknown DIGEST-MD5 algorithm: {algorithm}");
            return Err(rowhouse_model::Error::unsupported(message));
        }
        let realm = directives.value("realm").unwrap_or(REALM).to_owned();
        Ok(Self { realm, nonce: directives.required("nonce")? })
    }
}

/// A client's response.
#[derive(Clone, PartialEq, Eq)]
pub struct DigestResponse {
    username: String,
    authorized_as: Option<String>,
    realm: String,
    nonce: String,
    nonce_count: String,
    client_nonce: String,
    digest_uri: String,
    qop: String,
    response: String,
}

/// Shows nothing that belongs to the password.
impl fmt::Debug for DigestResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DigestResponse").field("username", &self.username).finish_non_exhaustive()
    }
}

impl DigestResponse {
    /// Returns a client's response to a challenge. `client_nonce` is a random text that is used
    /// once.
    pub fn new(
        challenge: &Challenge,
        username: String,
        password: &[u8],
        client_nonce: String,
    ) -> Self {
        let mut new = Self {
            username,
            authorized_as: None,
            realm: challenge.realm.clone(),
            nonce: challenge.nonce.clone(),
            nonce_count: NONCE_COUNT.to_owned(),
            client_nonce,
            digest_uri: DIGEST_URI.to_owned(),
            qop: QOP.to_owned(),
            response: String::new(),
        };
        new.response = new.digest(password, "AUTHENTICATE:");
        new
    }

    /// Returns the message.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = String::new();
        push_plain(&mut out, "charset", "utf-8");
        push_quoted(&mut out, "username", &self.username);
        push_quoted(&mut out, "realm", &self.realm);
        push_quoted(&mut out, "nonce", &self.nonce);
        push_plain(&mut out, "nc", &self.nonce_count);
        push_quoted(&mut out, "cnonce", &self.client_nonce);
        push_quoted(&mut out, "digest-uri", &self.digest_uri);
        push_plain(&mut out, "response", &self.response);
        push_plain(&mut out, "qop", &self.qop);
        out.into_bytes()
    }

    /// Parses the message.
    ///
    /// # Errors
    /// `Protocol` for other bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let directives = Directives::parse(bytes)?;
        Ok(Self {
            username: directives.required("username")?,
            authorized_as: directives.value("authzid").map(str::to_owned),
            realm: directives.value("realm").unwrap_or_default().to_owned(),
            nonce: directives.required("nonce")?,
            nonce_count: directives.required("nc")?,
            client_nonce: directives.required("cnonce")?,
            digest_uri: directives.required("digest-uri")?,
            qop: directives.value("qop").unwrap_or(QOP).to_owned(),
            response: directives.required("response")?,
        })
    }

    /// Returns the user name, unverified.
    pub fn username(&self) -> &str {
        &self.username
    }

    /// Checks that this responds to a challenge of an HBase server with the nonce, for the user of
    /// the name. The password is left to [`DigestResponse::has_password`].
    ///
    /// # Errors
    /// `Protocol` with the difference.
    pub fn check(&self, nonce: &str) -> Result<()> {
        if self.nonce != nonce {
            return Err(invalid("another nonce than the challenge's"));
        }
        let equal = |name: &str, has: &str, expected: &str| {
            if has.eq_ignore_ascii_case(expected) {
                return Ok(());
            }
            Err(invalid(format_args!("unexpected {name}: has={has}, expected={expected}")))
        };
        equal("nc", &self.nonce_count, NONCE_COUNT)?;
        equal("realm", &self.realm, REALM)?;
        equal("digest-uri", &self.digest_uri, DIGEST_URI)?;
        if self.qop != QOP {
            return Err(invalid(format_args!(
                "the client requests protection by SASL, which is not supported: use TLS and set \
                 hbase.rpc.protection=authentication: qop={}",
                self.qop
            )));
        }
        match &self.authorized_as {
            Some(other) if *other != self.username => {
                Err(invalid("a token acts for the token's user alone"))
            }
            _ => Ok(()),
        }
    }

    /// Returns true if the client knows the password. Takes as long for any response of the right
    /// length.
    #[must_use]
    pub fn has_password(&self, password: &[u8]) -> bool {
        let expected = self.digest(password, "AUTHENTICATE:");
        self.response.as_bytes().ct_eq(expected.as_bytes()).into()
    }

    /// Returns the message by which a server proves that it knows the password.
    pub fn proof(&self, password: &[u8]) -> Vec<u8> {
        format!("rspauth={}", self.digest(password, ":")).into_bytes()
    }

    /// Returns true if `message` is that proof.
    #[must_use]
    pub fn is_proof(&self, password: &[u8], message: &[u8]) -> bool {
        message.ct_eq(&self.proof(password)).into()
    }

    /// Returns RFC 2831's `response-value` for what begins A2.
    fn digest(&self, password: &[u8], begin: &str) -> String {
        let secret = md5([self.username.as_bytes(), b":", self.realm.as_bytes(), b":", password]);
        let mut session = Md5::new();
        session.update(secret);
        for part in [&self.nonce, &self.client_nonce].into_iter().chain(&self.authorized_as) {
            session.update(b":");
            session.update(part);
        }
        let session = hex(&session.finalize());
        let purpose = hex(&md5([begin.as_bytes(), self.digest_uri.as_bytes()]));
        let parts =
            [&session, &self.nonce, &self.nonce_count, &self.client_nonce, &self.qop, &purpose];
        hex(&md5([parts.map(|part| &**part).join(":").as_bytes()]))
    }
}

fn md5<const N: usize>(parts: [&[u8]; N]) -> [u8; 16] {
    let mut digest = Md5::new();
    parts.iter().for_each(|part| digest.update(part));
    digest.finalize().into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The examples of RFC 2831, section 4: the response, and the proof.
    const EXAMPLES: [(&str, &str); 2] = [
        (
            r#"charset=utf-8,username="chris",realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",nc=00000001,cnonce="OA6MHXh6VqTrRk",digest-uri="imap/elwood.innosoft.com",response=d388dad90d4bbd760a152321f2143af7,qop=auth"#,
            "rspauth=ea40f60335c427b5527b84dbabcdfffd",
        ),
        (
            r#"username="chris",realm="elwood.innosoft.com",nonce="OA9BSXrbuRhWay",nc=00000001,cnonce="OA9BSuZWMSpW8m",digest-uri="acap/elwood.innosoft.com",response=6084c6db3fede7352c551284490fd0fc,qop=auth"#,
            "rspauth=2f0b3d7c3c2e486600ef710726aa2eae",
        ),
    ];

    #[test]
    fn digests_are_those_in_rfc_2831() {
        for (response, proof) in EXAMPLES {
            let response = DigestResponse::parse(response.as_bytes()).unwrap();
            assert!(response.has_password(b"secret"));
            assert!(!response.has_password(b"Secret"));
            assert_eq!(response.proof(b"secret"), proof.as_bytes());
            assert!(response.is_proof(b"secret", proof.as_bytes()));
            assert!(!response.is_proof(b"secret", b"rspauth="));
        }
    }

    fn answered() -> DigestResponse {
        let challenge = Challenge::new("n1".into());
        let challenge = Challenge::parse(&challenge.to_bytes()).unwrap();
        DigestResponse::new(&challenge, "user".into(), b"secret", "c1".into())
    }

    #[test]
    fn a_response_is_accepted_for_one_nonce_service_count_and_protection() {
        let check = |change: &dyn Fn(&mut DigestResponse)| {
            let mut response = answered();
            change(&mut response);
            let parsed = DigestResponse::parse(&response.to_bytes()).unwrap();
            parsed.check("n1").map_err(|error| error.message().to_owned())
        };
        assert_eq!(check(&|_| {}), Ok(()));
        let refused = |why: &str, change: &dyn Fn(&mut DigestResponse)| {
            let message = check(change).unwrap_err();
            assert!(message.contains(why), "{message}");
        };
        refused("another nonce", &|it| it.nonce = "n2".into());
        refused("nc", &|it| it.nonce_count = "00000002".into());
        refused("realm", &|it| it.realm = "x".into());
        refused("digest-uri", &|it| it.digest_uri = "null/other".into());
        refused("hbase.rpc.protection=authentication", &|it| it.qop = "auth-conf".into());
    }

    #[test]
    fn a_response_for_another_user_than_the_own_is_refused() {
        let bytes = String::from_utf8(answered().to_bytes()).unwrap();
        let with = |authzid: &str| {
            let bytes = format!("{bytes},authzid=\"{authzid}\"");
            DigestResponse::parse(bytes.as_bytes()).unwrap()
        };
        assert!(with("user").check("n1").is_ok());
        assert!(with("root").check("n1").is_err());
        // It is part of the digest.
        assert!(!with("user").has_password(b"secret"));
    }

    #[test]
    fn a_server_that_demands_more_than_authentication_is_refused() {
        let challenge = |qop: &str| {
            format!("realm=\"default\",nonce=\"n\",qop=\"{qop}\",algorithm=md5-sess").into_bytes()
        };
        assert!(Challenge::parse(&challenge("auth-conf,auth")).is_ok());
        let error = Challenge::parse(&challenge("auth-conf,auth-int")).unwrap_err();
        assert!(error.message().contains("qop=auth-conf,auth-int"), "{error}");
        assert!(Challenge::parse(b"nonce=\"n\",algorithm=sha").is_err());
    }

    proptest! {
        #[test]
        fn a_response_has_the_password_that_it_was_made_with(
            nonces: (String, String),
            passwords: (Vec<u8>, Vec<u8>),
            username in "\\PC{0,40}",
        ) {
            let challenge = Challenge::new(nonces.0.escape_default().to_string());
            let made =
                DigestResponse::new(&challenge, username, &passwords.0, nonces.1.escape_default().to_string());
            if made.to_bytes().len() > crate::sasl::MESSAGE_LEN_MAX {
                return Ok(());
            }
            let parsed = DigestResponse::parse(&made.to_bytes()).unwrap();
            prop_assert!(parsed == made);
            prop_assert!(parsed.check(&challenge.nonce).is_ok());
            prop_assert!(parsed.has_password(&passwords.0));
            prop_assert!(made.is_proof(&passwords.0, &parsed.proof(&passwords.0)));
            prop_assert_eq!(parsed.has_password(&passwords.1), passwords.0 == passwords.1);
        }

        #[test]
        fn rubbish_never_panics(bytes: Vec<u8>, text: String) {
            for input in [&bytes[..], text.as_bytes()] {
                let _ = Challenge::parse(input);
                let _ = DigestResponse::parse(input);
            }
        }
    }
}
