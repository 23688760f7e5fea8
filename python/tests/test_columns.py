"""Results by columns, for Arrow and pandas."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

import rowhouse
from rowhouse import errors

pa = pytest.importorskip("pyarrow")

NOON = datetime(2022, 12, 24, 12, tzinfo=timezone.utc)
ID = UUID("12345678-1234-5678-1234-567812345678")

# Type, value, Arrow's type, and the value in Arrow.
COLUMNS: list[tuple[str, Any, str, Any]] = [
    ("u32", 7, "int64", 7),
    ("i64", -(2**63), "int64", -(2**63)),
    ("u64", 2**64 - 1, "uint64", 2**64 - 1),
    ("digits 38", 10**38 - 1, "decimal128(38, 0)", Decimal(10**38 - 1)),
    ("f64", 0.5, "double", 0.5),
    ("bool", True, "bool", True),
    ("string", "行键", "large_string", "行键"),
    ("blob", b"\x00\xff", "large_binary", b"\x00\xff"),
    ("bytes 2", b"\x00\xff", "large_binary", b"\x00\xff"),
    ("uuid", ID, "fixed_size_binary[16]", ID.bytes),
    ("date", date(1969, 12, 31), "date32[day]", date(1969, 12, 31)),
    ("seconds", NOON, "timestamp[s, tz=UTC]", NOON),
    ("millis", NOON, "timestamp[ms, tz=UTC]", NOON),
    ("micros", NOON, "timestamp[us, tz=UTC]", NOON),
    ("ipv4", "192.0.2.1", "large_string", "192.0.2.1"),
]


@pytest.mark.parametrize(("field", "value", "arrow", "read"), COLUMNS, ids=[c[0] for c in COLUMNS])
def test_each_type_has_a_column_with_nulls(
    local: rowhouse.Database, field: str, value: Any, arrow: str, read: Any
) -> None:
    table = local.create("t", "d", key="[n u32]", columns=f"d:c c {field}; d:x x u8")
    rows = 20
    for n in range(rows):
        table.put(n=n, x=1, **({} if n % 3 == 0 else {"c": value}))
    columns = table.query(columns=["c", "x"]).to_arrow()
    columns.validate(full=True)
    assert str(columns.schema.field("c").type) == arrow
    assert columns.column("c").to_pylist() == [None if n % 3 == 0 else read for n in range(rows)]
    assert columns.column("n").to_pylist() == list(range(rows))


@pytest.mark.parametrize("field", [c[0] for c in COLUMNS])
def test_an_empty_result_has_typed_columns(local: rowhouse.Database, field: str) -> None:
    table = local.create("t", "d", key="[n u32]", columns=f"d:c c {field}")
    columns = table.query().to_arrow()
    columns.validate(full=True)
    assert columns.num_rows == 0 and columns.column_names == ["n", "c"]


def test_nanoseconds_are_exact(local: rowhouse.Database) -> None:
    table = local.create("t", "d", key="[at nanos]", columns="d:c c u8")
    table.put(at=1_700_000_000_000_000_001, c=1)
    (at,) = table.query().to_arrow().column("at")
    assert at.value == 1_700_000_000_000_000_001


def test_hashes_are_bytes(local: rowhouse.Database) -> None:
    table = local.create("t", "d", key="[user text md5 4][n u8]", columns="d:c c u8")
    table.put(user="bob", n=7, c=1)
    (row,) = table.query()
    assert table.query().to_arrow().column("user").to_pylist() == [row.user.bytes]


def test_a_column_with_many_cells_is_refused_by_name(local: rowhouse.Database) -> None:
    table = local.create("t", "d", key="[n u32]", columns="d:[tag string] tagged u32")
    assert table.query().to_arrow().column_names == ["n"]
    with pytest.raises(errors.InvalidRequestError, match="tagged"):
        table.query(columns=["tagged"]).to_arrow()


def test_a_cell_that_does_not_fit_is_an_error(local: rowhouse.Database) -> None:
    table = local.create("t", "d", key="[n u32]", columns="d:c c u32")
    table.put({"d:c": b"\x01"}, n=1)
    with pytest.raises(errors.InvalidRequestError, match="c"):
        table.query().to_arrow()


def test_a_data_frame_has_stable_types(local: rowhouse.Database) -> None:
    pd = pytest.importorskip("pandas")
    table = local.create("t", "d", key="[at millis]", columns="d:c c u32; d:t t string; d:f f f64")
    table.put_many([{"at": NOON, "c": 2**32 - 1, "f": 0.5}, {"at": 0, "t": "x"}])
    frame = table.query().to_pandas()
    assert list(frame.columns) == ["at", "c", "t", "f"]
    assert (str(frame.c.dtype), str(frame.f.dtype)) == ("Int64", "float64")
    assert frame.c.isna().tolist() == [True, False] and frame.c[1] == 2**32 - 1
    assert frame["at"][1] == pd.Timestamp(NOON)
