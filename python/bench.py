"""Rows per second and CPU time per row of the module, in a directory: python bench.py [ROWS].

`cargo run --release --example loop -- ROWS` does the same in Rust. With --happybase HOST:PORT, the
address of a Thrift gateway, happybase does it too, and with --url URL the module does it on the
server of that gateway. --server PID adds the CPU time of that process to each row's.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import rowhouse

START = 1_669_852_800_000
# Rows in one call of put_many and in one batch of happybase.
CALL = 10_000
# The process whose CPU time counts too.
server: int | None = None


def cpu_seconds() -> float:
    """The CPU time of this process, and of the server if there is one."""
    own = os.times()
    seconds = own.user + own.system
    if server is not None:
        with open(f"/proc/{server}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        # Fields 14 and 15 of the line; the first after the name is field 3.
        seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds


@contextmanager
def step(name: str, rows: int) -> Iterator[None]:
    """Prints the measures of a step."""
    begun, before = time.perf_counter(), cpu_seconds()
    yield
    seconds, cpu = time.perf_counter() - begun, cpu_seconds() - before
    print(f"{name:<22}{rows / seconds:>12,.0f} rows/s {cpu / rows * 1e6:>8.2f} us CPU/row")


def row(n: int) -> dict[str, Any]:
    return {"user": f"user{n % 100:03}", "at": START + n * 1_000, "id": n} | {
        "subject": f"subject {n}",
        "size": n,
    }


def module(url: str, rows: int) -> None:
    key = "[user string][at millis desc][id u32]"
    columns = "d:s subject string; d:n size u32"
    with rowhouse.open(url) as db:
        mail = db.create("bench", "d", key=key, columns=columns)
        few = rows // 10
        with step("put", few):
            for n in range(few):
                mail.put(**row(n))
        with step("put_many", rows):
            for start in range(0, rows, CALL):
                mail.put_many(row(n) for n in range(start, min(start + CALL, rows)))
        with step("get", few):
            for n in range(few):
                found = mail.get(user=f"user{n % 100:03}", at=START + n * 1_000, id=n)
                assert found is not None and found.size == n
        with step("query", rows):
            read = sum(len(found.subject) + (found.size >= 0) for found in mail.query())
        assert read > rows
        with step("query, values unread", rows):
            assert sum(1 for _ in mail.query()) == rows
        with step("to_arrow", rows):
            assert mail.query().to_arrow().num_rows == rows
        with step("to_pandas", rows):
            assert len(mail.query().to_pandas()) == rows
        db.drop("bench")


def happybase(address: str, rows: int) -> None:
    import happybase as client

    host, _, port = address.rpartition(":")
    connection = client.Connection(host, int(port))
    connection.create_table("bench_happybase", {"d": {}})
    mail = connection.table("bench_happybase")

    def key(n: int) -> bytes:
        at = (2**63 - 1 - START - n * 1_000).to_bytes(8, "big")
        return f"user{n % 100:03}".encode() + at + n.to_bytes(4, "big")

    def cells(n: int) -> dict[bytes, bytes]:
        return {b"d:s": f"subject {n}".encode(), b"d:n": n.to_bytes(4, "big")}

    few = rows // 10
    with step("happybase put", few):
        for n in range(few):
            mail.put(key(n), cells(n))
    with step("happybase batch", rows), mail.batch(batch_size=CALL) as batch:
        for n in range(rows):
            batch.put(key(n), cells(n))
    with step("happybase row", few):
        for n in range(few):
            assert int.from_bytes(mail.row(key(n))[b"d:n"], "big") == n
    with step("happybase scan", rows):
        scanned = mail.scan(batch_size=1_000)
        read = sum(
            len(found[b"d:s"].decode()) + (int.from_bytes(found[b"d:n"], "big") >= 0)
            for _, found in scanned
        )
    assert read > rows
    connection.delete_table("bench_happybase", disable=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("rows", nargs="?", type=int, default=100_000)
    arguments.add_argument("--url")
    arguments.add_argument("--happybase", metavar="HOST:PORT")
    arguments.add_argument("--server", type=int, metavar="PID")
    given = arguments.parse_args()
    global server
    server = given.server
    directory = tempfile.mkdtemp()
    try:
        module(given.url or directory, given.rows)
    finally:
        shutil.rmtree(directory)
    if given.happybase:
        happybase(given.happybase, given.rows)


if __name__ == "__main__":
    main()
