"""Tables of any kind that callers have: as columns, as lines of JSON, and back with what was found beside them."""

from __future__ import annotations

import datetime
import decimal
import importlib.util
import json
import math
import numbers
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from calibrant import _calibrant

#: Which library a table belongs to; ``dicts`` is a list of dictionaries.
FrameKind: TypeAlias = Literal["pandas", "polars", "pyarrow", "dicts"]

#: What the native module reads: a path, or the name and the bytes of what a file would hold.
Source: TypeAlias = "str | tuple[str, bytes]"


#: What a table is called in messages; that it is JSON Lines is told by its first bytes.
TABLE = "the table"


def installed_kind() -> FrameKind:
    """Give the kind of table that the caller works with: one that is loaded already, else one that is installed."""
    names: tuple[FrameKind, ...] = ("pandas", "polars", "pyarrow")
    for name in names[:2]:
        if name in sys.modules:
            return name
    for name in names:
        if importlib.util.find_spec(name) is not None:
            return name
    return "dicts"


def _module(value: object) -> str:
    return type(value).__module__.split(".")[0]


def is_table(value: object) -> bool:
    """Whether a value is a table rather than a file."""
    if isinstance(value, (str, bytes, bytearray, os.PathLike)) or hasattr(value, "read"):
        return False
    is_named_bytes = isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], (bytes, bytearray))
    return not is_named_bytes


def kind_of(value: object) -> FrameKind | None:
    """Give the kind of a table, ``None`` of a file."""
    if not is_table(value):
        return None
    if isinstance(value, (Mapping, list, tuple)):
        return "dicts"
    match _module(value):
        case "pandas":
            return "pandas"
        case "polars":
            return "polars"
        case "pyarrow":
            return "pyarrow"
    if hasattr(value, "__arrow_c_stream__"):
        return "pyarrow"
    if isinstance(value, Iterable):
        return "dicts"
    raise TypeError(f"a path, a table (pandas, Polars, PyArrow) or a list of dictionaries is needed, not {type(value).__name__}")


def settled(value: Any) -> Any:
    """Give a table that can be read more than once: lazy ones are computed, others of Arrow's kind become PyArrow's."""
    if not is_table(value) or isinstance(value, (Mapping, list)):
        return value
    module = _module(value)
    if module == "polars" and type(value).__name__ == "LazyFrame":
        return value.collect()
    if module in ("pandas", "polars"):
        return value
    if module == "pyarrow" or hasattr(value, "__arrow_c_stream__"):
        import pyarrow as pa

        return value if isinstance(value, pa.Table) else pa.table(value)
    if isinstance(value, Iterable):
        return list(value)
    return value


def columns_of(table: Any) -> dict[str, list[Any]]:
    """Give the columns of a table as lists of plain values: numbers, texts, truths, ``None`` and lists of these."""
    if isinstance(table, Mapping):
        columns = {str(name): _plain_list(column) for name, column in table.items()}
    elif isinstance(table, (list, tuple)):
        columns = _columns_of_rows(table)
    elif _module(table) == "pandas":
        columns = _columns_of_pandas(table)
    elif _module(table) == "polars":
        if type(table).__name__ == "Series":
            return {"text": [_plain(one) for one in table.to_list()]}
        columns = {name: [_plain(one) for one in table[name].to_list()] for name in table.columns}
    else:
        if len(set(table.column_names)) < len(table.column_names):
            raise ValueError("two columns have the same name")
        columns = {name: [_plain(one) for one in cells] for name, cells in table.to_pydict().items()}
    if len({len(column) for column in columns.values()}) > 1:
        raise ValueError("columns differ in length")
    return columns


def _columns_of_rows(rows: Sequence[Any]) -> dict[str, list[Any]]:
    if all(isinstance(row, Mapping) for row in rows):
        names = dict.fromkeys(str(name) for row in rows for name in row)
        return {name: [_plain(row.get(name)) for row in rows] for name in names}
    if all(isinstance(row, str) for row in rows):
        return {"text": list(rows)}
    kinds = sorted({type(row).__name__ for row in rows})
    raise TypeError(f"rows must all be dictionaries, or all texts, not {' and '.join(kinds)}")


def _columns_of_pandas(table: Any) -> dict[str, list[Any]]:
    if type(table).__name__ == "Series":
        return {"text": [_plain(one) for one in table.tolist()]}
    names = [str(name) for name in table.columns]
    if len(set(names)) < len(names):
        raise ValueError("two columns have the same name")
    columns = {}
    for place, name in enumerate(names):
        column = table.iloc[:, place]
        cells = column.tolist()
        is_whole = getattr(column.dtype, "kind", "O") in "iub" and not hasattr(column.dtype, "na_value")
        columns[name] = cells if is_whole else [_plain(cell) for cell in cells]
    return columns


def _plain_list(column: Any) -> list[Any]:
    if hasattr(column, "tolist"):
        column = column.tolist()
    elif hasattr(column, "to_pylist"):
        column = column.to_pylist()
    elif hasattr(column, "to_list"):
        column = column.to_list()
    return [_plain(one) for one in column]


