#!/usr/bin/env python3
"""Queries by happybase, as filters: on the server in HAPPYBASE_HOST, HAPPYBASE_PORT, _TRANSPORT and _PROTOCOL."""

import os

import happybase
from Hbase_thrift import IOError as HbaseError  # what happybase loads from its description of the interface

connection = happybase.Connection(
    os.environ["HAPPYBASE_HOST"],
    int(os.environ["HAPPYBASE_PORT"]),
    transport=os.environ["HAPPYBASE_TRANSPORT"],
    protocol=os.environ["HAPPYBASE_PROTOCOL"],
)
mail = connection.table("mail")
if b"mail" in connection.tables():
    connection.delete_table("mail", disable=True)


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


connection.create_table("mail", {"d": dict(max_versions=1)})
with mail.batch(batch_size=100) as batch:
    for number in range(1000):
        batch.put(b"user%d#%04d" % (number % 3, number), {b"d:n": b"%d" % number, b"d:s": b"o'neil"})
# Without a template of the key there are no queries.
fails(lambda: keys("RowhouseQuery('n = 1')"), "a query needs a row-key template", "DoNotRetryIOException")
assert keys("PrefixFilter('user1#0004')") == [b"user1#0004"]
assert len(list(mail.scan(batch_size=7))) == 1000
assert len(list(mail.scan(limit=10, batch_size=3))) == 10
connection.delete_table("mail", disable=True)
print("ok queries", os.environ["HAPPYBASE_TRANSPORT"], os.environ["HAPPYBASE_PROTOCOL"])
