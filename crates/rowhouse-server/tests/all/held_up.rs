//! Calls that take long or wait do not delay other calls, even with a single runtime thread.

use std::time::Duration;

use crate::support::{Client, TestServer, region_ref};
use bytes::BytesMut;
use rowhouse_format::convert;
use rowhouse_format::convert::multi::{
    Action, ActionResult, IndexedAction, MultiCall, MultiResult, RegionActions,
};
use rowhouse_format::convert::scan::{OpenScan, ScanCall, ScanResult};
use rowhouse_format::proto;
use rowhouse_format::rpc::{CellCodec, ConnectionHead, Service};
use rowhouse_model::{
    ErrorKind, Filter, Get, Increment, Put, RegionInfo, RowRange, Scan, TimeRange, Timestamp,
};

fn get_message(region: &RegionInfo, get: &Get) -> proto::GetRequest {
    proto::GetRequest { region: region_ref(region).to_proto(), get: convert::get::to_proto(get) }
}

#[test]
fn puts_that_wait_for_merges_do_not_hold_up_a_get() {
    let server = TestServer::start_on_one_thread(|options| {
        let settings = &mut options.settings;
        settings.memstore_flush_bytes = 16 << 10;
        settings.busy_wait = Duration::from_secs(20);
        settings.compaction.files_blocking = 1;
        settings.compaction.blocking_wait = Duration::from_secs(600);
    });
    let full = server.create_table("full", &["cf"], &[]).remove(0);
    let other = server.create_table("other", &["cf"], &[]).remove(0);
    let mut client = server.client();
    crate::support::put(&mut client, &full, "r", "v").unwrap();
    server.flush_table("full");
    crate::support::put(&mut client, &full, "r", &"v".repeat(32 << 10)).unwrap();
    crate::support::put(&mut client, &other, "r", "v").unwrap();
    let mut waiting: Vec<Client> = (0..4).map(|_| server.client()).collect();
    for (nth, client) in waiting.iter_mut().enumerate() {
        let put = Put::new("w").unwrap().add("cf", "q", "v").unwrap();
        match nth % 2 {
            0 => _ = client.send(&crate::support::put_message(&full, "w", "v"), &[]),
            _ => {
                let (message, cells) = multi(&full, [Action::Mutate(put.into(), None)]);
                client.send(&message, &cells);
            }
        }
    }
    for _ in 0..10 {
        let row = crate::support::get(&mut client, &other, "r").unwrap();
        assert_eq!(row.value("cf", "q").unwrap(), "v");
    }
    assert!(!waiting.iter_mut().any(Client::has_answer), "a put should wait");
    // Stopping the server ends their wait.
    server.stop();
}

#[test]
fn a_get_with_a_filter_of_a_wide_row_does_not_hold_up_another() {
    let server = TestServer::start_on_one_thread(|_| {});
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    crate::support::put_wide_row(&mut client, &region, "wide", 50_000);
    crate::support::put(&mut client, &region, "small", "v").unwrap();
    let filter = Filter::parse("QualifierFilter(=, 'regexstring:^q[0-9]*9999999$')").unwrap();
    let get = Get::new("wide").unwrap().filter(filter);
    let mut slow = server.client();
    slow.send(&get_message(&region, &get), &[]);
    crate::support::get(&mut client, &region, "small").unwrap();
    assert!(!slow.has_answer(), "the slow get should take longer");
    let (_, body) = slow.receive_body();
    let answer = body.message::<proto::GetResponse>().unwrap();
    assert_eq!(answer.result.unwrap().associated_cell_count.unwrap_or(0), 0);
}

