//! A blocking client of Thrift 1.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use rowhouse_format::thrift::{
    Args, Carriage, Extent, MessageHead, MessageKind, Method, Protocol, Writer,
};

use super::text;

/// All ways in which messages come.
pub(super) const CARRIAGES: [Carriage; 4] = [
    Carriage { protocol: Protocol::Binary, is_framed: false },
    Carriage { protocol: Protocol::Binary, is_framed: true },
    Carriage { protocol: Protocol::Compact, is_framed: false },
    Carriage { protocol: Protocol::Compact, is_framed: true },
];

pub(super) struct ThriftClient {
    pub(super) socket: TcpStream,
    carriage: Carriage,
}

impl ThriftClient {
    pub(super) fn connect(address: SocketAddr, carriage: Carriage) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        // A server that does not answer fails the test.
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        socket.set_nodelay(true).unwrap();
        Self { socket, carriage }
    }

    /// Makes a call and returns the answer as text.
    pub(super) fn call(&mut self, method: Method, args: &Args) -> String {
        self.send(method.name(), MessageKind::Call, |writer| args.write(method, writer));
        self.answer().unwrap()
    }

    /// Sends a message whose fields `body` writes.
    pub(super) fn send(
        &mut self,
        name: &str,
        kind: MessageKind,
        body: impl FnOnce(&mut Writer<'_>),
    ) {
        let message = message(self.carriage, name, kind, body);
        self.socket.write_all(&message).unwrap();
    }

    /// Reads an answer as text; `None` if the server has closed the connection.
    pub(super) fn answer(&mut self) -> Option<String> {
        let answer = self.answer_bytes()?;
        Some(text::answer(answer, self.carriage.protocol))
    }

    fn answer_bytes(&mut self) -> Option<Bytes> {
        if self.carriage.is_framed {
            let mut len = [0; 4];
            self.socket.read_exact(&mut len).ok()?;
            let mut frame = vec![0; u32::from_be_bytes(len) as usize];
            self.socket.read_exact(&mut frame).ok()?;
            return Some(frame.into());
        }
        let mut bytes = Vec::new();
        let mut extent = Extent::new(self.carriage.protocol);
        while extent.pass(&bytes).unwrap().is_none() {
            let mut byte = [0; 4096];
            // An answer is the last thing that the server has sent.
            match self.socket.read(&mut byte).ok()? {
                0 => return None,
                read => bytes.extend_from_slice(&byte[..read]),
            }
        }
        let len = extent.pass(&bytes).unwrap()?;
        assert_eq!(len, bytes.len(), "more than one answer");
        Some(bytes.into())
    }
}

/// Encodes a message.
pub(super) fn message(
    carriage: Carriage,
    name: &str,
    kind: MessageKind,
    body: impl FnOnce(&mut Writer<'_>),
) -> BytesMut {
    let mut message = BytesMut::new();
    let mut writer = Writer::new(&mut message, carriage.protocol);
    writer.head(&MessageHead { name: name.into(), kind, sequence: 7 });
    body(&mut writer);
    if !carriage.is_framed {
        return message;
    }
    let mut framed = BytesMut::new();
    framed.put_u32(message.len() as u32);
    framed.put_slice(&message);
    framed
}
