//! Web pages over HTTP.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use bytes::Bytes;
use rowhouse_format::convert::scan::{OpenScan, ScanCall};
use rowhouse_format::proto;
use rowhouse_format::rpc::Service;
use rowhouse_model::{
    FamilyDescriptor, Put, RegionInfo, RowRange, Scan, TableDescriptor, TableName,
};
use rowhouse_schema::{Proposal, Way, Workload};
use rowhouse_server::{DesignSimulator, Options, RankedDesign, SimulatedCosts, WebPort};

use crate::metrics::sample;
use crate::support::{self, TestServer};

pub(crate) fn server() -> (TestServer, SocketAddr) {
    server_with(|_| {})
}

pub(crate) fn server_with(set: impl FnOnce(&mut Options)) -> (TestServer, SocketAddr) {
    let server = TestServer::start_with(|options| {
        options.web = WebPort::At("127.0.0.1:0".into());
        set(options);
    });
    let web = server.web();
    (server, web)
}

/// Sends a request and returns the status line and the body.
pub(crate) fn fetch(web: SocketAddr, path: &str, host: &str) -> (String, String) {
    let (head, body) = fetch_with(web, path, &format!("Host: {host}\r\n"));
    (head.lines().next().unwrap().to_owned(), body)
}

/// Sends a request with these headers and returns the head and the body.
fn fetch_with(web: SocketAddr, path: &str, headers: &str) -> (String, String) {
    send(web, &format!("GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"))
}

