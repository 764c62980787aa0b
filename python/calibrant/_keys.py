"""Which rows say the same: copies must not lie on both sides of a fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant import _calibrant
from calibrant._input import is_frame, native_matrix, text_column


def row_keys(X: Any) -> npt.NDArray[np.uint64] | None:
    """A number for each row, equal where rows are; ``None`` where rows are of a kind that cannot be looked into."""
    if hasattr(X, "tocsr"):
        return _calibrant.row_keys(native_matrix(X))
    array = X if isinstance(X, np.ndarray) else None
    if array is None and not is_frame(X):
        if isinstance(X, (list, tuple)) and X and not isinstance(X[0], str):
            array = np.asarray(X)
        elif isinstance(X, (list, tuple)) or hasattr(X, "__arrow_c_stream__") or hasattr(X, "tolist"):
            try:
                return _calibrant.text_keys(text_column(X))
            except TypeError:
                return None
    if is_frame(X):
        array = np.asarray(X) if hasattr(X, "to_numpy") else None
    if array is None:
        return None
    if array.dtype.kind in "fiub" and array.ndim == 2:
        return _calibrant.row_keys(native_matrix(array))
    if array.dtype.kind in "OUT" and array.ndim == 1:
        try:
            return _calibrant.text_keys(text_column(array))
        except TypeError:
            return None
    return None


def content_groups(X: Any, groups: Any) -> npt.NDArray[np.int64] | None:
    """What belongs together: groups, and copies across them. ``None`` where every row stands for itself."""
    keys = row_keys(X)
    if groups is None:
        if keys is None or len(np.unique(keys)) == len(keys):
            return None
        _, numbers = np.unique(keys, return_inverse=True)
        return numbers.astype(np.int64)
    _, numbers = np.unique(np.asarray(groups), return_inverse=True)
    if keys is None:
        return numbers.astype(np.int64)
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    _, copies = np.unique(keys, return_inverse=True)
    first = numbers.max() + 1
    links = coo_matrix((np.ones(len(numbers)), (numbers, first + copies)), shape=(first + copies.max() + 1,) * 2)
    _, parts = connected_components(links, directed=False)
    found: npt.NDArray[np.int64] = parts[numbers].astype(np.int64)
    return found
