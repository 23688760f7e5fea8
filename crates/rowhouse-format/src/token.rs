//! Tokens of users: HBase's identifier and password, and the forms in which Hadoop's clients read a
//! token.
//!
//! ```text
//! identifier   4 bytes: len │ TokenIdentifier, a protobuf message
//! password     HMAC-SHA1 of the identifier with a master key: 20 bytes
//!
//! token        identifier │ password │ kind │ service, after each length, a vint
//! text         Base64 of a token, with - and _, without padding; several are joined by commas
//! file         "HDTS" │ 0 │ vint: count │ { vint: len │ alias │ token } │ vint: count of secrets
//!              "HDTS" │ 1 │ varint: len │ HadoopTokens, a protobuf message
//! ```
//!
//! Clients take a token whose service is the cluster id. Before HBase 2.6 a registry of RPC does
//! not know that, and takes one for [`UNKNOWN_CLUSTER`].

use std::fmt;

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::{Buf, BufMut, Bytes};
use hmac::{Hmac, KeyInit, Mac};
use prost::Message;
use rowhouse_model::{Error, Result};
use sha1::Sha1;

use crate::exception::malformed;
use crate::proto;

/// The kind of HBase's tokens.
pub const TOKEN_KIND: &str = "HBASE_AUTH_TOKEN";
/// The service of tokens that clients take for a cluster whose id they do not know.
pub const UNKNOWN_CLUSTER: &str = "default-cluster";
/// How Hadoop's token files begin.
const MAGIC: &[u8; 4] = b"HDTS";
/// The most tokens and secrets that are read from a file.
const FILE_TOKENS_MAX: i64 = 10_000;

/// Base64 as Java writes it, with padding or without.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
const URL_BASE64: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What a token states about the user. Anybody can make one; the password proves that a server did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenIdentifier {
    /// The user name.
    pub user: String,
    /// The master key that the password is made with.
    pub key_id: i32,
    /// When the token was made, in milliseconds since 1970.
    pub issued_ms: i64,
    /// When the token ends, in milliseconds since 1970.
    pub expires_ms: i64,
    /// Tells tokens apart that are otherwise equal.
    pub sequence: i64,
}

impl TokenIdentifier {
    /// Returns the bytes that the password is made of.
    pub fn to_bytes(&self) -> Vec<u8> {
        let message = proto::TokenIdentifier {
            kind: proto::token_identifier::Kind::HbaseAuthToken.into(),
            username: self.user.clone().into(),
            key_id: self.key_id,
            issue_date: Some(self.issued_ms),
            expiration_date: Some(self.expires_ms),
            sequence_number: Some(self.sequence),
        };
        let mut bytes = Vec::new();
        bytes.put_u32(message.encoded_len() as u32);
        message.encode(&mut bytes).expect("a vector grows");
        bytes
    }

    /// Parses the bytes.
    ///
    /// # Errors
    /// `Protocol` for other bytes, and for a user name that is not UTF-8.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let wrong = |why: &str| malformed(format!("malformed token identifier: {why}"));
        let mut rest = bytes;
        let len = rest.try_get_u32().map_err(|_| wrong("no length"))? as usize;
        if rest.len() != len {
            return Err(wrong("wrong length"));
        }
        let message = proto::TokenIdentifier::decode(rest);
        let message = message.map_err(|error| wrong(&error.to_string()))?;
        let user = String::from_utf8(message.username.into());
        Ok(Self {
            user: user.map_err(|_| wrong("the user name is not UTF-8"))?,
            key_id: message.key_id,
            issued_ms: message.issue_date.unwrap_or(0),
            expires_ms: message.expiration_date.unwrap_or(0),
            sequence: message.sequence_number.unwrap_or(0),
        })
    }
}

/// Returns the password of the token with this identifier.
pub fn password(identifier: &[u8], master_key: &[u8]) -> [u8; 20] {
    let mut mac = Hmac::<Sha1>::new_from_slice(master_key).expect("keys may have any length");
    mac.update(identifier);
    mac.finalize().into_bytes().into()
}

/// Returns true if this is the password of the token with this identifier. Takes as long for any.
#[must_use]
pub fn has_password(identifier: &[u8], master_key: &[u8], password: &[u8]) -> bool {
    let mut mac = Hmac::<Sha1>::new_from_slice(master_key).expect("keys may have any length");
    mac.update(identifier);
    mac.verify_slice(password).is_ok()
}

/// Returns bytes in Base64, as user names and passwords in SASL are.
pub fn to_base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// Decodes Base64.
///
/// # Errors
/// `Protocol` for another text.
pub fn from_base64(text: &str) -> Result<Vec<u8>> {
    BASE64.decode(text).map_err(|error| malformed(format!("not Base64: {error}")))
}

/// A token as a client holds it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// What the token states, with HBase's kind a [`TokenIdentifier`].
    pub identifier: Bytes,
    /// The secret.
    pub password: Bytes,
    /// The kind: [`TOKEN_KIND`].
    pub kind: String,
    /// The service it is for: a cluster id.
    pub service: String,
}

