"""Rows by key fields and declared columns."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from ipaddress import IPv4Address
from typing import Any
from uuid import UUID

import pytest

import rowhouse
from rowhouse import errors

AT = datetime(2022, 12, 24, 18, 30, 0, 123_000, tzinfo=timezone.utc)


def test_a_row_returns_the_values_that_were_put(mail: rowhouse.Table) -> None:
    mail.put(user="bob", at=AT, id=7, subject="圣诞快乐", size=20_000)
    row = mail.get(user="bob", at=AT, id=7)
    assert row is not None
    assert row.to_dict() == {
        "user": "bob",
        "at": AT,
        "id": 7,
        "subject": "圣诞快乐",
        "size": 20_000,
        "body": None,
    }
    assert row.at.tzinfo is timezone.utc
    assert (row.subject, row["size"]) == ("圣诞快乐", 20_000)


def test_a_row_is_a_mapping(mail: rowhouse.Table) -> None:
    mail.put(user="bob", at=AT, id=7, size=1)
    row = mail.get(user="bob", at=AT, id=7)
    assert row is not None
    assert dict(row) == row.to_dict() == dict(row.items())
    assert list(row) == list(row.keys()) == list(mail.names)
    assert len(row) == len(row.values()) == 6
    assert "size" in row and "sise" not in row and 7 not in row
    assert row.get("subject", "none") == "none" and row.get("size") == 1
    with pytest.raises(KeyError):
        row["sise"]
    with pytest.raises(AttributeError):
        row.sise


def test_a_missing_row_is_none(mail: rowhouse.Table) -> None:
    assert mail.get(user="bob", at=AT, id=7) is None


def test_a_deleted_row_is_gone(mail: rowhouse.Table) -> None:
    mail.put(user="bob", at=AT, id=7, size=1)
    mail.delete(user="bob", at=AT, id=7)
    assert mail.get(user="bob", at=AT, id=7) is None


def test_an_insert_of_an_existing_row_is_refused(mail: rowhouse.Table) -> None:
    mail.insert(user="bob", at=AT, id=7, size=1)
    with pytest.raises(errors.RowExistsError):
        mail.insert(user="bob", at=AT, id=7, size=2)
    row = mail.get(user="bob", at=AT, id=7)
    assert row is not None and row.size == 1


def test_many_rows_are_put_and_got_in_order(mail: rowhouse.Table) -> None:
    rows = [{"user": f"u{n}", "at": AT, "id": n, "size": n} for n in range(2_500)]
    assert mail.put_many(iter(rows)) == 2_500
    keys = [{"user": f"u{n}", "at": AT, "id": n} for n in (2_499, 9_999, 0)]
    sizes = [row and row["size"] for row in mail.get_many(keys)]
    assert sizes == [2_499, None, 0]


def test_undeclared_columns_are_put_as_cells(mail: rowhouse.Table) -> None:
    mail.put({"d:x:y": b"\xff", "d:z": "text"}, user="bob", at=AT, id=7)
    row = mail.get(user="bob", at=AT, id=7)
    assert row is not None
    cells = [(cell.family, cell.qualifier, cell.value) for cell in row.cells]
    assert cells == [(b"d", b"x:y", b"\xff"), (b"d", b"z", b"text")]
    assert row.key == mail.key(user="bob", at=AT, id=7)


def test_a_key_is_decoded(mail: rowhouse.Table) -> None:
    key = mail.key(user="bob", at="2022-12-24T18:30:00.123", id=7)
    assert mail.decode_key(key) == {"user": "bob", "at": AT, "id": 7}


@pytest.mark.parametrize(
    ("values", "part"),
    [
        ({"user": "bob", "at": AT}, "id"),
        ({"user": "bob", "at": AT, "id": -1, "size": 1}, "id"),
        ({"user": "bob", "at": AT, "id": 7, "size": "large"}, "size"),
        ({"user": "bob", "at": AT, "id": 7, "sise": 1}, "sise"),
    ],
)
def test_values_that_do_not_fit_are_refused_by_name(
    mail: rowhouse.Table, values: dict[str, Any], part: str
) -> None:
    with pytest.raises(errors.InvalidRequestError, match=part):
        mail.put(**values)


def test_a_datetime_without_a_zone_is_refused(mail: rowhouse.Table) -> None:
    with pytest.raises(ValueError, match="time zone"):
        mail.put(user="bob", at=datetime(2022, 12, 24), id=7, size=1)


def test_a_datetime_in_another_zone_is_the_same_instant(mail: rowhouse.Table) -> None:
    there = AT.astimezone(timezone(timedelta(hours=8)))
    assert mail.key(user="bob", at=there, id=7) == mail.key(user="bob", at=AT, id=7)


VALUES: list[tuple[str, Any]] = [
    ("bool", True),
    ("i64", -(2**63)),
    ("u64", 2**64 - 1),
    ("digits 38", 10**38 - 1),
    ("f64", -0.5),
    ("string", "a\x00b"),
    ("blob", b"\x00\xff"),
    ("uuid", UUID("12345678-1234-5678-1234-567812345678")),
    ("ipv4", IPv4Address("192.0.2.1")),
    ("date", date(1969, 12, 31)),
    ("ymd", date(2022, 12, 24)),
    ("seconds", datetime(1970, 1, 1, tzinfo=timezone.utc)),
    ("micros", datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=timezone.utc)),
    ("enum(low,high)", "high"),
]


@pytest.mark.parametrize(("field", "value"), VALUES, ids=[field for field, _ in VALUES])
def test_each_type_comes_back_from_key_and_column(
    local: rowhouse.Database, field: str, value: Any
) -> None:
    table = local.create("t", "d", key=f"[k {field}]", columns=f"d:c c {field}")
    table.put(k=value, c=value)
    row = table.get(k=value)
    assert row is not None
    assert (row["k"], type(row["k"])) == (row["c"], type(row["c"])) == (value, type(value))


def test_a_decimal_of_another_system_comes_back(local: rowhouse.Database) -> None:
    table = local.create("t", "d", key="[k u8]", columns="d:c c ordered.numeric")
    table.put(k=1, c=Decimal("-12.50"))
    row = table.get(k=1)
    assert row is not None and row.c == Decimal("-12.5")


def test_nanoseconds_are_returned_by_nanos_only(local: rowhouse.Database) -> None:
    table = local.create("t", "d", key="[at nanos]", columns="d:c c u8")
    table.put(at=1_700_000_000_000_000_001, c=1)
    (row,) = table.query()
    assert row.nanos("at") == 1_700_000_000_000_000_001
    with pytest.raises(errors.UnsupportedError, match="nanos"):
        row["at"]
    with pytest.raises(errors.InvalidRequestError):
        row.nanos("c")


def test_a_time_after_the_year_9999_is_returned_by_nanos_only(local: rowhouse.Database) -> None:
    table = local.create("t", "d", key="[at millis]", columns="d:c c u8")
    table.put(at=2**53, c=1)
    (row,) = table.query()
    assert row.nanos("at") == 2**53 * 1_000_000
    with pytest.raises(errors.UnsupportedError, match="9999"):
        row["at"]


def test_a_stored_hash_is_not_a_text(local: rowhouse.Database) -> None:
    table = local.create("t", "d", key="[user text md5 4][n u8]", columns="d:c c u8")
    table.put(user="bob", n=7, c=1)
    (row,) = table.query()
    assert isinstance(row.user, rowhouse.Hashed)
    assert row.user == rowhouse.Hashed(row.user.bytes)
    assert len({row.user, rowhouse.Hashed(row.user.bytes)}) == 1


def test_a_salted_row_is_got_and_deleted_without_the_salt(local: rowhouse.Database) -> None:
    table = local.create("t", "d", key="[salt 4][id u32]", columns="d:c c u32")
    for n in range(20):
        table.put(id=n, c=n)
    rows = [table.get(id=n) for n in range(20)]
    assert [row and row.c for row in rows] == list(range(20))
    table.delete(id=3)
    assert table.get(id=3) is None
    with pytest.raises(errors.InvalidRequestError, match="salt"):
        table.insert(id=3, c=3)


def test_columns_with_data_in_qualifiers_hold_pairs(local: rowhouse.Database) -> None:
    table = local.create("t", ["d", "t"], key="[id u32]", columns="t:[tag string] tagged u32")
    table.put(id=1, tagged=[({"tag": "red"}, 5), ({"tag": "blue"}, 6)])
    (row,) = table.query()
    assert row.tagged == [({"tag": "blue"}, 6), ({"tag": "red"}, 5)]


@pytest.mark.parametrize("wrong", [object(), {"a": 1}, 2**130])
def test_objects_that_no_field_holds_are_refused(mail: rowhouse.Table, wrong: object) -> None:
    with pytest.raises((TypeError, OverflowError)):
        mail.put(user="bob", at=AT, id=wrong, size=1)


def test_families_have_attributes(local: rowhouse.Database) -> None:
    table = local.create("t", {"d": {"VERSIONS": "3"}})
    for version in (1, 2, 3, 4):
        table.raw.put(rowhouse.Put(b"r").add("d", "q", str(version), timestamp=version))
    row = table.raw.get(rowhouse.Get(b"r", versions=9))
    assert [cell.value for cell in row.cells] == [b"4", b"3", b"2"]


def test_a_typed_call_needs_a_template(local: rowhouse.Database) -> None:
    table = local.create("t", "d")
    calls: list[Callable[[], object]] = [
        lambda: table.put(a=1),
        lambda: table.get(a=1),
        lambda: list(table.query()),
    ]
    for call in calls:
        with pytest.raises(errors.InvalidRequestError, match="declares no key"):
            call()
