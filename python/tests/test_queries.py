"""Queries: rows, pages, plans, indexes, full text."""

from __future__ import annotations

import time

import pytest

import rowhouse
from rowhouse import errors

DAY = 86_400_000
DECEMBER = 1_669_852_800_000  # 2022-12-01


def fill(mail: rowhouse.Table, rows: int = 60) -> None:
    mail.put_many(
        {
            "user": "bob" if n % 2 else "o'hara",
            "at": DECEMBER + n * DAY,
            "id": n,
            "subject": f"subject {n}",
            "size": n * 1_000,
        }
        for n in range(rows)
    )


def ids(rows: object) -> list[int]:
    return [row["id"] for row in rows]  # type: ignore[attr-defined]


def test_rows_come_in_key_order(mail: rowhouse.Table) -> None:
    fill(mail)
    query = mail.query("user = 'bob' and at during 2022-12")
    december = [n for n in range(31) if n % 2]
    assert ids(query) == sorted(december, reverse=True)
    assert ids(query) == ids(query), "a query is iterated anew each time"


def test_values_in_where_need_no_quotes(mail: rowhouse.Table) -> None:
    fill(mail)
    assert ids(mail.query(where={"user": "o'hara"}, reversed=True)) == list(range(0, 60, 2))
    assert ids(mail.query("at during 2022-12", where={"user": "' or user = 'bob"})) == []


def test_limit_and_offset_count_rows(mail: rowhouse.Table) -> None:
    fill(mail)
    rows = mail.query(where={"user": "bob"}, reversed=True, offset=2, limit=3)
    assert ids(rows) == [5, 7, 9]
    assert mail.query(where={"user": "bob"}).count() == 30
    assert len(mail.query(where={"user": "bob"}).keys()) == 30


def test_pages_join_to_all_rows(mail: rowhouse.Table) -> None:
    fill(mail)
    read: list[int] = []
    token = None
    while True:
        page = mail.query(where={"user": "bob"}, after=token).page(7)
        assert len(page) == len(page.rows) <= 7
        read += ids(page)
        token = page.next
        if token is None:
            break
    assert read == ids(mail.query(where={"user": "bob"}))


def test_a_foreign_page_token_is_refused(mail: rowhouse.Table) -> None:
    with pytest.raises(errors.InvalidRequestError):
        mail.query(where={"user": "bob"}, after="AAAA").page(7)


def test_a_mistake_in_a_query_is_pointed_at(mail: rowhouse.Table) -> None:
    with pytest.raises(errors.InvalidRequestError, match="usr"):
        list(mail.query("usr = 'bob'"))


def test_only_named_columns_are_read(mail: rowhouse.Table) -> None:
    fill(mail, 2)
    (row,) = mail.query(where={"user": "bob"}, columns=["size"])
    assert (row["size"], row["subject"]) == (1_000, None)
    (row,) = mail.query(where={"user": "bob"}, columns=["d:s"])
    assert [cell.qualifier for cell in row.cells] == [b"s"]


def test_a_zone_moves_a_day(mail: rowhouse.Table) -> None:
    mail.put(user="bob", at="2022-12-23T20:00", id=1, size=1)
    assert ids(mail.query("at during 2022-12-24")) == []
    assert ids(mail.query("at during 2022-12-24", zone="Asia/Shanghai")) == [1]
    with pytest.raises(errors.InvalidRequestError, match="zone"):
        list(mail.query("at during 2022-12-24", zone="Moon"))


def test_explain_prints_ranges(mail: rowhouse.Table) -> None:
    plan = mail.query("user = 'bob' and at during 2022-12").explain()
    assert "ranges: 1" in plan and "bob" in plan


def test_a_query_deletes_rows(mail: rowhouse.Table) -> None:
    fill(mail)
    assert mail.query("user = 'bob' and size > 30000").delete() == 15
    assert mail.query(where={"user": "bob"}).count() == 15


def wait_for(table: rowhouse.Table, index: str) -> None:
    for _ in range(600):
        if table.indexes()[index][1] == "ready":
            return
        time.sleep(0.05)
    pytest.fail(f"index {index} is not ready: {table.indexes()}")


def test_an_index_is_created_read_and_dropped(mail: rowhouse.Table) -> None:
    fill(mail)
    assert mail.indexes() == {}
    mail.create_index("by_size [size desc]")
    mail.create_index("by_subject [subject]")
    wait_for(mail, "by_size")
    declaration, _ = mail.indexes()["by_size"]
    assert declaration == "by_size [size desc]"
    # A handle plans by the indexes that the table had when it was made.
    assert ids(mail.query("size > 0", using="by_size", limit=3)) == [59, 58, 57]
    assert "by_size" in mail.query("size > 55000", using="by_size").explain()
    mail.drop_index("by_size")
    assert list(mail.indexes()) == ["by_subject"]
    with pytest.raises(errors.InvalidRequestError):
        list(mail.query("size > 0", using="by_size"))
    with pytest.raises(errors.InvalidRequestError):
        mail.drop_index("by_size")


def test_matches_finds_words_with_scores_and_snippets(db: rowhouse.Database) -> None:
    table = db.create(
        "posts",
        "p",
        key="[author string][id u32]",
        columns="p:b body string; p:t topic string",
        indexes="words search body english, topic keyword",
    )
    texts = ["row keys in HBase", "a key to rows of houses", "nothing of interest"]
    for n, body in enumerate(texts):
        table.put(author="eve", id=n, body=body, topic="a" if n else "b")
    found = list(table.query("body matches 'row key'", by_score=True))
    assert sorted(ids(found)) == [0, 1]
    assert all(row.score is not None and row.score > 0 for row in found)
    first = next(row for row in found if row.id == 0)
    snippet = first.snippet("body", 100)
    assert snippet is not None
    text, words = snippet
    assert [text[start:end] for start, end in words] == ["row", "keys"]
    assert table.query("body matches 'row'").facets("topic") == [("a", 1), ("b", 1)]
    assert "words" in table.query("body matches 'row'").explain()


def test_analyze_reports_what_was_read(local: rowhouse.Database) -> None:
    mail = local.create("mail", "d", key="[user string][id u32]", columns="d:c c u8")
    mail.put(user="bob", id=1, c=1)
    assert "1" in mail.query(where={"user": "bob"}).analyze()


def test_rows_are_read_while_others_are_written(mail: rowhouse.Table) -> None:
    fill(mail, 2_000)
    rows = iter(mail.query())
    first = next(rows)
    fill(mail, 2_000)
    assert len([first, *rows]) == 2_000
    rows.close()
    assert list(rows) == []
