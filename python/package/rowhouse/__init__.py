"""Wide-column tables that know their row key: embedded in the process, or on an HBase cluster.

>>> import rowhouse
>>> with rowhouse.open("mail-data") as db:                                  # doctest: +SKIP
...     mail = db.create("mail", "d", key="[user string][at millis desc][id u32]",
...                      columns="d:s subject string")
...     mail.put(user="bob", at="2022-12-24T18:00", id=7, subject="Christmas")
...     for row in mail.query("user = 'bob' and at during 2022-12"):
...         print(row.at, row.subject)

``open_async`` is the same for asyncio. ``Table.raw`` has HBase's requests. Errors are subclasses of
``Error``, in ``rowhouse.errors``.
"""

from . import errors
from ._rowhouse import (
    AsyncDatabase,
    AsyncQuery,
    AsyncRawTable,
    AsyncRows,
    AsyncTable,
    Cell,
    Database,
    Delete,
    Get,
    Hashed,
    Page,
    Put,
    Query,
    RawRow,
    RawTable,
    Row,
    Rows,
    Scan,
    Table,
    __version__,
    open,
    open_async,
)
from .errors import BatchError, Error, ReopenError, ReportError, RequestError, RetryError

__all__ = [
    "AsyncDatabase",
    "AsyncQuery",
    "AsyncRawTable",
    "AsyncRows",
    "AsyncTable",
    "BatchError",
    "Cell",
    "Database",
    "Delete",
    "Error",
    "Get",
    "Hashed",
    "Page",
    "Put",
    "Query",
    "RawRow",
    "RawTable",
    "ReopenError",
    "ReportError",
    "RequestError",
    "RetryError",
    "Row",
    "Rows",
    "Scan",
    "Table",
    "__version__",
    "errors",
    "open",
    "open_async",
]
