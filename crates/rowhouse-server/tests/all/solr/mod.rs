//! Solr's select handler over full-text indexes.

mod javabin;
mod requests;
mod searches;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use rowhouse_format::proto;
use rowhouse_format::rpc::Service;
use rowhouse_model::{FamilyDescriptor, Put, RegionInfo, TableDescriptor, TableName};
use rowhouse_schema::{ColumnSchema, KeySchema, Time};
use rowhouse_server::{Options, WebPort};
use serde_json::Value;

use crate::support::{self, TestServer};

const KEY: &str = "[user string][n u32]";
const COLUMNS: &str = "d:b body string; d:t title string; d:s sender string; d:z size u32; \
                       d:a at millis; d:n note string; d:i id i64; t:[tag text] tagged u8";
const INDEX: &str = "text search body english chinese, title simple, sender keyword, size, at, id, \
                     tagged.tag keyword";

/// A server with the table `mail`.
struct Mail {
    server: TestServer,
    web: SocketAddr,
    regions: Vec<RegionInfo>,
}

impl Mail {
    fn start() -> Self {
        Self::start_with(|_| {})
    }

    fn start_with(set: impl FnOnce(&mut Options)) -> Self {
        let server = TestServer::start_with(|options| {
            options.web = WebPort::At("127.0.0.1:0".into());
            set(options);
        });
        create(&server);
        let web = server.web();
        let regions = server.regions("mail");
        Self { server, web, regions }
    }

    /// Puts a mail: user and number, and columns by their names.
    fn put(&self, user: &str, n: u32, columns: &[(&str, &str)]) {
        let key = KeySchema::parse(KEY).unwrap();
        let schema = ColumnSchema::parse(COLUMNS).unwrap();
        let row = key.encode(&[("user", user.into()), ("n", n.into())]).unwrap();
        let mut put = Put::new(row.clone()).unwrap();
        for (name, text) in columns {
            let cell = match *name {
                "tagged" => schema.encode_with("tagged", &[("tag", (*text).into())], 1).unwrap(),
                name => {
                    let value = schema.column(name).unwrap().parse_value(text).unwrap();
                    schema.encode(name, value).unwrap()
                }
            };
            put = put.add(cell.family, cell.qualifier, cell.value).unwrap();
        }
        let region = self.regions.iter().find(|region| region.range.contains(&row)).unwrap();
        support::mutate(&mut self.server.client(), region, put).unwrap();
    }

    /// Returns the answer to a query string, which may hold spaces and the like.
    fn run(&self, query: &str) -> Value {
        let (status, body) = self.get(query);
        assert_eq!(status, 200, "{query}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    fn get(&self, query: &str) -> (u16, String) {
        let (status, _, body) =
            self.send("GET", &format!("/solr/mail/select?{}", encoded(query)), "", "");
        (status, String::from_utf8(body).unwrap())
    }

    /// Returns the error's message and code.
    fn refused(&self, query: &str) -> (String, u16) {
        let (status, body) = self.get(query);
        let answer: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(answer["error"]["code"], status, "{query}: {body}");
        assert_eq!(answer["responseHeader"]["status"], status, "{query}: {body}");
        (answer["error"]["msg"].as_str().unwrap().to_owned(), status)
    }

    /// Returns the found documents' keys, as `user` and `n`.
    fn rows(&self, query: &str) -> Vec<String> {
        let answer = self.run(&format!("{query}&fl=user,n"));
        let documents = answer["response"]["docs"].as_array().unwrap();
        let shown =
            |document: &Value| format!("{}{}", document["user"].as_str().unwrap(), document["n"]);
        documents.iter().map(shown).collect()
    }

    /// As [`Mail::rows`], in key order.
    fn set(&self, query: &str) -> String {
        self.rows(&format!("q={query}&sort=id asc&rows=1000")).join(" ")
    }

    /// Sends a request and returns the status, the head and the body.
    fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, String, Vec<u8>) {
        let mut stream = TcpStream::connect(self.web).unwrap();
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head, answer[end + 4..].to_vec())
    }
}

/// Creates the table `mail`.
fn create(server: &TestServer) {
    let table = TableDescriptor::new(TableName::parse("mail").unwrap())
        .family(FamilyDescriptor::new("d").unwrap())
        .family(FamilyDescriptor::new("t").unwrap())
        .attribute("rowhouse.key", format!("1 {KEY}"))
        .attribute("rowhouse.columns", format!("1 {COLUMNS}"))
        .attribute("rowhouse.indexes", format!("1 {INDEX}"));
    let message = proto::CreateTableRequest {
        table_schema: rowhouse_format::convert::table::to_proto(&table),
        split_keys: vec!["m".into()],
        ..Default::default()
    };
    server.connect(Service::Master).call(&message).unwrap();
}

/// Encodes the values in a query string, and leaves `&` and the first `=` in each.
fn encoded(query: &str) -> String {
    let value = |text: &str| {
        let byte = |byte: u8| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        };
        text.bytes().map(byte).collect::<String>()
    };
    let pair = |pair: &str| {
        let (name, text) = pair.split_once('=').unwrap_or((pair, ""));
        format!("{}={}", value(name), value(text))
    };
    query.split('&').map(pair).collect::<Vec<_>>().join("&")
}

/// A few mails: bob 1–4, eve 1–2.
fn mails() -> Mail {
    let mail = Mail::start();
    let at = |text: &str| Time::parse(text).unwrap().to_string();
    mail.put(
        "bob",
        1,
        &[
            ("body", "Designing row keys for HBase"),
            ("title", "Row keys"),
            ("sender", "eve"),
            ("size", "10"),
            ("at", &at("2022-12-01T08:00")),
            ("id", "-5"),
            ("tagged", "new"),
            ("tagged", "work"),
        ],
    );
    mail.put("bob", 2, &[("body", "The row of the table"), ("sender", "ann"), ("size", "200")]);
    mail.put("bob", 3, &[("body", "行键设计 和 数据库"), ("title", "设计"), ("sender", "eve")]);
    mail.put("bob", 4, &[("note", "no field of the index")]);
    mail.put("eve", 1, &[("body", "keys keys keys"), ("size", "30"), ("tagged", "new")]);
    mail.put("eve", 2, &[("body", "Columns and families"), ("sender", "bob"), ("size", "10")]);
    mail
}
