#!/usr/bin/env python3
"""CPU of a gateway's processes for gets, puts and scans of 100 rows by happybase:

    measure.py HOST:PORT PID...

The processes' user and system time for each operation, the client's excluded, in rounds of which the last counts.
"""

import os
import sys
import time

import happybase

TICKS = os.sysconf("SC_CLK_TCK")
ROUNDS = 3


def cpu_seconds(pids):
    def of(pid):
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    return sum(map(of, pids))


def main():
    host, port = sys.argv[1].rsplit(":", 1)
    pids = [int(pid) for pid in sys.argv[2:]]
    connection = happybase.Connection(host, int(port))
    name = "measured"
    if name.encode() in connection.tables():
        connection.delete_table(name, disable=True)
    connection.create_table(name, {"d": {}})
    table = connection.table(name)
    value = b"v" * 1000
    with table.batch(batch_size=500) as batch:
        for row in range(20_000):
            batch.put(b"%08d" % row, {b"d:v": value})

    def get(number):
        assert table.row(b"%08d" % (number * 7919 % 20_000))

    def put(number):
        table.put(b"%08d" % (number * 7919 % 20_000), {b"d:v": value})

    def scan(number):
        start = number * 7919 % 19_900
        rows = table.scan(row_start=b"%08d" % start, row_stop=b"%08d" % (start + 100), batch_size=100)
        assert sum(1 for _ in rows) == 100

    for label, operation, count in (("get", get, 10_000), ("put", put, 10_000), ("scan of 100 rows", scan, 1_000)):
        for _ in range(ROUNDS):
            before, began = cpu_seconds(pids), time.monotonic()
            for number in range(count):
                operation(number)
            micros = (cpu_seconds(pids) - before) / count * 1e6
            rate = count / (time.monotonic() - began)
        print(f"{label}: {micros:.0f} us of CPU, {rate:.0f}/s")
    connection.delete_table(name, disable=True)


main()
