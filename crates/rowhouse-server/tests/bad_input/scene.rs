//! A server, a table, a correct client and an incorrect one.

use std::sync::LazyLock;

use bytes::{BufMut, Bytes, BytesMut};
use expect_test::Expect;
use prost::Message;
use regex::Regex;
use rowhouse_format::proto;
use rowhouse_format::rpc::{FATAL_CALL_ID, Response, Service};
use rowhouse_model::RegionInfo;

use crate::support::{self, Client, TestServer};

pub(crate) struct Scene {
    pub(crate) server: TestServer,
    /// The regions in table `t`, split at `m`.
    pub(crate) regions: Vec<RegionInfo>,
    bystander: Client,
    puts: usize,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let server = TestServer::start();
        let regions = server.create_table("t", &["cf"], &[b"m"]);
        let bystander = server.client();
        let mut scene = Self { server, regions, bystander, puts: 0 };
        scene.check_bystander();
        scene
    }

    /// Sends `bytes` on a new connection and checks the responses, as text, until the server closes
    /// it.
    pub(crate) fn check(&mut self, bytes: &[u8], expected: &Expect) {
        let mut client = Client::silent(self.server.address());
        client.send_bytes(bytes);
        self.check_client(client, expected);
    }

    /// As [`Scene::check`], but the client closes the sending side, after it has the answers.
    pub(crate) fn check_leaving(&mut self, bytes: &[u8], expected: &Expect) {
        let mut client = Client::silent(self.server.address());
        client.send_bytes(bytes);
        // A call that waits for a thread is dropped when the client leaves.
        let answers = match expected.data().trim() {
            "closed" => 0,
            expected => expected.lines().count(),
        };
        let lines = (0..answers).map_while(|_| client.receive()).map(formatted).collect();
        client.finish_sending();
        self.check_rest(client, lines, expected);
    }

    /// Sends calls to the client service and closes the sending side after their answers.
    pub(crate) fn check_calls(&mut self, calls: &[u8], expected: &Expect) {
        self.check_service(Service::Client, calls, expected);
    }

    /// Sends calls to a service and closes the sending side after their answers.
    pub(crate) fn check_service(&mut self, service: Service, calls: &[u8], expected: &Expect) {
        self.check_leaving(&with_opening(service, calls), expected);
    }

    /// Sends calls to the client service; the server must close the connection.
    pub(crate) fn check_refusal(&mut self, calls: &[u8], expected: &Expect) {
        self.check(&with_opening(Service::Client, calls), expected);
    }

    fn check_client(&mut self, client: Client, expected: &Expect) {
        self.check_rest(client, Vec::new(), expected);
    }

    fn check_rest(&mut self, mut client: Client, mut lines: Vec<String>, expected: &Expect) {
        while let Some(response) = client.receive() {
            lines.push(formatted(response));
        }
        if lines.is_empty() {
            lines.push("closed".to_owned());
        }
        expected.assert_eq(&lines.join("\n"));
        self.check_bystander();
    }

    /// Checks that the correct client reads its own write, on the original connection.
    fn check_bystander(&mut self) {
        self.puts += 1;
        let client = &mut self.bystander;
        let region = &self.regions[0];
        let value = self.puts.to_string();
        support::put(client, region, "bystander", &value).unwrap();
        let row = support::get(client, region, "bystander").unwrap();
        assert_eq!(row.value("cf", "q").unwrap(), value);
    }
}

/// Formats a response without run-specific parts and without HBase's package.
fn formatted(response: Response) -> String {
    let call = match response.call_id {
        FATAL_CALL_ID => "fatal".to_owned(),
        id => format!("call {id}"),
    };
    match response.outcome {
        Ok(_) => format!("{call}: answered"),
        Err(exception) => {
            let retry = if exception.do_not_retry { "do not retry" } else { "retry" };
            let class = exception.class.replace("org.apache.hadoop.hbase.", "");
            format!("{call}, {retry}: {class}: {}", mask(&exception.message))
        }
    }
}

fn with_opening(service: Service, calls: &[u8]) -> BytesMut {
    let mut bytes = BytesMut::new();
    support::head(service).encode_opening(&mut bytes);
    bytes.put_slice(calls);
    bytes
}

fn mask(message: &str) -> String {
    static NAMES: LazyLock<[(Regex, &str); 3]> = LazyLock::new(|| {
        [
            (r"127\.0\.0\.1,\d+,\d+", "SERVER"),
            (r"127\.0\.0\.1:\d+", "CLIENT"),
            (r",1\d{12}\.[0-9a-f]{32}\.", ",ID.HASH."),
        ]
        .map(|(pattern, called)| (Regex::new(pattern).unwrap(), called))
    });
    NAMES.iter().fold(message.to_owned(), |message, (pattern, called)| {
        pattern.replace_all(&message, *called).into_owned()
    })
}

/// Builds a request frame from the given parts.
pub(crate) fn frame(header: &proto::RequestHeader, message: &[u8], cells: &[u8]) -> Bytes {
    let mut body = BytesMut::new();
    header.encode_length_delimited(&mut body).unwrap();
    prost::encode_length_delimiter(message.len(), &mut body).unwrap();
    body.put_slice(message);
    body.put_slice(cells);
    let mut bytes = BytesMut::new();
    bytes.put_u32(body.len() as u32);
    bytes.put_slice(&body);
    bytes.freeze()
}

/// Returns the header for call 7.
pub(crate) fn header(method: &str) -> proto::RequestHeader {
    proto::RequestHeader {
        call_id: Some(7),
        method_name: Some(method.to_owned()),
        request_param: Some(true),
        ..Default::default()
    }
}
