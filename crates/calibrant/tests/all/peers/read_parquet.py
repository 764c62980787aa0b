"""Reads a Parquet file with pyarrow: its columns, their types and their values."""

import pyarrow.parquet as pq
from sparse import answer, question

table = pq.read_table(question()["path"])
answer(
    {
        "types": {field.name: str(field.type) for field in table.schema},
        "rows": table.to_pylist(),
    }
)
