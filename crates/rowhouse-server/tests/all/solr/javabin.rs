//! Answers in Solr's binary form, read by a separate reader.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::encoded;
use super::mails;

/// Reads version 2 of the form as SolrJ's `JavaBinCodec` does.
struct Reader<'a> {
    rest: &'a [u8],
    names: HashMap<usize, String>,
}

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.rest.split_first().unwrap();
        self.rest = rest;
        *first
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let (first, rest) = self.rest.split_at(N);
        self.rest = rest;
        first.try_into().unwrap()
    }

    fn variable(&mut self) -> u64 {
        let mut number = 0;
        let mut shift = 0;
        loop {
            let byte = self.byte();
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return number;
            }
        }
    }

    fn size(&mut self, tag: u8) -> usize {
        match tag & 0x1f {
            0x1f => 0x1f + self.variable() as usize,
            size => size.into(),
        }
    }

    fn small(&mut self, tag: u8) -> u64 {
        let low = u64::from(tag & 0x0f);
        if tag & 0x10 == 0 { low } else { self.variable() << 4 | low }
    }

    fn text(&mut self, size: usize) -> String {
        let (text, rest) = self.rest.split_at(size);
        self.rest = rest;
        String::from_utf8(text.to_vec()).unwrap()
    }

    fn name(&mut self) -> String {
        let tag = self.byte();
        assert_eq!(tag >> 5, 7, "a name is expected, not {tag}");
        match self.size(tag) {
            0 => {
                let tag = self.byte();
                assert_eq!(tag >> 5, 1, "a text is expected, not {tag}");
                let size = self.size(tag);
                let name = self.text(size);
                self.names.insert(self.names.len() + 1, name.clone());
                name
            }
            number => self.names[&number].clone(),
        }
    }

    fn value(&mut self) -> Value {
        let tag = self.byte();
        match tag >> 5 {
            1 => {
                let size = self.size(tag);
                return json!(self.text(size));
            }
            2 | 3 => return json!(self.small(tag)),
            4 => {
                let size = self.size(tag);
                return (0..size).map(|_| self.value()).collect();
            }
            5 | 6 => {
                let size = self.size(tag);
                let mut named = Map::new();
                for _ in 0..size {
                    let name = self.name();
                    named.insert(name, self.value());
                }
                return Value::Object(named);
            }
            _ => {}
        }
        match tag {
            0 => Value::Null,
            1 => json!(true),
            2 => json!(false),
            5 => json!(f64::from_be_bytes(self.bytes())),
            6 => json!(i32::from_be_bytes(self.bytes())),
            7 => json!(i64::from_be_bytes(self.bytes())),
            8 => json!(f32::from_be_bytes(self.bytes())),
            9 => json!({"millis": i64::from_be_bytes(self.bytes())}),
            11 => self.value(),
            12 => {
                let header = self.value();
                let documents = self.value();
                json!({"header": header, "docs": documents})
            }
            13 => {
                let size = self.variable() as usize;
                let (bytes, rest) = self.rest.split_at(size);
                self.rest = rest;
                json!({"bytes": bytes})
            }
            tag => panic!("an unknown tag: {tag}"),
        }
    }
}

fn read(bytes: &[u8]) -> Value {
    assert_eq!(bytes[0], 2);
    let mut reader = Reader { rest: &bytes[1..], names: HashMap::new() };
    let value = reader.value();
    assert!(reader.rest.is_empty());
    value
}

#[test]
fn binary_form_equals_json() {
    let mail = mails();
    let long = "分".repeat(100);
    mail.put(
        "zed",
        70_000,
        &[("body", &long), ("size", "4000000000"), ("id", "-9000000000000000000")],
    );
    mail.put("zed", 15, &[("body", "fifteen"), ("size", "16"), ("id", "9000000000000000000")]);
    let select = |query: &str| {
        let path = format!("/solr/mail/select?{}", encoded(query));
        let (status, head, body) = mail.send("GET", &path, "", "");
        assert!(head.contains("content-type: application/octet-stream"), "{head}");
        (status, read(&body))
    };
    let query =
        "q=*:*&sort=id asc&facet=true&facet.field=sender&facet.field=size&hl=true&hl.fl=body";
    let (status, binary) = select(&format!("{query}&wt=javabin&version=2"));
    let json = mail.run(query);
    assert_eq!(status, 200);
    assert_eq!(binary["responseHeader"]["status"], 0);
    assert_eq!(binary["responseHeader"]["params"]["wt"], "javabin");
    assert_eq!(binary["response"]["header"], json!([7, 0, null, true]));
    assert_eq!(binary["highlighting"], json["highlighting"]);
    let documents = binary["response"]["docs"].as_array().unwrap();
    let expected = json["response"]["docs"].as_array().unwrap();
    for (document, expected) in documents.iter().zip(expected) {
        let mut document = document.clone();
        if document["at"] != Value::Null {
            assert_eq!(document["at"], json!({"millis": 1_669_881_600_000_i64}));
            document["at"] = json!("2022-12-01T08:00:00Z");
        }
        assert_eq!(document, *expected);
    }
    assert_eq!(documents.len(), 7);
    assert_eq!(
        binary["facet_counts"]["facet_fields"]["sender"],
        json!({"eve": 2, "ann": 1, "bob": 1})
    );
    let (_, scored) = select("q=body:keys&fl=score&wt=javabin");
    let score = &scored["response"]["docs"][0]["score"];
    assert!(score.as_f64() > Some(0.0));
    assert_eq!(scored["response"]["header"][2], *score);
}

#[test]
fn errors_come_in_the_binary_form_too() {
    let mail = mails();
    let (status, _, body) = mail.send("GET", "/solr/mail/select?q=body:(&wt=javabin", "", "");
    let answer = read(&body);
    assert_eq!((status, &answer["error"]["code"]), (400, &json!(400)));
    assert!(answer["error"]["msg"].as_str().unwrap().contains("a word is missing"));
    let (status, _, body) = mail.send("GET", "/solr/none/admin/ping?wt=javabin", "", "");
    assert_eq!((status, &read(&body)["error"]["code"]), (404, &json!(404)));
}
