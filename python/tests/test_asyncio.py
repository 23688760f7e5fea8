"""The same calls for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import rowhouse
from rowhouse import errors


def run(url: str, program: Callable[[rowhouse.AsyncDatabase], Awaitable[None]]) -> None:
    async def main() -> None:
        async with await rowhouse.open_async(url) as db:
            try:
                await program(db)
            finally:
                for name in await db.tables():
                    await db.drop(name)

    asyncio.run(main())


def test_rows_are_put_got_and_iterated(url: str) -> None:
    async def program(db: rowhouse.AsyncDatabase) -> None:
        table = await db.create("t", "d", key="[user string][n u32]", columns="d:c c u32")
        await table.put(user="bob", n=0, c=0)
        await table.put_many({"user": "bob", "n": n, "c": n} for n in range(1, 1_000))
        row = await table.get(user="bob", n=7)
        assert row is not None and row.c == 7
        assert await table.get(user="bob", n=1_000) is None
        seen = [row.n async for row in table.query("user = 'bob'")]
        assert seen == list(range(1_000))
        page = await table.query(where={"user": "bob"}).page(10)
        assert len(page) == 10 and page.next is not None
        assert await table.query("c >= 990").count() == 10

    run(url, program)


def test_calls_run_concurrently(url: str) -> None:
    async def program(db: rowhouse.AsyncDatabase) -> None:
        raw = (await db.create("t", "f")).raw
        await asyncio.gather(*(raw.increment("r", "f", "n") for _ in range(200)))
        row = await raw.get(rowhouse.Get("r"))
        assert row.counter("f", "n") == 200
        scanned = [row.key async for row in await raw.scan(rowhouse.Scan())]
        assert scanned == [b"r"]

    run(url, program)


def test_the_loop_goes_on_while_a_call_waits(url: str) -> None:
    async def program(db: rowhouse.AsyncDatabase) -> None:
        table = await db.create("t", "d", key="[n u32]", columns="d:c c u32")
        await table.put_many({"n": n, "c": n} for n in range(5_000))
        turns = 0
        counting = asyncio.ensure_future(table.query("c >= 0").count())
        while not counting.done():
            turns += 1
            await asyncio.sleep(0)
        assert await counting == 5_000
        assert turns > 1

    run(url, program)


def test_errors_are_raised_where_they_are_awaited(url: str) -> None:
    async def program(db: rowhouse.AsyncDatabase) -> None:
        with pytest.raises(errors.TableNotFoundError):
            await db.table("none")
        table = await db.create("t", "d", key="[n u32]")
        with pytest.raises(errors.InvalidRequestError, match="sise"):
            async for _ in table.query("sise = 1"):
                pass

    run(url, program)


def test_a_cancelled_call_leaves_the_database_usable(tmp_path: Path) -> None:
    async def program(db: rowhouse.AsyncDatabase) -> None:
        table = await db.create("t", "d", key="[n u32]", columns="d:c c u32")
        await table.put_many({"n": n, "c": n} for n in range(5_000))
        counting = asyncio.ensure_future(table.query("c >= 0").count())
        await asyncio.sleep(0)
        counting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await counting
        assert await table.query("c >= 0").count() == 5_000

    run(str(tmp_path / "data"), program)


def test_a_call_outside_of_a_loop_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="loop"):
        rowhouse.open_async(tmp_path / "data")


def test_columns_are_read_by_an_awaited_call(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")

    async def program(db: rowhouse.AsyncDatabase) -> None:
        table = await db.create("t", "d", key="[n u32]", columns="d:c c u32")
        await table.put(n=1, c=2)
        arrow = await table.query().to_arrow()
        assert arrow.to_pylist() == [{"n": 1, "c": 2}]

    run(str(tmp_path / "data"), program)
