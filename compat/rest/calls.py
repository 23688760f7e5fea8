#!/usr/bin/env python3
"""The REST calls that Apache HBase's gateway answered, and their answers.

    calls.py record HOST:PORT OUT    makes the calls at a gateway without tables, and writes OUT
    calls.py replay HOST:PORT IN     makes the calls of IN, and compares the answers
    calls.py count                   prints how many calls there are

A line of the file is a JSON object: method, path, headers, body; then status, answer_headers and answer of Apache HBase 2.6.1.
A body that is not UTF-8 is in Base64 under body_b64 or answer_b64. In a path and body `{scanner}` is the scanner opened last.
"""
import base64
import http.client
import json
import re
import sys

JSON, XML, PB, PBI, BIN, TEXT = (
    "application/json", "text/xml", "application/x-protobuf", "application/protobuf", "application/octet-stream", "text/plain")
ROWS = [JSON, XML, PB, PBI]
# Headers of answers that clients read.
KEPT = ["content-type", "x-timestamp", "x-row", "x-column", "location", "allow"]
CALLS = []


def b64(text):
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


def call(method, path, accept=None, type=None, body=None, **headers):
    sent = {}
    if accept:
        sent["Accept"] = accept
    if type:
        sent["Content-Type"] = type
    sent.update({name.replace("_", "-"): value for name, value in headers.items()})
    CALLS.append({"method": method, "path": path, "headers": sent, "body": body})


def get(path, accept=JSON, **headers):
    call("GET", path, accept, **headers)


def varint(number):
    out = b""
    while True:
        byte, number = number & 127, number >> 7
        out += bytes([byte | (128 if number else 0)])
        if not number:
            return out


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value if isinstance(value, bytes) else value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def cells(rows, type):
    """A set of cells; rows are (key or None, [(column or None, time or None, value)])."""
    if type == JSON:
        def cell(column, at, value):
            made = {"$": b64(value)}
            if column is not None:
                made["column"] = b64(column)
            if at is not None:
                made["timestamp"] = at
            return made
        rows = [dict(([("key", b64(key))] if key is not None else []) + [("Cell", [cell(*c) for c in row])]) for key, row in rows]
        return json.dumps({"Row": rows})
    if type == XML:
        def cell(column, at, value):
            column = f' column="{b64(column)}"' if column is not None else ""
            at = f' timestamp="{at}"' if at is not None else ""
            return f"<Cell{column}{at}>{b64(value)}</Cell>"
        def row(key, row):
            key = f' key="{b64(key)}"' if key is not None else ""
            return f"<Row{key}>{''.join(cell(*c) for c in row)}</Row>"
        return f"<CellSet>{''.join(row(*r) for r in rows)}</CellSet>"
    def cell(column, at, value):
        return (field(2, column) if column is not None else b"") + (field(3, at) if at is not None else b"") + field(4, value)
    return b"".join(field(1, field(1, key) + b"".join(field(2, cell(*c)) for c in row)) for key, row in rows)


def put(table, rows, type=JSON, path="x", query="", method="PUT", **headers):
    call(method, f"/{table}/{path}{query}", None, type, cells(rows, type), **headers)


def schema(table, families, type=JSON, method="PUT", **attributes):
    if type == JSON:
        body = json.dumps({"name": table, "ColumnSchema": [dict(name=name, **more) for name, more in families.items()], **attributes})
    elif type == XML:
        def listed(pairs):
            return "".join(f' {name}="{value}"' for name, value in pairs.items())
        families = "".join(f'<ColumnSchema name="{name}"{listed(more)}/>' for name, more in families.items())
        body = f'<TableSchema name="{table}"{listed(attributes)}>{families}</TableSchema>'
    else:
        def pairs(of):
            return b"".join(field(2, field(1, name) + field(2, str(value))) for name, value in of.items())
        body = field(1, table) + pairs(attributes) + b"".join(field(3, field(1, name) + pairs(more)) for name, more in families.items())
    call(method, f"/{table}/schema", None, type, body)


