"""The hierarchy of exceptions."""

from __future__ import annotations

import builtins
import inspect
import re
from pathlib import Path

import pytest

import rowhouse
from rowhouse import errors

LIBRARY = Path(__file__).parents[2] / "crates/rowhouse-model/src/error.rs"


def test_each_kind_of_the_library_has_a_class() -> None:
    declared = re.search(r"pub enum ErrorKind \{(.*?)\n\}", LIBRARY.read_text(), re.DOTALL)
    assert declared is not None
    kinds = set(re.findall(r"^    ([A-Z]\w+),", declared.group(1), re.MULTILINE))
    assert len(kinds) > 30
    groups = (errors.RequestError, errors.RetryError, errors.ReopenError, errors.ReportError)
    classes = {
        name[: -len("Error")]
        for name, each in inspect.getmembers(errors, inspect.isclass)
        if issubclass(each, groups) and each not in groups
    }
    assert classes == kinds


def test_an_error_has_kind_and_message(local: rowhouse.Database) -> None:
    with pytest.raises(rowhouse.RequestError) as caught:
        local.table("none")
    assert caught.value.kind == "TableNotFound"
    assert str(caught.value) == "there is no table none"


def test_a_server_that_does_not_answer_is_to_be_tried_again() -> None:
    with pytest.raises(rowhouse.RetryError) as caught:
        rowhouse.open("hbase://127.0.0.1:1", operation_timeout=0.5).tables()
    assert isinstance(caught.value, (builtins.ConnectionError, builtins.TimeoutError))
