//! Connections: malformed input, large messages, several calls at once, the user.

use std::io::{Read, Write};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use rowhouse_format::thrift::{
    Args, BatchMutation, Carriage, MessageKind, Method, Mutation, Protocol, Type,
};

use super::client::{CARRIAGES, ThriftClient, message};
use super::{connect, server};

/// Sends bytes and returns everything that comes until the server closes the connection.
fn answered(server: &crate::support::TestServer, bytes: &[u8]) -> Vec<u8> {
    let mut client = connect(server);
    client.socket.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    client.socket.read_to_end(&mut answer).unwrap();
    answer
}

#[test]
fn input_that_is_no_message_ends_the_connection_and_no_other() {
    let server = server(|_| {});
    let mut other = connect(&server);
    for input in [
        &b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..],
        b"HBas\0\x50",
        b"\x80\x02\0\x01\0\0\0\x03get\0\0\0\x01\0",
        b"\x82\x22\x01\x03get\0",
        // A frame above 100 MiB, and one that claims to be long and has another length inside.
        b"\x06\x50\0\0\x80\x01\0\x01",
        b"\0\0\0\x04\x80\x01\0\x01",
        // A name longer than the limit.
        b"\x80\x01\0\x01\x7F\xFF\xFF\xFF",
    ] {
        assert_eq!(answered(&server, input), b"", "{input:?}");
    }
    assert_eq!(other.call(Method::GetTableNames, &Args::default()), "reply {0: []}");
}

#[test]
fn malformed_arguments_are_answered_and_end_the_connection() {
    let server = server(|_| {});
    for carriage in CARRIAGES {
        let mut client = ThriftClient::connect(server.thrift(), carriage);
        client.send("getRows", MessageKind::Call, |writer| {
            writer.structure(|writer| {
                writer.field(2, Type::List);
                writer.list(Type::Binary, i32::MAX as usize);
            });
        });
        let answer = client.answer().unwrap();
        assert!(answer.starts_with("exception {1: \"message too long: "), "{answer}");
        assert!(answer.ends_with("\", 2: 7}"), "{answer}");
        assert_eq!(client.answer(), None);
        // A list of numbers in place of texts is a message, and is no call.
        let mut client = ThriftClient::connect(server.thrift(), carriage);
        client.send("getRows", MessageKind::Call, |writer| {
            writer.structure(|writer| {
                writer.field(2, Type::List);
                writer.list(Type::I64, 1);
                writer.i64(1);
            });
        });
        let answer = client.answer().unwrap();
        assert!(answer.contains("an element has another type"), "{answer}");
        assert_eq!(client.call(Method::GetTableNames, &Args::default()), "reply {0: []}");
    }
}

#[test]
fn messages_that_are_no_calls_of_the_interface_are_refused() {
    let server = server(|_| {});
    let mut client = connect(&server);
    client.send("nosuch", MessageKind::Call, |writer| {
        writer.structure(|writer| {
            writer.field(1, Type::Binary);
            writer.bytes(b"skipped");
        });
    });
    let unknown = "exception {1: \"Invalid method name: 'nosuch'\", 2: 1}";
    assert_eq!(client.answer().as_deref(), Some(unknown));
    client.send("getRow", MessageKind::Oneway, |writer| writer.structure(|_| {}));
    let answer = client.answer();
    assert_eq!(answer.as_deref(), Some("exception {1: \"not a call: Oneway\", 2: 2}"));
    let args = Args {
        table: Some("t".into()),
        row: Some(vec![b'r'; 300 << 10].into()),
        ..Args::default()
    };
    let answer = client.call(Method::GetRow, &args);
    let text = "exception {1: \"message too long for getRow: len=307";
    assert!(answer.starts_with(text) && answer.contains("max=262144\", 2: 7"), "{answer}");
    assert_eq!(client.call(Method::GetTableNames, &Args::default()), "reply {0: []}");
}

fn row_of(value: &Bytes, row: usize) -> BatchMutation {
    let column =
        Mutation { column: Some("d:v".into()), value: Some(value.clone()), ..Mutation::default() };
    BatchMutation { row: Some(format!("{row:04}").into()), mutations: Some(vec![column]) }
}