def scanner(table, type=JSON, method="PUT", columns=(), **fields):
    if type == JSON:
        body = json.dumps({**fields, **({"column": [b64(c) for c in columns]} if columns else {})})
    elif type == XML:
        inner = "".join(f"<column>{b64(c)}</column>" for c in columns)
        if "filter" in fields:
            inner += f"<filter>{fields.pop('filter').replace('&', '&amp;').replace('<', '&lt;')}</filter>"
        body = "<Scanner" + "".join(f' {name}="{value}"' for name, value in fields.items()) + f">{inner}</Scanner>"
    else:
        numbers = dict(startRow=1, endRow=2, batch=4, startTime=5, endTime=6, maxVersions=7, filter=8, caching=9)
        decoded = {n: base64.b64decode(v) if n.endswith("Row") else v for n, v in fields.items()}
        body = b"".join(field(numbers[n], v) for n, v in decoded.items()) + b"".join(field(3, c) for c in columns)
    call(method, f"/{table}/scanner", None, type, body)


def drain(table, accept=JSON, times=1, query=""):
    for _ in range(times):
        get(f"/{table}/scanner/{{scanner}}{query}", accept)


def descriptions():
    for accept in [TEXT, JSON, XML, PB, PBI]:
        for path in ["/version", "/version/rest", "/status/cluster"]:
            get(path, accept)
        get("/", accept)
        get("/namespaces", accept)
        get("/namespaces/default", accept)
    for accept in [TEXT, JSON, XML, PB, "image/png"]:
        get("/version/cluster", accept)
    for path in ["/", "/version", "/namespaces"]:
        call("GET", path)
        call("PUT", path, type=JSON, body="{}")
    call("DELETE", "/")
    call("HEAD", "/version/cluster")
    get("/status")
    get("/nothing")
    get("/nothing/")


def namespaces():
    call("POST", "/namespaces/ns1", type=JSON, body='{"properties":{"k1":"v1"}}')
    call("POST", "/namespaces/ns1", type=JSON, body='{"properties":{"k1":"v1"}}')
    call("PUT", "/namespaces/ns1", type=JSON, body='{"properties":{"k2":"v2"}}')
    call("PUT", "/namespaces/none", type=JSON, body='{"properties":{"k2":"v2"}}')
    call("POST", "/namespaces/ns2", type=XML,
         body="<NamespaceProperties><properties><entry><key>a</key><value>b</value></entry></properties></NamespaceProperties>")
    call("POST", "/namespaces/ns3", type=PB, body=field(1, field(1, "a") + field(2, "b")))
    call("POST", "/namespaces/ns4", type=JSON, body="{}")
    for accept in [TEXT, JSON, XML, PB]:
        get("/namespaces", accept)
        for name in ["ns1", "ns2", "ns3", "ns4"]:
            get(f"/namespaces/{name}", accept)
    schema("ns1:t", {"f": {}})
    for accept in [TEXT, JSON, XML, PB]:
        get("/namespaces/ns1/tables", accept)
        get("/namespaces/ns2/tables", accept)
        get("/", accept)
    put("ns1:t", [("r", [("f:q", 1, "v")])])
    get("/ns1:t/r")
    call("DELETE", "/namespaces/ns1")
    call("DELETE", "/ns1:t/schema")
    for name in ["ns1", "ns2", "ns3", "ns4", "ns1"]:
        call("DELETE", f"/namespaces/{name}")
    get("/namespaces/none")
    get("/namespaces/none/tables")
    call("PATCH", "/namespaces/default")


