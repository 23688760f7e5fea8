#!/usr/bin/env python3
"""Makes about 300 calls of Thrift 1, each as bytes of the binary protocol, and writes each with its answer as text:

    record.py HOST:PORT >FILE

Nothing of a Thrift library is used: Apache's server reads the calls, so they are right. Answers are written with their
field numbers, and without what differs between two runs: times of now, ids of regions, frames of stack traces.
`crates/rowhouse-server/tests/all/thrift/recorded.rs` makes the same calls and writes the answers in the same way.
"""

import re
import socket
import struct
import sys


class I32(int):
    pass


class I64(int):
    pass


class Struct(dict):
    """Fields by their numbers."""


def type_of(value):
    kinds = [(bool, 2), (I32, 8), (I64, 10), (bytes, 11), (Struct, 12), (dict, 13), (list, 15)]
    return next(number for kind, number in kinds if isinstance(value, kind))


def encode(value):
    if isinstance(value, bool):
        return struct.pack(">b", value)
    if isinstance(value, I32):
        return struct.pack(">i", value)
    if isinstance(value, I64):
        return struct.pack(">q", value)
    if isinstance(value, bytes):
        return struct.pack(">i", len(value)) + value
    if isinstance(value, Struct):
        fields = (struct.pack(">bh", type_of(it), number) + encode(it) for number, it in value.items() if it is not None)
        return b"".join(fields) + b"\0"
    if isinstance(value, dict):
        types = [type_of(next(iter(side), b"")) for side in (value.keys(), value.values())]
        pairs = (encode(key) + encode(it) for key, it in value.items())
        return struct.pack(">bbi", *types, len(value)) + b"".join(pairs)
    element = type_of(value[0]) if value else 11
    return struct.pack(">bi", element, len(value)) + b"".join(map(encode, value))


