"""Fixtures for pytest, which finds them where the package is installed.

A test with `rowhouse` begins without tables, or with those that `rowhouse_prepare` makes.
"""

import pytest

from .server import Server

PREPARED = "rowhouse-prepared"


@pytest.fixture(scope="session")
def rowhouse_options():
    """Options of `rowhouse serve`; override it to add some."""
    return []


@pytest.fixture(scope="session")
def rowhouse_prepare():
    """A function that takes a Server and makes the tables with which each test begins; override it to have one."""
    return None


@pytest.fixture(scope="session")
def rowhouse_server(rowhouse_options, rowhouse_prepare):
    """The server of the test session, as the test before left it."""
    with Server(*rowhouse_options) as server:
        if rowhouse_prepare is not None:
            rowhouse_prepare(server)
            server.snapshot(PREPARED)
        yield server


@pytest.fixture
def rowhouse(rowhouse_server, rowhouse_prepare):
    """The server, in the state with which each test begins."""
    if rowhouse_prepare is None:
        rowhouse_server.reset()
    else:
        rowhouse_server.restore(PREPARED)
    yield rowhouse_server
    rowhouse_server.remove_faults()


@pytest.fixture
def rowhouse_rpc(rowhouse):
    """(host, port) of HBase's protocol, for a client of it."""
    return rowhouse.rpc


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """Adds the server's log to the report of a test that failed."""
    outcome = yield
    report = outcome.get_result()
    server = getattr(item, "funcargs", {}).get("rowhouse_server")
    if report.failed and server is not None:
        report.sections.append(("log of rowhouse", server.log()))
