//! Several region servers over one store.

use std::net::TcpStream;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use rowhouse_format::convert::names;
use rowhouse_format::convert::procedure::region_server::{
    self, RegionServerCall, RegionServerChange,
};
use rowhouse_format::convert::region::from_proto;
use rowhouse_format::convert::scan::OpenScan;
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_format::rpc::Service;
use rowhouse_model::{ErrorKind, RegionInfo, Scan, ServerName};

use crate::support::{
    Client, TestServer, get, next, open, options, put, put_message, region_ref, rows_of,
    start_error,
};

const NOT_SERVING: &str = "org.apache.hadoop.hbase.NotServingRegionException";
const QUEUE_FULL: &str = "org.apache.hadoop.hbase.CallQueueTooBigException";

struct Servers {
    server: TestServer,
    master: Client,
    /// The servers that were started, by number.
    all: Vec<ServerName>,
}

/// Numbers the servers, each of which has a separate loopback address.
static NEXT: AtomicU8 = AtomicU8::new(0);

impl Servers {
    fn start(count: u32) -> Self {
        Self::of(TestServer::start_with(|options| {
            // A port that belonged to an ended server must not go to another test's server. Only
            // Linux has all addresses in 127.0.0.0/8.
            if cfg!(target_os = "linux") {
                let number = NEXT.fetch_add(1, Ordering::Relaxed);
                options.listen = format!("127.0.1.{}:0", 1 + number);
            }
            options.region_servers = count;
        }))
    }

    fn of(server: TestServer) -> Self {
        let master = server.connect(Service::Master);
        let mut servers = Self { server, master, all: Vec::new() };
        servers.all = servers.live();
        servers
    }

    fn live(&mut self) -> Vec<ServerName> {
        let message = proto::GetClusterStatusRequest::default();
        parsed(self.master.call(&message).unwrap().cluster_status.servers_name)
    }

    fn dead(&mut self) -> Vec<ServerName> {
        let message = proto::GetClusterStatusRequest::default();
        parsed(self.master.call(&message).unwrap().cluster_status.dead_servers)
    }

    fn decommissioned(&mut self) -> Vec<ServerName> {
        let message = proto::ListDecommissionedRegionServersRequest {};
        parsed(self.master.call(&message).unwrap().server_name)
    }

    /// Creates a table split at these rows; returns the regions in order.
    fn create(&mut self, splits: &[&[u8]]) -> Vec<RegionInfo> {
        self.server.create_table("t", &["cf"], splits);
        let live = self.live();
        let mut regions: Vec<_> = live.iter().flat_map(online).collect();
        regions.sort_by(|a, b| a.range.start.cmp(&b.range.start));
        regions
    }

    /// Returns the number of the server that serves a region. All other ports refuse it.
    fn serving(&mut self, region: &RegionInfo) -> usize {
        let row = row_of(region);
        let refused = get(&mut self.server.client(), region, &row).unwrap_err();
        assert_eq!(refused.class, NOT_SERVING, "the master's port serves no regions");
        let live = self.live();
        let mut serving = live.iter().filter(|server| {
            let read = get(&mut connect(server), region, &row);
            read.map_err(|error| assert_eq!(error.class, NOT_SERVING)).is_ok()
        });
        let port = serving.next().unwrap().port;
        assert_eq!(serving.next(), None);
        self.all.iter().position(|it| it.port == port).unwrap()
    }

    fn change(&mut self, number: usize, change: RegionServerChange) -> Result<(), Exception> {
        let call = RegionServerCall { number: number as u32, change };
        let procedure = region_server::call_to_proto(&call);
        self.master.call(&proto::ExecProcedureRequest { procedure }).map(drop)
    }

    fn refusal(&mut self, number: usize, change: RegionServerChange) -> String {
        self.change(number, change).unwrap_err().message
    }

    /// Returns true if the balancer ran, with how many moves it planned and made.
    fn balance(&mut self, dry_run: bool) -> (bool, Option<u32>, Option<u32>) {
        let message = proto::BalanceRequest { ignore_rit: None, dry_run: Some(dry_run) };
        let answer = self.master.call(&message).unwrap();
        (answer.balancer_ran, answer.moves_calculated, answer.moves_executed)
    }

    fn move_to(&mut self, region: &RegionInfo, to: Option<usize>) {
        let region = region_ref(region).to_proto();
        let dest_server_name = to.map(|number| names::server_to_proto(&self.all[number]));
        self.master.call(&proto::MoveRegionRequest { region, dest_server_name }).unwrap();
    }
}

