"""Writes rows as a Parquet file with pyarrow."""

import pyarrow as pa
import pyarrow.parquet as pq
from sparse import answer, question

TYPES = {
    "string": pa.string(),
    "large_string": pa.large_string(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "list": pa.list_(pa.string()),
    "large_list": pa.large_list(pa.large_string()),
}

asked = question()
rows = asked["rows"]
for case in asked["cases"]:
    columns = {
        "id": pa.array([row["id"] for row in rows], pa.int64()),
        "text": pa.array([row["text"] for row in rows], TYPES[case["text"]]),
        "label": pa.array([row["label"] for row in rows], TYPES[case["label"]]),
        "unused": pa.array([{"a": 1.5}] * len(rows)),
        "weight": pa.array([row["weight"] for row in rows], pa.float64()),
    }
    pq.write_table(
        pa.table(columns),
        case["path"],
        compression=case["compression"],
        use_dictionary=case["use_dictionary"],
        data_page_version=case["page_version"],
        row_group_size=2,
    )
answer({})
