"""Questions as JSON on standard input, answers as JSON on standard output."""

import json
import sys

import numpy as np
import scipy.sparse


def question():
    return json.load(sys.stdin)


def answer(value):
    json.dump(value, sys.stdout, allow_nan=False)


def matrix(rows):
    """Compressed sparse rows as the tests send them."""
    return scipy.sparse.csr_matrix(
        (
            np.array(rows["values"], dtype=np.float64),
            np.array(rows["columns"], dtype=np.int32),
            np.array(rows["starts"], dtype=np.int64),
        ),
        shape=(len(rows["starts"]) - 1, rows["column_count"]),
    )