fn parsed(servers: Vec<proto::ServerName>) -> Vec<ServerName> {
    servers.into_iter().map(|server| names::server_from_proto(server).unwrap()).collect()
}

fn row_of(region: &RegionInfo) -> String {
    let start = String::from_utf8(region.range.start.to_vec()).unwrap();
    if start.is_empty() { "a".to_owned() } else { start }
}

fn address(server: &ServerName) -> String {
    format!("{}:{}", server.host, server.port)
}

/// Returns true if nobody listens at a server's address. A server in another test may have the port
/// for a while.
fn is_closed(server: &ServerName) -> bool {
    (0..600).any(|_| {
        let is_closed = TcpStream::connect(address(server)).is_err();
        if !is_closed {
            std::thread::sleep(Duration::from_millis(100));
        }
        is_closed
    })
}

fn connect(server: &ServerName) -> Client {
    Client::connect(&address(server), Service::Client)
}

/// Returns the user table regions that a server reports.
fn online(server: &ServerName) -> Vec<RegionInfo> {
    let mut admin = Client::connect(&address(server), Service::Admin);
    let regions = admin.call(&proto::GetOnlineRegionRequest::default()).unwrap().region_info;
    let regions = regions.into_iter().map(|region| from_proto(region).unwrap());
    regions.filter(|region| !region.table.is_system()).collect()
}

#[test]
fn regions_of_a_new_table_are_spread_and_each_is_served_by_one_server_also_after_a_restart() {
    let mut servers = Servers::start(3);
    let regions = servers.create(&[b"b", b"c", b"d", b"e", b"f"]);
    let on: Vec<_> = regions.iter().map(|region| servers.serving(region)).collect();
    assert_eq!(on, [0, 1, 2, 0, 1, 2]);
    assert!(servers.all.iter().all(|server| address(server) != servers.server.address()));
    let again = TestServer::restart_with(servers.server.stop(), |it| it.region_servers = 3);
    let mut servers = Servers::of(again);
    let on: Vec<_> = regions.iter().map(|region| servers.serving(region)).collect();
    assert_eq!(on, [0, 1, 2, 0, 1, 2]);
    let fewer = TestServer::restart_with(servers.server.stop(), |it| it.region_servers = 2);
    let mut servers = Servers::of(fewer);
    let on: Vec<_> = regions.iter().map(|region| servers.serving(region)).collect();
    assert_eq!(on, [0, 1, 0, 0, 1, 1]);
    assert_eq!(TestServer::start_in(servers.server.stop()).regions("t").len(), 6);
}

#[test]
fn a_server_that_ends_leaves_its_regions_and_their_rows_to_the_others() {
    let mut servers = Servers::start(3);
    let region = servers.create(&[]).remove(0);
    let first = servers.serving(&region);
    let before = servers.all[first].clone();
    put(&mut connect(&before), &region, "a", "1").unwrap();
    servers.change(first, RegionServerChange::Stop).unwrap();
    assert_eq!((servers.live().len(), servers.dead()), (2, vec![before.clone()]));
    assert!(is_closed(&before));
    let second = servers.serving(&region);
    let mut cut = connect(&servers.all[second]);
    assert_eq!(get(&mut cut, &region, "a").unwrap().value("cf", "q").unwrap(), "1");
    servers.change(second, RegionServerChange::Kill).unwrap();
    assert!(cut.receive().is_none());
    let last = servers.serving(&region);
    let row = get(&mut connect(&servers.all[last]), &region, "a").unwrap();
    assert_eq!(row.value("cf", "q").unwrap(), "1");

    let message = servers.refusal(last, RegionServerChange::Kill);
    assert!(message.contains("the last region server is not stopped"), "{message}");
    let message = servers.refusal(first, RegionServerChange::Stop);
    assert!(message.contains(&format!("region server {first} is not running")), "{message}");
    let message = servers.refusal(last, RegionServerChange::Start);
    assert!(message.contains(&format!("region server {last} is running")), "{message}");
    let message = servers.refusal(3, RegionServerChange::Start);
    assert!(message.contains("there is no region server 3: they are 0 to 2"), "{message}");

    servers.change(first, RegionServerChange::Start).unwrap();
    let again = servers.live().into_iter().find(|it| it.port == before.port).unwrap();
    assert!(again.start_code > before.start_code);
    assert_eq!(servers.dead(), [servers.all[second].clone()]);
    servers.all[first] = again;
    servers.move_to(&region, Some(first));
    assert_eq!(servers.serving(&region), first);
}