class Reader:
    def __init__(self, connection):
        self.connection = connection

    def take(self, count):
        taken = b""
        while len(taken) < count:
            more = self.connection.recv(count - len(taken))
            if not more:
                raise EOFError("the server closed the connection")
            taken += more
        return taken

    def number(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def text(self, kind):
        """Reads a value and returns its text."""
        if kind == 2:
            return str(self.number(">b") == 1).lower()
        if kind in (3, 8, 10):
            return str(self.number({3: ">b", 8: ">i", 10: ">q"}[kind]))
        if kind == 11:
            return quoted(self.take(self.number(">i")))
        if kind == 12:
            return "{" + ", ".join(self.fields()) + "}"
        if kind == 13:
            key, value, count = self.number(">b"), self.number(">b"), self.number(">i")
            return "{" + ", ".join(f"{self.text(key)}: {self.text(value)}" for _ in range(count)) + "}"
        if kind in (14, 15):
            element, count = self.number(">b"), self.number(">i")
            return "[" + ", ".join(self.text(element) for _ in range(count)) + "]"
        raise ValueError(kind)

    def fields(self):
        while kind := self.number(">b"):
            number = self.number(">h")
            yield f"{number}: {self.text(kind)}"

    def answer(self):
        kind = self.number(">i") & 0xFF
        self.take(self.number(">i") + 4)
        return {2: "reply ", 3: "exception "}[kind] + self.text(12)


def quoted(value):
    # A stack trace's first line is the exception.
    value = value.split(b"\n\tat ")[0].rstrip(b"\n")
    shown = (chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\x{byte:02x}" for byte in value)
    return '"' + "".join(shown) + '"'


MASKS = [
    (r'5: 1, 6: "[^"]*", 7: \d+', "5: 1, 6: HOST, 7: PORT"),
    # HBase adds the table's declaration.
    (r" in table '[^\"]*", ""),
    (r",\d{13}\.[0-9a-f]{32}\.", ",ID.MD5."),
    (r"\b1[6-9]\d{11}\b", "NOW"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID"),
]


def masked(text):
    for pattern, mask in MASKS:
        text = re.sub(pattern, mask, text)
    return text


def main():
    host, port = sys.argv[1].rsplit(":", 1)
    connection = socket.create_connection((host, int(port)))
    reader = Reader(connection)
    print("# Calls of Thrift 1 and the answers of Apache HBase's gateway 2.6.1: record.py")
    for number, (name, *args) in enumerate(calls(), 1):
        arguments = Struct(enumerate(args, 1))
        message = struct.pack(">Ii", 0x80010001, len(name)) + name.encode() + struct.pack(">i", number)
        connection.sendall(message + encode(arguments))
        print(name, masked(shown(arguments)))
        print(">", encode(arguments).hex())
        print("<", masked(reader.answer()))


def shown(value):
    if isinstance(value, Struct):
        return "{" + ", ".join(f"{number}: {shown(it)}" for number, it in value.items() if it is not None) + "}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{shown(key)}: {shown(it)}" for key, it in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(shown, value)) + "]"
    if isinstance(value, bytes):
        return quoted(value)
    return str(value).lower()


T, U, MISSING = b"blog", b"wide", b"missing"
NONE = {}


def family(name, versions=None, compression=None, memory=None, bloom=None, cache=None, ttl=None):
    number = None if versions is None else I32(versions)
    life = None if ttl is None else I32(ttl)
    return Struct({1: name, 2: number, 3: compression, 4: memory, 5: bloom, 8: cache, 9: life})


def put(column, value=None, log=None):
    return Struct({2: column, 3: value, 4: log})


def delete(column, log=None):
    return Struct({1: True, 2: column, 4: log})


def batch(row, *mutations):
    return Struct({1: row, 2: list(mutations)})


def scan(start=None, stop=None, time=None, columns=None, caching=None, text=None, size=None, order=None, back=None, cache=None):
    numbers = (None if it is None else kind(it) for kind, it in ((I64, time), (I32, caching), (I32, size)))
    time, caching, size = numbers
    return Struct({1: start, 2: stop, 3: time, 4: columns, 5: caching, 6: text, 7: size, 8: order, 9: back, 10: cache})


def increment(table, row, column, amount=1):
    return Struct({1: table, 2: row, 3: column, 4: I64(amount)})


def append(table, row, columns, values):
    return Struct({1: table, 2: row, 3: columns, 4: values})


class Scanners:
    """The numbers of scanners: both servers count from 0, in the order of opening."""

    def __init__(self):
        self.next = 0

    def __call__(self, open_call, *reads, closes=True):
        number = I32(self.next)
        self.next += 1
        yield open_call
        for count in reads:
            yield ("scannerGet", number) if count is None else ("scannerGetList", number, I32(count))
        if closes:
            yield ("scannerClose", number)


def calls():
    scanners = Scanners()
    yield from tables()
    yield from writes()
    yield from gets()
    yield from deletes()
    yield from counters()
    yield from conditions()
    yield from scans(scanners)
    yield from filters(scanners)
    yield from mistakes(scanners)
    yield from ends()


def tables():
    yield ("getThriftServerType",)
    yield ("getTableNames",)
    yield ("getTableNamesWithIsTableEnabled",)
    yield ("createTable", T, [family(b"d:", 3), family(b"e"), family(b"z:", 1, b"NONE", True, b"ROW", True, 86400)])
    yield ("createTable", T, [family(b"d:")])
    yield ("createTable", U, [family(b"a:", 5, b"GZ", False, b"ROWCOL", True, -1), family(b"a1:", 1)])
    yield ("createTable", b"none", [])
    yield ("createTable", b"bad", [family(b"f:", 1, b"FAST")])
    yield ("createTable", b"bad", [family(b"f:", 1, None, None, b"SOME")])
    yield ("createTable", b"bad", [family(b"")])
    yield ("createTable", b"bad", [family(None)])
    yield ("createTable", b"bad", [family(b"f:", 0)])
    yield ("createTable", b"bad name", [family(b"f:")])
    yield ("createTable", b"", [family(b"f:")])
    yield ("createTable", b"other:t", [family(b"f:")])
    yield ("createTable", b"two", [family(b"f:"), family(b"f:", 2)])
    yield ("createTable", b"snappy", [family(b"f:", 1, b"snappy")])
    for name in (T, U, b"none", b"snappy", MISSING, b"bad name"):
        yield ("getColumnDescriptors", name)
    yield ("getTableNames",)
    yield ("getTableNamesWithIsTableEnabled",)
    for name in (T, MISSING, b"hbase:meta"):
        yield ("getTableRegions", name)
    for name in (T, MISSING, b"bad name"):
        yield ("isTableEnabled", name)
    for name in (T, MISSING):
        yield ("enableTable", name)
    yield ("disableTable", b"snappy")
    yield ("disableTable", b"snappy")
    yield ("isTableEnabled", b"snappy")
    yield ("getTableNamesWithIsTableEnabled",)
    yield ("getRow", b"snappy", b"r", NONE)
    yield ("mutateRow", b"snappy", b"r", [put(b"f:a", b"1")], NONE)
    yield ("enableTable", b"snappy")
    yield ("getRow", b"snappy", b"r", NONE)
    yield ("deleteTable", b"snappy")
    yield ("disableTable", b"snappy")
    yield ("deleteTable", b"snappy")
    yield ("deleteTable", b"snappy")
    yield ("disableTable", MISSING)
    for name in ("compact", "majorCompact"):
        yield (name, T)
        yield (name, MISSING)
    yield ("getRegionInfo", b"blog,,99999999999999")
    yield ("getRegionInfo", b"a")
    yield ("getRegionInfo", b"wide,row,99999999999999")


def writes():
    for at in range(1, 6):
        yield ("mutateRowTs", T, b"versions", [put(b"d:a", b"v%d" % at), put(b"e:a", b"w%d" % at)], I64(at * 10), NONE)
    for at in range(10):
        columns = [put(b"d:n", b"%d" % at), put(b"d:text", b"row %d" % at), put(b"e:x", b"%d" % (at % 3))]
        yield ("mutateRowTs", T, b"row%d" % at, columns, I64(100 + at), NONE)
    yield ("mutateRow", T, b"now", [put(b"d:a", b"1"), put(b"d:b")], NONE)
    yield ("mutateRow", T, b"now", [put(b"d:", b"no qualifier"), put(b"d:a:b", b"colon"), put(b"d:\xff\x00", b"\x00\xff")], NONE)
    yield ("mutateRow", T, b"unlogged", [put(b"d:a", b"1", False)], NONE)
    yield ("mutateRow", T, b"\x00\xff", [put(b"d:a", b"binary row")], {})
    yield ("mutateRow", T, b"family", [put(b"d", b"1")], NONE)
    yield ("mutateRow", T, b"none", [], NONE)
    yield ("mutateRow", T, b"both", [put(b"d:a", b"1"), delete(b"d:a"), put(b"d:b", b"2")], NONE)
    yield ("mutateRowTs", T, b"both", [put(b"d:a", b"1"), delete(b"d:a"), put(b"d:b", b"2")], I64(50), NONE)
    yield ("mutateRow", T, b"brief", [put(b"d:a", b"1")], {b"_ttl": struct.pack(">q", 86400000)})
    yield ("mutateRow", T, b"noted", [put(b"d:a", b"1")], {b"note": b"mine"})
    rows = [batch(b"m%d" % at, put(b"d:a", b"%d" % at), put(b"e:b", b"x")) for at in range(5)]
    yield ("mutateRowsTs", T, rows, I64(200), NONE)
    yield ("mutateRows", T, [batch(b"m5", put(b"d:a", b"5")), batch(b"m6", put(b"d:a", b"6"), delete(b"e:b"))], NONE)
    yield ("mutateRows", T, [], NONE)
    yield ("mutateRows", T, [batch(b"m0")], NONE)
    yield ("mutateRowsTs", T, [batch(b"m7", put(b"d:a", b"7")), batch(b"m7", delete(b"d:a"))], I64(201), NONE)
    yield ("mutateRows", T, [batch(b"m8", put(b"d", b"family"))], NONE)
    wide = [put(b"%s:q%d" % (name, at), b"%d" % at) for name in (b"a", b"a1") for at in range(4)] + [put(b"a:\xe9", b"high")]
    for at in (1, 2):
        yield ("mutateRowTs", U, b"w%d" % at, wide, I64(at), NONE)
    yield ("mutateRow", MISSING, b"r", [put(b"d:a", b"1")], NONE)
    yield ("mutateRow", T, b"r", [put(b"nosuch:a", b"1")], NONE)
    yield ("mutateRow", T, b"r", [delete(b"nosuch:a")], NONE)
    yield ("mutateRow", T, b"", [put(b"d:a", b"1")], NONE)
    yield ("mutateRowTs", T, b"r", [put(b"d:a", b"1")], I64(-5), NONE)
    yield ("mutateRowTs", T, b"r", [delete(b"d:a")], I64(-5), NONE)
    yield ("mutateRow", T, b"r", [put(None, b"1")], NONE)
    yield ("mutateRow", T, None, [put(b"d:a", b"1")], NONE)
    yield ("mutateRow", T, b"r", None, NONE)
    yield ("mutateRow", T, b"r", [put(b":a", b"1")], NONE)
    yield ("mutateRows", MISSING, [batch(b"r", put(b"d:a", b"1"))], NONE)
    yield ("mutateRows", T, [batch(b"r", put(b"nosuch:a", b"1")), batch(b"good", put(b"d:a", b"1"))], NONE)
    yield ("mutateRows", T, [batch(b"", put(b"d:a", b"1"))], NONE)
    yield ("mutateRowsTs", T, [batch(b"r", put(b"d:a", b"1"))], I64(-1), NONE)
    yield ("getRow", T, b"good", NONE)


def gets():
    row = b"versions"
    for column in (b"d:a", b"d", b"d:", b"e:a", b"d:nosuch", b"nosuch:a", b"", b":"):
        yield ("get", T, row, column, NONE)
    yield ("get", T, b"nosuch", b"d:a", NONE)
    yield ("get", MISSING, row, b"d:a", NONE)
    yield ("get", T, b"", b"d:a", NONE)
    yield ("get", T, row, None, NONE)
    for count in (1, 2, 3, 9):
        yield ("getVer", T, row, b"d:a", I32(count), NONE)
    yield ("getVer", T, row, b"d", I32(2), NONE)
    yield ("getVer", T, row, b"d:a", I32(0), NONE)
    yield ("getVer", T, row, b"d:a", I32(-1), NONE)
    for time in (50, 41, 40, 31, 1, 0):
        yield ("getVerTs", T, row, b"d:a", I64(time), I32(5), NONE)
    yield ("getVerTs", T, row, b"d:a", I64(-1), I32(5), NONE)
    yield ("getVerTs", T, row, b"e", I64(2**63 - 1), I32(5), NONE)
    for name in (row, b"row1", b"now", b"both", b"family", b"brief", b"noted", b"\x00\xff", b"unlogged", b"nosuch"):
        yield ("getRow", T, name, NONE)
    yield ("getRow", T, b"", NONE)
    yield ("getRow", T, None, NONE)
    yield ("getRow", None, row, NONE)
    yield ("getRow", MISSING, row, NONE)
    yield ("getRow", b"bad name", row, NONE)
    yield ("getRow", T, row, {b"_isolationlevel_": b"\0"})
    for columns in ([b"d:a"], [b"d"], [b"d:"], [b"e:a", b"d:a"], [b"d", b"d:a"], [b"nosuch:a"], [], None):
        yield ("getRowWithColumns", T, row, columns, NONE)
    for time in (10, 11, 25, 51, 0, -1):
        yield ("getRowTs", T, row, I64(time), NONE)
    for columns in ([b"e:a"], [b"d", b"e:nosuch"], None):
        yield ("getRowWithColumnsTs", T, row, columns, I64(35), NONE)
    rows = [b"row3", b"nosuch", b"row1", b"row3"]
    yield ("getRows", T, rows, NONE)
    yield ("getRows", T, [], NONE)
    yield ("getRows", T, [b"row1", b""], NONE)
    yield ("getRows", T, None, NONE)
    yield ("getRows", MISSING, rows, NONE)
    yield ("getRowsWithColumns", T, rows, [b"d:n", b"e"], NONE)
    yield ("getRowsWithColumns", T, rows, [b"nosuch:a"], NONE)
    yield ("getRowsTs", T, [b"row0", b"row1", b"row2"], I64(102), NONE)
    yield ("getRowsWithColumnsTs", T, [b"row0", row], [b"d"], I64(101), NONE)
    yield ("getRowsWithColumnsTs", T, [b"row0"], None, I64(101), NONE)
    yield ("getRow", U, b"w1", NONE)
    yield ("getRowWithColumns", U, b"w1", [b"a1"], NONE)
    yield ("get", U, b"w1", b"a", NONE)


def deletes():
    def fill(row):
        columns = [put(b"d:a", b"1"), put(b"d:b", b"2"), put(b"e:a", b"3")]
        for time in (10, 20):
            yield ("mutateRowTs", T, row, columns, I64(time), NONE)

    steps = [
        ("deleteAll", b"d:a"),
        ("deleteAll", b"d"),
        ("deleteAll", b"d:"),
        ("deleteAll", b"d:nosuch"),
        ("deleteAllTs", b"d:a", 10),
        ("deleteAllTs", b"d", 15),
        ("deleteAllTs", b"e:a", 5),
        ("deleteAllRow",),
        ("deleteAllRowTs", 10),
    ]
    for number, (name, *rest) in enumerate(steps):
        row = b"delete%d" % number
        yield from fill(row)
        args = [it if isinstance(it, bytes) else I64(it) for it in rest]
        yield (name, T, row, *args, NONE)
        yield ("getRow", T, row, NONE)
    yield ("deleteAll", MISSING, b"r", b"d:a", NONE)
    yield ("deleteAll", T, b"r", b"nosuch:a", NONE)
    yield ("deleteAll", T, b"", b"d:a", NONE)
    yield ("deleteAllRow", MISSING, b"r", NONE)
    yield ("deleteAllRow", T, b"", NONE)
    yield ("deleteAllRowTs", T, b"r", I64(-1), NONE)
    yield ("deleteAllTs", T, b"r", b"d:a", I64(-1), NONE)
    yield ("mutateRowTs", T, b"delete0", [delete(b"e"), delete(b"d:b")], I64(30), NONE)
    yield ("getRow", T, b"delete0", NONE)


def counters():
    for amount in (1, 5, -3, 0, 2**63 - 1):
        yield ("atomicIncrement", T, b"counter", b"d:n", I64(amount))
    yield ("atomicIncrement", T, b"counter", b"d", I64(2))
    yield ("atomicIncrement", T, b"counter", b"d:", I64(2))
    yield ("atomicIncrement", T, b"row1", b"d:n", I64(1))
    yield ("atomicIncrement", T, b"counter", b"nosuch:n", I64(1))
    yield ("atomicIncrement", MISSING, b"counter", b"d:n", I64(1))
    yield ("increment", increment(T, b"counter2", b"d:n", 7))
    yield ("increment", increment(T, b"counter2", b"d:n", 7))
    yield ("increment", increment(T, b"counter2", b"d"))
    yield ("increment", increment(T, b"", b"d:n"))
    yield ("increment", increment(MISSING, b"r", b"d:n"))
    yield ("increment", increment(T, b"row1", b"d:n"))
    yield ("increment", increment(b"", b"r", b"d:n"))
    yield ("incrementRows", [increment(T, b"counter3", b"d:n"), increment(T, b"counter3", b"d:m", 2)])
    yield ("incrementRows", [])
    yield ("getRow", T, b"counter", NONE)
    yield ("getRow", T, b"counter2", NONE)
    yield ("getRow", T, b"counter3", NONE)
    yield ("append", append(T, b"text", [b"d:a", b"d:b"], [b"one", b"two"]))
    yield ("append", append(T, b"text", [b"d:a"], [b" more"]))
    yield ("append", append(T, b"text", [b"e:a", b"d:a"], [b"x", b""]))
    yield ("append", append(T, b"text", [b"d:a"], []))
    yield ("append", append(T, b"text", [], []))
    yield ("append", append(T, b"text", [b"d"], [b"x"]))
    yield ("append", append(T, b"", [b"d:a"], [b"x"]))
    yield ("append", append(T, b"text", [b"nosuch:a"], [b"x"]))
    yield ("append", append(MISSING, b"text", [b"d:a"], [b"x"]))
    yield ("getRow", T, b"text", NONE)


def conditions():
    def check(column, value, mutation, row=b"check"):
        # No argument has the number 4.
        return ("checkAndPut", T, row, column, None, value, mutation, NONE)

    yield check(b"d:a", None, put(b"d:a", b"1"))
    yield check(b"d:a", None, put(b"d:a", b"2"))
    yield check(b"d:a", b"1", put(b"d:a", b"3"))
    yield check(b"d:a", b"1", put(b"d:a", b"4"))
    yield check(b"d:b", b"", put(b"d:b", b"5"))
    yield check(b"e:x", None, put(b"d:c"))
    yield check(b"d", b"1", put(b"d:a", b"1"))
    yield check(b"d:a", b"3", put(b"d", b"1"))
    yield check(b"d:a", b"3", put(b"nosuch:a", b"1"))
    yield check(b"nosuch:a", b"3", put(b"d:a", b"1"))
    yield check(b"d:a", b"3", put(b"d:a", b"1"), b"")
    yield ("checkAndPut", MISSING, b"r", b"d:a", None, None, put(b"d:a", b"1"), NONE)
    yield ("getRow", T, b"check", NONE)


def scans(open_scan):
    yield from open_scan(("scannerOpen", T, b"row", [b"d:n"], NONE), None, 3, 20, 1)
    yield from open_scan(("scannerOpen", T, b"", [], NONE), 2, None)
    yield from open_scan(("scannerOpen", T, b"row8", None, NONE), 2, 9, 9)
    yield from open_scan(("scannerOpenWithStop", T, b"row2", b"row4", [b"d", b"e:x"], NONE), 9, 9)
    yield from open_scan(("scannerOpenWithStop", T, b"row4", b"row4", [], NONE), 9)
    yield from open_scan(("scannerOpenWithStop", T, b"row4", b"row2", [], NONE), 9)
    yield from open_scan(("scannerOpenWithPrefix", T, b"m", [b"d"], NONE), 4, 9, 9)
    yield from open_scan(("scannerOpenWithPrefix", T, b"nosuch", [], NONE), 9)
    yield from open_scan(("scannerOpenTs", T, b"row", [b"d:n"], I64(103), NONE), 20)
    yield from open_scan(("scannerOpenWithStopTs", T, b"row1", b"row9", [b"e"], I64(103), NONE), 20)
    yield from open_scan(("scannerOpenWithScan", T, scan(), NONE), 0, 2, None)
    yield from open_scan(("scannerOpenWithScan", T, scan(b"row3", b"row5"), NONE), 9, 9)
    yield from open_scan(("scannerOpenWithScan", T, scan(b"row3", b"row5", 104, [b"d:n"], 1), NONE), 9, 9)
    yield from open_scan(("scannerOpenWithScan", T, scan(b"row3", b"row1", back=True), NONE), 1, 9, 9)
    yield from open_scan(("scannerOpenWithScan", T, scan(back=True, columns=[b"d:n"]), NONE), 2, None)
    yield from open_scan(("scannerOpenWithScan", T, scan(b"row3", b"row5", order=True, cache=False), NONE), 9)
    yield from open_scan(("scannerOpenWithScan", T, scan(b"row3", b"row5", order=False, caching=0), NONE), 9)
    yield from open_scan(("scannerOpenWithScan", U, scan(size=3), NONE), 2, 9, 9)
    yield from open_scan(("scannerOpenWithScan", U, scan(size=4, order=True), NONE), 1, 1, 9)
    yield from open_scan(("scannerOpenWithScan", U, scan(order=True), NONE), 9)
    yield from open_scan(("scannerOpenWithScan", U, scan(), NONE), 9)
    yield from open_scan(("scannerOpenWithScan", T, scan(b"versions", b"w"), {b"_raw_": b"\xff"}), 9)
    yield ("mutateRowTs", T, b"row3", [put(b"d:n", b"changed")], I64(300), NONE)
    yield from open_scan(("scannerOpenWithScan", T, scan(b"row3", b"row4", 110), NONE), 9)


def filters(open_scan):
    texts = [
        b"PrefixFilter('row2')",
        b"PrefixFilter('row') AND ValueFilter(=, 'binary:2')",
        b"SingleColumnValueFilter('e', 'x', =, 'binary:1', true, true)",
        b"KeyOnlyFilter()",
        b"FirstKeyOnlyFilter() AND PrefixFilter('row')",
        b"ColumnPrefixFilter('te') AND PrefixFilter('row')",
        b"PageFilter(2)",
        b"(PrefixFilter('m') OR PrefixFilter('row9')) AND QualifierFilter(=, 'substring:a')",
        b"RowFilter(=, 'regexstring:^row[37]$')",
        b"SKIP ValueFilter(!=, 'binary:1') AND PrefixFilter('row')",
        b"WHILE ValueFilter(!=, 'binary:2') AND PrefixFilter('row')",
        b"TimestampsFilter(102, 104)",
        b"ColumnRangeFilter('n', true, 'o', false) AND PrefixFilter('row1')",
        b"FamilyFilter(=, 'binary:e') AND PrefixFilter('row1')",
        b"InclusiveStopFilter('m1')",
        b"ColumnCountGetFilter(1) AND PrefixFilter('row0')",
        b"ColumnPaginationFilter(1, 1) AND PrefixFilter('row0')",
    ]
    for text in texts:
        yield from open_scan(("scannerOpenWithScan", T, scan(text=text), NONE), 30)
    for text in (b"nosuch", b"NoSuchFilter('a')", b"PrefixFilter('row'", b"", b"PrefixFilter()", b"PageFilter('x')"):
        yield ("scannerOpenWithScan", T, scan(text=text), NONE)


def mistakes(open_scan):
    yield from open_scan(("scannerOpen", MISSING, b"", [], NONE), 1)
    yield from open_scan(("scannerOpen", T, b"", [b"nosuch:a"], NONE), 1)
    yield from open_scan(("scannerOpen", T, b"", [], NONE), -1)
    yield ("scannerOpen", b"bad name", b"", [], NONE)
    yield ("scannerOpen", T, None, [], NONE)
    yield ("scannerOpen", None, b"", [], NONE)
    yield ("scannerOpenTs", T, b"", [], I64(-1), NONE)
    yield ("scannerOpenWithStop", T, b"", None, [], NONE)
    yield ("scannerOpenWithScan", T, scan(time=-1), NONE)
    yield ("scannerOpenWithScan", T, None, NONE)
    for number in (100000, -1):
        yield ("scannerGet", I32(number))
        yield ("scannerGetList", I32(number), I32(5))
        yield ("scannerClose", I32(number))
    yield ("nosuchMethod", T)
    yield ("getrow", T, b"r", NONE)


def ends():
    for name in (T, U, b"none", b"two"):
        yield ("disableTable", name)
        yield ("deleteTable", name)
    yield ("getTableNames",)
    yield ("getClusterId",)


if __name__ == "__main__":
    main()
