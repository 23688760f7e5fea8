"""What happybase does when calls fail: happybase_faults.py THRIFT-PORT MASTER BINARY.

A line for each fault: how often an increment is applied, how many of 20 puts in a batch are stored, how many of 20 rows a
scan returns, each with the error that the program sees. TIMES=1 adds the milliseconds.
"""

import os
import subprocess
import sys
import time

import happybase

ROWS = 20
ANSWERS = [
    "RegionTooBusy", "CallQueueTooBig", "NotServingRegion", "RegionMoved", "Delay --millis 300", "CutBefore", "CutAfter",
    "LostAnswer", "LostScanner", "DeadServer --millis 300",
]

thrift, master, binary = int(sys.argv[1]), sys.argv[2], sys.argv[3]


def connect():
    return happybase.Connection("127.0.0.1", thrift, timeout=15_000).table("t")


# A connection that no fault has hit.
judge = connect()


def admin(*arguments):
    command = [binary, "admin", "fault", *arguments, "--connect", f"hbase://{master}"]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout


def increment(table):
    return table.counter_inc(b"counter", b"f:q")


def counter(table):
    return table.counter_get(b"counter", b"f:q")


def puts(table):
    with table.batch() as batch:
        for row in range(ROWS):
            batch.put(b"row%d" % (100 + row), {b"f:q": b"value"})
    return ROWS


def rows(table):
    return sum(1 for _ in table.scan(row_start=b"row", batch_size=3))


def clear():
    for row in [b"counter"] + [b"row%d" % (100 + row) for row in range(ROWS)]:
        judge.delete(row)


def outcome(answer, call, step, stored):
    """What is stored, or returned, after a step of which one call is hit; and the error."""
    clear()
    if call == "Scan":
        puts(judge)
    table = connect()
    # With a seed, the second call of a scan: the first opens it.
    chosen = ["--rate", "0.4", "--seed", "3"] if call == "Scan" else []
    admin("add", "--table", "t", "--call", call, "--hits", "1", *chosen, "--answer", *answer.split())
    began = time.monotonic()
    error, returned = "", 0
    try:
        returned = step(table)
    except Exception as failed:
        error = f" {type(failed).__name__}"
    millis = round((time.monotonic() - began) * 1000)
    if " hits=1 " not in admin("list"):
        raise RuntimeError(f"{answer} hit no call of {call}")
    # What the server still does is done, and a server that was dead is back.
    time.sleep(0.6)
    admin("remove")
    count = stored(judge) if stored else returned
    return f"{count}{error}" + (f" {millis} ms" if os.environ.get("TIMES") else "")


admin("remove")
for answer in ANSWERS:
    outcomes = []
    if answer != "LostScanner":
        outcomes.append("increment " + outcome(answer, "Mutate", increment, counter))
        outcomes.append("puts " + outcome(answer, "Multi", puts, rows))
    outcomes.append("scan " + outcome(answer, "Scan", rows, None))
    print(f"{answer}: {'; '.join(outcomes)}", flush=True)