def tables():
    for number, type in enumerate([JSON, XML, PB, PBI]):
        table = f"s{number}"
        call("GET", f"/{table}/exists")
        schema(table, {"f": {"VERSIONS": 2}, "g": {}}, type)
        call("GET", f"/{table}/exists")
        get(f"/{table}/schema")
        schema(table, {"f": {"VERSIONS": 5}, "h": {"TTL": 60}}, type, "POST")
        get(f"/{table}/schema")
        schema(table, {"k": {"COMPRESSION": "GZ"}}, type)
        get(f"/{table}/schema")
        call("DELETE", f"/{table}/schema")
        call("GET", f"/{table}/exists")
    schema("t0", {"f": {}}, READONLY="true")
    get("/t0/schema")
    put("t0", [("r", [("f:q", 1, "v")])])
    call("DELETE", "/t0/schema")
    schema("t1", {"f": {}}, method="POST")
    for accept in [TEXT, JSON, XML, PB]:
        get("/t1/regions", accept)
    for accept in [TEXT, XML, PB, "image/png"]:
        get("/t1/schema", accept)
    for path in ["/none/schema", "/none/regions", "/none/exists"]:
        get(path)
    call("DELETE", "/none/schema")
    call("DELETE", "/t1/schema")
    schema("bad!name", {"f": {}})
    schema("t2", {"bad:family": {}})
    schema("t2", {})
    schema("t2", {"f": {"BLOCKSIZE": "x"}})
    call("PUT", "/t2/schema", type=JSON, body="{")
    call("PUT", "/t2/schema", type=XML, body="<TableSchema")
    call("PUT", "/t2/schema", type=TEXT, body="x")
    call("PATCH", "/t2/schema")


def rows():
    schema("r", {"f": {"VERSIONS": 5}, "g": {"VERSIONS": 5}})
    for number, type in enumerate(ROWS):
        put("r", [(f"a{number}", [("f:q", 10, f"v{number}"), ("g:", 11, "")])], type)
        put("r", [(f"b{number}", [("f:q", 10 + at, f"v{at}") for at in range(5)])], type, method="POST")
        put("r", [(f"c{number}{row}", [("f:x", 5, "1"), ("g:y", 6, "2")]) for row in range(3)], type)
    for type in [JSON, XML]:
        put("r", [(None, [("f:q", 10, "v")])], type, path="d1")
        put("r", [(None, [(None, 10, "v"), (None, 11, "w")])], type, path="d2/f:q,g:z")
        put("r", [(None, [(None, 10, "v"), (None, 11, "w")])], type, path="d3/f:q")
        put("r", [("d4", [("f", 10, "v")])], type)
        put("r", [("d5", [])], type)
        put("r", [("", [("f:q", 1, "v")])], type)
        put("r", [("d6", [("none:q", 1, "v")])], type)
        put("r", [("d7", [("f:q", 1, "v")]), ("d8", [("none:q", 1, "v")])], type)
        put("none", [("d", [("f:q", 1, "v")])], type)
        put("r", [], type)
    call("PUT", "/r/e1/f:q", type=BIN, body="value", X_Timestamp="7")
    call("POST", "/r/e1/f:r", type=BIN, body="value", X_Timestamp="8")
    call("PUT", "/r/ignored/f:x", type=BIN, body="value", X_Timestamp="8", X_Row="e2", X_Column="g:h")
    call("PUT", "/r/e3/f:q", type=BIN, body=bytes(range(256)), X_Timestamp="9")
    call("PUT", "/r/e4", type=BIN, body="v")
    call("PUT", "/r/e4/f", type=BIN, body="v")
    call("PUT", "/r/e4/none:q", type=BIN, body="v")
    call("PUT", "/none/e4/f:q", type=BIN, body="v")
    call("PUT", "/r/e4/f:q", type=BIN, body="v", X_Timestamp="x")
    call("PUT", "/r/e4/f:q", type=TEXT, body="v")
    for path in ["a0", "a0/f", "a0/f:q", "a0/g:", "a0/f:q,g:", "a0/f,g", "a0/f/11", "a0/f:q/10", "a0/f:q/11", "b0/f:q/11,13",
                 "b0/f:q/20", "b0?v=3", "b0?v=100", "b0/f:q/14?v=10", "b0/f:q/11,14?v=10", "a0?nocache=1", "a%30", "none", "a0/none",
                 "a0/none:q", "a0/f:none"]:
        for accept in [JSON, XML, PB]:
            get(f"/r/{path}", accept)
    for path in ["e1/f:q", "e1/f:r", "e1/f", "e1", "e1/f:q,f:r", "e2/g:h", "e3/f:q", "none/f:q", "b0/f:q", "b0/f:q/12"]:
        get(f"/r/{path}", BIN)
    for path in ["a*/f", "b*/f:q", "a0,c0", "a0,", "c*/g:y", "c*/f:x/6", "z*/f", "none,nonf", "b*/f:q?v=2", "a1,a3/f:q", "d*/f,g", "a3,a1"]:
        for accept in [JSON, XML, PBI]:
            get(f"/r/{path}", accept)
    get("/none/a")
    get("/none/a*/f")
    get("/r/a0", "image/png")
    get("/r/a0", TEXT)
    call("GET", "/r/a0")
    call("HEAD", "/r/a0")
    call("HEAD", "/r/none")
    for path in ["YTA=?e=b64", "YTA?e=base64url", "YTA=/Zjpx?e=b64basic", "YTA=,YzA=?e=b64"]:
        get(f"/r/{path}")
    get("/r/YTA=", Encoding="base64")
    get("/r/a0?v=0")
    get("/r//a0")
    get("/r/a0/f:q/x")
    get("/r/a0?v=x")
    get("/r/a0?e=hex")
    get("/r/a*,b/f")
    get("/r/a0/,f")
    call("PATCH", "/r/a0")
    call("DELETE", "/r/a*")
    for body, type in [("{", JSON), ("[]", JSON), ('{"Row":{}}', JSON), ('{"Other":1}', JSON), ("", JSON), ("<CellSet", XML), ("<Other/>", XML),
                       ("garbage", PB)]:
        call("PUT", "/r/x", type=type, body=body)
    for path in ["b1/f:q/12", "b1", "a1/f", "a2/g:", "a3/f:q,g:", "c00/f:x/4", "c01/f:x/5", "c02/f/9", "none", "d1/none:q"]:
        call("DELETE", f"/r/{path}")
    call("DELETE", "/none/a")
    call("DELETE", "/r/b2/f:q/12")
    for path in ["b1?v=9", "b2?v=9", "a*/f,g", "c*/f,g"]:
        get(f"/r/{path}")