#[test]
fn a_get_of_a_wide_row_does_not_hold_up_another_and_comes_whole() {
    let server = TestServer::start_on_one_thread(|_| {});
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    crate::support::put_wide_row(&mut client, &region, "wide", 50_000);
    crate::support::put(&mut client, &region, "small", "v").unwrap();
    let mut slow = server.client();
    slow.send(&get_message(&region, &Get::new("wide").unwrap()), &[]);
    crate::support::get(&mut client, &region, "small").unwrap();
    assert!(!slow.has_answer(), "the wide get should take longer");
    let (_, body) = slow.receive_body();
    let answer = body.message::<proto::GetResponse>().unwrap();
    assert_eq!(answer.result.unwrap().associated_cell_count, Some(50_000));
}

#[test]
fn many_gets_in_a_call_do_not_hold_up_another_and_each_is_answered_once() {
    const GETS: usize = 100;
    let server = TestServer::start_on_one_thread(|_| {});
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    crate::support::put_wide_row(&mut client, &region, "wide", 2_000);
    crate::support::put(&mut client, &region, "small", "v").unwrap();
    let get = Action::Get(Get::new("wide").unwrap());
    let put = Put::new("put").unwrap().add("cf", "q", "v").unwrap();
    let actions = (0..GETS).flat_map(|_| [get.clone(), Action::Mutate(put.clone().into(), None)]);
    let (message, cells) = multi(&region, actions);
    let mut slow = server.client();
    slow.send(&message, &cells);
    crate::support::get(&mut client, &region, "small").unwrap();
    assert!(!slow.has_answer(), "the gets should take longer");
    let (_, body) = slow.receive_body();
    let mut cells = body.cells(Some(CellCodec::KeyValue));
    let answer = MultiResult::from_proto(body.message().unwrap(), &mut cells).unwrap();
    let answers = &answer.regions[0].as_ref().unwrap().answers;
    assert!(answers.iter().map(|one| one.index).eq(0..2 * GETS as u32));
    for pair in answers.chunks(2) {
        assert!(matches!(&pair[0].answer, Ok(ActionResult::Row(row)) if row.len() == 2_000));
        assert!(pair[1].answer.is_ok());
    }
}

#[test]
fn a_scan_that_passes_over_much_for_one_row_does_not_hold_up_a_get() {
    let server = TestServer::start_on_one_thread(|_| {});
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    for first in (0..50_000).step_by(5_000) {
        let rows = (first..first + 5_000).map(|row| (format!("r{row:06}"), "v".to_owned()));
        crate::support::put_many(&mut client, &region, rows);
    }
    let put = Put::new("z").unwrap().add_at("cf", "q", Timestamp::from_millis(5).unwrap(), "v");
    crate::support::mutate(&mut client, &region, put.unwrap()).unwrap();
    let mut scan = Scan::all();
    scan.time_range = TimeRange::new(Timestamp::MIN, Timestamp::from_millis(10).unwrap()).unwrap();
    let scan = OpenScan { result_bytes_max: Some(2 << 20), ..OpenScan::new(scan) };
    let call = ScanCall { limit: Some(1), ..ScanCall::open(region_ref(&region), scan, 1) };
    let mut slow = server.client();
    slow.send(&call.to_proto(), &[]);
    crate::support::get(&mut client, &region, "r000001").unwrap();
    assert!(!slow.has_answer(), "the scan should take longer");
    let (_, body) = slow.receive_body();
    let mut cells = body.cells(Some(CellCodec::KeyValue));
    let answer = ScanResult::from_proto(body.message().unwrap(), &mut cells).unwrap();
    assert_eq!(crate::support::rows_of(&answer), [("z".to_owned(), vec!["v".to_owned()])]);
    assert!(!answer.more_results);
}

