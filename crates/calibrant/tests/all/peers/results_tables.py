"""Writes and reads tables beside which results stand, by pyarrow and openpyxl."""

import datetime
import json
import os
import sys


def write(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "text": ["maize", "bank"],
            "n": pa.array([1, None], pa.int32()),
            "day": pa.array([datetime.date(2024, 1, 2), None]),
            "tags": pa.array([["a", None], []], pa.list_(pa.string())),
            "x": [0.5, float("inf")],
            "ok": [True, None],
            "at": pa.array([datetime.datetime(2024, 1, 2, 3, 4, 5, 678901), None], pa.timestamp("us")),
            "deep": pa.array([{"a": 1}, None], pa.struct([("a", pa.int64())])),
        }
    )
    pq.write_table(table, os.path.join(folder, "new.parquet"))
    return {}


def differences(folder):
    """What results beside the columns have changed of them."""
    import pyarrow.parquet as pq

    before, after = (pq.read_table(os.path.join(folder, name)) for name in ("new.parquet", "out.parquet"))
    found = []
    for name in before.column_names:
        if name == "deep":
            continue
        kinds = [str(table.schema.field(name).type) for table in (before, after)]
        values = [str(table[name].to_pylist()) for table in (before, after)]
        if kinds[0] != kinds[1] or values[0] != values[1]:
            found.append([name, kinds, values])
    return {
        "differences": found,
        "names": after.column_names,
        "deep": after["deep"].to_pylist(),
        "label": after["label"].to_pylist(),
        "kind": str(after.schema.field("probability").type),
    }


def sheet(folder):
    import openpyxl

    def rows(name):
        book = openpyxl.load_workbook(os.path.join(folder, name))
        return [list(row) for row in book.active.iter_rows(values_only=True)]

    return {"kept": rows("out.xlsx"), "long": rows("long.xlsx")}


def typed_sheet(folder):
    """The cells of a sheet with their types, dates in the notation of ISO."""
    import openpyxl

    def cell(value):
        kind = type(value).__name__
        return [kind, value.isoformat() if hasattr(value, "isoformat") else value]

    book = openpyxl.load_workbook(os.path.join(folder, "out.xlsx"))
    return {"rows": [[cell(value) for value in row] for row in book.active.iter_rows(values_only=True)]}


question = json.load(sys.stdin)
steps = {"write": write, "differences": differences, "sheet": sheet, "typed_sheet": typed_sheet}
json.dump(steps[question["step"]](question["folder"]), sys.stdout)
