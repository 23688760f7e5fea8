//! The six bytes that open a connection.

use rowhouse_model::escape;

use crate::exception::Exception;

/// A preamble's length in bytes.
pub const PREAMBLE_LEN: usize = 6;

const MAGIC: &[u8; 4] = b"HBas";
const VERSION: u8 = 0;
const AUTH_SIMPLE: u8 = 0x50;
const AUTH_KERBEROS: u8 = 0x51;
const AUTH_DIGEST: u8 = 0x52;
const REGISTRY: &[u8; PREAMBLE_LEN] = b"Regist";
const SECURITY: &[u8; PREAMBLE_LEN] = b"Securi";

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preamble {
    /// Calls of a user who is claimed in the connection header.
    Rpc,
    /// Calls after authentication by a token: [`sasl`](crate::sasl).
    Digest,
    /// Calls after authentication by Kerberos.
    Kerberos,
    /// A request for the cluster id only.
    Registry,
    /// A request for the server's principal; another preamble follows.
    Security,
}

impl Preamble {
    /// Parses a preamble; `peer` (the client's `host:port`) appears in HBase's error messages.
    ///
    /// # Errors
    /// The fatal exception that the server sends before it closes the connection.
    pub fn parse(bytes: &[u8; PREAMBLE_LEN], peer: &str) -> Result<Self, Exception> {
        if bytes == REGISTRY {
            return Ok(Self::Registry);
        }
        if bytes == SECURITY {
            return Ok(Self::Security);
        }
        let [magic @ .., version, auth] = bytes;
        if magic != MAGIC {
            let expected = escape(MAGIC);
            let received = escape(magic);
            return Err(Exception::fatal(
                "FatalConnectionException",
                format!("Expected HEADER={expected} but received HEADER={received} from {peer}"),
            ));
        }
        let class = match (*version, *auth) {
            (VERSION, AUTH_SIMPLE) => return Ok(Self::Rpc),
            (VERSION, AUTH_KERBEROS) => return Ok(Self::Kerberos),
            (VERSION, AUTH_DIGEST) => return Ok(Self::Digest),
            (VERSION, _) => "BadAuthException",
            _ => "WrongVersionException",
        };
        // Java prints the authentication method as a signed byte.
        let message = format!(
            "serverVersion={VERSION}, clientVersion={version}, authMethod={}, authName=unknown \
             from {peer}",
            *auth as i8
        );
        Err(Exception::fatal(class, message))
    }

    /// Returns the six bytes.
    pub fn to_bytes(self) -> [u8; PREAMBLE_LEN] {
        let calls = |auth| [b'H', b'B', b'a', b's', VERSION, auth];
        match self {
            Self::Rpc => calls(AUTH_SIMPLE),
            Self::Digest => calls(AUTH_DIGEST),
            Self::Kerberos => calls(AUTH_KERBEROS),
            Self::Registry => *REGISTRY,
            Self::Security => *SECURITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preambles_are_read_as_written() {
        for preamble in [
            Preamble::Rpc,
            Preamble::Digest,
            Preamble::Kerberos,
            Preamble::Registry,
            Preamble::Security,
        ] {
            assert_eq!(Preamble::parse(&preamble.to_bytes(), "h:1").unwrap(), preamble);
        }
    }

    #[test]
    fn refusals_are_apaches() {
        let refused = |bytes: &[u8; 6]| Preamble::parse(bytes, "10.0.0.1:5").unwrap_err();
        let error = refused(b"GET / ");
        assert_eq!(error.class, "org.apache.hadoop.hbase.ipc.FatalConnectionException");
        assert_eq!(error.message, "Expected HEADER=HBas but received HEADER=GET  from 10.0.0.1:5");
        let error = refused(b"HBas\x07\x50");
        assert_eq!(error.class, "org.apache.hadoop.hbase.ipc.WrongVersionException");
        let error = refused(b"HBas\0\x53");
        assert_eq!(error.class, "org.apache.hadoop.hbase.ipc.BadAuthException");
        assert_eq!(
            error.message,
            "serverVersion=0, clientVersion=0, authMethod=83, authName=unknown from 10.0.0.1:5"
        );
    }
}