#[test]
fn a_scan_says_that_it_is_alive_before_half_of_its_clients_patience_is_over() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    for first in (0..50_000).step_by(5_000) {
        let rows = (first..first + 5_000).map(|row| (format!("r{row:06}"), "v".to_owned()));
        crate::support::put_many(&mut client, &region, rows);
    }
    let mut scan = Scan::all();
    scan.filter = Some(Box::new(Filter::parse("ValueFilter(=, 'regexstring:^w+$')").unwrap()));
    client.timeout_ms = Some(60);
    let open = ScanCall::open(region_ref(&region), OpenScan::new(scan.clone()), 10);
    // On a busy machine a call can start after the client's timeout, and gets no answer.
    for _ in 0..60 {
        client.send(&open.to_proto(), &[]);
        std::thread::sleep(Duration::from_millis(500));
        if client.has_answer() {
            break;
        }
    }
    let (_, body) = client.receive_body();
    let mut cells = body.cells(Some(CellCodec::KeyValue));
    let answer = ScanResult::from_proto(body.message().unwrap(), &mut cells).unwrap();
    assert!(answer.heartbeat && answer.rows.is_empty());
    // A client with a longer timeout needs no heartbeat.
    let answer =
        crate::support::open(&mut server.client(), &region, OpenScan::new(scan), 10).unwrap();
    assert!(!answer.heartbeat);
}

#[test]
fn a_client_that_does_not_read_its_answers_is_not_answered_more_and_more() {
    const CALLS: usize = 300;
    let server = TestServer::start_on_one_thread(|_| {});
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    crate::support::put(&mut client, &region, "large", &"v".repeat(1 << 20)).unwrap();
    crate::support::put(&mut client, &region, "small", "v").unwrap();
    let mut greedy = server.client();
    let mut calls = BytesMut::new();
    let message = get_message(&region, &Get::new("large").unwrap());
    (0..CALLS).for_each(|_| _ = greedy.write(&mut calls, &message, &[]));
    greedy.send_bytes(&calls);
    greedy.wait_for_answer();
    crate::support::get(&mut client, &region, "small").unwrap();
    let reads = reads_of(&server, &region);
    assert!(reads < CALLS as u64 / 2, "{reads} were answered into memory");
    // It receives all answers once it reads.
    for _ in 0..CALLS {
        greedy.receive_body();
    }
}

/// Returns how many reads the server has counted for a region.
fn reads_of(server: &TestServer, region: &RegionInfo) -> u64 {
    let message = proto::GetRegionLoadRequest {
        table_name: Some(crate::support::table_name(&region.table.to_string())),
    };
    let loads = server.connect(Service::Admin).call(&message).unwrap().region_loads;
    loads.iter().map(|load| load.read_requests_count()).sum()
}

fn multi(
    region: &RegionInfo,
    actions: impl IntoIterator<Item = Action>,
) -> (proto::MultiRequest, Vec<rowhouse_model::Cell>) {
    let actions = actions.into_iter().zip(0..);
    let actions = actions.map(|(action, index)| IndexedAction { index, action: Ok(action) });
    let actions = Ok(actions.collect());
    let regions =
        vec![RegionActions { region: region_ref(region), atomic: false, condition: None, actions }];
    MultiCall { regions }.to_proto().unwrap()
}

#[test]
fn gets_beyond_the_answer_limit_are_refused_to_clients_that_retry() {
    const GETS: usize = 120;
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    crate::support::put(&mut client, &region, "r", &"v".repeat(1 << 20)).unwrap();
    let get_all = |release: Option<(u32, u32)>| {
        let version = release.map(|_| "2.6.4".to_owned());
        let head = ConnectionHead {
            client_version: version,
            client_release: release,
            ..crate::support::head(Service::Client)
        };
        let mut client = Client::connect_as(server.address(), &head);
        let get = Action::Get(Get::new("r").unwrap());
        let (message, _) = multi(&region, vec![get; GETS]);
        let (answer, mut cells) = client.call_with(&message, &[]).unwrap();
        let answer = MultiResult::from_proto(answer, &mut cells).unwrap();
        answer.regions.into_iter().flat_map(|region| region.unwrap().answers).collect::<Vec<_>>()
    };
    let answers = get_all(Some((2, 6)));
    assert_eq!(answers.len(), GETS);
    // Half a connection's memory belongs to the rows.
    let (rows, refused) = answers.split_at(30);
    assert!(
        rows.iter().all(|one| matches!(&one.answer, Ok(ActionResult::Row(row)) if row.len() == 1))
    );
    let refused = &refused[2..];
    for one in refused {
        assert_eq!(one.answer.as_ref().unwrap_err().kind(), ErrorKind::ResponseTooLarge);
    }
    // Very old clients, and clients that announce no release, get the complete answer.
    assert!(get_all(None).iter().all(|one| one.answer.is_ok()));
}