/// Shows no password.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Token");
        shown.field("kind", &self.kind).field("service", &self.service);
        shown.finish_non_exhaustive()
    }
}

impl Token {
    /// Makes a token of HBase for a cluster, with a master key.
    pub fn new(identifier: &TokenIdentifier, master_key: &[u8], cluster_id: &str) -> Self {
        let identifier = identifier.to_bytes();
        Self {
            password: Bytes::copy_from_slice(&password(&identifier, master_key)),
            identifier: identifier.into(),
            kind: TOKEN_KIND.to_owned(),
            service: cluster_id.to_owned(),
        }
    }

    /// Returns the token for [`UNKNOWN_CLUSTER`].
    #[must_use]
    pub fn for_unknown_cluster(&self) -> Self {
        Self { service: UNKNOWN_CLUSTER.to_owned(), ..self.clone() }
    }

    /// Returns the text that `HADOOP_TOKEN` and `hadoop.tokens` take.
    pub fn to_text(&self) -> String {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        URL_BASE64.encode(bytes)
    }

    /// Parses the text.
    ///
    /// # Errors
    /// `Protocol` for another text.
    pub fn from_text(text: &str) -> Result<Self> {
        let bytes = URL_BASE64.decode(text.trim());
        let bytes = bytes.map_err(|error| malformed(format!("a token is not Base64: {error}")))?;
        let mut rest = &bytes[..];
        let token = Self::read(&mut rest)?;
        if rest.is_empty() { Ok(token) } else { Err(malformed("a token has bytes after it")) }
    }

    /// Returns the file that `HADOOP_TOKEN_FILE_LOCATION` names, which Hadoop 2 and 3 read. Each
    /// token has another service.
    pub fn to_file(tokens: &[Self]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.put_u8(0);
        put_vint(&mut bytes, tokens.len());
        for token in tokens {
            put_text(&mut bytes, &token.service);
            token.write(&mut bytes);
        }
        put_vint(&mut bytes, 0);
        bytes
    }

    /// Parses such a file, with the tokens of all kinds.
    ///
    /// # Errors
    /// `Protocol` for another file; `Unsupported` for another version.
    pub fn from_file(bytes: &[u8]) -> Result<Vec<Self>> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err(malformed("not a file of Hadoop's tokens: it does not begin with HDTS"));
        };
        match rest.split_first() {
            Some((0, rest)) => Self::read_all(rest),
            Some((1, rest)) => {
                let tokens = proto::HadoopTokens::decode_length_delimited(rest);
                let tokens = tokens.map_err(|error| malformed(format!("a token file: {error}")))?;
                let tokens = tokens.tokens.into_iter().filter_map(|entry| entry.token);
                Ok(tokens.map(Self::from).collect())
            }
            version => Err(Error::unsupported(format!(
                "a token file of an unknown version: {:?}",
                version.map(|(version, _)| version)
            ))),
        }
    }

    fn read_all(mut rest: &[u8]) -> Result<Vec<Self>> {
        let count = take_vint(&mut rest)?;
        if !(0..=FILE_TOKENS_MAX).contains(&count) {
            return Err(malformed(format!("too many tokens: {count}, max={FILE_TOKENS_MAX}")));
        }
        (0..count)
            .map(|_| {
                take_bytes(&mut rest)?;
                Self::read(&mut rest)
            })
            .collect()
    }

    fn write(&self, out: &mut Vec<u8>) {
        for part in [&self.identifier, &self.password] {
            put_vint(out, part.len());
            out.put_slice(part);
        }
        put_text(out, &self.kind);
        put_text(out, &self.service);
    }

    fn read(rest: &mut &[u8]) -> Result<Self> {
        Ok(Self {
            identifier: Bytes::copy_from_slice(take_bytes(rest)?),
            password: Bytes::copy_from_slice(take_bytes(rest)?),
            kind: take_text(rest)?,
            service: take_text(rest)?,
        })
    }
}

impl From<proto::HadoopToken> for Token {
    fn from(token: proto::HadoopToken) -> Self {
        Self {
            identifier: token.identifier,
            password: token.password,
            kind: token.kind,
            service: token.service,
        }
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_vint(out, text.len());
    out.put_slice(text.as_bytes());
}

/// Appends a length as Hadoop's `writeVInt` does: a small one is a byte; otherwise the first byte
/// has the count of bytes that follow.
fn put_vint(out: &mut Vec<u8>, len: usize) {
    let len = len as u64;
    if len <= 127 {
        return out.put_u8(len as u8);
    }
    let count = 8 - len.leading_zeros() as usize / 8;
    out.put_i8(-112 - count as i8);
    out.put_slice(&len.to_be_bytes()[8 - count..]);
}

fn take_vint(rest: &mut &[u8]) -> Result<i64> {
    let wrong = || malformed("a token ends in the middle of a length");
    let first = rest.try_get_i8().map_err(|_| wrong())?;
    if first >= -112 {
        return Ok(first.into());
    }
    let is_negative = first < -120;
    let count = if is_negative { -120 - i32::from(first) } else { -112 - i32::from(first) };
    let bytes = rest.split_off(..count as usize).ok_or_else(wrong)?;
    let value = bytes.iter().fold(0, |value: i64, byte| value << 8 | i64::from(*byte));
    Ok(if is_negative { !value } else { value })
}

fn take_bytes<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8]> {
    let len = usize::try_from(take_vint(rest)?);
    let taken = len.ok().and_then(|len| rest.split_off(..len));
    taken.ok_or_else(|| malformed("a token is shorter than a length in it"))
}