fn send(web: SocketAddr, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(web).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

/// Returns a page, which must be there.
pub(crate) fn page(web: SocketAddr, path: &str) -> String {
    let (status, body) = fetch(web, path, "localhost");
    assert_eq!(status, "HTTP/1.1 200 OK", "{path}: {body}");
    body
}

/// Creates the table `mail` with a template, columns and an index, and two regions.
fn create_mail(server: &TestServer) -> Vec<RegionInfo> {
    let table = TableDescriptor::new(TableName::parse("mail").unwrap())
        .family(FamilyDescriptor::new("d").unwrap())
        .attribute("rowhouse.key", "1 [user string][n u8]")
        .attribute("rowhouse.columns", "1 d:s sender string; d:z size u32")
        .attribute("rowhouse.indexes", "1 by_sender [sender]");
    let message = proto::CreateTableRequest {
        table_schema: rowhouse_format::convert::table::to_proto(&table),
        split_keys: vec![Bytes::from_static(b"m")],
        ..Default::default()
    };
    server.connect(Service::Master).call(&message).unwrap();
    server.regions("mail")
}

fn put_mail(server: &TestServer, regions: &[RegionInfo], user: &str, n: u8, sender: &str) {
    let mut key = user.as_bytes().to_vec();
    key.extend([0, 1, n]);
    let region = regions.iter().find(|region| region.range.contains(&key)).unwrap();
    let put =
        Put::new(key).unwrap().add("d", "s", Bytes::copy_from_slice(sender.as_bytes())).unwrap();
    let put = put.add("d", "z", Bytes::from_static(&[0, 0, 0, 7])).unwrap();
    support::mutate(&mut server.client(), region, put).unwrap();
}

#[test]
fn health_is_503_once_the_data_directory_was_moved_away() {
    let (server, web) = server();
    let place = server.data().to_owned();
    assert_eq!(sample(&page(web, "/metrics"), "rowhouse_takes_writes"), 1.0);
    let away = tempfile::tempdir().unwrap();
    std::fs::rename(&place, away.path()).unwrap();
    let (status, body) = fetch(web, "/health", "127.0.0.1");
    assert_eq!(status, "HTTP/1.1 503 Service Unavailable");
    assert!(body.contains(&format!("{} was removed or replaced", place.display())), "{body}");
    assert_eq!(sample(&page(web, "/metrics"), "rowhouse_takes_writes"), 0.0);
    assert!(!place.exists());
    // What follows finds the directory again.
    std::fs::rename(away.path(), &place).unwrap();
}

#[test]
fn running_tasks_are_listed_for_hbases_shell_which_finds_the_port_in_the_status() {
    let (server, web) = server();
    let mut master = server.connect(Service::Master);
    let status = master.call(&proto::GetClusterStatusRequest::default()).unwrap();
    let load = &status.cluster_status.live_servers[0].server_load;
    assert_eq!(load.info_server_port(), u32::from(web.port()));
    let (status, tasks) = fetch(web, "/rs-status?format=json&filter=general", "localhost");
    assert_eq!((&status[..], &tasks[..]), ("HTTP/1.1 200 OK", "[]"));
}

#[test]
fn requests_for_another_host_are_refused_and_other_paths_are_not_there() {
    let (_server, web) = server();
    let (status, body) = fetch(web, "/metrics", "evil.example");
    assert_eq!(status, "HTTP/1.1 403 Forbidden");
    assert!(body.contains("evil.example"), "{body}");
    assert_eq!(fetch(web, "/nothing", "localhost").0, "HTTP/1.1 404 Not Found");
}

#[test]
fn a_request_with_two_hosts_or_none_is_malformed() {
    let (_server, web) = server();
    for headers in ["Host: localhost\r\nHost: localhost\r\n", "Host: localhost\r\nHost: a\r\n", ""]
    {
        let (head, _) = fetch_with(web, "/health", headers);
        assert!(head.starts_with("HTTP/1.1 400 Bad Request"), "{headers:?}: {head}");
    }
}

#[test]
fn a_server_stops_while_a_client_keeps_its_connection_open() {
    let (server, web) = server();
    let mut idle = TcpStream::connect(web).unwrap();
    write!(idle, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answered = [0; 15];
    idle.read_exact(&mut answered).unwrap();
    assert_eq!(&answered, b"HTTP/1.1 200 OK");
    server.stop();
    let mut rest = Vec::new();
    idle.read_to_end(&mut rest).unwrap();
    assert!(rest.ends_with(b"ok\n"));
}

const PAGES: [&str; 15] = [
    "/",
    "/tables",
    "/tables/mail",
    "/servers",
    "/heat",
    "/heat/mail",
    "/query",
    "/query?table=mail",
    "/design",
    "/design?table=mail",
    "/design?w=field+n+u64:+sequence",
    "/calls",
    "/calls?table=mail",
    "/tasks",
    "/settings",
];

#[test]
fn every_page_is_there_in_both_languages_with_headers_that_keep_other_origins_out() {
    let (server, web) = server();
    let regions = create_mail(&server);
    put_mail(&server, &regions, "bob", 3, "eve");
    for path in PAGES {
        for (accepted, lang, tables) in [("en", "en", ">Tables<"), ("zh-CN,en", "zh-CN", ">表<")] {
            let headers = format!("Host: localhost\r\nAccept-Language: {accepted}\r\n");
            let (head, body) = fetch_with(web, path, &headers);
            assert!(head.starts_with("HTTP/1.1 200 OK"), "{path}: {head} {body}");
            assert!(body.starts_with("<!DOCTYPE html>"), "{path}: {body}");
            assert!(body.contains(&format!("<html lang=\"{lang}\">")), "{path}: {body}");
            assert!(body.contains(tables), "{path}: {body}");
            // The test directory is the database.
            let database = server.data().file_name().unwrap().to_str().unwrap();
            assert!(body.contains(&format!("– {database} – rowhouse</title>")), "{path}: {body}");
            assert!(body.contains(">rowhouse</a>"), "{path}: {body}");
            assert!(body.contains(&format!(">{database}</span>")), "{path}: {body}");
            if lang == "zh-CN" {
                check_chinese(path, &body);
            }
            for header in [
                "content-security-policy: default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
                "cross-origin-resource-policy: same-origin",
                "x-content-type-options: nosniff",
                "cache-control: no-store",
            ] {
                assert!(head.contains(header), "{path}: {head}");
            }
            assert!(!head.to_ascii_lowercase().contains("access-control-"), "{path}: {head}");
            // Nothing that the policy would not let through.
            for not_allowed in [" style=", "<script>", " onclick", "http://", "https://"] {
                assert!(!body.contains(not_allowed), "{path}: {not_allowed}: {body}");
            }
        }
    }
    let chosen = page(web, "/tables/mail?lang=zh");
    assert!(chosen.contains("href=\"/settings?lang=zh\""), "{chosen}");
    assert!(chosen.contains("href=\"/tables/mail?lang=en\""), "{chosen}");
}

/// Checks that a Chinese page has neither English page words nor half-width punctuation after
/// Chinese.
fn check_chinese(path: &str, body: &str) {
    for english in ["ordered", "computed", "none<", "index of", "true<", "false<", "the first"] {
        assert!(!body.contains(english), "{path}: {english}: {body}");
    }
    let chars: Vec<_> = body.chars().collect();
    let is_chinese = |c: char| ('\u{4e00}'..'\u{9fff}').contains(&c);
    for pair in chars.windows(2).filter(|pair| is_chinese(pair[0])) {
        assert!(!",;:.?!".contains(pair[1]), "{path}: {}{}: {body}", pair[0], pair[1]);
    }
}

#[test]
fn settings_are_words_and_not_code() {
    let (_server, web) = server_with(|options| options.ops_per_server = None);
    let english = page(web, "/settings?lang=en");
    for expected in ["no limit</td>", "<td>on</td>", "<td>off</td>", "<td>127.0.0.1:0</td>"] {
        assert!(english.contains(expected), "{expected}: {english}");
    }
    for code in ["At(", "Some(", "None", "true", "false", "–</td>"] {
        assert!(!english.contains(code), "{code}: {english}");
    }
    assert!(page(web, "/settings?lang=zh").contains("<td>不限</td>"));
}

#[test]
fn mistakes_are_shown_with_a_caret_and_in_the_readers_language() {
    let (server, web) = server();
    create_mail(&server);
    let wrong = "/query?table=mail&q=user+%3D+%27%E5%88%86%27+n+%3D+1";
    let (status, english) = fetch(web, &format!("{wrong}&lang=en"), "localhost");
    assert_eq!(status, "HTTP/1.1 400 Bad Request");
    assert!(
        english.contains("<p>expected `and` or the end of the query: offset=11</p>"),
        "{english}"
    );
    let caret = "<pre>  user = '分' n = 1\n          \u{3000}  ^</pre>";
    assert!(english.contains(caret), "{english}");
    let (_, chinese) = fetch(web, &format!("{wrong}&lang=zh"), "localhost");
    assert!(chinese.contains("<p>此处应为 `and` 或查询的结尾（第 12 个字符）</p>"), "{chinese}");
    assert!(chinese.contains(caret), "{chinese}");
    for (path, title, message) in [
        ("/tables/none", "没有这张表", "没有这张表：<code>none</code>"),
        ("/query?table=none&q=a", "查询", "没有这张表：<code>none</code>"),
        ("/heat/mail?hours=x", "请求无效", "不是数字：hours=x"),
        ("/nothing", "未找到", "此地址没有页面。"),
    ] {
        let separator = if path.contains('?') { '&' } else { '?' };
        let (_, body) = fetch(web, &format!("{path}{separator}lang=zh"), "localhost");
        assert!(body.contains(&format!("<h1>{title}</h1>")), "{path}: {body}");
        assert!(body.contains(message), "{path}: {body}");
    }
}

#[test]
fn a_table_is_shown_with_its_declarations_and_decoded_bounds() {
    let (server, web) = server();
    let regions = create_mail(&server);
    put_mail(&server, &regions, "bob", 3, "eve");
    let list = page(web, "/tables");
    assert!(list.contains("href=\"/tables/mail\""), "{list}");
    assert!(list.contains("[user string][n u8]"), "{list}");
    let [table, index] = [">mail</a>", ">by_sender</a>"].map(|name| list.find(name).unwrap());
    assert!(table < index && list.contains("index of mail"), "{list}");
    let mail = page(web, "/tables/mail");
    let bound = regions[1].range.start.clone();
    assert_eq!(&bound[..], b"m");
    for expected in [
        "<code>sender</code>",
        "by_sender [sender]",
        "title=\"m\">m…<",
        "the first",
        "ready",
        &regions[0].name().encoded,
        server.address(),
    ] {
        assert!(mail.contains(expected), "{expected}: {mail}");
    }
    assert_eq!(fetch(web, "/tables/none", "localhost").0, "HTTP/1.1 404 Not Found");
    assert_eq!(fetch(web, "/tables/no%20name", "localhost").0, "HTTP/1.1 400 Bad Request");
}

#[test]
fn a_query_is_shown_with_its_plan_and_decoded_rows_of_all_regions() {
    let (server, web) = server();
    let regions = create_mail(&server);
    for (user, n) in [("bob", 3), ("bob", 4), ("zoe", 1)] {
        put_mail(&server, &regions, user, n, "eve");
    }
    let all = page(web, "/query?table=mail&q=sender%20%3D%20%27eve%27");
    for expected in ["reads the whole table", "user='bob', n=4", "user='zoe', n=1", "size=7"] {
        assert!(all.contains(expected), "{expected}: {all}");
    }
    assert!(all.contains("3 rows, and no more"), "{all}");
    let one = page(web, "/query?table=mail&q=user+%3D+'bob'+and+n+%3D+3");
    assert!(one.contains("ranges: 1") && one.contains("1 row, and no more"), "{one}");
    let first = page(web, "/query?table=mail");
    assert!(first.contains("user='bob', n=3") && !first.contains("<h2>Plan</h2>"), "{first}");
    let (status, wrong) = fetch(web, "/query?table=mail&q=nobody+%3D+1", "localhost");
    assert_eq!(status, "HTTP/1.1 400 Bad Request");
    assert!(wrong.contains("role=\"alert\"") && wrong.contains("nobody = 1"), "{wrong}");
}

#[test]
fn a_query_ends_after_fifty_rows_and_shows_the_beginning_of_long_rows_and_values() {
    let (server, web) = server();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let rows = (0..60).map(|row| (format!("row{row:02}"), "v".to_owned()));
    support::put_many(&mut server.client(), &region, rows);
    let put = (0..30).fold(Put::new("row01").unwrap(), |put, at| {
        put.add("cf", format!("q{at:02}"), vec![b'x'; 10_000]).unwrap()
    });
    support::mutate(&mut server.client(), &region, put).unwrap();
    let body = page(web, "/query?table=t");
    assert!(body.contains("50 rows, and there are more"), "{body}");
    assert!(body.contains("row49") && !body.contains("row50"), "{body}");
    assert!(body.contains("… (9.8 KiB)"), "{body}");
    assert!(body.len() < 60_000, "{}", body.len());
}

#[test]
fn hostile_names_are_escaped_wherever_they_are_shown() {
    let (server, web) = server_with(|options| options.slow_call = std::time::Duration::ZERO);
    let evil = "<script>alert(1)</script>\"'";
    let table = TableDescriptor::new(TableName::parse("t").unwrap())
        .family(FamilyDescriptor::new("<b>").unwrap())
        .attribute(evil, evil);
    let message = proto::CreateTableRequest {
        table_schema: rowhouse_format::convert::table::to_proto(&table),
        split_keys: vec![Bytes::from_static(b"<script>x")],
        ..Default::default()
    };
    server.connect(Service::Master).call(&message).unwrap();
    let region = server.regions("t").remove(0);
    let put = Put::new(evil).unwrap().add("<b>", evil, evil).unwrap();
    let region =
        if region.range.contains(evil.as_bytes()) { region } else { server.regions("t").remove(1) };
    support::mutate(&mut server.client(), &region, put).unwrap();
    let escaped = "%3Cscript%3Ealert(1)%3C%2Fscript%3E%22%27";
    for path in [
        "/".to_owned(),
        "/tables".to_owned(),
        "/tables/t".to_owned(),
        "/calls".to_owned(),
        format!("/calls?table=t&start={escaped}"),
        "/heat".to_owned(),
        "/heat/t?of=writes".to_owned(),
        format!("/heat/t?of={escaped}"),
        format!("/heat/{escaped}"),
        "/query?table=t".to_owned(),
        format!("/query?table=t&q={escaped}"),
        format!("/query?table={escaped}&q=a"),
        format!("/tables/{escaped}"),
        format!("/{escaped}"),
        format!("/?lang=zh&{escaped}={escaped}"),
    ] {
        let (_, body) = fetch(web, &path, "localhost");
        assert!(body.contains("<h1>"), "{path}: {body}");
        for raw in ["<script>", "<b>", "\"'"] {
            assert!(!body.contains(raw), "{path}: {raw}: {body}");
        }
    }
    assert!(page(web, "/calls").contains("&lt;script&gt;alert(1)"));
    assert!(page(web, "/").contains("&lt;script&gt;alert(1)"));
}

#[test]
fn heat_shows_measured_ranges_and_rows_decoded() {
    let (server, web) = server();
    let regions = create_mail(&server);
    for _ in 0..3 {
        put_mail(&server, &regions, "bob", 3, "eve");
    }
    let heat = |query: &str| -> serde_json::Value {
        serde_json::from_str(&page(web, &format!("/heat/mail.json{query}"))).unwrap()
    };
    let sum = |heat: &serde_json::Value| -> u64 {
        let columns = heat["columns"].as_array().unwrap();
        let values = columns.iter().flat_map(|column| column["values"].as_array().unwrap());
        values.map(|value| value.as_u64().unwrap()).sum()
    };
    let writes = heat("?of=writes");
    assert_eq!(
        (sum(&writes), &writes["table"], &writes["of"]),
        (3, &"mail".into(), &"writes".into())
    );
    assert_eq!(writes["bounds"][0], serde_json::json!({ "key": "…", "first": "", "bytes": "" }));
    let hot = &writes["hot_rows"][0];
    assert_eq!((&hot["key"], &hot["writes"]), (&"user='bob', n=3".into(), &3.into()), "{writes}");
    // Without a measure and a time the page shows the most frequent measure, at the time when it
    // occurred.
    let opened = heat("");
    assert_eq!((sum(&opened), &opened["of"]), (3, &"writes".into()));
    let columns = opened["columns"].as_array().unwrap();
    let last = &columns[columns.len() - 1];
    let end = last["begun"].as_i64().unwrap() + last["length"].as_i64().unwrap();
    assert_eq!((&opened["from"], &opened["to"]), (&columns[0]["begun"], &end.into()));
    assert!(page(web, "/heat/mail").contains("data-of=\"writes\""));
    assert!(sum(&heat("?of=bytes")) > 3);
    assert_eq!(sum(&heat("?of=writes&from=1000&to=2000")), 0);
    assert_eq!(heat("?of=writes&start=z")["bounds"][0]["bytes"], "z");
    let shown = page(web, "/heat/mail?of=writes");
    for expected in
        ["<noscript>", "user='bob', n=3", "data-of=\"writes\"", "src=\"/heat.js\" defer"]
    {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert!(page(web, "/heat.js").contains("use strict"));
    let set = page(web, "/heat/mail?brightness=4&refresh=30&lang=en");
    for expected in
        ["data-brightness=\"4\"", "http-equiv=\"refresh\" content=\"30\"", "data-refresh=\"30\""]
    {
        assert!(set.contains(expected), "{expected}: {set}");
    }
    assert!(!shown.contains("http-equiv=\"refresh\""));
    for wrong in ["brightness=3", "refresh=1"] {
        let (status, _) = fetch(web, &format!("/heat/mail?{wrong}"), "localhost");
        assert_eq!(status, "HTTP/1.1 400 Bad Request", "{wrong}");
    }
    let all = page(web, "/heat?lang=en");
    let row = all.split("<a href=\"/heat/mail?lang=en\">").nth(1).unwrap();
    assert!(row.trim_start().starts_with("<title>mail: Requests 3</title>"), "{row}");
    assert!(row.contains("<rect class=\"heat"), "{row}");
    assert_eq!(heat("?of=writes&start=bob%5Cx00%5Cx01%5Cx03")["bounds"][0]["first"], "user='bob'");
    for wrong in ["?of=x", "?from=x", "?start=%5Cq"] {
        let (status, body) = fetch(web, &format!("/heat/mail.json{wrong}"), "localhost");
        assert_eq!(status, "HTTP/1.1 400 Bad Request", "{wrong}");
        assert!(body.starts_with("{\"error\":"), "{body}");
    }
    assert_eq!(fetch(web, "/heat/none", "localhost").0, "HTTP/1.1 404 Not Found");
}

/// Returns the address of the designs for a workload.
fn design_of(workload: &str, rest: &str) -> String {
    let escaped: Vec<_> = workload.bytes().map(|byte| format!("%{byte:02X}")).collect();
    format!("/design?w={}{rest}", escaped.concat())
}

#[test]
fn designs_for_a_typed_workload_have_costs_sample_keys_and_a_declaration() {
    let (_server, web) = server();
    // A form sends line ends of two characters.
    let workload = "field user string: 100 values\r\nfield at millis: now\r\nwrite 100/s\r\n\
                    rows 1000\r\nask user = ? newest 10 : 50/s\r\n\
                    never a region takes more than 60 % of the writes";
    let shown = page(web, &design_of(workload, "&lang=en"));
    for expected in [
        "Best by the estimates: <strong><code>[user text 8][at millis desc]</code></strong>",
        "from rows: 1,000.",
        "<details id=\"design-1\" open>",
        "<a href=\"#design-1\">",
        "user=&apos;",
        "KEY =&gt; '[user text 8][at millis desc]'",
        "<td class=\"number\">10</td>",
    ] {
        let shown = shown.replace("user='", "user=&apos;");
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let chinese = page(web, &design_of(workload, "&lang=zh"));
    assert!(chinese.contains("估算中最好的：<strong><code>[user text 8]"), "{chinese}");
    let refused = workload.replace("60 %", "0.1 %");
    let chinese = page(web, &design_of(&refused, "&lang=zh"));
    assert!(chinese.contains("每个设计都违反限制"), "{chinese}");
    assert!(chinese.contains("一个 region 承担的写入太多"), "{chinese}");
    let (status, wrong) = fetch(web, &design_of("field n", "&lang=en"), "localhost");
    assert_eq!(status, "HTTP/1.1 400 Bad Request");
    assert!(wrong.contains("role=\"alert\"") && wrong.contains(">field n</textarea>"), "{wrong}");
    let (_, wrong) = fetch(web, &design_of("field n u8", "&lang=zh"), "localhost");
    assert!(wrong.contains("`n` 没有分布：需要样本"), "{wrong}");
}

/// Ranks the last proposal first, as if a simulation showed that it is the best.
#[derive(Debug)]
struct LastIsBest {
    /// Receives before the simulation ends.
    ends: parking_lot::Mutex<std::sync::mpsc::Receiver<()>>,
}

impl DesignSimulator for LastIsBest {
    fn rank(
        &self,
        _: &Workload,
        proposals: &[Proposal],
        progress: &mut dyn FnMut(usize, usize) -> bool,
    ) -> rowhouse_model::Result<Vec<RankedDesign>> {
        assert!(progress(3, 14));
        self.ends.lock().recv().unwrap();
        let costs = SimulatedCosts {
            reads: 1.5,
            load: 2.0,
            share: 0.07,
            refusals: Vec::new(),
            questions: vec![(Way::Key, 77.0, 3.0)],
        };
        let best = RankedDesign { proposal: proposals.len() - 1, simulated: Some(costs) };
        Ok(vec![best, RankedDesign { proposal: 0, simulated: None }])
    }
}

/// Posts a form, and returns the status line and where the answer leads.
fn post(web: SocketAddr, path: &str, kind: &str, body: &str) -> (String, String) {
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Type: {kind}\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let (head, body) = send(web, &request);
    let place = head.lines().find_map(|line| line.strip_prefix("location: "));
    (head.lines().next().unwrap().to_owned(), place.unwrap_or(&body).to_owned())
}

#[test]
fn one_simulation_runs_with_progress_and_simulated_designs_rank_first() {
    let (end, ends) = std::sync::mpsc::channel();
    let (_server, web) = server_with(|options| {
        let ends = parking_lot::Mutex::new(ends);
        options.simulator = Some(std::sync::Arc::new(LastIsBest { ends }));
    });
    let workload = "field user string: 100 values\nfield at millis: now\nrows 1000\n\
                    ask user = ? newest 10 : 50/s";
    let estimated = page(web, &design_of(workload, "&lang=en"));
    assert!(estimated.contains("action=\"/design/simulation\""), "{estimated}");
    let form = design_of(workload, "&lang=en");
    let form = form.strip_prefix("/design?").unwrap();
    let kind = "application/x-www-form-urlencoded";
    let (status, place) = post(web, "/design/simulation", kind, form);
    assert_eq!(status, "HTTP/1.1 303 See Other", "{place}");
    assert!(place.starts_with("/design/simulation/") && place.ends_with("?lang=en"), "{place}");
    let running = std::iter::from_fn(|| Some(page(web, &place)))
        .find(|page| !page.contains("Designs are being estimated"));
    let running = running.unwrap();
    for expected in ["http-equiv=\"refresh\"", "3 of at most 14", "max=\"14\" value=\"2\""] {
        assert!(running.contains(expected), "{expected}: {running}");
    }
    let (status, _) = post(web, "/design/simulation", kind, form);
    assert_eq!(status, "HTTP/1.1 503 Service Unavailable", "one runs");
    end.send(()).unwrap();
    let ended = std::iter::from_fn(|| Some(page(web, &place)))
        .find(|page| !page.contains("http-equiv=\"refresh\""));
    let ended = ended.unwrap();
    for expected in ["Best of those that were simulated: ", ">77<", ">1.5<", ">2*<", ">7 %<"] {
        assert!(ended.contains(expected), "{expected}: {ended}");
    }
    let chinese = page(web, &place.replace("lang=en", "lang=zh"));
    assert!(chinese.contains("模拟过的设计中最好的：") && chinese.contains("在临时存储中模拟"));
    let (status, gone) = fetch(web, "/design/simulation/1?lang=en", "localhost");
    assert_eq!(status, "HTTP/1.1 404 Not Found");
    assert!(gone.contains("This simulation is no longer there"), "{gone}");
}

#[test]
fn a_workload_is_read_from_a_file_and_other_origins_send_none() {
    let (_server, web) = server();
    let kind = "multipart/form-data; boundary=x";
    let body = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n\
                field n u64: sequence\r\n--x--\r\n";
    let (status, place) = post(web, "/design/file", kind, body);
    assert_eq!(
        (&status[..], &place[..]),
        ("HTTP/1.1 303 See Other", "/design?w=field%20n%20u64%3A%20sequence")
    );
    assert!(page(web, &place).contains(">field n u64: sequence</textarea>"));
    let (status, refused) = post(web, "/design/file", "text/plain", "field n u8");
    assert_eq!(status, "HTTP/1.1 400 Bad Request");
    assert!(refused.contains("not multipart/form-data"), "{refused}");
    let (head, _) = send(
        web,
        "POST /design/file HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\
         Content-Length: 0\r\nConnection: close\r\n\r\n",
    );
    assert!(head.starts_with("HTTP/1.1 403 Forbidden"), "{head}");
    let (status, refused) = post(web, "/design/simulation", "", "w=field+n+u8");
    assert_eq!(status, "HTTP/1.1 400 Bad Request");
    assert!(refused.contains("use rowhouse advise"), "{refused}");
}

#[test]
fn designs_for_a_workload_of_a_table_have_the_steps_from_its_key() {
    let (server, web) = server();
    let regions = create_mail(&server);
    for n in 0..60 {
        put_mail(&server, &regions, if n % 2 == 0 { "bob" } else { "sue" }, n, "eve");
    }
    assert!(page(web, "/heat/mail").contains("href=\"/design?table=mail\""));
    let form = page(web, "/design?table=mail");
    for line in [
        "key [user string][n u8]\n",
        "index by_sender [sender]\n",
        "field user string\n",
        "column d:s sender string\n",
        "# ask user = ? limit 20 : 40/s\n",
    ] {
        assert!(form.contains(line), "{line}: {form}");
    }
    assert!(form.contains("name=\"table\" value=\"mail\""), "{form}");
    let workload = "key [user string][n u8]\nfield user string\nfield n u8\n\
                    column d:z size u32\nask size = ? : 400/s\nask n = ? : 500/s\nwrite 1/s";
    let shown = page(web, &design_of(workload, "&table=mail&lang=en"));
    for expected in [
        "from rows: 60, Table <a href=\"/tables/mail?lang=en\">mail</a>.",
        "<strong>present</strong>",
        "promote_index 'mail', 'advised'",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let (status, _) = fetch(web, "/design?table=none", "localhost");
    assert_eq!(status, "HTTP/1.1 404 Not Found");
    server.create_table("bare", &["cf"], &[]);
    let (status, bare) = fetch(web, "/design?table=bare&lang=zh", "localhost");
    assert_eq!(status, "HTTP/1.1 400 Bad Request");
    assert!(bare.contains("表 bare 没有行键模板"), "{bare}");
}

#[test]
fn hot_rows_do_not_list_the_noise_of_an_even_load() {
    let (server, web) = server();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    let rows = (0..2_000).map(|row| (format!("row{row:04}"), "v".to_owned()));
    support::put_many(&mut server.client(), &region, rows);
    let heat: serde_json::Value = serde_json::from_str(&page(web, "/heat/t.json")).unwrap();
    assert_eq!(heat["hot_rows"], serde_json::json!([]));
    let hot = (0..2_000).map(|_| ("hot".to_owned(), "v".to_owned()));
    support::put_many(&mut server.client(), &region, hot);
    let heat: serde_json::Value = serde_json::from_str(&page(web, "/heat/t.json")).unwrap();
    let rows = heat["hot_rows"].as_array().unwrap();
    assert!(rows.len() == 1 && rows[0]["key"] == "hot", "{rows:?}");
}

#[test]
fn slow_calls_are_listed_with_table_and_decoded_rows_also_those_of_open_scanners() {
    let (server, web) = server_with(|options| options.slow_call = std::time::Duration::ZERO);
    let regions = create_mail(&server);
    for n in 1..=3 {
        put_mail(&server, &regions, "bob", n, "eve");
    }
    let mut client = server.client();
    let scan = || OpenScan::new(Scan::new(RowRange::new("bob\0\x01\x01", "boc\0\x01\x01")));
    let first = support::open(&mut client, &regions[0], scan(), 1).unwrap().scanner.unwrap();
    // The second call reaches the region's end, which closes the scanner.
    for (number, rows) in [(0, 1), (1, 10)] {
        assert_eq!(support::next(&mut client, first, number, rows).unwrap().rows.len(), 1);
    }
    let second = support::open(&mut client, &regions[0], scan(), 1).unwrap().scanner.unwrap();
    support::scan(&mut client, &ScanCall::close(second)).unwrap();
    let calls = page(web, "/calls");
    assert!(calls.contains("Mutate") && calls.contains("user='bob', n=3"), "{calls}");
    let scans: Vec<_> = calls.split("<tr>").filter(|row| row.contains("<td>Scan</td>")).collect();
    assert_eq!(scans.len(), 5, "{calls}");
    for scan in scans {
        assert!(scan.contains("href=\"/tables/mail\""), "{scan}");
        assert!(scan.contains(">user='bob'") && scan.contains(">user='boc'"), "{scan}");
    }
    // A call leads to the heat around it, and a part of the heat map to the calls in it.
    let heat = calls.split("href=\"").find(|link| link.starts_with("/heat/mail?from=")).unwrap();
    let heat = heat.split('"').next().unwrap().replace("&amp;", "&");
    assert!(heat.ends_with("&start=bob%5Cx00%5Cx01%5Cx01&stop=boc%5Cx00%5Cx01%5Cx01"), "{heat}");
    let shown = page(web, &heat);
    assert!(shown.contains("data-start=\"bob\\x00\\x01\\x01\""), "{shown}");
    let back = shown.split("id=\"heat-calls\" href=\"").nth(1).unwrap();
    let back = back.split('"').next().unwrap().replace("&amp;", "&");
    let there = |path: &str| {
        let body = page(web, path);
        let table = body.split("<tbody>").nth(1).unwrap_or_default().to_owned();
        ["<td>Scan</td>", "<td>Mutate</td>"].map(|method| table.matches(method).count())
    };
    assert_eq!(there(&back), [5, 3]);
    let third = "/calls?table=mail&start=bob%5Cx00%5Cx01%5Cx03&stop=bob%5Cx00%5Cx01%5Cx04";
    assert_eq!(there(third), [5, 1]);
    assert_eq!(there("/calls?table=mail&start=z"), [0, 0]);
    assert_eq!(there("/calls?table=mail&to=1000"), [0, 0]);
    assert_eq!(there("/calls?table=other"), [0, 0]);
}

#[test]
fn cross_origin_fetches_are_refused_and_links_are_served() {
    let (_server, web) = server();
    let status_line = |path: &str, site: &str, mode: &str, dest: &str| {
        let headers = format!(
            "Host: localhost\r\nSec-Fetch-Site: {site}\r\nSec-Fetch-Mode: {mode}\r\nSec-Fetch-Dest: {dest}\r\n"
        );
        fetch_with(web, path, &headers).0.lines().next().unwrap().to_owned()
    };
    for path in ["/", "/query", "/metrics", "/jmx", "/health", "/style.css"] {
        assert_eq!(
            status_line(path, "cross-site", "cors", "empty"),
            "HTTP/1.1 403 Forbidden",
            "{path}"
        );
        assert_eq!(
            status_line(path, "same-site", "no-cors", "script"),
            "HTTP/1.1 403 Forbidden",
            "{path}"
        );
        assert_eq!(
            status_line(path, "cross-site", "navigate", "iframe"),
            "HTTP/1.1 403 Forbidden",
            "{path}"
        );
        assert_eq!(
            status_line(path, "cross-site", "navigate", "document"),
            "HTTP/1.1 200 OK",
            "{path}"
        );
        assert_eq!(status_line(path, "same-origin", "cors", "empty"), "HTTP/1.1 200 OK", "{path}");
    }
}

#[test]
fn only_reads_are_answered_and_long_addresses_are_refused() {
    let (_server, web) = server();
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let request = format!(
            "{method} /settings HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        );
        let (head, _) = send(web, &request);
        assert!(head.starts_with("HTTP/1.1 405"), "{method}: {head}");
    }
    let long = format!("/query?q={}", "x".repeat(9_000));
    assert_eq!(fetch(web, &long, "localhost").0, "HTTP/1.1 414 URI Too Long");
}

#[test]
fn beans_have_hbases_names_and_are_selected_by_a_pattern() {
    let (server, web) = server();
    let region = server.create_table("t", &["cf"], &[]).remove(0);
    support::put(&mut server.client(), &region, "a", "v").unwrap();
    let beans = |query: &str| -> serde_json::Value {
        serde_json::from_str(&page(web, &format!("/jmx{query}"))).unwrap()
    };
    let all = beans("");
    let find = |name: &str| {
        let name = format!("Hadoop:service=HBase,name={name}");
        let beans = all["beans"].as_array().unwrap();
        beans.iter().find(|bean| bean["name"] == name.as_str()).unwrap().clone()
    };
    let server_bean = find("RegionServer,sub=Server");
    assert_eq!(server_bean["writeRequestCount"], 1);
    assert_eq!(server_bean["rpcMutateRequestCount"], 1);
    assert_eq!(server_bean["storeCount"], 1);
    let master = find("Master,sub=Server");
    assert_eq!(
        (&master["numRegionServers"], &master["tag.isActiveMaster"]),
        (&1.into(), &"true".into())
    );
    let of_region = format!(
        "Namespace_default_table_t_region_{}_metric_writeRequestCount",
        region.name().encoded
    );
    assert_eq!(find("RegionServer,sub=Regions")[&of_region], 1);
    assert_eq!(
        find("RegionServer,sub=Tables")["Namespace_default_table_t_metric_writeRequestCount"],
        1
    );
    let some = beans("?qry=Hadoop:service=HBase,name=Master,*");
    assert_eq!(some["beans"].as_array().unwrap().len(), 1);
    assert_eq!(beans("?qry=java.lang:*")["beans"], serde_json::json!([]));
}

#[test]
fn the_web_is_off_in_libraries_and_the_default_port_is_no_condition() {
    let server = TestServer::start();
    assert!(server.has_no_web());
    drop(server);
    // The port may be free or not: the server starts in either case.
    let holder = std::net::TcpListener::bind(WebPort::DEFAULT_ADDRESS);
    let server = TestServer::start_with(|options| options.web = WebPort::Default);
    assert!(server.has_no_web());
    drop((server, holder));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut options = support::options(dir.path());
    options.web = WebPort::At(taken.local_addr().unwrap().to_string());
    assert_eq!(support::start_error(options).kind(), rowhouse_model::ErrorKind::InUse);
}
