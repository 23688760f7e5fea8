"""The exceptions of rowhouse.

Each kind of error of the library has a class, named as the kind with ``Error`` at the end. Four
classes between them and ``Error`` tell what to do::

    Error
      RequestError    the request cannot succeed in this form: change it
      RetryError      the same call may succeed later
      ReopenError     open the scan, the connection or the database again
      ReportError     no change of the call helps: report it to an operator
"""

from __future__ import annotations

import builtins


class Error(Exception):
    """An error of the database. The text ends with the value and the limit."""

    @property
    def kind(self) -> str:
        """The kind, such as ``TableNotFound``."""
        name = type(self).__name__
        return name[: -len("Error")] if name.endswith("Error") else name


class RequestError(Error):
    """The request cannot succeed in this form: change it."""


class RetryError(Error):
    """The same call may succeed later."""


class ReopenError(Error):
    """Open the scan, the connection or the database again."""


class ReportError(Error):
    """No change of the call helps: report the error to an operator."""


class BatchError(Error):
    """Some requests of a batch failed; the others are applied."""

    errors: dict[int, Error]
    """The error of each failed request, by its place in the batch."""

    def __init__(self, requests: int, errors: dict[int, Error]) -> None:
        place, first = next(iter(errors.items()))
        super().__init__(
            f"{len(errors)} of {requests} requests failed, the first is {place}: {first}"
        )
        self.errors = errors


class TableNotFoundError(RequestError):
    """The named table does not exist."""


class TableExistsError(RequestError):
    """A table with that name already exists."""


class TableNotEnabledError(RequestError):
    """The table is disabled and the call needs it enabled."""


class TableNotDisabledError(RequestError):
    """The table is enabled and the call needs it disabled."""


class NamespaceNotFoundError(RequestError):
    """The named namespace does not exist."""


class NamespaceExistsError(RequestError):
    """A namespace with that name already exists."""


class NamespaceConstraintError(RequestError):
    """The namespace still holds tables or is reserved."""


class NoSuchColumnFamilyError(RequestError):
    """The table has no such column family."""


class InvalidFamilyError(RequestError):
    """A family cannot be added, changed or dropped."""


class SnapshotExistsError(RequestError):
    """A snapshot with that name already exists."""


class SnapshotNotFoundError(RequestError):
    """The named snapshot does not exist."""


class SnapshotExpiredError(RequestError):
    """The snapshot's time to live has passed."""


class SnapshotCreationError(RequestError):
    """The table for the requested snapshot does not exist."""


class UnknownSnapshotError(RequestError):
    """The snapshot neither exists nor is in progress."""


class ReplicationPeerNotFoundError(RequestError):
    """The named replication peer does not exist."""


class QuotaExceededError(RequestError):
    """The namespace has reached the limit for tables or regions."""


class RowExistsError(RequestError):
    """The row exists, and the write required that it did not."""


class LayoutChangedError(RequestError):
    """A promoted index has given the table another key: get the table again."""


class PositionLostError(RequestError):
    """The changes after a follower's position are no longer retained; copy the table again."""


class UnknownRegionError(RequestError):
    """The region to split or merge does not exist."""


class InvalidRequestError(RequestError):
    """The request can never succeed in this form."""


class UnsupportedError(RequestError):
    """The request is valid, but this backend or class does not support it."""


class AccessDeniedError(RequestError):
    """The user has not proved who they are, or may not do that."""


class InUseError(RequestError):
    """Another process holds the data directory, or the port is in use."""


class ConflictError(RetryError):
    """In every attempt, another writer changed data that a transaction had read."""


class RegionTooBusyError(RetryError):
    """The region cannot accept writes now."""


class ResponseTooLargeError(RetryError):
    """Other results of the same call have filled the response."""


class ServerNotRunningError(RetryError):
    """The server is stopping or has not finished starting."""


class ConnectionError(RetryError, builtins.ConnectionError):
    """The connection failed to open or broke."""


class TimeoutError(RetryError, builtins.TimeoutError):
    """No response arrived within the timeout; the outcome of a write is unknown."""


class WrongRegionError(RetryError):
    """The row is outside of the region that the request named."""


class NotServingRegionError(RetryError):
    """The server does not serve the region, or no longer does."""


class UnknownScannerError(ReopenError):
    """The scanner is unknown: closed, expired, or opened before a restart."""


class ScannerResetError(ReopenError):
    """The server closed the scanner after an error."""


class OutOfOrderScannerError(ReopenError):
    """A scan call arrived out of sequence."""


class OutcomeUnknownError(ReopenError):
    """The write may or may not be durable: syncing the log record failed."""


class ReadOnlyError(ReopenError):
    """The store rejects writes after an earlier failure; reopening it recovers."""


class ProtocolError(ReportError):
    """The peer violated the protocol."""


class CorruptionError(ReportError):
    """Bytes on disk differ from the bytes that were written."""


class IoError(ReportError):
    """An operating system call failed."""
