"""Rows whose read is interrupted, or in another thread or task, do not end as if complete."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

import rowhouse
from rowhouse import errors

T = TypeVar("T")

ROWS = 200_000
# The last row, after a read of all others: a step that lasts.
LAST = f"c >= {ROWS - 1}"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a table of many rows."""
    directory = tmp_path_factory.mktemp("rows") / "data"
    with rowhouse.open(directory) as db:
        table = db.create("t", "d", key="[n u32]", columns="d:c c u32")
        for start in range(0, ROWS, 10_000):
            table.put_many({"n": n, "c": n} for n in range(start, start + 10_000))
    return directory


def run(directory: Path, program: Callable[[rowhouse.AsyncTable], Awaitable[None]]) -> None:
    async def main() -> None:
        async with await rowhouse.open_async(directory) as db:
            await program(await db.table("t"))

    asyncio.run(main())


async def settled(rows: rowhouse.AsyncRows[T]) -> T:
    """The next row, after a cancelled read has ended."""
    while True:
        try:
            return await rows.__anext__()
        except errors.RetryError:
            await asyncio.sleep(0.01)


def test_rows_after_a_timeout_are_interrupted(directory: Path) -> None:
    async def program(table: rowhouse.AsyncTable) -> None:
        rows = table.query(LAST).__aiter__()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(rows.__anext__(), 0.001)
        for _ in range(2):
            with pytest.raises(errors.ReopenError, match="interrupted"):
                await settled(rows)
        assert [row.n async for row in table.query(LAST)] == [ROWS - 1]

    run(directory, program)


def test_a_read_that_was_done_when_it_was_cancelled_loses_no_row(directory: Path) -> None:
    async def program(table: rowhouse.AsyncTable) -> None:
        rows = table.query("n < 3").__aiter__()
        first = asyncio.ensure_future(rows.__anext__())
        time.sleep(2)  # the read ends; the loop delivers it only after the cancellation
        first.cancel()
        assert [(await settled(rows)).n for _ in range(3)] == [0, 1, 2]
        with pytest.raises(StopAsyncIteration):
            await settled(rows)

    run(directory, program)


def test_a_step_during_the_step_of_another_task_is_refused(directory: Path) -> None:
    async def program(table: rowhouse.AsyncTable) -> None:
        rows = table.query(LAST).__aiter__()
        first = rows.__anext__()
        with pytest.raises(errors.RetryError, match="another thread or task"):
            await rows.__anext__()
        assert (await first).n == ROWS - 1
        with pytest.raises(StopAsyncIteration):
            await rows.__anext__()

    run(directory, program)


def test_a_close_during_a_step_is_not_undone(directory: Path) -> None:
    async def program(table: rowhouse.AsyncTable) -> None:
        rows = table.query().__aiter__()
        first = rows.__anext__()
        rows.close()
        with pytest.raises(StopAsyncIteration):
            await first
        with pytest.raises(StopAsyncIteration):
            await rows.__anext__()

    run(directory, program)


def test_a_step_outside_of_a_loop_loses_no_row(directory: Path) -> None:
    async def program(table: rowhouse.AsyncTable) -> None:
        rows = table.query("n < 3").__aiter__()

        def outside() -> None:
            with pytest.raises(RuntimeError, match="loop"):
                rows.__anext__()

        await asyncio.to_thread(outside)
        assert [row.n async for row in rows] == [0, 1, 2]

    run(directory, program)


def test_a_step_during_the_step_of_another_thread_is_refused(directory: Path) -> None:
    with rowhouse.open(directory) as db:
        rows = iter(db.table("t").query(LAST))
        start = threading.Barrier(2)
        outcomes: list[object] = []

        def read() -> None:
            start.wait()
            try:
                outcomes.append(next(rows).n)
            except errors.RetryError as error:
                outcomes.append(str(error))
            except StopIteration:
                outcomes.append(None)

        threads = [threading.Thread(target=read) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert outcomes == ["another thread or task is reading these rows", ROWS - 1]
        assert list(rows) == []


def test_a_close_by_another_thread_ends_the_rows(directory: Path) -> None:
    with rowhouse.open(directory) as db:
        rows = iter(db.table("t").query(LAST))
        outcomes: list[object] = []
        thread = threading.Thread(target=lambda: outcomes.append(next(rows, None)))
        thread.start()
        time.sleep(0.01)  # the step has begun
        rows.close()
        thread.join()
        assert outcomes == [None]
        assert list(rows) == []


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_rows_after_a_signal_that_raises_are_interrupted(directory: Path) -> None:
    def alarm(*_: object) -> None:
        raise InterruptedError("alarm")

    with rowhouse.open(directory) as db:
        query = db.table("t").query(LAST)
        started = time.monotonic()
        assert len(list(query)) == 1
        if time.monotonic() - started < 0.25:
            pytest.skip("the read is done before the module looks for signals")
        rows = iter(query)
        before = signal.signal(signal.SIGALRM, alarm)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            with pytest.raises(InterruptedError):
                next(rows)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        for _ in range(2):
            with pytest.raises(errors.ReopenError, match="interrupted"):
                next(rows)
