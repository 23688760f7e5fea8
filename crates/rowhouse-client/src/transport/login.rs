//! Authentication by a token.

use std::path::PathBuf;

use bytes::BytesMut;
use rowhouse_format::rpc::Preamble;
use rowhouse_format::sasl::{
    Challenge, DigestResponse, SaslAnswer, encode_client_frame, take_answer,
};
use rowhouse_format::token::{TOKEN_KIND, Token, UNKNOWN_CLUSTER, to_base64};
use rowhouse_model::{Error, ErrorKind, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Reader, Writer};
use crate::Target;

/// Where Hadoop's clients find tokens.
const VARIABLE: &str = "HADOOP_TOKEN_FILE_LOCATION";
/// The most bytes in a file of tokens.
const FILE_LEN_MAX: u64 = 16 << 20;

/// Reads the token that a target, or else the environment, names.
pub(super) fn token_of(target: &Target) -> Result<Option<Token>> {
    let variable = || std::env::var_os(VARIABLE).filter(|file| !file.is_empty());
    let Some(path) = target.token.clone().or_else(|| variable().map(PathBuf::from)) else {
        return Ok(None);
    };
    let read = || {
        use std::io::Read;
        let mut bytes = Vec::new();
        std::fs::File::open(&path)?.take(FILE_LEN_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read()
        .map_err(|source| Error::io(format_args!("cannot read {}", path.display()), source))?;
    one_of(&bytes).map(Some).map_err(|error| error.with_context(path.display()))
}

/// Returns the file's token of HBase.
fn one_of(bytes: &[u8]) -> Result<Token> {
    let mut tokens = Token::from_file(bytes)?;
    // The same token is there once more for other clients.
    tokens.retain(|token| token.kind == TOKEN_KIND && token.service != UNKNOWN_CLUSTER);
    match tokens.len() {
        1 => Ok(tokens.remove(0)),
        count => Err(Error::invalid(format!(
            "the file must have one token of the kind {TOKEN_KIND}: has={count}"
        ))),
    }
}

/// Proves the token's user to the server; returns the bytes that the server sent afterwards. The
/// connection header follows.
///
/// # Errors
/// `AccessDenied` if the server refuses the token; `Unsupported` if it takes none; `Protocol`,
/// `Connection`.
pub(crate) async fn login(
    reader: &mut Reader,
    writer: &mut Writer,
    token: &Token,
) -> Result<BytesMut> {
    let mut input = BytesMut::new();
    let mut output = BytesMut::from(&Preamble::Digest.to_bytes()[..]);
    encode_client_frame(&mut output, b"");
    send(writer, &output).await?;
    let challenge = Challenge::parse(&receive(reader, &mut input).await?)?;
    let password = to_base64(&token.password);
    let user = to_base64(&token.identifier);
    let client_nonce = uuid::Uuid::new_v4().simple().to_string();
    let response = DigestResponse::new(&challenge, user, password.as_bytes(), client_nonce);
    output.clear();
    encode_client_frame(&mut output, &response.to_bytes());
    send(writer, &output).await?;
    if !response.is_proof(password.as_bytes(), &receive(reader, &mut input).await?) {
        return Err(Error::new(ErrorKind::Protocol, "the server does not know the token"));
    }
    Ok(input)
}

async fn send(writer: &mut Writer, bytes: &[u8]) -> Result<()> {
    let sent = async {
        writer.write_all(bytes).await?;
        writer.flush().await
    };
    sent.await.map_err(|error| lost(&error.to_string()))
}

/// Returns the server's next message.
async fn receive(reader: &mut Reader, input: &mut BytesMut) -> Result<Vec<u8>> {
    loop {
        match take_answer(input)? {
            Some(SaslAnswer::Message(message)) => return Ok(message.to_vec()),
            Some(SaslAnswer::Refused(refusal)) => {
                let message = format!("the token was refused: {}", refusal.message);
                return Err(Error::new(ErrorKind::AccessDenied, message));
            }
            Some(SaslAnswer::SwitchToSimple) => {
                return Err(Error::unsupported(format!(
                    "the server takes no tokens: connect without token=FILE and {VARIABLE}"
                )));
            }
            None => {}
        }
        match reader.read_buf(input).await {
            Ok(0) => return Err(lost("closed by the server")),
            Ok(_) => {}
            Err(error) => return Err(lost(&error.to_string())),
        }
    }
}

fn lost(why: &str) -> Error {
    Error::new(ErrorKind::Connection, format!("connection lost during authentication: {why}"))
}

#[cfg(test)]
mod tests {
    use rowhouse_format::token::TokenIdentifier;

    use super::*;

    #[test]
    fn a_file_has_one_token_of_hbase() {
        let identifier = TokenIdentifier {
            user: "alice".into(),
            key_id: 1,
            issued_ms: 0,
            expires_ms: 1,
            sequence: 0,
        };
        let token = Token::new(&identifier, b"key", "cluster");
        let tokens = [token.clone(), token.for_unknown_cluster()];
        assert_eq!(one_of(&Token::to_file(&tokens)).unwrap(), token);
        let other = Token { kind: "HDFS_DELEGATION_TOKEN".into(), ..token };
        let refused = one_of(&Token::to_file(&[other])).unwrap_err();
        assert!(refused.message().contains("has=0"), "{refused}");
        assert!(one_of(b"rubbish").is_err());
    }
}