def checks():
    schema("k", {"f": {"VERSIONS": 3}})
    put("k", [("r", [("f:q", 1, "old")])])
    for type in ROWS:
        put("k", [("r", [("f:q", 2, "new"), ("f:q", None, "wrong")])], type, "r", "?check=put")
        put("k", [("r", [("f:q", 2, "new"), ("f:q", None, "old")])], type, "r", "?check=put")
        get("/k/r")
        put("k", [("r", [("f:q", 2, "old"), ("f:x", 2, "more"), ("f:q", None, "new")])], type, "r", "?check=PUT", method="POST")
        get("/k/r")
        put("k", [("r", [("f:x", None, "wrong")])], type, "r", "?check=delete")
        put("k", [("r", [("f:x", None, "more")])], type, "r", "?check=delete")
        get("/k/r")
        put("k", [("r2", [("f:a", None, "x")])], type, "r2", "?check=append")
        get("/k/r2/f:a", BIN)
        put("k", [("r2", [("f:b", None, "5")])], type, "r2", "?check=increment")
        get("/k/r2/f:b", BIN)
    put("k", [("r3", [("f:q", 1, "v"), ("f:r", 1, "w"), ("f:s", 1, "x")])])
    put("k", [("r3", [("f:r", 1, ""), ("f:q", None, "v")])], query="?check=delete")
    get("/k/r3")
    put("k", [("r3", [("f", 1, ""), ("f:q", None, "v")])], query="?check=delete")
    get("/k/r3")
    for rows, query in [
            ([("r", [("f:q", 1, "v")])], "put"), ([("r", [("f:x", 1, "v"), ("f:q", None, "v")])], "put"),
            ([("r", [("f:q", 1, "v"), ("f", None, "v")])], "put"), ([("r", [("f", 1, "v"), ("f:q", None, "v")])], "put"),
            ([], "put"), ([("a", []), ("b", [])], "put"), ([], "delete"), ([("r", [("f", None, "v")])], "delete"),
            ([], "append"), ([("r", [])], "append"), ([("r", [("f", None, "v")])], "append"), ([], "increment"),
            ([("r", [("f:q", None, "x")])], "increment"), ([("r", [("f:q", None, "5")])], "increment"), ([("r", [("f:q", 1, "v")])], "other"),
            ([("r", [("none:q", None, "5")])], "increment"), ([("r", [("none:q", None, "5")])], "append"),
            ([("r", [("none:q", 1, "v"), ("none:q", None, "v")])], "put")]:
        put("k", rows, query=f"?check={query}")
    put("none", [("r", [("f:q", 1, "v"), ("f:q", None, "v")])], query="?check=put")
    put("none", [("r", [("f:q", None, "5")])], query="?check=increment")
    # The server's time cannot be told from other numbers in protobuf.
    for accept in [JSON, XML]:
        put("k", [("r4", [("f:a", None, "x")])], query="?check=append&rr=true", Accept=accept)


