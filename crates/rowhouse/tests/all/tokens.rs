//! The library against servers that check users by tokens.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rowhouse::{ErrorKind, Result, TableSpec};
use rowhouse_format::token::Token;
use rowhouse_server::{Options, Server, UserFile};
use rowhouse_store::cluster_id_of;
use tempfile::TempDir;

const HOUR_MS: i64 = 3_600_000;

/// A server that takes tokens alone.
struct Tokens {
    server: Server,
    dir: TempDir,
}

impl Tokens {
    async fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut options = Options::new(dir.path().join("data"));
        options.listen = "127.0.0.1:0".into();
        options.zookeeper = Some("127.0.0.1:0".into());
        options.users = "token".parse().unwrap();
        Self { server: Server::start(options).await.unwrap(), dir }
    }

    fn users(&self) -> UserFile {
        UserFile::at(self.dir.path().join("data"))
    }

    fn cluster_id(&self) -> String {
        cluster_id_of(self.dir.path().join("data")).unwrap()
    }

    /// Makes a token for a cluster, and a file with it.
    fn issue(&self, user: &str, life_ms: i64, cluster: &str) -> PathBuf {
        self.write(user, self.users().issue(user, life_ms, cluster).unwrap())
    }

    fn write(&self, name: &str, token: Token) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, Token::to_file(&[token.clone(), token.for_unknown_cluster()]))
            .unwrap();
        path
    }

    /// Connects with a token by RPC or ZooKeeper; creates a table, writes a row and reads it.
    async fn write_and_read(&self, token: &Path, by_zookeeper: bool) -> Result<()> {
        let token = token.display();
        let url = if by_zookeeper {
            format!("hbase+zk://{}/hbase?token={token}", self.server.zookeeper().unwrap())
        } else {
            format!("hbase://{}?token={token}", self.server.address())
        };
        let database = rowhouse::open(&url).await?;
        let name = if by_zookeeper { "by_zookeeper" } else { "by_rpc" };
        let table = TableSpec::new(name).key("[user string]").family("d");
        let table = database.create_table(table).await?;
        table.row(&[("user", "bob".into())]).set("d", "q", "a value").put().await?;
        let row = table.query("user = 'bob'").rows().await?.next().await?.unwrap();
        assert_eq!(row.text("d", "q").as_deref(), Some("a value"));
        Ok(())
    }

    async fn refused(&self, token: &Path) -> rowhouse::Error {
        self.write_and_read(token, false).await.unwrap_err()
    }
}

/// Waits until the server has read a change of the file of users.
async fn wait_until<F: Future<Output = bool>>(condition: impl Fn() -> F) {
    for _ in 0..300 {
        if condition().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the server did not read the file of users in 30 s");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_the_cluster_serves_by_each_registry() {
    let server = Tokens::start().await;
    let token = server.issue("alice", HOUR_MS, &server.cluster_id());
    wait_until(async || server.write_and_read(&token, false).await.is_ok()).await;
    server.write_and_read(&token, true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_expired_and_revoked_tokens_are_refused_with_the_reason() {
    let server = Tokens::start().await;
    let cluster = server.cluster_id();
    let short = server.issue("carol", 1, &cluster);
    let revoked = server.issue("bob", HOUR_MS, &cluster);
    let right = server.users().issue("alice", HOUR_MS, &cluster).unwrap();
    let forged = Token { password: vec![1; 20].into(), ..right.clone() };
    let forged = server.write("forged", forged);
    let right = server.write("alice", right);
    wait_until(async || server.write_and_read(&right, false).await.is_ok()).await;
    server.users().revoke("bob").unwrap();
    let is_revoked =
        async || server.refused(&revoked).await.message().contains("Token was revoked");
    wait_until(is_revoked).await;
    for (token, reason) in [(&forged, "DIGEST-MD5"), (&short, "Token has expired")] {
        let refused = server.refused(token).await;
        assert_eq!(refused.kind(), ErrorKind::AccessDenied);
        assert!(refused.message().contains(reason), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_another_cluster_is_refused_by_the_client() {
    let ours = Tokens::start().await;
    let theirs = Tokens::start().await;
    let token = theirs.issue("alice", HOUR_MS, &theirs.cluster_id());
    for by_zookeeper in [false, true] {
        let refused = ours.write_and_read(&token, by_zookeeper).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidRequest);
        assert!(refused.message().contains(&ours.cluster_id()), "{refused}");
        assert!(refused.message().contains(&theirs.cluster_id()), "{refused}");
    }
}