fn take_text(rest: &mut &[u8]) -> Result<String> {
    let text = String::from_utf8(take_bytes(rest)?.to_vec());
    text.map_err(|_| malformed("a text in a token is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn identifier() -> TokenIdentifier {
        TokenIdentifier {
            user: "alice".into(),
            key_id: 3,
            issued_ms: 1_764_633_600_000,
            expires_ms: 1_767_225_600_000,
            sequence: 7,
        }
    }

    #[test]
    fn identifiers_are_parsed_as_written_and_nothing_else_is() {
        let bytes = identifier().to_bytes();
        assert_eq!(TokenIdentifier::parse(&bytes).unwrap(), identifier());
        for end in 0..bytes.len() {
            assert!(TokenIdentifier::parse(&bytes[..end]).is_err());
        }
        assert!(TokenIdentifier::parse(&[&bytes[..], b"x"].concat()).is_err());
    }

    #[test]
    fn passwords_are_hmac_sha1() {
        // RFC 2202, test case 2.
        let expected =
            b"\xef\xfc\xdf\x6a\xe5\xeb\x2f\xa2\xd2\x74\x16\xd5\xf1\x84\xdf\x9c\x25\x9a\x7c\x79";
        let identifier = b"what do ya want for nothing?";
        assert_eq!(&password(identifier, b"Jefe"), expected);
        assert!(has_password(identifier, b"Jefe", expected));
        assert!(!has_password(identifier, b"Jefe", &expected[1..]));
        assert!(!has_password(identifier, b"jefe", expected));
    }

    #[test]
    fn files_of_both_versions_are_read() {
        let token = Token::new(&identifier(), b"key", "cluster");
        let both = [token.clone(), token.for_unknown_cluster()];
        assert_eq!(Token::from_file(&Token::to_file(&both)).unwrap(), both);
        let entry = proto::HadoopTokenEntry {
            alias: "cluster".into(),
            token: Some(proto::HadoopToken {
                identifier: token.identifier.clone(),
                password: token.password.clone(),
                kind: token.kind.clone(),
                service: token.service.clone(),
            }),
            secret: None,
        };
        let newer = proto::HadoopTokens { tokens: vec![entry], secrets: Vec::new() };
        let newer = [b"HDTS\x01", &newer.encode_length_delimited_to_vec()[..]].concat();
        assert_eq!(Token::from_file(&newer).unwrap(), [token]);
        assert!(Token::from_file(b"HDTS\x02").is_err());
        assert!(Token::from_file(b"HDTS").is_err());
        assert!(Token::from_file(b"hdts\x00\x00\x00").is_err());
    }

    #[test]
    fn tokens_show_no_password() {
        let token = Token::new(&identifier(), b"key", "cluster");
        let shown = format!("{token:?}");
        assert!(shown.contains("cluster") && !shown.contains("password"), "{shown}");
    }

    proptest! {
        #[test]
        fn tokens_are_parsed_as_written(
            parts: (Vec<u8>, Vec<u8>), kind: String, service in "\\PC{0,300}",
        ) {
            let identifier = parts.0.into();
            let token = Token { identifier, password: parts.1.into(), kind, service };
            prop_assert!(Token::from_text(&token.to_text()).unwrap() == token);
            let tokens = [token];
            prop_assert!(Token::from_file(&Token::to_file(&tokens)).unwrap() == tokens);
        }

        #[test]
        fn lengths_are_read_as_written(len in prop_oneof![0..300_usize, any::<u32>().prop_map(|len| len as usize)]) {
            let mut bytes = Vec::new();
            put_vint(&mut bytes, len);
            prop_assert_eq!(take_vint(&mut &bytes[..]).unwrap(), len as i64);
        }

        #[test]
        fn rubbish_never_panics(bytes: Vec<u8>, text: String) {
            let _ = Token::from_text(&text);
            let _ = Token::from_text(&URL_BASE64.encode(&bytes));
            let _ = TokenIdentifier::parse(&bytes);
            for version in 0..3 {
                let _ = Token::from_file(&[b"HDTS", &[version][..], &bytes].concat());
            }
        }
    }
}
