//! The calls that Apache's gateway has answered (`compat/thrift/record.py`), here.

use bytes::Bytes;
use rowhouse_format::thrift::{Args, Carriage, MessageKind, Method, Protocol, Reader};

use super::client::{CARRIAGES, ThriftClient};
use super::server;

/// A call and Apache's answer.
struct Recorded {
    /// The call as text.
    text: &'static str,
    name: &'static str,
    /// The arguments in the binary protocol.
    args: Bytes,
    answer: &'static str,
}

fn recorded() -> Vec<Recorded> {
    let lines: Vec<&str> =
        include_str!("calls.txt").lines().filter(|line| !line.starts_with('#')).collect();
    let calls = lines.chunks_exact(3).map(|lines| {
        let hex = lines[1].strip_prefix("> ").unwrap().as_bytes();
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
        Recorded {
            text: lines[0],
            name: lines[0].split(' ').next().unwrap(),
            args: hex.chunks(2).map(byte).collect(),
            answer: lines[2].strip_prefix("< ").unwrap(),
        }
    });
    calls.collect()
}

/// What HBase adds to a message about settings that are not here.
const HINT: &str = " Set hbase.table.sanity.checks to false at conf or table descriptor if you want \
                    to bypass sanity checks";

/// Apache's gateway does not say why a call has failed inside.
fn without_reason(answer: &str) -> String {
    match answer.strip_prefix("exception {1: \"Internal error processing ") {
        Some(rest) => {
            let name = rest.split([':', '"']).next().unwrap();
            format!("exception {{1: \"Internal error processing {name}\", 2: 6}}")
        }
        None => answer.to_owned(),
    }
}

fn replay(carriage: Carriage) {
    let server = server(|_| {});
    let mut client = ThriftClient::connect(server.thrift(), carriage);
    let mut differing = Vec::new();
    let calls = recorded();
    assert!(calls.len() > 400);
    for call in &calls {
        let answer = match Method::from_name(call.name) {
            Some(method) => {
                let mut reader = Reader::new(call.args.clone(), Protocol::Binary);
                client.call(method, &Args::read(method, &mut reader).unwrap())
            }
            None => {
                client.send(call.name, MessageKind::Call, |writer| writer.structure(|_| {}));
                client.answer().unwrap()
            }
        };
        if without_reason(&answer) != call.answer.replace(HINT, "") {
            differing.push(format!("{}\n  {}\n  {answer}", call.text, call.answer));
        }
    }
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
}

#[test]
fn recorded_calls_are_answered_as_by_apaches_gateway() {
    replay(CARRIAGES[0]);
}

#[test]
fn recorded_calls_are_answered_alike_in_both_protocols_and_with_frames() {
    CARRIAGES[1..].iter().for_each(|carriage| replay(*carriage));
}
