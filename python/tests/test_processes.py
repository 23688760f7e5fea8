"""Threads, signals, forks, and the end of a database."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import rowhouse
from rowhouse import errors


def test_rows_survive_a_close(tmp_path: Path) -> None:
    with rowhouse.open(tmp_path) as db:
        db.create("t", "f").raw.put(rowhouse.Put("r").add("f", "q", "1"))
    with rowhouse.open(tmp_path, only_existing=True) as db:
        assert db.tables() == ["t"]
        assert db.table("t").raw.exists(rowhouse.Get("r"))


def test_a_directory_is_open_once(tmp_path: Path) -> None:
    program = "import rowhouse, sys; rowhouse.open(sys.argv[1])"
    with rowhouse.open(tmp_path):
        other = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True
        )
    assert "InUseError" in other.stderr
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)


def test_the_last_object_closes_the_database(tmp_path: Path) -> None:
    table = rowhouse.open(tmp_path).create("t", "d", key="[n u32]", columns="d:c c u8")
    table.put(n=1, c=1)
    rows = iter(table.query())
    del table
    gc.collect()
    assert next(rows).n == 1
    del rows
    gc.collect()
    rowhouse.open(tmp_path).close()


def test_a_closed_database_refuses_calls(tmp_path: Path) -> None:
    db = rowhouse.open(tmp_path)
    raw = db.create("t", "f").raw
    db.close()
    with pytest.raises(rowhouse.Error, match="closed"):
        raw.put(rowhouse.Put("r").add("f", "q", "1"))
    db.close()


def test_a_killed_process_loses_no_acknowledged_row(tmp_path: Path) -> None:
    program = """if True:
        import os, rowhouse, signal, sys
        table = rowhouse.open(sys.argv[1]).create("t", "d", key="[n u32]", columns="d:c c u32")
        table.put_many({"n": n, "c": n} for n in range(1_000))
        os.kill(os.getpid(), signal.SIGKILL)
    """
    killed = subprocess.run([sys.executable, "-c", program, str(tmp_path)])
    assert killed.returncode == -signal.SIGKILL
    with rowhouse.open(tmp_path) as db:
        assert db.table("t").query().count() == 1_000


def test_other_threads_run_while_a_call_waits(local: rowhouse.Database) -> None:
    table = local.create("t", "d", key="[n u32]", columns="d:c c u32")
    table.put_many({"n": n, "c": n} for n in range(20_000))
    turns = 0
    done = threading.Event()

    def count() -> None:
        nonlocal turns
        while not done.is_set():
            turns += 1
            time.sleep(0)

    before = sys.getswitchinterval()
    # Without a detached call, the other thread would wait for the whole of it.
    sys.setswitchinterval(1_000)
    thread = threading.Thread(target=count)
    thread.start()
    try:
        started = turns
        assert table.query("c >= 0").count() == 20_000
        seen = turns
    finally:
        done.set()
        sys.setswitchinterval(before)
        thread.join()
    assert seen > started


def test_threads_share_a_table(local: rowhouse.Database) -> None:
    table = local.create("t", "d", key="[n u32]", columns="d:c c u32")

    def put(start: int) -> None:
        for n in range(start, 400, 4):
            table.put(n=n, c=n)

    threads = [threading.Thread(target=put, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [row.c for row in table.query()] == list(range(400))


def test_a_signal_interrupts_a_call() -> None:
    program = """if True:
        import rowhouse, socket
        deaf = socket.create_server(("127.0.0.1", 0))
        print("ready", flush=True)
        rowhouse.open(f"hbase://127.0.0.1:{deaf.getsockname()[1]}", call_timeout=600.0,
                      operation_timeout=600.0)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_is_refused_and_opens_its_own(tmp_path: Path) -> None:
    with rowhouse.open(tmp_path / "parent") as db:
        table = db.create("t", "d", key="[n u32]", columns="d:c c u32")
        table.put(n=1, c=1)
        rows = iter(table.query())
        child = os.fork()
        if child == 0:
            status = 1
            try:
                try:
                    table.get(n=1)
                except RuntimeError as error:
                    assert "forked" in str(error)
                    own = rowhouse.open(tmp_path / "child")
                    own.create("t", "f").raw.put(rowhouse.Put("r").add("f", "q", "1"))
                    own.close()
                    # Nothing is dropped here that the parent uses.
                    del table, rows, db
                    gc.collect()
                    status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        table.put(n=2, c=2)
        assert [row.c for row in table.query()] == [1, 2]
    with rowhouse.open(tmp_path / "child") as db:
        assert db.tables() == ["t"]


def test_mistakes_in_settings_and_urls_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="colour"):
        rowhouse.open(tmp_path, colour="red")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="durability"):
        rowhouse.open(tmp_path, durability="NONE")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seconds"):
        rowhouse.open("hbase://127.0.0.1:1", call_timeout=-1.0)
    with pytest.raises(errors.InvalidRequestError, match="call_timeout"):
        rowhouse.open(tmp_path, call_timeout=1.0)
    with pytest.raises(errors.InvalidRequestError, match="mysql"):
        rowhouse.open("mysql://localhost")
