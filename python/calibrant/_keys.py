"""Which rows say the same: copies must not lie on both sides of a fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant import _calibrant
from calibrant._input import column_names, column_of, group_numbers, is_frame, native_matrix, text_column


def row_keys(X: Any) -> npt.NDArray[np.uint64] | None:
    """A number for each row, equal where rows are; ``None`` where rows are of a kind that cannot be looked into."""
    if hasattr(X, "tocsr"):
        csr = X.tocsr()
        if not csr.has_canonical_format:
            # However they are stored, equal rows are equal; the caller's matrix stays as it is.
            csr = csr.copy()
            csr.sum_duplicates()
        return _calibrant.row_keys(native_matrix(csr))
    if is_frame(X):
        return _frame_keys(X)
    if isinstance(X, (list, tuple)) and len(X) and not isinstance(X[0], str):
        try:
            X = np.asarray(X)
        except ValueError:
            return None
    if isinstance(X, np.ndarray) and X.ndim == 2:
        if X.dtype.kind in "fiub":
            return _calibrant.row_keys(native_matrix(X))
        return _mixed([X[:, column] for column in range(X.shape[1])])
    if isinstance(X, (list, tuple, np.ndarray)) or hasattr(X, "__arrow_c_stream__") or hasattr(X, "tolist"):
        return _column_keys(X)
    return None


def _column_keys(column: Any) -> npt.NDArray[np.uint64]:
    """Numbers for the cells of one column, whatever it holds."""
    values = np.asarray(column)
    if values.dtype.kind in "fiub" and values.ndim == 1:
        return _calibrant.row_keys(native_matrix(values[:, None].astype(np.float64)))
    try:
        return _calibrant.text_keys(text_column(column))
    except (TypeError, ValueError):
        return _calibrant.text_keys([str(value) for value in values.tolist()])


def _mixed(columns: list[Any]) -> npt.NDArray[np.uint64] | None:
    """Numbers for rows of several columns."""
    if not columns:
        return None
    keys = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        keys = keys * np.uint64(0x9E3779B97F4A7C15) + _column_keys(column)
        keys ^= keys >> np.uint64(29)
    return keys


def _frame_keys(frame: Any) -> npt.NDArray[np.uint64] | None:
    return _mixed([column_of(frame, name) for name in column_names(frame)])


# With fewer distinct rows than this share, equal rows are observations of one kind (as those of a few categories), not copies of one
# another: to hold all of a kind out together would show the classifier nothing of it.
_LEAST_DISTINCT = 0.1


def content_groups(X: Any, groups: Any) -> npt.NDArray[np.int64] | None:
    """What belongs together: groups, and copies across them. ``None`` where every row stands for itself."""
    keys = row_keys(X)
    copies = None
    if keys is not None and len(keys):
        distinct, numbers = np.unique(keys, return_inverse=True)
        if _LEAST_DISTINCT * len(keys) <= len(distinct) < len(keys):
            copies = numbers.astype(np.int64)
    if groups is None:
        return copies
    numbered = group_numbers(groups, len(groups) if keys is None else len(keys))
    assert numbered is not None
    numbers = numbered.astype(np.int64)
    if copies is None:
        return numbers
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    first = int(numbers.max()) + 1
    size = first + int(copies.max()) + 1
    links = coo_matrix((np.ones(len(numbers)), (numbers, first + copies)), shape=(size, size))
    _, parts = connected_components(links, directed=False)
    found: npt.NDArray[np.int64] = parts[numbers].astype(np.int64)
    return found