def multi_gets():
    for query in ["row=a0", "row=a0&row=b0", "row=b0&row=a0", "row=none", "row=none&row=a0", "", "row=b0&v=3", "row=YTA=&e=b64", "row=a0&row=a0",
                  "row=a0/f:q&row=b0/f:q/12", "row=a0&filter=KeyOnlyFilter()", "row=a0&row=b0&filter=ValueFilter(=,'binary:v0')",
                  "row=a0&filter_b64=" + b64("KeyOnlyFilter()")]:
        for accept in [JSON, XML, PB]:
            get(f"/r/multiget?{query.replace(' ', '%20')}", accept)
    get("/r/multiget/f:q?row=a0&row=b0")
    get("/r/multiget/f:q,g:?row=a0&row=b0")
    get("/r/multiget/none:q?row=a0")
    get("/none/multiget?row=a0")
    get("/r/multiget?row=a0", BIN)
    get("/r/multiget?row=a0&filter=Nope()")


def scans():
    schema("s", {"f": {"VERSIONS": 3}, "g": {}})
    put("s", [(f"row{number:02}", [("f:a", 10, f"{number}"), ("f:b", 20, "x"), ("g:c", 30, "y")]) for number in range(12)])
    put("s", [("row03", [("f:a", 11, "newer")]), ("other", [("f:a", 1, "o")])])
    for query in ["", "limit=3", "limit=0", "startrow=row05", "endrow=row03", "startrow=row02&endrow=row04", "column=f", "column=f:a",
                  "column=f:a&column=g", "maxversions=3&limit=5", "batchsize=2&limit=4", "starttime=15", "endtime=15", "starttime=10&endtime=21",
                  "reversed=true&limit=2", "reversed=true&startrow=row05&limit=3", "cacheblocks=false&limit=1", "column=none&limit=1", "column=f:",
                  "filter=PrefixFilter('row1')", "filter=ValueFilter(=,'binary:newer')", "filter=PageFilter(2)%20AND%20KeyOnlyFilter()",
                  "filter=FirstKeyOnlyFilter()&limit=3"]:
        for path in ["*", "row*"]:
            for accept in [JSON, XML, PB]:
                get(f"/s/{path}" + (f"?{query}" if query else ""), accept)
    get("/s/none*")
    get("/s/row1*", PBI)
    get("/none/*")
    get("/s/*", BIN)
    get("/s/*", "image/png")
    get("/s/*?limit=x")
    get("/s/*?maxversions=0")
    get("/s/*?filter=Nope()")
    call("PUT", "/s/*", type=JSON, body="{}")


