//! Malformed connection setups.

use bytes::{BufMut, BytesMut};
use expect_test::expect;
use prost::Message;
use rowhouse_format::proto;
use rowhouse_format::rpc::Service;

use crate::scene::Scene;
use crate::support::{self, Client};

/// Returns the preamble and the connection header.
fn opening(header: &proto::ConnectionHeader) -> BytesMut {
    let mut bytes = BytesMut::from("HBas\0\x50");
    bytes.put_u32(header.encoded_len() as u32);
    header.encode(&mut bytes).unwrap();
    bytes
}

fn header(service: &str) -> proto::ConnectionHeader {
    proto::ConnectionHeader { service_name: Some(service.into()), ..Default::default() }
}

#[test]
fn rubbish_instead_of_a_preamble_is_refused() {
    let mut scene = Scene::new();
    scene.check(b"\x93\x0c\xf1\x07\x55\xaa\x00\xff\x10", &expect![[r#"fatal, do not retry: ipc.FatalConnectionException: Expected HEADER=HBas but received HEADER=\x93\x0C\xF1\x07 from CLIENT"#]]);
    scene.check(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", &expect!["fatal, do not retry: ipc.FatalConnectionException: Expected HEADER=HBas but received HEADER=GET  from CLIENT"]);
    let tls_hello = b"\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03";
    scene.check(tls_hello, &expect![[r#"fatal, do not retry: ipc.FatalConnectionException: Expected HEADER=HBas but received HEADER=\x16\x03\x01\x00 from CLIENT"#]]);
    scene.check(&[0; 64], &expect![[r#"fatal, do not retry: ipc.FatalConnectionException: Expected HEADER=HBas but received HEADER=\x00\x00\x00\x00 from CLIENT"#]]);
}

#[test]
fn preambles_of_other_versions_and_logins_are_refused() {
    let mut scene = Scene::new();
    scene.check(b"HBas\x01\x50", &expect!["fatal, do not retry: ipc.WrongVersionException: serverVersion=0, clientVersion=1, authMethod=80, authName=unknown from CLIENT"]);
    scene.check(b"HBas\x00\x53", &expect!["fatal, do not retry: ipc.BadAuthException: serverVersion=0, clientVersion=0, authMethod=83, authName=unknown from CLIENT"]);
    scene.check(b"HBas\x00\x00", &expect!["fatal, do not retry: ipc.BadAuthException: serverVersion=0, clientVersion=0, authMethod=0, authName=unknown from CLIENT"]);
    scene.check_leaving(
        b"Securi",
        &expect!["fatal, retry: ipc.SecurityNotEnabledException: security is not enabled"],
    );
}

#[test]
fn connection_headers_with_unknown_features_are_refused() {
    let mut scene = Scene::new();
    scene.check(&opening(&header("NopeService")), &expect!["fatal, do not retry: ipc.FatalConnectionException: UnknownServiceException: NopeService"]);
    scene.check(
        &opening(&proto::ConnectionHeader::default()),
        &expect!["fatal, do not retry: ipc.FatalConnectionException: EmptyServiceNameException"],
    );
    let codec = Some("org.example.NopeCodec".to_owned());
    let unknown_codec =
        proto::ConnectionHeader { cell_block_codec_class: codec, ..header("ClientService") };
    scene.check(
        &opening(&unknown_codec),
        &expect!["fatal, do not retry: ipc.UnsupportedCellCodecException: org.example.NopeCodec"],
    );
    let compressed = proto::ConnectionHeader {
        cell_block_codec_class: Some("org.apache.hadoop.hbase.codec.KeyValueCodec".into()),
        cell_block_compressor_class: Some("org.apache.hadoop.io.compress.GzipCodec".into()),
        ..header("ClientService")
    };
    scene.check(&opening(&compressed), &expect!["fatal, do not retry: ipc.UnsupportedCompressionCodecException: org.apache.hadoop.io.compress.GzipCodec"]);
    scene.check(b"HBas\0\x50\0\0\0\x03\xff\xff\xff", &expect!["fatal, do not retry: ipc.FatalConnectionException: connection header: malformed message: failed to decode Protobuf message: invalid varint, len=3"]);
    scene.check(b"HBas\0\x50\x7f\xff\xff\xff", &expect!["closed"]);
    scene.check(b"HBas\0\x50\xff\xff\xff\xff", &expect!["closed"]);
}

#[test]
fn a_client_may_leave_at_any_byte() {
    let mut scene = Scene::new();
    let mut whole = BytesMut::new();
    support::head(Service::Client).encode_opening(&mut whole);
    whole.put_slice(b"\0\0\0\x10and no more");
    for len in 0..whole.len() {
        scene.check_leaving(&whole[..len], &expect![["closed"]]);
    }
}

#[test]
fn a_thousand_connections_come_and_go() {
    let mut scene = Scene::new();
    let mut opening = BytesMut::new();
    support::head(Service::Client).encode_opening(&mut opening);
    for number in 0..1000 {
        let mut client = Client::silent(scene.server.address());
        // Some send nothing, some close halfway through, some complete the opening.
        let len = opening.len() * (number % 3) / 2;
        client.send_bytes(&opening[..len]);
    }
    scene.check(b"HBas\x01\x50", &expect!["fatal, do not retry: ipc.WrongVersionException: serverVersion=0, clientVersion=1, authMethod=80, authName=unknown from CLIENT"]);
}
