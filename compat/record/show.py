#!/usr/bin/env python3
"""Print recorded conversations call by call.

usage: show.py [--calls] FILE.conv...        --calls: count the calls by service and method instead
"""
import collections
import pathlib
import signal
import struct
import sys


def main():
    arguments = sys.argv[1:]
    calls = collections.Counter() if arguments[:1] == ["--calls"] else None
    for path in arguments[1:] if calls is not None else arguments:
        role, runs = read(path)
        if calls is None:
            print(f"=== {path}")
        lines = zookeeper(runs) if role == "zookeeper" else rpc(runs)
        for name, text in lines:
            if calls is None:
                print(text)
            elif name:
                calls[role, name] += 1
    for (role, name), count in sorted((calls or {}).items()):
        print(f"{count:5}  {role:12}  {name}")


def read(path):
    """The role of the server and the runs [(direction, bytes)] of one fixture."""
    role, runs = None, []
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("# role "):
            role = line.split()[2]
        elif line[:1] in ("<", ">"):
            if not runs or runs[-1][0] != line[0]:
                runs.append((line[0], bytearray()))
            runs[-1][1].extend(bytes.fromhex(line[2:]))
    return role, runs


def frames(runs, preamble):
    """Split both directions into frames led by a 32-bit length; the client's stream starts with `preamble` bytes."""
    buffered = {">": bytearray(), "<": bytearray()}
    for direction, data in runs:
        buffer = buffered[direction]
        buffer.extend(data)
        if direction == ">" and preamble and len(buffer) >= preamble:
            yield direction, bytes(buffer[:preamble])
            del buffer[:preamble]
            preamble = 0
        while len(buffer) >= 4 and len(buffer) >= 4 + int.from_bytes(buffer[:4], "big"):
            length = int.from_bytes(buffer[:4], "big")
            yield direction, bytes(buffer[4:4 + length])
            del buffer[:4 + length]


# --- HBase RPC -----------------------------------------------------------------------------------------------------


def rpc(runs):
    service, methods, connected = "?", {}, False
    registry = runs[0][1][:6] == b"Regist"
    for direction, frame in frames(runs, 6):
        if direction == ">" and service == "?" and len(frame) == 6:
            service = "preamble"
            yield ("preamble " + (frame.decode("latin1") if registry else frame.hex()), f"> preamble {frame!r}")
        elif direction == ">" and not connected:
            connected, header = True, fields(frame)
            service = text_of(header, 2)
            yield None, f"> connection header\n{dump(frame, 1)}"
        elif direction == ">":
            header, rest = delimited(frame)
            header_fields = fields(header)
            call, method = number_of(header_fields, 1), text_of(header_fields, 3)
            methods[call] = f"{service}.{method}"
            param, rest = delimited(rest) if number_of(header_fields, 4) else (b"", rest)
            extra = " ".join(f"{name}={number_of(header_fields, field)}" for name, field in (("priority", 6), ("timeout", 7))
                             if field in header_fields)
            yield methods[call], f"> {call} {methods[call]} {extra}\n{dump(param, 1)}{cells(rest)}"
        else:
            header, rest = delimited(frame)
            header_fields = fields(header)
            call = number_of(header_fields, 1)
            call = call - (1 << 32) if call >= 1 << 31 else call
            if 2 in header_fields:
                exception = fields(header_fields[2][0])
                stack = text_of(exception, 2).splitlines()
                where = f" at {text_of(exception, 3)}:{number_of(exception, 4)}" if 3 in exception else ""
                yield None, (f"< {call} EXCEPTION {text_of(exception, 1)} do_not_retry={number_of(exception, 5)}"
                             f" overloaded={number_of(exception, 6)}{where}\n    {stack[0] if stack else ''}"
                             + f"\n    ({len(stack)} lines of stack)")
            else:
                body, rest = delimited(rest) if rest else (b"", b"")
                yield None, f"< {call} {methods.get(call, '')}\n{dump(body, 1)}{cells(rest)}"


