//! Values larger than HBase's limit on calls, through a server configured to accept them.

use rowhouse::{ErrorKind, Get, Put, Scan, TableSpec};
use rowhouse_server::Server;

use crate::support::loopback;

const MIB: usize = 1 << 20;

#[tokio::test(flavor = "multi_thread")]
async fn a_value_of_260_mib_comes_back_and_one_beyond_the_limit_is_refused() {
    comes_back(260 * MIB, 270 * MIB).await;
}

/// Run with `ROWHOUSE_LARGE=1 cargo test -p rowhouse --release --test all large_values::`.
#[tokio::test(flavor = "multi_thread")]
async fn values_of_half_a_gib_and_up_to_the_limit_come_back() {
    if std::env::var_os("ROWHOUSE_LARGE").is_none() {
        println!("skipped: ROWHOUSE_LARGE is not set");
        return;
    }
    comes_back(512 * MIB, 1024 * MIB).await;
    comes_back(1024 * MIB - 200, 1024 * MIB).await;
}

/// Writes and reads a value of `len` bytes through a server that accepts mutations of up to `limit`
/// bytes.
async fn comes_back(len: usize, limit: usize) {
    let dir = tempfile::tempdir().unwrap();
    let mut options = loopback(dir.path());
    options.settings.mutation_bytes_max = limit;
    let server = Server::start(options).await.unwrap();
    let database = rowhouse::open(format!("hbase://{}", server.address())).await.unwrap();
    let table = database.create_table(TableSpec::new("t").family("f")).await.unwrap();
    let put = |row: &'static str, len: usize| {
        Put::new(row).unwrap().add("f", "q", vec![b'v'; len]).unwrap()
    };
    table.put(put("large", len)).await.unwrap();
    for in_file in [false, true] {
        if in_file {
            database.admin().flush("t").await.unwrap();
        }
        let row = table.get(&Get::new("large").unwrap()).await.unwrap();
        let value = row.value("f", "q").unwrap();
        assert!(value.len() == len && value.iter().all(|byte| *byte == b'v'), "{in_file}");
        drop((row, value));
        let mut rows = table.scan(Scan::all()).await.unwrap();
        let row = rows.next().await.unwrap().unwrap();
        assert_eq!(row.value("f", "q").unwrap().len(), len, "{in_file}");
    }
    let refused = table.put(put("too large", limit)).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidRequest);
    assert!(refused.message().contains("mutation too long: len="), "{refused}");
    assert!(refused.message().contains(&format!("max={limit}")), "{refused}");
    server.stop().await.unwrap();
}
