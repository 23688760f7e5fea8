"""Makes Arrow tables of columns that were built in Rust. pyarrow and pandas are imported here only."""

from __future__ import annotations

from typing import Any


def check() -> None:
    """Raises ImportError if pyarrow is not installed."""
    import pyarrow  # noqa: F401


def _type(name: str) -> Any:
    import pyarrow as pa

    word, _, unit = name.partition(" ")
    if word == "timestamp":
        return pa.timestamp(unit, tz="UTC")
    return {
        "int64": pa.int64(),
        "uint64": pa.uint64(),
        "decimal128": pa.decimal128(38, 0),
        "float64": pa.float64(),
        "bool": pa.bool_(),
        "text": pa.large_string(),
        "bytes": pa.large_binary(),
        "uuid": pa.binary(16),
        "date32": pa.date32(),
    }[word]


def table(columns: list[tuple[str, str, int, list[bytes]]]) -> Any:
    """Returns a table of columns, given as name, type, rows and buffers."""
    import pyarrow as pa

    arrays = []
    for _, name, rows, buffers in columns:
        shared = [pa.py_buffer(buffer) for buffer in buffers]
        arrays.append(pa.Array.from_buffers(_type(name), rows, shared))
    return pa.Table.from_arrays(arrays, names=[name for name, *_ in columns])


def to_pandas(arrow: Any) -> Any:
    """Returns a data frame of a table."""
    import pandas as pd
    import pyarrow as pa

    nullable = {
        pa.int64(): pd.Int64Dtype(),
        pa.uint64(): pd.UInt64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
    }
    return arrow.to_pandas(types_mapper=nullable.get)