def _plain(cell: Any) -> Any:
    """Give a cell as JSON has it: nothing for what is missing, dates as text, lists as lists."""
    if isinstance(cell, bool):
        # As Python, pandas' CSV files and the labels of estimators write it.
        return str(cell)
    if cell is None or isinstance(cell, (str, int)):
        return cell
    if isinstance(cell, float):
        if math.isnan(cell):
            return None
        return cell if math.isfinite(cell) else str(cell)
    if isinstance(cell, (datetime.date, datetime.time)):
        # Not a time, which pandas has among its dates, is unequal to itself.
        return None if cell != cell else cell.isoformat()
    if isinstance(cell, Mapping):
        return {str(key): _plain(value) for key, value in cell.items()}
    if isinstance(cell, (list, tuple, set, frozenset)):
        return [_plain(one) for one in (sorted(cell) if isinstance(cell, (set, frozenset)) else cell)]
    if isinstance(cell, (bytes, bytearray)):
        return cell.decode("utf-8", "replace")
    if isinstance(cell, decimal.Decimal):
        return _plain(float(cell))
    if hasattr(cell, "tolist"):
        return _plain(cell.tolist())
    if isinstance(cell, numbers.Real):
        return _plain(float(cell))
    # pandas.NA has no truth, and is all that has this name.
    return None if type(cell).__name__ in ("NAType", "NaTType") else str(cell)


def refuse_empty(columns: Mapping[str, Sequence[Any]], name: str = TABLE) -> int:
    """Give the number of rows; none is an error."""
    count = len(next(iter(columns.values()))) if columns else 0
    if count == 0:
        raise _calibrant.ReadError(f"{name} has no rows")
    return count


def lines_of(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Write columns as JSON Lines."""
    names = list(columns)
    write = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
    rows = zip(*columns.values(), strict=True)
    text = "\n".join(write(dict(zip(names, row, strict=True))) for row in rows)
    return (text + "\n").encode("utf-8", "replace") if text else b""


def rows_of(lines: bytes) -> list[dict[str, Any]]:
    """Read JSON Lines."""
    return [json.loads(line) for line in lines.splitlines()]


def source_of(documents: Any, name: str = TABLE) -> Source:
    r"""Make a source for the native module: the path of a file, or a table as JSON Lines.

    Examples
    --------
    >>> from calibrant._frames import source_of
    >>> source_of("mail.csv")
    'mail.csv'
    >>> source_of([{"text": "win", "n": float("nan")}, {"text": "noon", "n": 2.5}])
    ('the table', b'{"text":"win","n":null}\n{"text":"noon","n":2.5}\n')
    """
    if isinstance(documents, (str, os.PathLike)):
        return os.fspath(documents)
    if isinstance(documents, (bytes, bytearray)):
        return (name, bytes(documents))
    if hasattr(documents, "read"):
        read = documents.read()
        own = getattr(documents, "name", name)
        return (
            os.path.basename(own) if isinstance(own, str) else name,
            read.encode() if isinstance(read, str) else read,
        )
    if not is_table(documents):
        return (str(documents[0]), bytes(documents[1]))
    kind_of(documents)
    columns = columns_of(settled(documents))
    refuse_empty(columns, name)
    return (name, lines_of(columns))


def frame_of(rows: Sequence[Mapping[str, Any]], kind: FrameKind) -> Any:
    """Make a table of rows. A key that a row lacks is missing there."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    match kind:
        case "dicts":
            return [dict(row) for row in rows]
        case "pandas":
            import pandas as pd

            return pd.DataFrame([dict(row) for row in rows], columns=names)
        case "polars":
            import polars as pl

            data = {name: [row.get(name) for row in rows] for name in names}
            return pl.DataFrame(data, strict=False)
        case "pyarrow":
            import pyarrow as pa

            return pa.table({name: [row.get(name) for row in rows] for name in names})
    raise ValueError(f"`{kind}` is none of pandas, polars, pyarrow and dicts")


def _free(name: str, taken: Iterable[str]) -> str:
    """Give a name that is free: one that is taken becomes ``calibrant_NAME``."""
    known = set(taken)
    while name in known:
        name = f"calibrant_{name}"
    return name


def part_of(table: Any, places: Sequence[int]) -> Any:
    """Give some rows of a table, as a table of its kind."""
    table = settled(table)
    if isinstance(table, Mapping):
        return {name: [list(column)[place] for place in places] for name, column in table.items()}
    if isinstance(table, (list, tuple)):
        return [table[place] for place in places]
    match _module(table):
        case "pandas":
            return table.iloc[list(places)]
        case "polars":
            return table[list(places)]
    return table.take(list(places))


def beside(table: Any, rows: Sequence[Mapping[str, Any]], places: Sequence[int] | None = None) -> Any:
    """Give a table of the caller's kind with new columns beside its own.

    Parameters
    ----------
    table : table
        What the caller gave.
    rows : sequence of mapping
        The new cells, one mapping for each row.
    places : sequence of int, optional
        The rows of the table that these belong to, where some are left out.
    """
    table = settled(table)
    if places is not None and list(places) != list(range(_length(table))):
        table = part_of(table, places)
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = {name: [row.get(name) for row in rows] for name in names}
    if isinstance(table, Mapping):
        return {**table, **{_free(name, table): column for name, column in cells.items()}}
    if isinstance(table, (list, tuple)):
        plain = [dict(row) if isinstance(row, Mapping) else {"text": row} for row in table]
        taken = set().union(*plain) if plain else set()
        return [{**own, **{_free(name, taken): row.get(name) for name in names}} for own, row in zip(plain, rows, strict=True)]
    if type(table).__name__ == "Series":
        table = table.to_frame(table.name or "text")
    match _module(table):
        case "pandas":
            import pandas as pd

            new = pd.DataFrame(cells, index=table.index)
            new.columns = [_free(name, map(str, table.columns)) for name in names]
            return pd.concat([table, new], axis=1)
        case "polars":
            import polars as pl

            new = pl.DataFrame(cells, strict=False)
            return table.hstack(new.rename({name: _free(name, table.columns) for name in names}))
    import pyarrow as pa

    for name, column in cells.items():
        table = table.append_column(_free(name, table.column_names), pa.array(column))
    return table


def _length(table: Any) -> int:
    if isinstance(table, Mapping):
        return len(next(iter(table.values()))) if table else 0
    return len(table)
