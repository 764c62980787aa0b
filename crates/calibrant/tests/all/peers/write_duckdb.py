"""Writes rows as Parquet files with DuckDB, one for each codec that it has."""

import duckdb
import pyarrow as pa
from sparse import answer, question

asked = question()
rows = asked["rows"]
table = pa.table(
    {
        "text": [row["text"] for row in rows],
        "label": [row["label"] for row in rows],
        "weight": [row["weight"] for row in rows],
    }
)
connection = duckdb.connect()
connection.register("rows_of_the_test", table)
for case in asked["cases"]:
    connection.execute(
        f"COPY (SELECT * FROM rows_of_the_test) TO '{case['path']}' (FORMAT parquet, CODEC '{case['codec']}')"
    )
answer({})
