#!/usr/bin/env python3
"""CPU of a REST gateway per request, by one client over one connection:  measure.py HOST:PORT PID...

PID... are the processes of the gateway and of the servers behind it; their CPU time (user and system) is added. Of three
rounds the last counts.
"""
import http.client
import os
import sys
import time

TICK = os.sysconf("SC_CLK_TCK")
VALUE = os.urandom(1000)
ROWS = 10000
ROUNDS = 3


def cpu(pids):
    total = 0
    for pid in pids:
        fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICK


def resident(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) // 1024


def main(address, pids):
    connection = http.client.HTTPConnection(address)

    def ask(method, path, body=None, **headers):
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        data = answer.read()
        assert answer.status < 300, (method, path, answer.status, data[:200])
        return data

    print("resident MiB:", ", ".join(f"{pid}: {resident(pid)}" for pid in pids))
    ask("PUT", "/measured/schema", '{"ColumnSchema":[{"name":"f"}]}', Content_Type="application/json")

    def put(number):
        ask("PUT", f"/measured/row{number % ROWS:05}/f:q", VALUE, Content_Type="application/octet-stream")

    def get(number):
        assert len(ask("GET", f"/measured/row{number * 7 % ROWS:05}/f:q", Accept="application/octet-stream")) == len(VALUE)

    def scan(number):
        start = number * 37 % (ROWS - 100)
        ask("GET", f"/measured/*?startrow=row{start:05}&limit=100", Accept="application/x-protobuf")

    for name, work, count in [("put", put, ROWS), ("get", get, ROWS), ("scan of 100 rows", scan, 1000)]:
        for _ in range(ROUNDS):
            before, began = cpu(pids), time.time()
            for number in range(count):
                work(number)
            print(f"{name}: {(cpu(pids) - before) / count * 1e6:.0f} us of CPU, {(time.time() - began) / count * 1e6:.0f} us")
    print("resident MiB:", ", ".join(f"{pid}: {resident(pid)}" for pid in pids))
    ask("DELETE", "/measured/schema")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
