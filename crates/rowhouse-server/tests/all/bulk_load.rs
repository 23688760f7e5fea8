//! Bulk loads with HFiles, as requested by HBase's `BulkLoadHFilesTool`.

use std::path::{Path, PathBuf};

use crate::support::{Client, TestServer, region_ref};
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_model::RegionInfo;
use rowhouse_store::{ExportedCells, Store, files_to_load};
use tempfile::TempDir;

/// Writes HFiles for a table `t` with the given rows, one file per region.
fn hfiles(splits: &[&[u8]], rows: &[&'static str]) -> (TempDir, Vec<PathBuf>) {
    let server = TestServer::start();
    let regions = server.create_table("t", &["cf"], splits);
    let mut client = server.client();
    for &row in rows {
        let holds = |region: &&RegionInfo| region.range.contains(row.as_bytes());
        let region = regions.iter().find(holds).unwrap();
        crate::support::put(&mut client, region, row, "loaded").unwrap();
    }
    let data = server.stop();
    let out = tempfile::tempdir().unwrap();
    let store = Store::open(data.path()).unwrap();
    let table = rowhouse_model::TableName::parse("t").unwrap();
    let report = store.export_hfiles(&table, out.path(), ExportedCells::Retained, |_| {}).unwrap();
    assert_eq!(report.cells, rows.len() as u64);
    let files = files_to_load(out.path()).unwrap().into_iter().map(|(_, path)| path).collect();
    (out, files)
}

fn prepare(client: &mut Client) -> String {
    let message = proto::PrepareBulkLoadRequest {
        table_name: crate::support::table_name("t"),
        ..Default::default()
    };
    client.call(&message).unwrap().bulk_token
}

fn request(region: &RegionInfo, token: &str, file: &Path) -> proto::BulkLoadHFileRequest {
    let file = proto::bulk_load_h_file_request::FamilyPath {
        family: "cf".into(),
        path: format!("file:{}", file.display()),
    };
    proto::BulkLoadHFileRequest {
        region: region_ref(region).to_proto(),
        family_path: vec![file],
        assign_seq_num: Some(true),
        bulk_token: Some(token.to_owned()),
        ..Default::default()
    }
}

fn load(client: &mut Client, request: &proto::BulkLoadHFileRequest) -> Result<bool, Exception> {
    client.call(request).map(|answer| answer.loaded)
}

fn value(client: &mut Client, region: &RegionInfo, row: &'static str) -> Option<String> {
    let row = crate::support::get(client, region, row).unwrap();
    row.value("cf", "q").map(|value| String::from_utf8(value.to_vec()).unwrap())
}

#[test]
fn a_call_made_again_finds_its_files_loaded() {
    let (_out, files) = hfiles(&[], &["a", "b"]);
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    let token = prepare(&mut client);
    assert!(Path::new(&token).is_dir());
    let request = request(&region, &token, &files[0]);
    assert!(load(&mut client, &request).unwrap());
    assert_eq!(value(&mut client, &region, "b").unwrap(), "loaded");
    // The file stays at the same path. The owner may delete it before a client that missed the
    // answer repeats the call.
    std::fs::remove_file(&files[0]).unwrap();
    assert!(load(&mut client, &request).unwrap());
    let clean_up = proto::CleanupBulkLoadRequest { bulk_token: token.clone(), region: None };
    client.call(&clean_up).unwrap();
    assert!(!Path::new(&token).exists());
    let error = load(&mut client, &request).unwrap_err();
    assert!(error.message.contains("cannot find the HFile"), "{}", error.message);
}

#[test]
fn files_that_do_not_fit_a_region_are_left_for_the_client_to_divide() {
    let (_out, files) = hfiles(&[], &["a", "m"]);
    let server = TestServer::start();
    let regions = server.create_table("t", &["cf"], &[b"f"]);
    let mut client = server.client();
    let token = prepare(&mut client);
    for region in &regions {
        assert!(!load(&mut client, &request(region, &token, &files[0])).unwrap());
    }
    assert!(files[0].exists());
    assert_eq!(value(&mut client, &regions[0], "a"), None);
}

#[test]
fn invalid_bulk_load_files_are_refused_and_left_in_place() {
    let (out, files) = hfiles(&[], &["a"]);
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    let token = prepare(&mut client);
    let mut refused = |request: &proto::BulkLoadHFileRequest, want: &str| {
        let error = load(&mut client, request).unwrap_err();
        assert!(error.do_not_retry && error.message.contains(want), "{error:?}");
    };
    let mut unknown = request(&region, &token, &files[0]);
    unknown.family_path[0].family = "none".into();
    refused(&unknown, "none");
    let text = out.path().join("text");
    std::fs::write(&text, "no HFile").unwrap();
    refused(&request(&region, &token, &text), "text");
    refused(&request(&region, "/tmp", &files[0]), "a bulk token is a directory in");
    let mut own_numbers = request(&region, &token, &files[0]);
    own_numbers.assign_seq_num = Some(false);
    refused(&own_numbers, "is not supported");
    let mut far = request(&region, &token, &files[0]);
    far.family_path[0].path = "hdfs://host/file".into();
    refused(&far, "only local files of the server can be loaded (file:/…): hdfs://host/file");
    assert!(files[0].exists() && text.exists());
}

#[test]
fn bulk_loads_survive_a_crash() {
    let (_out, files) = hfiles(&[b"f"], &["a", "m"]);
    let server = TestServer::start();
    let regions = server.create_table("t", &["cf"], &[b"f"]);
    let mut client = server.client();
    let token = prepare(&mut client);
    for region in &regions {
        for file in &files {
            let _ = load(&mut client, &request(region, &token, file)).unwrap();
        }
    }
    // The server ends without a clean stop: the acknowledged loads must survive.
    let data = server.abandon();
    let server = TestServer::start_in(data);
    let mut client = server.client();
    assert_eq!(value(&mut client, &regions[0], "a").unwrap(), "loaded");
    assert_eq!(value(&mut client, &regions[1], "m").unwrap(), "loaded");
    assert!(!Path::new(&token).exists());
}
