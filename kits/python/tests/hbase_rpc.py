"""A call of HBase's protocol in its own bytes."""

import socket
import struct


def _varint(number):
    encoded = b""
    while number > 127:
        encoded += bytes([number & 127 | 128])
        number >>= 7
    return encoded + bytes([number])


def _read_varint(message, at):
    number = shift = 0
    while True:
        number |= (message[at] & 127) << shift
        shift += 7
        at += 1
        if message[at - 1] < 128:
            return number, at


def _bytes_field(number, value):
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _delimited(message):
    return _varint(len(message)) + message


def _receive(connection, count):
    received = b""
    while len(received) < count:
        part = connection.recv(count - len(received))
        if not part:
            raise EOFError("the server closed the connection")
        received += part
    return received


def is_master_running(address):
    """Returns the answer of MasterService.IsMasterRunning, without its header."""
    with socket.create_connection(address, timeout=30) as connection:
        # Version 0, authentication SIMPLE (80); then a ConnectionHeader with the service.
        header = _bytes_field(2, b"MasterService")
        connection.sendall(b"HBas\x00\x50" + struct.pack(">I", len(header)) + header)
        # A RequestHeader with the call's number, its method, and that a message follows; the message is empty.
        header = _varint(1 << 3) + _varint(7) + _bytes_field(3, b"IsMasterRunning") + _varint(4 << 3) + b"\x01"
        request = _delimited(header) + _delimited(b"")
        connection.sendall(struct.pack(">I", len(request)) + request)
        (length,) = struct.unpack(">I", _receive(connection, 4))
        answer = _receive(connection, length)
    header_length, at = _read_varint(answer, 0)
    assert answer[at : at + header_length] == b"\x08\x07", "the header has the call's number and no exception"
    message_length, at = _read_varint(answer, at + header_length)
    assert at + message_length == len(answer)
    return answer[at:]