def scanners():
    for type in ROWS:
        scanner("s", type, batch=4)
        drain("s", type, 3)
        call("DELETE", "/s/scanner/{scanner}")
        drain("s", type)
        scanner("s", type, "POST", columns=["f:a", "g"], startRow=b64("row03"), endRow=b64("row06"), maxVersions=1, caching=2)
        drain("s", type, 2)
        scanner("s", type, startTime=15, endTime=25, batch=5)
        drain("s", type, 4)
    scanner("s", batch=3, columns=["f:a"])
    drain("s", BIN, 2)
    drain("s", JSON, 2, "?n=1")
    drain("s", JSON, 2, "?c=2")
    drain("s", JSON, 1, "?n=2&c=9")
    scanner("s")
    drain("s", JSON, 2, "?n=3")
    scanner("s", startRow=b64("zz"))
    drain("s", JSON)
    drain("s", BIN)
    binary = {"type": "BinaryComparator", "value": b64("x")}
    def column(name, **more):
        return dict(type=name, family=b64("f"), qualifier=b64("a"), **more)
    filters = [
        {"type": "ColumnCountGetFilter", "limit": 1}, {"type": "ColumnPaginationFilter", "limit": 1, "offset": 1},
        {"type": "ColumnPrefixFilter", "value": b64("a")},
        {"type": "ColumnRangeFilter", "minColumn": b64("a"), "minColumnInclusive": True, "maxColumn": b64("b"), "maxColumnInclusive": False},
        column("DependentColumnFilter", op="EQUAL", comparator=binary, dropDependentColumn=True),
        {"type": "FamilyFilter", "op": "EQUAL", "comparator": {"type": "BinaryComparator", "value": b64("g")}},
        {"type": "FilterList", "op": "MUST_PASS_ALL", "filters": [{"type": "PrefixFilter", "value": b64("row0")}, {"type": "PageFilter", "value": "2"}]},
        {"type": "FilterList", "op": "MUST_PASS_ONE", "filters": [{"type": "PrefixFilter", "value": b64("row11")}, {"type": "PrefixFilter", "value": b64("other")}]},
        {"type": "FirstKeyOnlyFilter"}, {"type": "InclusiveStopFilter", "value": b64("row02")}, {"type": "KeyOnlyFilter"},
        {"type": "MultipleColumnPrefixFilter", "prefixes": [b64("a"), b64("c")]},
        {"type": "MultiRowRangeFilter", "ranges": [{"startRow": b64("row02"), "startRowInclusive": True, "stopRow": b64("row04"), "stopRowInclusive": True}]},
        {"type": "PageFilter", "value": "3"}, {"type": "PrefixFilter", "value": b64("row1")},
        {"type": "QualifierFilter", "op": "GREATER", "comparator": {"type": "BinaryComparator", "value": b64("a")}},
        {"type": "RowFilter", "op": "EQUAL", "comparator": {"type": "RegexStringComparator", "value": ".*[37]"}},
        {"type": "RowFilter", "op": "EQUAL", "comparator": {"type": "SubstringComparator", "value": "W1"}},
        {"type": "RowFilter", "op": "LESS_OR_EQUAL", "comparator": {"type": "BinaryPrefixComparator", "value": b64("row01")}},
        column("SingleColumnValueFilter", op="EQUAL", comparator={"type": "BinaryComparator", "value": b64("5")}),
        column("SingleColumnValueFilter", op="EQUAL", comparator={"type": "BinaryComparator", "value": b64("5")}, ifMissing=True, latestVersion=True),
        column("SingleColumnValueExcludeFilter", op="NOT_EQUAL", comparator={"type": "BinaryComparator", "value": b64("5")}, ifMissing=True),
        {"type": "SkipFilter", "filters": [{"type": "ValueFilter", "op": "NOT_EQUAL", "comparator": {"type": "BinaryComparator", "value": b64("newer")}}]},
        {"type": "TimestampsFilter", "timestamps": [11, 30]}, {"type": "ValueFilter", "op": "EQUAL", "comparator": binary},
        {"type": "ValueFilter", "op": "EQUAL", "comparator": {"type": "BitComparator", "value": b64("x"), "op": "AND"}},
        {"type": "ValueFilter", "op": "EQUAL", "comparator": {"type": "NullComparator"}},
        {"type": "WhileMatchFilter", "filters": [{"type": "RowFilter", "op": "NOT_EQUAL", "comparator": {"type": "BinaryComparator", "value": b64("row03")}}]},
        {"type": "FuzzyRowFilter", "fuzzyKeys": [{"key": b64("row?3"), "mask": b64(bytes([0, 0, 0, 1, 0]))}]},
    ]
    for filter in filters:
        scanner("s", filter=json.dumps(filter))
        drain("s", JSON, 2)
    scanner("s", XML, filter=json.dumps(filters[-2]))
    drain("s", XML)
    scanner("s", PB, filter=json.dumps(filters[14]))
    drain("s", PB)
    for filter in ["{", '{"type":"Nope"}', '{"type":"PageFilter"}', '{"type":"RowFilter","op":"LIKE","comparator":{"type":"NullComparator"}}']:
        scanner("s", filter=filter)
    get("/s/scanner/none")
    get("/s/scanner/none", BIN)
    call("DELETE", "/s/scanner/none")
    call("GET", "/s/scanner")
    scanner("none", batch=1)
    drain("none", JSON)
    scanner("s", columns=["none:q"])
    call("PUT", "/s/scanner", type=JSON, body="{")
    call("PUT", "/s/scanner", type=XML, body="<Other/>")
    call("PUT", "/s/scanner", type=TEXT, body="x")


