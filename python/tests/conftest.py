"""Databases for the tests: a directory, and a server if ROWHOUSE names the program."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import rowhouse

MAIL = {
    "key": "[user string][at millis desc][id u32]",
    "columns": "d:s subject string; d:n size u32; d:b body string",
}


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of a server, which ends with the tests."""
    program = os.environ.get("ROWHOUSE")
    if not program:
        pytest.skip("ROWHOUSE names no program")
    process = subprocess.Popen(
        [program, "serve", "--temporary", "--listen", "127.0.0.1:0", "--no-zookeeper", "--no-web"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            address = re.search(r"bootstrap\.servers=(\S+)", line)
            if address:
                yield f"hbase://{address.group(1)}"
                break
        else:
            pytest.fail("the server did not start")
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture(params=["directory", "server"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A URL to open: each test runs on both kinds."""
    if request.param == "directory":
        return str(tmp_path / "data")
    return str(request.getfixturevalue("server"))


@pytest.fixture
def db(url: str) -> Iterator[rowhouse.Database]:
    """An open database without tables."""
    with rowhouse.open(url) as database:
        yield database
        for name in database.tables():
            if not database.exists(name):
                continue  # the table of an index, which went with its table
            database.drop(name)


@pytest.fixture
def local(tmp_path: Path) -> Iterator[rowhouse.Database]:
    """An open database in a directory."""
    with rowhouse.open(tmp_path / "data") as database:
        yield database


@pytest.fixture
def mail(db: rowhouse.Database) -> rowhouse.Table:
    """An empty table of mails."""
    return db.create("mail", "d", **MAIL)  # type: ignore[arg-type]