#[test]
fn a_client_may_stop_all_servers_but_the_last() {
    let mut servers = Servers::start(2);
    let stop = |server: &ServerName| {
        let reason = "a test".to_owned();
        let mut admin = Client::connect(&address(server), Service::Admin);
        admin.call(&proto::StopServerRequest { reason })
    };
    stop(&servers.all[1]).unwrap();
    assert_eq!(servers.dead(), [servers.all[1].clone()]);
    let message = stop(&servers.all[0]).unwrap_err().message;
    assert!(message.contains("--allow-shutdown"), "{message}");
    let dead = names::server_to_proto(&servers.all[1]);
    let live = names::server_to_proto(&servers.all[0]);
    let clear = proto::ClearDeadServersRequest { server_name: vec![dead, live.clone()] };
    assert_eq!(servers.master.call(&clear).unwrap().server_name, [live]);
    assert!(servers.dead().is_empty());
}

#[test]
fn meta_moves_to_the_first_server_that_lives() {
    let mut servers = Servers::start(2);
    let meta_server = |servers: &Servers| {
        let mut client = servers.server.connect(Service::ClientMeta);
        let answer = client.call(&proto::GetMetaRegionLocationsRequest {}).unwrap();
        let location = answer.meta_locations.into_iter().next().unwrap();
        names::server_from_proto(location.server_name.unwrap()).unwrap()
    };
    assert_eq!(meta_server(&servers), servers.all[0]);
    servers.change(0, RegionServerChange::Kill).unwrap();
    assert_eq!(meta_server(&servers), servers.all[1]);
    let rows = RegionInfo::meta();
    let mut client = connect(&servers.all[1]);
    get(&mut client, &rows, "t").unwrap();
}

#[test]
fn a_scanner_ends_where_its_region_moved_from() {
    let mut servers = Servers::start(2);
    let region = servers.create(&[]).remove(0);
    let from = servers.serving(&region);
    let mut client = connect(&servers.all[from]);
    for row in ["a", "b", "c"] {
        put(&mut client, &region, row, "1").unwrap();
    }
    let all = OpenScan::new(Scan::all());
    let opened = open(&mut client, &region, all, 1).unwrap();
    assert_eq!(rows_of(&opened).len(), 1);
    servers.move_to(&region, Some(1 - from));
    let error = next(&mut client, opened.scanner.unwrap(), 0, 1).unwrap_err();
    assert_eq!(error.class, NOT_SERVING);
    assert_eq!(servers.serving(&region), 1 - from);
    servers.move_to(&region, None);
    assert_eq!(servers.serving(&region), from);
}

#[test]
fn decommissioned_server_gets_no_regions_and_offloads_on_request() {
    let mut servers = Servers::start(3);
    let decommission = |servers: &mut Servers, number: usize, offload: bool| {
        let server_name = vec![names::server_to_proto(&servers.all[number])];
        let message = proto::DecommissionRegionServersRequest { server_name, offload };
        servers.master.call(&message).unwrap();
    };
    decommission(&mut servers, 1, false);
    assert_eq!(servers.decommissioned(), [servers.all[1].clone()]);
    let regions = servers.create(&[b"b", b"c", b"d"]);
    let on: Vec<_> = regions.iter().map(|region| servers.serving(region)).collect();
    assert!(!on.contains(&1), "{on:?}");
    decommission(&mut servers, 0, true);
    let on: Vec<_> = regions.iter().map(|region| servers.serving(region)).collect();
    assert_eq!(on, [2; 4]);
    // The balancer leaves it alone, too.
    assert_eq!(servers.balance(false), (true, Some(0), Some(0)));
    let region = vec![region_ref(&regions[3]).to_proto()];
    let server_name = names::server_to_proto(&servers.all[1]);
    let message = proto::RecommissionRegionServerRequest { server_name, region };
    servers.master.call(&message).unwrap();
    assert_eq!(servers.decommissioned(), [servers.all[0].clone()]);
    let on: Vec<_> = regions.iter().map(|region| servers.serving(region)).collect();
    assert_eq!(on, [2, 2, 2, 1]);
}