#[test]
fn batches_larger_than_the_call_memory_are_written_one_after_the_other() {
    let server = server(|options| {
        options.call_memory_bytes = 8 << 20;
        options.connection_memory_bytes = 4 << 20;
    });
    server.create_table("t", &["d"], &[b"0050"]);
    let address = server.thrift();
    let value = Bytes::from(vec![b'v'; 100 << 10]);
    std::thread::scope(|scope| {
        for (number, carriage) in CARRIAGES.into_iter().enumerate() {
            let value = value.clone();
            scope.spawn(move || {
                let mut client = ThriftClient::connect(address, carriage);
                // 10 MB each.
                let rows = (0..100).map(|row| row_of(&value, 100 * number + row));
                let args = Args {
                    table: Some("t".into()),
                    batches: Some(rows.collect()),
                    ..Args::default()
                };
                assert_eq!(client.call(Method::MutateRows, &args), "reply {}");
            });
        }
    });
    let mut client = connect(&server);
    let args = Args {
        table: Some("t".into()),
        rows: Some(vec!["0000".into(), "0399".into(), "0400".into()]),
        ..Args::default()
    };
    let answer = client.call(Method::GetRows, &args);
    assert_eq!(answer.matches("{1: \"0").count(), 2);
    assert_eq!(answer.matches('v').count(), 2 * value.len() + 2);
}

#[test]
fn calls_sent_without_waiting_are_answered_in_order() {
    let server = server(|_| {});
    server.create_table("t", &["d"], &[]);
    let carriage = Carriage { protocol: Protocol::Binary, is_framed: true };
    let mut client = ThriftClient::connect(server.thrift(), carriage);
    let mut input = BytesMut::new();
    for row in 0..200 {
        let args = Args {
            table: Some("t".into()),
            row: Some("counter".into()),
            column: Some("d:n".into()),
            amount: Some(row),
            ..Args::default()
        };
        let name = Method::AtomicIncrement.name();
        input.put(message(carriage, name, MessageKind::Call, |writer| {
            args.write(Method::AtomicIncrement, writer);
        }));
    }
    client.socket.write_all(&input).unwrap();
    let mut total = 0;
    for row in 0..200 {
        total += row;
        assert_eq!(client.answer().unwrap(), format!("reply {{0: {total}}}"));
    }
}

#[test]
fn a_message_may_come_byte_by_byte() {
    let server = server(|_| {});
    for carriage in CARRIAGES {
        let mut client = ThriftClient::connect(server.thrift(), carriage);
        let name = Method::IsTableEnabled.name();
        let args = Args { table: Some("nosuch".into()), ..Args::default() };
        let bytes = message(carriage, name, MessageKind::Call, |writer| {
            args.write(Method::IsTableEnabled, writer);
        });
        for byte in &bytes {
            client.socket.write_all(&[*byte]).unwrap();
            std::thread::sleep(Duration::from_micros(200));
        }
        assert!(client.answer().unwrap().contains("TableNotFoundException: nosuch"));
    }
}

#[test]
fn all_calls_are_made_as_one_user() {
    use prost::Message;
    use rowhouse_format::proto;
    use rowhouse_format::rpc::Service;

    let server = server(|options| {
        options.thrift_user = Some("web".into());
        options.slow_call = Duration::ZERO;
    });
    server.create_table("t", &["d"], &[]);
    let args = Args { table: Some("t".into()), row: Some("r".into()), ..Args::default() };
    assert_eq!(connect(&server).call(Method::GetRow, &args), "reply {0: []}");
    let request = proto::SlowLogResponseRequest {
        user_name: Some("web".into()),
        table_name: Some("t".into()),
        ..Default::default()
    };
    let request = proto::LogRequest {
        log_class_name: "x.AdminProtos$SlowLogResponseRequest".into(),
        log_message: request.encode_to_vec().into(),
    };
    let mut admin = server.connect(Service::Admin);
    let entry = admin.raw::<_, proto::LogEntry>("GetLogEntries", &request).unwrap();
    let entries = proto::SlowLogResponses::decode(entry.log_message).unwrap().slow_log_payloads;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].method_name, "Get");
}

#[test]
fn a_server_stops_beside_open_connections() {
    let server = server(|_| {});
    let mut idle = connect(&server);
    let mut within = connect(&server);
    within.socket.write_all(b"\x80\x01\0\x01\0\0\0\x06getRow").unwrap();
    idle.call(Method::GetTableNames, &Args::default());
    server.stop();
    assert_eq!(idle.answer(), None);
    assert_eq!(within.answer(), None);
}