for part in [descriptions, namespaces, tables, rows, checks, multi_gets, scans, scanners]:
    part()


def packed(name, body):
    if body is None:
        return {}
    try:
        return {name: body if isinstance(body, str) else body.decode()}
    except UnicodeDecodeError:
        return {f"{name}_b64": b64(body)}


def ask(connection, call, scanner):
    body = call["body"]
    body = body.encode() if isinstance(body, str) else body
    # An HTTP client of Python would add an Accept-Encoding.
    connection.putrequest(call["method"], call["path"].replace("{scanner}", scanner), skip_accept_encoding=True)
    for name, value in call["headers"].items():
        connection.putheader(name, value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()


def record(address, out):
    scanner = ""
    with open(out, "w") as file:
        for call in CALLS:
            connection = http.client.HTTPConnection(address, timeout=30)
            try:
                status, headers, body = ask(connection, call, scanner)
            except TimeoutError:
                print("no answer in time, left out:", call, file=sys.stderr)
                continue
            finally:
                connection.close()
            location = headers.get("location", "")
            if "/scanner/" in location:
                scanner = location.rsplit("/", 1)[1]
            headers = {name: headers[name] for name in KEPT if name in headers}
            if "location" in headers:
                headers["location"] = re.sub(r"^http://[^/]*", "", headers["location"])
                headers["location"] = re.sub(r"/scanner/.*", "/scanner/{scanner}", headers["location"])
            if status >= 400:
                # Stack traces and pages of the web server are Java's.
                body = body.split(b"\n")[0] + b"\n" if b"\r\n" in body else b"" if headers.get("content-type", "").find("html") >= 0 or status in (405, 406, 415, 500) else body
            line = {"method": call["method"], "path": call["path"], "headers": call["headers"], **packed("body", call["body"]),
                    "status": status, "answer_headers": headers, **packed("answer", body)}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


# Apache's gateway fails with status 500 where the request is at fault, and the web server's own pages are Java's.
FAULTS = {500: (400, 404)}
# Where Apache's gateway hides what is wrong with a request, or misses a part of it: the status here, and how the text begins.
DIFFERENT = {
    "/s/*?limit=x": (400, b"Bad request"),
    "/s/*?maxversions=0": (400, b"Bad request"),
    "/r/a0?v=0": (400, b"Bad request"),
    "/r/e4": (400, b"Bad request"),
}
# Answers whose content is the server's own: versions, loads, numbers of regions.
OWN = ("/version", "/status/cluster", "/t1/regions")


def unpacked(line, name):
    if f"{name}_b64" in line:
        return base64.b64decode(line[f"{name}_b64"])
    value = line.get(name)
    return value.encode() if value is not None else None


def comparable(path, headers, body):
    """A body without what differs between servers: the order of attributes, and times of the server."""
    type = headers.get("content-type", "").split(";")[0]
    if path.split("?")[0] in OWN or path.startswith(OWN[0]):
        return None
    text = body.decode("latin-1")
    text = re.sub(r"http://[^/]*", "http://host", text)
    # What HBase drops when a schema is replaced, and a server that knows no other keeps.
    text = re.sub(r',"hbase.store.file-tracker.impl":"DEFAULT"| hbase.store.file-tracker.impl="DEFAULT"|hbase.store.file-tracker.impl => .DEFAULT.,', "", text)
    if type == JSON and text:
        text = re.sub(r'"timestamp":1[0-9]{12}', '"timestamp":"now"', text)
        return json.loads(text)
    if type == XML:
        text = re.sub(r' timestamp="1[0-9]{12}"', ' timestamp="now"', text)
        return re.sub(r"<(TableSchema|ColumnSchema)( [^>]*?)(/?)>", lambda m: f"<{m[1]} {sorted(re.findall(r'[^ ]*=.[^ ]*', m[2]))}{m[3]}>", text)
    if type == PB and "schema" in path:
        return sorted(text)
    if type == TEXT and "schema" in path:
        return sorted(re.split(r"[ ,{}\[\]]+", text))
    return text


def replay(address, file):
    scanner, differences, count = "", 0, 0
    for line in map(json.loads, open(file)):
        call = {**line, "body": unpacked(line, "body")}
        connection = http.client.HTTPConnection(address, timeout=60)
        try:
            status, headers, body = ask(connection, call, scanner)
        except http.client.HTTPException as error:
            status, headers, body = 0, {}, repr(error).encode()
        connection.close()
        location = headers.get("location", "")
        if "/scanner/" in location:
            scanner = location.rsplit("/", 1)[1]
        expected, apache = unpacked(line, "answer") or b"", line["answer_headers"]
        count += 1
        what = []
        if (status, body[:11]) == DIFFERENT.get(line["path"]):
            continue
        if status != line["status"] and status not in FAULTS.get(line["status"], ()):
            what.append(f"status {status}, not {line['status']}")
        elif status < 300:
            type = headers.get("content-type", "")
            if type != apache.get("content-type", ""):
                what.append(f"type {type!r}, not {apache.get('content-type')!r}")
            for name in ["x-timestamp", "x-row", "x-column"]:
                if headers.get(name) != apache.get(name) and not (headers.get(name, "").startswith("1") and len(headers[name]) == 13):
                    what.append(f"{name} {headers.get(name)!r}, not {apache.get(name)!r}")
            if comparable(line["path"], headers, body) != comparable(line["path"], apache, expected):
                what.append(f"\n  answer {body[:600]!r}\n  not    {expected[:600]!r}")
        elif line["status"] in (400, 403, 404, 410, 503) and apache.get("content-type") == TEXT:
            if body.split(b"\r\n")[0] != expected.rstrip(b"\n").split(b"\r\n")[0].rstrip(b"\r"):
                what.append(f"text {body[:200]!r}, not {expected[:200]!r}")
        if what:
            differences += 1
            print(line["method"], line["path"], line["headers"], str(call["body"])[:300], *what, sep="\n  ")
    print(f"{count} calls, {differences} differences")
    sys.exit(differences > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["count"]:
        print(len(CALLS))
    elif len(sys.argv) == 4 and sys.argv[1] in ("record", "replay"):
        {"record": record, "replay": replay}[sys.argv[1]](sys.argv[2], sys.argv[3])
    else:
        sys.exit(__doc__)