def cells(block):
    """A cell block of KeyValueCodec: each cell led by its 32-bit length."""
    lines, at = [], 0
    while at + 4 <= len(block):
        length = int.from_bytes(block[at:at + 4], "big")
        key_length, value_length = struct.unpack(">II", block[at + 4:at + 12])
        key = block[at + 12:at + 12 + key_length]
        value = block[at + 12 + key_length:at + 12 + key_length + value_length]
        row_length = int.from_bytes(key[:2], "big")
        row, family_length = key[2:2 + row_length], key[2 + row_length]
        family = key[3 + row_length:3 + row_length + family_length]
        qualifier = key[3 + row_length + family_length:-9]
        timestamp, kind = int.from_bytes(key[-9:-1], "big"), key[-1]
        tags = length - 8 - key_length - value_length
        lines.append(f"    cell {quote(row)} {quote(family)}:{quote(qualifier)} {timestamp} kind={kind} "
                     f"{value[:200].hex() or '-'}" + (f" tags={tags} bytes" if tags else "") + "\n")
        at += 4 + length
    return "".join(lines)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def delimited(data):
    length, at = varint(data, 0)
    return data[at:at + length], data[at + length:]


def entries(data):
    """The (field, value) pairs of a protobuf message; ValueError or IndexError when the bytes are none."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        field, wire = tag >> 3, tag & 7
        if field == 0 or field > 2000:
            raise ValueError
        if wire == 0:
            value, at = varint(data, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
            value, at = data[at:at + size], at + size
        elif wire == 2:
            length, at = varint(data, at)
            if at + length > len(data):
                raise ValueError
            value, at = data[at:at + length], at + length
        else:
            raise ValueError
        if at > len(data):
            raise ValueError
        yield field, value


def fields(data):
    found = {}
    for field, value in entries(data):
        found.setdefault(field, []).append(value)
    return found


def text_of(found, field):
    return found[field][0].decode("utf8", "replace") if field in found else ""


def number_of(found, field):
    return found[field][0] if field in found else 0


def dump(data, depth):
    """A protobuf message as field numbers and values; bytes that parse as a message are shown as one."""
    lines = []
    for field, value in entries(data):
        lead = "    " * depth + str(field)
        if isinstance(value, int):
            lines.append(f"{lead}: {value}\n")
            continue
        if value and not printable(value):
            try:
                lines.append(f"{lead} {{\n{dump(value, depth + 1)}{'    ' * depth}}}\n")
                continue
            except (ValueError, IndexError):
                pass
        lines.append(f"{lead}: {quote(value)}\n")
    return "".join(lines)


def printable(data):
    return all(0x20 <= byte < 0x7f for byte in data)


def quote(data):
    return "'" + "".join(chr(b) if 0x20 <= b < 0x7f and b != 0x5c else f"\\x{b:02x}" for b in data) + "'"


# --- ZooKeeper -----------------------------------------------------------------------------------------------------

OPERATIONS = {0: "connect", 1: "create", 3: "exists", 4: "getData", 8: "getChildren", 11: "ping", 12: "getChildren2",
              -11: "closeSession", 100: "auth", 101: "setWatches", 105: "setWatches2"}


def zookeeper(runs):
    greeted = {">": False, "<": False}
    for direction, frame in frames(runs, 0):
        if not greeted[direction]:
            greeted[direction] = True
            yield ("connect" if direction == ">" else None), f"{direction} connect {frame.hex()}"
        elif direction == ">":
            xid, kind = struct.unpack(">ii", frame[:8])
            name = OPERATIONS.get(kind, str(kind))
            path = frame[12:12 + int.from_bytes(frame[8:12], "big")].decode() if kind in (3, 4, 8, 12) else ""
            yield f"{name} {path}".strip(), f"> xid={xid} {name} {path} {frame.hex()}"
        else:
            xid, zxid, error = struct.unpack(">iqi", frame[:16])
            yield None, f"< xid={xid} zxid={zxid} error={error} {frame[16:].hex()}"


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # so that "show.py … | head" ends quietly
    main()
