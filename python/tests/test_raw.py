"""HBase's requests."""

from __future__ import annotations

import pytest

import rowhouse
from rowhouse import Delete, Get, Put, Scan, errors


@pytest.fixture
def raw(db: rowhouse.Database) -> rowhouse.RawTable:
    return db.create("t", ["f", "g"]).raw


def test_a_row_has_the_cells_that_were_put(raw: rowhouse.RawTable) -> None:
    raw.put(Put(b"\x00r").add("f", b"\xff", b"1", timestamp=5).add(b"g", "q", "two"))
    row = raw.get(Get(b"\x00r"))
    assert row.key == b"\x00r" and len(row) == 2
    assert row.value("f", b"\xff") == b"1" and row.value("g", "q") == b"two"
    assert row.value("g", "none") is None
    assert (row.cells[0].timestamp, row.cells[0].is_delete) == (5, False)


def test_a_missing_row_has_no_cells(raw: rowhouse.RawTable) -> None:
    assert not raw.get(Get(b"r")) and not raw.exists(Get(b"r"))


def test_columns_and_times_narrow_a_get(raw: rowhouse.RawTable) -> None:
    raw.put(Put("r").add("f", "a:b", "1", timestamp=10).add("f", "c", "2", timestamp=20))
    raw.put(Put("r").add("g", "d", "3", timestamp=30))

    def values(get: Get) -> list[bytes]:
        return [cell.value for cell in raw.get(get).cells]

    assert values(Get("r", columns=["f:a:b", ("g", "d")])) == [b"1", b"3"]
    assert values(Get("r", columns=["f"])) == values(Get("r", columns=["f:"])) == [b"1", b"2"]
    assert values(Get("r", time_range=(20, 30))) == [b"2"]
    assert values(Get("r", filter="ValueFilter(=, 'binary:3')")) == [b"3"]


def test_a_scan_returns_a_range_in_order(raw: rowhouse.RawTable) -> None:
    raw.batch(Put(f"r{n:03}").add("f", "q", str(n)) for n in range(600))

    def keys(scan: Scan) -> list[bytes]:
        return [row.key for row in raw.scan(scan)]

    assert len(keys(Scan())) == 600
    assert keys(Scan("r010", "r012")) == [b"r010", b"r011"]
    assert keys(Scan("r009", "r011", reversed=True)) == [b"r010", b"r009"]
    assert keys(Scan(prefix="r59", limit=3)) == [b"r590", b"r591", b"r592"]
    with pytest.raises(ValueError, match="prefix"):
        Scan("a", prefix="b")


def test_deletes_cover_columns_families_and_rows(raw: rowhouse.RawTable) -> None:
    def put() -> None:
        raw.put(Put("r").add("f", "a", "1").add("f", "b", "2").add("g", "c", "3"))

    def qualifiers() -> list[bytes]:
        return [cell.qualifier for cell in raw.get(Get("r")).cells]

    put()
    raw.delete(Delete("r").column("f", "a"))
    assert qualifiers() == [b"b", b"c"]
    raw.delete(Delete("r").family("f"))
    assert qualifiers() == [b"c"]
    raw.delete(Delete("r"))
    assert qualifiers() == []
    assert any(cell.is_delete for row in raw.scan(Scan(raw=True, versions=9)) for cell in row.cells)


def test_a_version_is_deleted_alone(raw: rowhouse.RawTable) -> None:
    raw.put(Put("r").add("f", "a", "1", timestamp=1))
    raw.put(Put("r").add("f", "b", "2", timestamp=2))
    raw.delete(Delete("r").version("f", "a", timestamp=1))
    assert [cell.value for cell in raw.get(Get("r")).cells] == [b"2"]


def test_counters_add_up(raw: rowhouse.RawTable) -> None:
    assert raw.increment("r", "f", "n") == 1
    assert raw.increment("r", "f", "n", 41) == 42
    assert raw.get(Get("r")).counter("f", "n") == 42


def test_appends_return_the_new_value(raw: rowhouse.RawTable) -> None:
    assert raw.append("r", "f", "log", "a") == b"a"
    assert raw.append("r", "f", "log", b"b") == b"ab"


def test_a_checked_put_happens_under_the_condition_only(raw: rowhouse.RawTable) -> None:
    assert raw.check_and_put("f", "q", None, Put("r").add("f", "q", "5"))
    assert not raw.check_and_put("f", "q", None, Put("r").add("f", "q", "6"))
    assert raw.check_and_put("f", "q", "5", Put("r").add("f", "q", "7"))
    # The operator compares the stored value with the given one.
    assert not raw.check_and_put("f", "q", "7", Put("r").add("f", "q", "8"), operator="<")
    assert raw.check_and_put("f", "q", "7", Put("r").add("f", "q", "8"), operator="<=")
    assert not raw.check_and_delete("f", "q", "7", Delete("r"))
    assert raw.check_and_delete("f", "q", "8", Delete("r"))
    assert not raw.exists(Get("r"))


def test_a_batch_names_the_requests_that_failed(raw: rowhouse.RawTable) -> None:
    requests: list[Put | Delete] = [Put("a").add("f", "q", "1"), Put("b").add("none", "q", "2")]
    requests.append(Delete("c"))
    with pytest.raises(rowhouse.BatchError) as caught:
        raw.batch(requests)
    assert list(caught.value.errors) == [1]
    assert isinstance(caught.value.errors[1], errors.NoSuchColumnFamilyError)
    assert raw.exists(Get("a"))


def test_many_gets_are_answered_in_order(raw: rowhouse.RawTable) -> None:
    raw.batch([Put("a").add("f", "q", "1"), Put("b").add("f", "q", "2")])
    rows = raw.get_many([Get("b"), Get("none"), Get("a")])
    assert [row.value("f", "q") for row in rows] == [b"2", None, b"1"]


@pytest.mark.parametrize("row", [b"", b"x" * 32_768])
def test_row_keys_that_hbase_refuses_are_refused(row: bytes) -> None:
    with pytest.raises(errors.InvalidRequestError):
        Put(row)
