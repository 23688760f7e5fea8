//! Deletes by endpoints: HBase's BulkDelete as the scan says, and deletes in bounded calls.

use bytes::Bytes;
use expect_test::expect;
use prost::Message;
use rowhouse_format::convert::delete;
use rowhouse_format::convert::scan::OpenScan;
use rowhouse_format::exception::Exception;
use rowhouse_format::proto::bulk_delete_request::DeleteType;
use rowhouse_format::proto::{self, BulkDeleteRequest, BulkDeleteResponse};
use rowhouse_format::rpc::Service;
use rowhouse_model::{Coprocessor, DeleteRows, Put, RegionInfo, RowRange, Scan, Timestamp, escape};

use crate::support::{Client, TestServer, region_ref, table_name};
use crate::support::{mutate, open, put_many};

fn exec(
    client: &mut Client,
    region: &RegionInfo,
    call: proto::CoprocessorServiceCall,
) -> Result<proto::NameBytesPair, Exception> {
    let region = region_ref(region).to_proto();
    Ok(client.call(&proto::CoprocessorServiceRequest { region, call })?.value)
}

fn bulk_delete(
    client: &mut Client,
    region: &RegionInfo,
    request: &BulkDeleteRequest,
) -> Result<BulkDeleteResponse, Exception> {
    let call = proto::CoprocessorServiceCall {
        row: region.range.start.clone(),
        service_name: "BulkDeleteService".to_owned(),
        method_name: "delete".to_owned(),
        request: request.encode_to_vec().into(),
    };
    let answer = exec(client, region, call)?;
    assert!(answer.name.ends_with("BulkDeleteProtos$BulkDeleteResponse"), "{}", answer.name);
    Ok(BulkDeleteResponse::decode(answer.value.unwrap()).unwrap())
}

fn request(scan: Scan, kind: DeleteType, timestamp: Option<u64>) -> BulkDeleteRequest {
    BulkDeleteRequest {
        scan: OpenScan::new(scan).to_proto(),
        delete_type: kind.into(),
        timestamp,
        row_batch_size: 2,
    }
}

/// Lets a table answer bulk deletes.
fn declare(server: &TestServer, table: &str) {
    let mut master = server.connect(Service::Master);
    let table_names = vec![table_name(table)];
    let message = proto::GetTableDescriptorsRequest { table_names, ..Default::default() };
    let mut schema = master.call(&message).unwrap().table_schema.remove(0);
    schema.attributes.push(proto::BytesBytesPair {
        first: "coprocessor$1".into(),
        second: format!("|{}||", Coprocessor::BulkDelete.class_name()).into(),
    });
    let message = proto::ModifyTableRequest {
        table_name: table_name(table),
        table_schema: schema,
        ..Default::default()
    };
    master.call(&message).unwrap();
}

/// Writes rows with two columns and two versions.
fn fill(client: &mut Client, region: &RegionInfo) {
    for row in ["a", "b", "c"] {
        for millis in [5, 7] {
            let at = Timestamp::from_millis(millis).unwrap();
            let value = format!("v{millis}");
            let put = Put::new(row).unwrap().add_at("cf", "q", at, value.clone()).unwrap();
            let put = put.add_at("cf", "r", at, value.clone()).unwrap();
            mutate(client, region, put.add_at("d", "q", at, value).unwrap()).unwrap();
        }
    }
}

/// Returns the cells and markers, without times of the server.
fn cells(client: &mut Client, region: &RegionInfo, raw: bool) -> String {
    let mut scan = Scan::all();
    scan.raw = raw;
    scan.versions = 10;
    let answer = open(client, region, OpenScan::new(scan), 100).unwrap();
    let mut text = String::new();
    for row in &answer.rows {
        text += &escape(row.row.key());
        for cell in row.row.to_cells() {
            let at = cell.timestamp().as_millis();
            let at = if at < 100 { at.to_string() } else { "now".to_owned() };
            let column = format!("{}:{}", escape(cell.family()), escape(cell.qualifier()));
            text += &format!(" {column}/{at}/{:?}", cell.kind());
        }
        text += "\n";
    }
    text
}