#[test]
fn the_balancer_spreads_regions_unless_it_is_off() {
    let mut servers = Servers::start(2);
    let regions = servers.create(&[b"b", b"c", b"d"]);
    regions.iter().for_each(|region| servers.move_to(region, Some(0)));
    let switch = proto::SetBalancerRunningRequest { on: false, synchronous: None };
    assert_eq!(servers.master.call(&switch).unwrap().prev_balance_value, Some(true));
    assert_eq!(servers.balance(false), (false, Some(0), Some(0)));
    let switch = proto::SetBalancerRunningRequest { on: true, synchronous: None };
    servers.master.call(&switch).unwrap();
    assert_eq!(servers.balance(true), (true, Some(2), Some(0)));
    let on: Vec<_> = regions.iter().map(|region| servers.serving(region)).collect();
    assert_eq!(on, [0; 4]);
    assert_eq!(servers.balance(false), (true, Some(2), Some(2)));
    let on: usize = regions.iter().map(|region| servers.serving(region)).sum();
    assert_eq!(on, 2);
    assert_eq!(servers.balance(false), (true, Some(0), Some(0)));
}

#[test]
fn a_server_at_its_limit_queues_calls_and_refuses_only_beyond_the_queue() {
    let server = TestServer::start_with(|options| options.ops_per_server = Some(1));
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    // A connection has 32 calls under way at most, and the queue has room for 300.
    let mut clients: Vec<_> = (0..12).map(|_| server.client()).collect();
    for client in &mut clients {
        for _ in 0..32 {
            client.send(&put_message(&region, "a", "1"), &[]);
        }
    }
    let mut refused = 0;
    let mut done = 0;
    // The last connections find a full queue.
    while refused == 0 {
        for client in &mut clients {
            while client.has_answer() {
                match client.receive().unwrap().outcome {
                    Ok(_) => done += 1,
                    Err(error) => {
                        assert_eq!(error.class, QUEUE_FULL);
                        assert!(!error.do_not_retry);
                        refused += 1;
                    }
                }
            }
        }
        std::thread::yield_now();
    }
    assert!(refused + done <= 12 * 32);
    // Calls to the master are not limited.
    server.connect(Service::Master).call(&proto::GetClusterStatusRequest::default()).unwrap();
}

#[test]
fn too_many_region_servers_and_ports_beyond_the_last_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for count in [0, 65] {
        let mut options = options(dir.path());
        options.region_servers = count;
        let error = start_error(options);
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert!(error.message().contains("there can be 1 to 64"), "{error}");
    }
    let mut options = options(dir.path());
    (options.region_servers, options.listen) = (2, "127.0.0.1:65535".into());
    let error = start_error(options);
    assert!(error.message().contains("there is no port 1 after 65535"), "{error}");
}

#[test]
#[cfg(feature = "web")]
fn heat_names_the_server_that_has_all_regions_of_a_busy_table() {
    use crate::web::page;

    let mut servers = Servers::of(TestServer::start_with(|options| {
        options.region_servers = 3;
        options.web = rowhouse_server::WebPort::At("127.0.0.1:0".into());
    }));
    let regions = servers.create(&[b"row05", b"row10", b"row15"]);
    for region in &regions {
        servers.move_to(region, Some(1));
    }
    let busy = servers.all[1].clone();
    let mut client = connect(&busy);
    // 2,000 rows, whose order says nothing: 7 and 2,000 have no common factor.
    for (at, region) in regions.iter().enumerate() {
        let rows = (0..2_000).map(|number| format!("row{:04}", number * 7 % 2_000));
        let own = rows.filter(|row| region.range.contains(row.as_bytes()));
        crate::support::put_many(&mut client, region, own.map(|row| (row, at.to_string())));
    }
    let web = servers.server.web();
    let heat: serde_json::Value = serde_json::from_str(&page(web, "/heat/t.json")).unwrap();
    let shares = heat["servers"]["writes"].as_array().unwrap();
    assert_eq!(shares.len(), 3, "{heat}");
    for share in shares {
        let is_busy = share["server"] == address(&busy);
        assert_eq!(share["share"].as_f64().unwrap(), f64::from(u8::from(is_busy)), "{heat}");
    }
    let verdict = format!("The busiest of 3 region servers, {}, has 100 %.", address(&busy));
    assert!(heat["verdicts"]["writes"].as_str().unwrap().contains(&verdict), "{heat}");
    assert!(page(web, "/heat/t?lang=en").contains(&verdict));
    let metric = format!(
        "rowhouse_table_busiest_server_share{{table=\"t\",kind=\"writes\",server=\"{}\"}} 1\n",
        address(&busy)
    );
    let metrics = page(web, "/metrics");
    assert!(metrics.contains(&metric), "{metrics}");
}
