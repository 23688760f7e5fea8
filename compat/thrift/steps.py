#!/usr/bin/env python3
"""Queries by happybase, as filters: on the server in HAPPYBASE_HOST, THRIFT_PORT, HAPPYBASE_TRANSPORT and _PROTOCOL."""

import os

import happybase
from Hbase_thrift import IOError as HbaseError  # what happybase loads from its description of the interface

connection = happybase.Connection(
    os.environ["HAPPYBASE_HOST"],
    int(os.environ["THRIFT_PORT"]),
    transport=os.environ["HAPPYBASE_TRANSPORT"],
    protocol=os.environ["HAPPYBASE_PROTOCOL"],
)
mail = connection.table("mail")
def query(text, more=""):
    """Returns a query as a filter: quotes in it are doubled."""
    return "RowhouseQuery('" + text.replace("'", "''") + "')" + more


def keys(text, **options):
    return [key for key, _ in mail.scan(filter=text, **options)]


def fails(call, *parts):
    try:
        call()
    except HbaseError as error:
        text = error.message.decode() if isinstance(error.message, bytes) else error.message
        assert all(part in text for part in parts), text
        return
    raise AssertionError(f"no error: {parts}")


with mail.batch(batch_size=100) as batch:
    for number in range(1000):
        sender = b"o'neil" if number % 100 == 7 else b"eve"
        batch.put(b"user%d#%04d" % (number % 3, number), {b"d:s": sender, b"d:x": b"%d" % number})
by_sender = keys(query("sender = 'o''neil'"))
assert by_sender == [b"user%d#%04d" % (it % 3, it) for it in sorted(range(7, 1000, 100), key=lambda it: (it % 3, it))], by_sender
of_user = query("user = 'user1' and n < 10")
assert keys(of_user) == [b"user1#0001", b"user1#0004", b"user1#0007"]
assert keys(of_user, reverse=True, limit=1) == [b"user1#0007"]
filtered = query("n < 10", " AND ColumnPrefixFilter('x') AND PageFilter(3)")
assert keys(filtered) == [b"user0#0000", b"user0#0003", b"user0#0006"]
assert keys(query("n < 10") + " AND ColumnPrefixFilter('nosuch')") == []
fails(lambda: keys(query("sendr = 'eve'")), "there is no `sendr`; did you mean `sender`?", "DoNotRetryIOException")
assert keys("PrefixFilter('user1#0004')") == [b"user1#0004"]
assert len(list(mail.scan(batch_size=7))) == 1000
assert len(list(mail.scan(limit=10, batch_size=3))) == 10
print("ok queries", os.environ["HAPPYBASE_TRANSPORT"], os.environ["HAPPYBASE_PROTOCOL"])
