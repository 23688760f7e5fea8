//! Which servers see a token.

use std::sync::{Arc, Mutex};

use bytes::BytesMut;
use rowhouse_format::rpc::{PREAMBLE_LEN, Preamble, ServerConnection};
use rowhouse_format::token::{Token, TokenIdentifier};
use rowhouse_model::{Error, ErrorKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::{Client, Target};

/// A server that announces the cluster id `theirs`, or none, and records how connections begin.
struct Announcing {
    port: u16,
    preambles: Arc<Mutex<Vec<[u8; PREAMBLE_LEN]>>>,
}

impl Announcing {
    async fn start(announces: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let preambles = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&preambles);
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let mut preamble = [0; PREAMBLE_LEN];
                if socket.read_exact(&mut preamble).await.is_err() {
                    continue;
                }
                seen.lock().unwrap().push(preamble);
                if !announces {
                    // As a server before HBase 2.6, which does not know the preamble.
                    preamble = *b"REGIST";
                }
                let mut output = BytesMut::new();
                let mut connection = ServerConnection::new("client:1", "theirs");
                let _ = connection.next(&mut BytesMut::from(&preamble[..]), &mut output);
                let _ = socket.write_all(&output).await;
            }
        });
        Self { port, preambles }
    }

    /// Returns the error of a client with tokens for a cluster and for any cluster.
    async fn refused_with_token_for(&self, cluster: &str) -> Error {
        let identifier = TokenIdentifier {
            user: "alice".into(),
            key_id: 1,
            issued_ms: 0,
            expires_ms: i64::MAX,
            sequence: 0,
        };
        let token = Token::new(&identifier, b"key", cluster);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, Token::to_file(&[token.clone(), token.for_unknown_cluster()]))
            .unwrap();
        let url = format!("hbase://127.0.0.1:{}?token={}", self.port, file.path().display());
        Client::connect(&Target::parse(&url).unwrap()).await.err().unwrap()
    }

    fn logins(&self) -> usize {
        let preambles = self.preambles.lock().unwrap();
        preambles.iter().filter(|preamble| **preamble == Preamble::Digest.to_bytes()).count()
    }
}

#[tokio::test]
async fn a_token_of_another_cluster_is_not_sent() {
    let server = Announcing::start(true).await;
    let refused = server.refused_with_token_for("ours").await;
    assert_eq!(refused.kind(), ErrorKind::InvalidRequest);
    assert!(refused.message().contains("of=[\"ours\"], cluster=theirs"), "{refused}");
    assert_eq!(server.logins(), 0);
    // The token for that cluster is.
    server.refused_with_token_for("theirs").await;
    assert!(server.logins() > 0);
}

#[tokio::test]
async fn a_token_is_not_sent_to_servers_that_announce_no_cluster() {
    let server = Announcing::start(false).await;
    let refused = server.refused_with_token_for("ours").await;
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(refused.message().contains("hbase+zk://"), "{refused}");
    assert_eq!(server.logins(), 0);
}