#[test]
fn a_row_that_is_gone_on_with_on_a_new_scanner_is_as_it_was() {
    let server = TestServer::start();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let mut client = server.client();
    let put = |client: &mut Client, value: &str| {
        let mut put = Put::new("r").unwrap();
        for column in 0..10 {
            // A read ends up to 64 KiB after its limit.
            put = put.add("cf", format!("q{column}"), value.repeat(20_000)).unwrap();
        }
        crate::support::mutate(client, &region, put).unwrap();
    };
    put(&mut client, "a");
    let parts = |read_point| OpenScan {
        read_point,
        result_bytes_max: Some(150_000),
        allow_partial_results: true,
        ..OpenScan::new(Scan::new(RowRange::row(b"r")))
    };
    let first = crate::support::open(&mut client, &region, parts(0), 1).unwrap();
    assert!(first.rows[0].partial);
    put(&mut client, "b");
    let values = |answer: &ScanResult| {
        let rows = crate::support::rows_of(answer).into_iter();
        rows.flat_map(|(_, values)| values).map(|value| value[..1].to_owned()).collect::<String>()
    };
    let again =
        crate::support::open(&mut client, &region, parts(first.read_point.unwrap()), 1).unwrap();
    let mut read = values(&again);
    for number in 0.. {
        let part = crate::support::next(&mut client, again.scanner.unwrap(), number, 1).unwrap();
        read += &values(&part);
        if part.more_results_in_region == Some(false) {
            break;
        }
    }
    assert_eq!(read, "a".repeat(10));
    assert_eq!(again.read_point, first.read_point);
    // A flush drops cells that no open scanner sees. An old read point then returns the current
    // cells, as in HBase.
    crate::support::scan(&mut client, &ScanCall::close(first.scanner.unwrap())).unwrap();
    server.flush_table("t");
    let mut first_value = |read_point| {
        let opened = crate::support::open(&mut client, &region, parts(read_point), 0).unwrap();
        let part = crate::support::next(&mut client, opened.scanner.unwrap(), 0, 1).unwrap();
        values(&part).remove(0)
    };
    assert_eq!(first_value(first.read_point.unwrap()), 'b');
    // A read point that was never assigned is not waited for.
    assert_eq!(first_value(u64::MAX), 'b');
}

/// Starts a server on one runtime thread with a region that makes writers wait for `busy_wait`.
fn server_that_holds_writers(busy_wait: Duration) -> (TestServer, RegionInfo) {
    let server = TestServer::start_on_one_thread(|options| {
        let settings = &mut options.settings;
        settings.memstore_flush_bytes = 4 << 20;
        settings.busy_wait = busy_wait;
        settings.compaction.files_blocking = 1;
        settings.compaction.blocking_wait = Duration::from_secs(600);
    });
    let full = server.create_table("full", &["cf"], &[]).remove(0);
    let mut client = server.client();
    crate::support::put(&mut client, &full, "r", "v").unwrap();
    server.flush_table("full");
    crate::support::put(&mut client, &full, "r", &"v".repeat(5 << 20)).unwrap();
    (server, full)
}

