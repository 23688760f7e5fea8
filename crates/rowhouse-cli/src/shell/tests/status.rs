//! Tests of the status of servers.

use expect_test::expect;

use super::{mask, transcript, transcript_of_server};

const SCRIPT: &str = "create 't', 'f', 'g', SPLITS => ['m']
create 'off', 'f'
disable 'off'
put 't', 'a', 'f:q', 'v'
flush 't'
status
status 'simple'
status 'detailed'
status 'replication'
status 'all'
processlist
list_liveservers
list_deadservers";

#[test]
fn a_directory_has_one_server_which_is_this_process() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let told = runtime.block_on(async {
        let dir = tempfile::tempdir().unwrap();
        transcript(dir.path().to_str().unwrap(), SCRIPT).await
    });
    let told = mask(&told);
    let begun = told.find("> status\n").unwrap();
    expect![[r#"
        > status
        1 active master, 0 backup masters, 1 servers, 0 dead, 2.0000 average load
        Took T seconds
        > status 'simple'
        active master:  localhost:0 0
        0 backup masters
        1 live servers
            localhost:0 0
                requestsPerSecond=0.0, numberOfOnlineRegions=2, numberOfStores=4, numberOfStorefiles=1, storefileUncompressedSizeMB=0, storefileSizeMB=0, memstoreSizeMB=0, readRequestsCount=0, writeRequestsCount=1
        0 dead servers
        Aggregate load: 0, regions: 2
        Took T seconds
        > status 'detailed'
        version rowhouse 0.1.0
        0 regionsInTransition
        active master:  localhost:0 0
        0 backup masters
        1 live servers
            localhost:0 0
                requestsPerSecond=0.0, numberOfOnlineRegions=2, numberOfStores=4, numberOfStorefiles=1, storefileUncompressedSizeMB=0, storefileSizeMB=0, memstoreSizeMB=0, readRequestsCount=0, writeRequestsCount=1
                "t,,ID.MD5."
                    numberOfStores=2, numberOfStorefiles=1, storefileUncompressedSizeMB=0, storefileSizeMB=0, memstoreSizeMB=0, readRequestsCount=0, writeRequestsCount=1
                "t,m,ID.MD5."
                    numberOfStores=2, numberOfStorefiles=0, storefileUncompressedSizeMB=0, storefileSizeMB=0, memstoreSizeMB=0, readRequestsCount=0, writeRequestsCount=0
        0 dead servers
        Took T seconds
        > status 'replication'

        ERROR: status 'replication': nothing is replicated; rowhouse backup copies a database

        For usage try 'help "status"'

        Took T seconds
        > status 'all'

        ERROR: a status is 'summary', 'simple' or 'detailed': all

        For usage try 'help "status"'

        Took T seconds
        > processlist
        0 tasks
        Took T seconds
        > list_liveservers
        SERVERNAME
        localhost,0,0
        1 row(s)
        Took T seconds
        > list_deadservers
        SERVERNAME
        0 row(s)
        Took T seconds
    "#]].assert_eq(&told[begun..]);
}

#[test]
fn a_server_tells_of_itself_and_of_all_its_regions() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (told, address) = runtime.block_on(transcript_of_server(SCRIPT));
    // Two of the table, and those of hbase:meta and hbase:namespace.
    let summary = "1 active master, 0 backup masters, 1 servers, 0 dead, 4.0000 average load\n";
    assert!(told.contains(summary), "{told}");
    assert!(told.contains("Aggregate load: 0, regions: 4\n"), "{told}");
    assert!(told.contains(&format!("\n1 live servers\n    {address} ")), "{told}");
    assert!(told.contains("\n        \"t,m,"), "{told}");
    assert!(told.contains("numberOfStores=2, numberOfStorefiles=1, "), "{told}");
    let (host, port) = address.split_once(':').unwrap();
    assert!(told.contains(&format!("SERVERNAME\n{host},{port},")), "{told}");
}
