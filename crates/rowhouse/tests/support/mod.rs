//! Runs the facade's tests on both backends.

use std::path::PathBuf;

use rowhouse::Database;
use rowhouse_server::{Options, Server};

/// Returns the options for a server that listens on free ports on the loopback interface.
pub(crate) fn loopback(data: impl Into<PathBuf>) -> Options {
    Options {
        listen: "127.0.0.1:0".into(),
        zookeeper: Some("127.0.0.1:0".into()),
        ..Options::new(data)
    }
}

/// Runs a test on an embedded database, then through a server; the second argument of `test` is
/// whether there is a server.
pub(crate) async fn on_both<T: Future<Output = ()>>(test: impl Fn(Database, bool) -> T) {
    let dir = tempfile::tempdir().unwrap();
    test(rowhouse::open(dir.path().to_str().unwrap()).await.unwrap(), false).await;
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(loopback(dir.path())).await.unwrap();
    test(rowhouse::open(format!("hbase://{}", server.address())).await.unwrap(), true).await;
    server.stop().await.unwrap();
}

/// Numbers that are determined by a seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `bound`, by SplitMix64.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    /// Returns a random text from the list.
    pub(crate) fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len() as u64) as usize]
    }

    /// Returns true in so many cases out of ten.
    pub(crate) fn is(&mut self, of_ten: u64) -> bool {
        self.below(10) < of_ten
    }
}
