//! A value that is larger than HBase's limit on calls, through a server that is set to take it.

use rowhouse::{ErrorKind, Get, Put, TableSpec};
use rowhouse_server::{Options, Server};

const MIB: usize = 1 << 20;

#[tokio::test(flavor = "multi_thread")]
async fn a_value_of_260_mib_comes_back_and_one_beyond_the_limit_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = Options {
        listen: "127.0.0.1:0".into(),
        zookeeper: "127.0.0.1:0".into(),
        ..Options::new(dir.path())
    };
    options.settings.mutation_bytes_max = 270 * MIB;
    let server = Server::start(options).await.unwrap();
    let database = rowhouse::open(format!("hbase://{}", server.address())).await.unwrap();
    let table = database.create_table(TableSpec::new("t").family("f")).await.unwrap();
    let put = |row: &'static str, len: usize| {
        Put::new(row).unwrap().add("f", "q", vec![b'v'; len]).unwrap()
    };
    table.put(put("large", 260 * MIB)).await.unwrap();
    let row = table.get(&Get::new("large").unwrap()).await.unwrap();
    assert_eq!(row.value("f", "q").unwrap().len(), 260 * MIB);
    let refused = table.put(put("too large", 270 * MIB)).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidRequest);
    assert!(refused.message().contains("mutation too long: len=283"), "{refused}");
    server.stop().await.unwrap();
}