/// Occupies all worker threads until the waiting writers are refused.
fn occupy_workers(server: &TestServer, full: &RegionInfo) -> Vec<Client> {
    let mut all: Vec<Client> = (0..2).map(|_| server.client()).collect();
    for (nth, client) in all.iter_mut().enumerate() {
        for at in 0..32 {
            client.send(&crate::support::put_message(full, &format!("w{nth}-{at}"), "v"), &[]);
        }
    }
    std::thread::sleep(Duration::from_millis(200));
    all
}

fn whole(scan: Scan) -> OpenScan {
    OpenScan { result_bytes_max: Some(2 << 20), ..OpenScan::new(scan) }
}

#[test]
fn a_scan_that_waited_for_a_thread_for_more_than_half_of_its_time_reads_something() {
    let (server, full) = server_that_holds_writers(Duration::from_millis(1500));
    let other = server.create_table("other", &["cf"], &[]).remove(0);
    let mut client = server.client();
    crate::support::put(&mut client, &other, "r", "v").unwrap();
    let _waiting = occupy_workers(&server, &full);
    client.timeout_ms = Some(2500);
    let answer = crate::support::open(&mut client, &other, whole(Scan::all()), 1000).unwrap();
    assert_eq!(answer.rows.len(), 1);
}

#[test]
fn calls_on_one_scanner_end_even_if_its_holder_queues_after_them() {
    let (server, full) = server_that_holds_writers(Duration::from_millis(1500));
    let other = server.create_table("other", &["cf"], &[]).remove(0);
    let mut client = server.client();
    for first in (0..20_000).step_by(5_000) {
        let rows = (first..first + 5_000).map(|row| (format!("r{row:06}"), "v".to_owned()));
        crate::support::put_many(&mut client, &other, rows);
    }
    let early = TimeRange::new(Timestamp::MIN, Timestamp::from_millis(10).unwrap()).unwrap();
    let scan = Scan { time_range: early, ..Scan::all() };
    let id = crate::support::open(&mut client, &other, whole(scan), 0).unwrap().scanner.unwrap();
    let _waiting = occupy_workers(&server, &full);
    // These calls wait for a thread, then for the scanner.
    let mut many: Vec<Client> = (0..2).map(|_| server.client()).collect();
    for client in &mut many {
        (0..32).for_each(|_| _ = client.send(&ScanCall::next(id, 0, 1000).to_proto(), &[]));
    }
    std::thread::sleep(Duration::from_millis(200));
    // This call locks the scanner first and queues for a thread after them.
    let taken = crate::support::next(&mut client, id, 0, 10).unwrap();
    assert_eq!(taken.more_results_in_region, Some(false));
    for client in &mut many {
        for _ in 0..32 {
            assert!(client.receive().unwrap().outcome.is_err());
        }
    }
}

#[test]
fn unstarted_multi_is_dropped_after_its_client_timeout() {
    let (server, full) = server_that_holds_writers(Duration::from_millis(1500));
    let other = server.create_table("other", &["cf"], &[]).remove(0);
    let mut client = server.client();
    crate::support::put_wide_row(&mut client, &other, "wide", 20_000);
    let mut waiting = occupy_workers(&server, &full);
    // A get that moves to a worker thread, followed by an increment.
    let increment = Increment::new("c").unwrap().add("cf", "q", 1).unwrap();
    let get = Action::Get(Get::new("wide").unwrap());
    let (message, cells) = multi(&other, [get, Action::Mutate(increment.into(), None)]);
    let mut impatient = server.client();
    impatient.timeout_ms = Some(300);
    impatient.send(&message, &cells);
    // A thread becomes free when a waiting put is answered; the multi runs before the call below.
    waiting.iter_mut().for_each(|client| _ = client.receive());
    let wide = Get::new("wide").unwrap().filter(Filter::parse("KeyOnlyFilter()").unwrap());
    client.call(&get_message(&other, &wide)).unwrap();
    let row = crate::support::get(&mut client, &other, "c").unwrap();
    assert_eq!((crate::support::counter(&row), impatient.has_answer()), (None, false));
}
