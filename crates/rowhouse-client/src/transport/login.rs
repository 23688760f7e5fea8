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

/// The tokens of HBase that a client holds, for any clusters.
pub(crate) struct Tokens {
    path: PathBuf,
    tokens: Vec<Token>,
}

impl Tokens {
    /// Reads the file that a target, or else the environment, names.
    ///
    /// # Errors
    /// `Io` for an unreadable file; `Protocol` and `Unsupported` for one of another format.
    pub(crate) fn of(target: &Target) -> Result<Option<Self>> {
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
        Self::parse(&bytes, path).map(Some)
    }

    fn parse(bytes: &[u8], path: PathBuf) -> Result<Self> {
        let tokens = Token::from_file(bytes);
        let mut tokens = tokens.map_err(|error| error.with_context(path.display()))?;
        tokens.retain(|token| token.kind == TOKEN_KIND);
        Ok(Self { path, tokens })
    }

    /// Returns the token for a cluster, as HBase's `AuthenticationTokenSelector` does. Unlike that,
    /// it takes no token for a cluster of an unknown id: any server could have it.
    ///
    /// # Errors
    /// `InvalidRequest` if there is none.
    pub(crate) fn select(self, cluster_id: &str) -> Result<Token> {
        let of_cluster = |token: &Token| token.service == cluster_id;
        if let Some(token) = self.tokens.iter().find(|token| of_cluster(token)) {
            return Ok(token.clone());
        }
        let services = self.tokens.iter().map(|token| &*token.service);
        let services: Vec<_> = services.filter(|service| *service != UNKNOWN_CLUSTER).collect();
        Err(Error::invalid(format!(
            "no token of the kind {TOKEN_KIND} is for this cluster: file={}, of={services:?}, \
             cluster={cluster_id}",
            self.path.display()
        )))
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
    fn a_token_is_selected_by_cluster_and_kind() {
        let identifier = TokenIdentifier {
            user: "alice".into(),
            key_id: 1,
            issued_ms: 0,
            expires_ms: 1,
            sequence: 0,
        };
        let token = |cluster: &str| Token::new(&identifier, b"key", cluster);
        let foreign = Token { kind: "HDFS_DELEGATION_TOKEN".into(), ..token("ours") };
        let selected = |tokens: &[Token], cluster: &str| {
            Tokens::parse(&Token::to_file(tokens), "t".into()).unwrap().select(cluster)
        };
        let all = [foreign, token("theirs"), token("ours"), token("ours").for_unknown_cluster()];
        assert_eq!(selected(&all, "ours").unwrap(), all[2]);
        assert_eq!(selected(&all, "theirs").unwrap(), all[1]);
        for (tokens, cluster) in [(&all[..], "another"), (&all[..2], "ours"), (&[], "ours")] {
            let refused = selected(tokens, cluster).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidRequest);
            assert!(refused.message().ends_with(&format!("cluster={cluster}")), "{refused}");
        }
        assert!(Tokens::parse(b"rubbish", "t".into()).is_err());
    }
}