#[test]
fn bulk_deletes_remove_the_scanned_cells_by_ordinary_markers() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf", "d"], &[]).remove(0);
    let mut client = server.client();
    let of_b = || Scan::new(RowRange::row(b"b"));
    let refused = bulk_delete(&mut client, &region, &request(of_b(), DeleteType::Row, None));
    let message = refused.unwrap_err().message;
    assert!(message.contains("the table must declare"), "{message}");
    declare(&server, "t");
    fill(&mut client, &region);
    let mut run = |scan, kind, timestamp| {
        let answer = bulk_delete(&mut client, &region, &request(scan, kind, timestamp)).unwrap();
        let versions = answer.versions_deleted;
        format!("rows={} versions={versions:?}", answer.rows_deleted)
    };
    let mut column = of_b();
    column.columns.add_column("cf", "q");
    let counts = [
        run(column.clone(), DeleteType::Version, Some(5)),
        run(of_b().versions(9), DeleteType::Version, None),
        run(Scan::new(RowRange::row(b"a")).family("cf"), DeleteType::Family, Some(6)),
        run(Scan::new(RowRange::row(b"c")), DeleteType::Column, None),
        run(Scan::all(), DeleteType::Row, Some(5)),
        run(Scan::all(), DeleteType::Row, None),
        run(Scan::all(), DeleteType::Row, None),
    ];
    expect![[r#"
        rows=1 versions=Some(1)
        rows=1 versions=Some(3)
        rows=1 versions=None
        rows=1 versions=None
        rows=2 versions=None
        rows=1 versions=None
        rows=0 versions=None"#]]
    .assert_eq(&counts.join("\n"));
    expect![[r#"
        a cf:/now/DeleteFamily cf:/6/DeleteFamily cf:/5/DeleteFamily cf:q/7/Put cf:q/5/Put cf:r/7/Put cf:r/5/Put d:/now/DeleteFamily d:/5/DeleteFamily d:q/7/Put d:q/5/Put
        b cf:/5/DeleteFamily cf:q/7/DeleteVersion cf:q/7/Put cf:q/5/DeleteVersion cf:q/5/Put cf:r/7/DeleteVersion cf:r/7/Put cf:r/5/Put d:/5/DeleteFamily d:q/7/DeleteVersion d:q/7/Put d:q/5/Put
        c cf:q/now/DeleteColumn cf:q/7/Put cf:q/5/Put cf:r/now/DeleteColumn cf:r/7/Put cf:r/5/Put d:q/now/DeleteColumn d:q/7/Put d:q/5/Put
    "#]].assert_eq(&cells(&mut client, &region, true));
    assert_eq!(cells(&mut client, &region, false), "");
}

#[test]
fn a_bulk_delete_takes_a_query_in_the_scan_and_refuses_an_empty_batch() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    declare(&server, "t");
    let mut client = server.client();
    put_many(&mut client, &region, (0..20).map(|n| (format!("r{n:02}"), n.to_string())));
    let range = RowRange::new("r05", "r15");
    let mut message = request(Scan::new(range), DeleteType::Row, None);
    message.row_batch_size = 0;
    let refused = bulk_delete(&mut client, &region, &message).unwrap_err().message;
    assert!(refused.contains("rowBatchSize=0"), "{refused}");
    message.row_batch_size = u32::MAX;
    assert_eq!(bulk_delete(&mut client, &region, &message).unwrap().rows_deleted, 10);
    let mut queried = request(Scan::all(), DeleteType::Row, None);
    queried.scan.attribute.push(proto::NameBytesPair {
        name: "rowhouse.query".to_owned(),
        value: Some("user = 'r03'".into()),
    });
    let refused = bulk_delete(&mut client, &region, &queried).unwrap_err().message;
    assert!(refused.contains("row-key template"), "{refused}");
}

#[test]
fn a_call_deletes_a_hundred_batches_at_most_and_says_where_the_rest_begins() {
    let server = TestServer::start();
    let regions = server.create_table("t", &["cf"], &[b"m"]);
    let mut client = server.client();
    let rows = |prefix: &str| {
        let row = |n| format!("{prefix}{n:03}");
        (0..250).map(move |n| (row(n), "v".to_owned())).collect::<Vec<_>>()
    };
    put_many(&mut client, &regions[0], rows("a"));
    put_many(&mut client, &regions[1], rows("x"));
    let mut request = DeleteRows { batch_rows: 1, ..DeleteRows::new(RowRange::new("", "x100")) };
    let mut total = 0;
    let mut calls = 0;
    while request.range.start < "m" {
        let call = delete::call_to_proto(request.clone());
        let answer = exec(&mut client, &regions[0], call).unwrap();
        let deleted = delete::answer_from_proto(answer).unwrap();
        assert!(deleted.rows <= 100, "{deleted:?}");
        total += deleted.rows;
        calls += 1;
        request.range.start = deleted.next.unwrap();
    }
    assert_eq!((total, &request.range.start[..]), (250, &b"m"[..]));
    assert!(calls >= 3, "{calls}");
    // Not every region takes the call.
    let call = delete::call_to_proto(request.clone());
    let refused = exec(&mut client, &regions[0], call).unwrap_err().message;
    assert!(refused.contains("Requested row out of range"), "{refused}");
    request.batch_rows = 50;
    let answer = exec(&mut client, &regions[1], delete::call_to_proto(request)).unwrap();
    let deleted = delete::answer_from_proto(answer).unwrap();
    assert_eq!((deleted.rows, deleted.next), (100, None::<Bytes>));
    let left = open(&mut client, &regions[1], OpenScan::new(Scan::all()), 1_000).unwrap();
    assert_eq!(left.rows.len(), 150);
}
