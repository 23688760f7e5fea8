//! Calls that Apache HBase 2.6.1's gateway was recorded with (`compat/rest/calls.py`), and this
//! server's answers.

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::{Answer, send, server};

/// Where Apache's gateway hides what is wrong with a request, or misses a part of it: the status
/// here.
const DIFFERENT: [(&str, u16); 4] =
    [("/s/*?limit=x", 400), ("/s/*?maxversions=0", 400), ("/r/a0?v=0", 400), ("/r/e4", 400)];
/// Answers whose content is the server's own: versions, loads, numbers of regions.
const OWN: [&str; 3] = ["/version", "/status/cluster", "/t1/regions"];

/// A recorded call.
struct Call {
    line: Value,
}

impl Call {
    fn text(&self, name: &str) -> &str {
        self.line[name].as_str().unwrap()
    }

    fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        if let Some(text) = self.line[format!("{name}_b64")].as_str() {
            return Some(STANDARD.decode(text).unwrap());
        }
        self.line[name].as_str().map(|text| text.as_bytes().to_vec())
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.line["answer_headers"][name].as_str()
    }

    /// Returns how the answer differs from Apache's.
    fn difference(&self, answer: &Answer) -> Option<String> {
        let path = self.text("path");
        let status = self.line["status"].as_u64().unwrap() as u16;
        if DIFFERENT.contains(&(path, answer.status)) {
            return None;
        }
        // Apache's gateway fails with 500 where the request is at fault.
        let is_fault = status == 500 && [400, 404].contains(&answer.status);
        if answer.status != status && !is_fault {
            return Some(format!("status {}, not {status}", answer.status));
        }
        let expected = self.bytes("answer").unwrap_or_default();
        if status >= 400 {
            // Pages of Java's web server, and stack traces, are its own.
            let has_text = self.header("content-type") == Some("text/plain");
            let first = |body: &[u8]| {
                let text = String::from_utf8_lossy(body).into_owned();
                text.lines().next().unwrap_or_default().to_owned()
            };
            let (first, expected) = (first(&answer.body), first(&expected));
            let differs = has_text && [400, 403, 404, 410].contains(&status) && first != expected;
            return differs.then(|| format!("text {first:?}, not {expected:?}"));
        }
        for name in ["content-type", "x-timestamp", "x-row", "x-column"] {
            let (value, expected) = (answer.header(name), self.header(name));
            let is_now = value.is_some_and(is_now);
            if value != expected && !is_now {
                return Some(format!("{name} {value:?}, not {expected:?}"));
            }
        }
        let media = self.header("content-type").unwrap_or_default();
        let body = comparable(path, media, &answer.body);
        let expected = comparable(path, media, &expected);
        (body != expected).then(|| format!("\n  answer {body}\n  not    {expected}"))
    }
}

/// Returns true for the server's time.
fn is_now(text: &str) -> bool {
    text.len() == 13 && text.starts_with('1') && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns a body without what differs between servers: the order of attributes, hosts, and the
/// server's time.
fn comparable(path: &str, media: &str, body: &[u8]) -> String {
    if OWN.iter().any(|own| path.starts_with(own)) {
        return String::new();
    }
    let is_schema = path.ends_with("/schema");
    let text = String::from_utf8_lossy(body).into_owned();
    match media {
        "application/json" if !text.is_empty() => {
            let mut value: Value = serde_json::from_str(&text).unwrap();
            normalize(&mut value);
            value.to_string()
        }
        "text/xml" => text.split('<').map(tag).collect::<Vec<_>>().join("<"),
        "application/x-protobuf" if is_schema => {
            // The attributes come in the order of a hash table, or of their names.
            let mut bytes = body.to_vec();
            bytes.sort_unstable();
            format!("{bytes:?}")
        }
        "text/plain" if is_schema => {
            let mut words: Vec<_> = text.split([' ', ',']).collect();
            words.sort_unstable();
            words.join(" ")
        }
        "text/plain" => match text.find("/namespaces") {
            Some(at) => text[at..].to_owned(),
            None => text,
        },
        "application/x-protobuf" | "application/protobuf" | "application/octet-stream" => {
            format!("{body:?}")
        }
        _ => text,
    }
}

/// Sorts a tag's attributes.
fn tag(tag: &str) -> String {
    let (head, rest) = tag.split_once('>').unwrap_or((tag, ""));
    let mut attributes: Vec<_> = head
        .split(' ')
        .map(|attribute| {
            let time = attribute.strip_prefix("timestamp=\"").and_then(|it| it.strip_suffix('"'));
            if time.is_some_and(is_now) {
                "timestamp=\"now\""
            } else {
                attribute.trim_end_matches('/')
            }
        })
        .collect();
    attributes.retain(|attribute| !attribute.starts_with("hbase.store.file-tracker"));
    if let Some((_, attributes)) = attributes.split_first_mut() {
        attributes.sort_unstable();
    }
    format!("{}>{rest}", attributes.join(" "))
}

/// Sorts an object's fields, and replaces the server's time.
fn normalize(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(normalize),
        Value::Object(fields) => {
            // What HBase drops when a schema is replaced.
            fields.remove("hbase.store.file-tracker.impl");
            for (name, value) in fields.iter_mut() {
                if name == "timestamp" && is_now(&value.to_string()) {
                    *value = "now".into();
                }
                normalize(value);
            }
            let mut sorted: Vec<_> = std::mem::take(fields).into_iter().collect();
            sorted.sort_by(|(a, _), (b, _)| a.cmp(b));
            fields.extend(sorted);
        }
        _ => {}
    }
}

#[test]
fn recorded_calls_are_answered_as_by_apaches_gateway() {
    let (_server, rest) = server();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../compat/rest/recorded.jsonl");
    let recorded = fs::read_to_string(path).unwrap();
    let mut scanner = String::new();
    let mut differences = Vec::new();
    let mut count = 0;
    for line in recorded.lines() {
        let call = Call { line: serde_json::from_str(line).unwrap() };
        let headers = call.line["headers"].as_object().unwrap().iter();
        let headers = headers.map(|(name, value)| format!("{name}: {}", value.as_str().unwrap()));
        let headers: Vec<_> = headers.collect();
        let headers: Vec<_> = headers.iter().map(|header| &header[..]).collect();
        let path = call.text("path").replace("{scanner}", &scanner);
        let body = call.bytes("body").unwrap_or_default();
        let answer = send(rest, call.text("method"), &path, &headers, &body);
        if let Some((_, id)) = answer.header("location").and_then(|it| it.split_once("/scanner/")) {
            scanner = id.to_owned();
        }
        if let Some(difference) = call.difference(&answer) {
            let body = String::from_utf8_lossy(&body).into_owned();
            differences
                .push(format!("{} {path} {headers:?} {body}\n  {difference}", call.text("method")));
        }
        count += 1;
    }
    assert!(count > 800, "{count}");
    assert!(
        differences.is_empty(),
        "{} of {count}:\n{}",
        differences.len(),
        differences.join("\n")
    );
}
