"""What users hand in, as the native module reads it: texts, labels, matrices, groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from calibrant._calibrant import CalibrantError

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


def is_frame(data: object) -> bool:
    """Whether it is a table with named columns (pandas, Polars, PyArrow)."""
    return hasattr(data, "columns") and (hasattr(data, "__dataframe__") or hasattr(data, "__arrow_c_stream__"))


def column_names(frame: Any) -> list[str]:
    """The names of a table's columns."""
    names = frame.column_names if hasattr(frame, "column_names") else frame.columns
    return [str(name) for name in names]


def column_of(frame: Any, name: str) -> Any:
    """One column of a table."""
    if hasattr(frame, "column_names"):  # PyArrow
        return frame.column(name)
    if hasattr(frame, "get_column"):  # Polars
        return frame.get_column(name)
    return frame[name]


@cache
def _has_pyarrow() -> bool:
    return find_spec("pyarrow") is not None


def text_column(texts: Any) -> Any:
    """A column of texts as the native module reads it, without a copy where there is a way.

    Lists of str and all that offers Arrow's interface with strings go as they are; NumPy arrays and columns of Python objects
    hand over the strings that they hold.
    """
    if isinstance(texts, (str, bytes)):
        raise ValueError("Iterable over raw text documents expected, string object received.")
    if isinstance(texts, list):
        return texts
    if is_frame(texts):
        names = column_names(texts)
        if len(names) != 1:
            raise ValueError(
                f"a table with one column of texts was expected; this one has {len(names)}: {', '.join(names[:10])}. "
                "Name the columns to read with text=[…] (and numeric=[…], categorical=[…])."
            )
        return text_column(column_of(texts, names[0]))
    if isinstance(texts, np.ndarray):
        return _array_of_texts(texts)
    dtype = getattr(texts, "dtype", None)
    if dtype is not None and type(texts).__module__.partition(".")[0] == "pandas":
        # Columns of Python objects hold strings already; those of Arrow or NumPy strings are read where they lie if that is possible.
        # (pandas hands them over through PyArrow, which need not be there.)
        if str(dtype) not in ("object", "category") and hasattr(texts, "__arrow_c_stream__") and _has_pyarrow():
            return texts
        return [None if is_missing(text) else text for text in texts.tolist()]
    if hasattr(texts, "dictionary_decode"):  # PyArrow
        return texts.dictionary_decode()
    if hasattr(texts, "type") and "dictionary" in str(texts.type):  # PyArrow, in chunks
        return texts.cast("string")
    if str(dtype).startswith(("Categorical", "Enum")) and hasattr(texts, "to_list"):  # Polars
        return texts.to_list()
    if hasattr(texts, "__arrow_c_stream__") or hasattr(texts, "__arrow_c_array__"):
        return texts
    if isinstance(texts, Iterable):
        return list(texts)
    raise TypeError(f"texts must be a list of str, an array or a column of a table, not {type(texts).__name__}")


def _array_of_texts(texts: Array) -> list[Any]:
    if texts.ndim == 2 and texts.shape[1] == 1:
        texts = texts[:, 0]
    if texts.ndim != 1:
        raise ValueError(f"texts must be one-dimensional; this array has the shape {texts.shape}")
    if texts.dtype.kind not in "OUT":
        raise TypeError(f"texts must be of type str; this array is of {texts.dtype}")
    return cast("list[Any]", texts.tolist())


def row_count(column: Any) -> int:
    """How many rows a column has."""
    return len(column)


class Labels(NamedTuple):
    """Labels as numbers of classes."""

    classes: Array
    """The classes as the user has them, sorted."""
    names: list[str]
    """The same as texts, which models remember them by."""
    numbers: npt.NDArray[np.uint32]
    """One per row, or those of all rows one after the other."""
    starts: npt.NDArray[np.int64] | None
    """Where the labels of each row start, where rows may have several."""


def label_names(classes: Array) -> list[str]:
    """The texts by which models remember classes."""
    names = [str(label) for label in classes.tolist()]
    if len(set(names)) != len(names):
        raise CalibrantError("two labels are written alike: make all labels of one type")
    return names


def encode(y: Any) -> Labels:
    """Labels of any kind that scikit-learn takes: one per row, lists of labels, or an indicator matrix."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if str(getattr(y, "dtype", "")).startswith("List") and hasattr(y, "to_list"):  # Polars
        y = y.to_list()
    if hasattr(y, "to_pylist"):
        y = y.to_pylist()
    plain = _encode_plain(y)
    if plain is not None:
        return plain
    if isinstance(y, (list, tuple)) and any(isinstance(row, np.ndarray) for row in y):
        y = [row.tolist() if isinstance(row, np.ndarray) else row for row in y]
    if is_frame(y) and len(column_names(y)) > 1:
        labels = _encode_indicators(y)
        return labels._replace(classes=np.array(column_names(y)), names=column_names(y))
    _refuse_mixed(y)
    if is_list_of_lists(y):
        return _encode_lists(y)
    if not hasattr(y, "tocsr") and not is_frame(y):
        _refuse_missing(y)
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import column_or_1d

    if isinstance(y, np.ndarray) and y.dtype.kind == "T":
        y = np.array(y.tolist())
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    if kind == "multilabel-indicator":
        return _encode_indicators(y)
    check_classification_targets(y)
    one = column_or_1d(y, warn=True)
    classes, numbers = np.unique(one, return_inverse=True)
    return Labels(classes, label_names(classes), numbers.astype(np.uint32), None)


def is_missing(value: Any) -> bool:
    """``None``, NaN, or what pandas and Polars have for them."""
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")


def _refuse_missing(y: Any) -> None:
    """A row without a label is an error that says so, whatever `y` is kept in."""
    if isinstance(y, np.ndarray) and y.dtype.kind == "f":
        missing = bool(np.isnan(y).any())
    elif isinstance(y, np.ndarray) and y.dtype != object:
        missing = False
    else:
        values = y if isinstance(y, (list, tuple)) else next((getattr(y, name)() for name in ("to_list", "tolist") if hasattr(y, name)), ())
        missing = any(is_missing(value) for value in values)
    if missing:
        raise ValueError("Input y contains NaN or None: every row needs a label")


def _refuse_mixed(y: Any) -> None:
    """Numbers and texts side by side would be made one by NumPy: 1 and "1"."""
    rows = y.tolist() if isinstance(y, np.ndarray) and y.dtype == object else y
    if not isinstance(rows, (list, tuple)):
        return
    cells = [cell for row in rows for cell in (row if isinstance(row, (list, tuple, set, frozenset)) else (row,))]
    texts = sum(isinstance(cell, str) for cell in cells)
    if 0 < texts < sum(cell is not None and cell == cell for cell in cells):
        raise ValueError("y mixes texts with other labels: make all labels of one type")


def _encode_plain(y: Any) -> Labels | None:
    """One label per row, all of one plain type, without sorting the rows; nothing where it takes a closer look."""
    if isinstance(y, (list, tuple)):
        types = set(map(type, y))
        if types == {str}:
            return _encode_texts(y, None)
        return _encode_numbers(np.asarray(y)) if types in ({int}, {bool}) else None
    if getattr(y, "ndim", None) != 1 or not len(y):
        return None
    if str(y.dtype) == "category" and hasattr(y, "cat"):
        return _encode_categories(y)
    if not isinstance(y, np.ndarray):
        if not (isinstance(y.dtype, np.dtype) and hasattr(y, "to_numpy")):
            return None
        y = y.to_numpy()
    if y.dtype.kind in "OUT":
        texts = y.tolist()
        dtype = None if y.dtype.kind == "T" else y.dtype
        return _encode_texts(texts, dtype) if set(map(type, texts)) == {str} else None
    return _encode_numbers(y)


def _encode_texts(texts: Sequence[str], dtype: Any) -> Labels | None:
    distinct = sorted(set(texts))
    classes = np.array(distinct, dtype=dtype)
    if classes.tolist() != distinct:  # NumPy cuts zeros off the end of texts.
        return None
    place = {text: number for number, text in enumerate(distinct)}
    numbers = np.fromiter(map(place.__getitem__, texts), dtype=np.uint32, count=len(texts))
    return Labels(classes, label_names(classes), numbers, None)


def _encode_categories(y: Any) -> Labels | None:
    codes = np.asarray(y.cat.codes)
    if codes.min() < 0:
        raise ValueError("Input y contains NaN or None: every row needs a label")
    there = np.flatnonzero(np.bincount(codes))
    labels = _encode_plain(np.asarray(y.cat.categories)[there])
    if labels is None:
        return None
    numbers = np.zeros(there[-1] + 1, dtype=np.uint32)
    numbers[there] = labels.numbers
    return labels._replace(numbers=numbers[codes])


def _encode_numbers(y: Array) -> Labels | None:
    """Truth values and whole numbers that are close together."""
    if y.dtype.kind not in "biuf":
        return None
    least, most = y.min(), y.max()
    if not -(1 << 52) < least <= most < 1 << 52 or (y.dtype.kind == "f" and (y != np.rint(y)).any()):
        return None
    least, most = int(least), int(most)
    if most - least > max(1000, len(y)):
        return None
    if most - least == 1:
        classes = np.array([least, most], dtype=y.dtype)
        return Labels(classes, label_names(classes), (y == most).astype(np.uint32), None)
    offsets = y.astype(np.int64) - least
    there = np.bincount(offsets, minlength=most - least + 1) > 0
    classes = (np.flatnonzero(there) + least).astype(y.dtype)
    numbers = (np.cumsum(there) - 1).astype(np.uint32)[offsets]
    return Labels(classes, label_names(classes), numbers, None)


def is_list_of_lists(y: Any) -> bool:
    """Whether rows are lists of labels, not of zeros and ones."""
    if isinstance(y, np.ndarray) and y.dtype != object:
        return False
    if not isinstance(y, (Sequence, np.ndarray)) and not hasattr(y, "tolist"):
        return False
    rows = y if isinstance(y, (list, tuple)) else (y.tolist() if hasattr(y, "tolist") else list(y))
    first = next((row for row in rows if row is not None), None) if isinstance(rows, (list, tuple)) else None
    if not isinstance(first, (list, tuple, set, frozenset)):
        return False
    # A list of rows of zeros and ones of equal length is an indicator matrix, as scikit-learn has it.
    flags = all(isinstance(row, (list, tuple)) and len(row) == len(first) and all(cell in (0, 1) for cell in row) for row in rows)
    return not (flags and len(first) > 0 and not isinstance(next(iter(first)), str))


def _encode_lists(y: Any) -> Labels:
    rows = [() if row is None else list(row) for row in (y.tolist() if hasattr(y, "tolist") else y)]
    if not any(rows):
        raise ValueError("none of the rows has a label: a classifier needs at least one class")
    classes = np.unique(np.array([label for row in rows for label in row]))
    place = {label: number for number, label in enumerate(classes.tolist())}
    starts = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=starts[1:])
    numbers = np.array([place[label] for row in rows for label in row], dtype=np.uint32)
    return Labels(classes, label_names(classes), numbers, starts)


def _encode_indicators(y: Any) -> Labels:
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(y)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    never = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]) == 0)
    if len(never):
        raise ValueError(f"no row has the label of column {never[0]}: a class needs at least one example")
    classes = np.arange(matrix.shape[1])
    numbers = matrix.indices.astype(np.uint32)
    return Labels(classes, label_names(classes), numbers, matrix.indptr.astype(np.int64))


def known_indicators(y: Any, classes: Array) -> Labels:
    """An indicator matrix of known classes, some of which may not come."""
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(y)
    matrix.eliminate_zeros()
    if matrix.shape[1] != len(classes):
        raise ValueError(f"y has {matrix.shape[1]} columns and the model {len(classes)} classes")
    return Labels(classes, label_names(classes), matrix.indices.astype(np.uint32), matrix.indptr.astype(np.int64))


def indicators(labels: Labels, rows: int) -> npt.NDArray[np.int64]:
    """Rows by classes: 1 where a row has the label."""
    table = np.zeros((rows, len(labels.classes)), dtype=np.int64)
    if labels.starts is None:
        table[np.arange(rows), labels.numbers] = 1
    else:
        table[np.repeat(np.arange(rows), np.diff(labels.starts)), labels.numbers] = 1
    return table


def _group_values(groups: Any) -> list[Any]:
    if hasattr(groups, "to_pylist"):
        return list(groups.to_pylist())
    return list(groups.to_list() if hasattr(groups, "to_list") else groups.tolist() if hasattr(groups, "tolist") else groups)


def group_texts(groups: Any) -> list[str] | None:
    """What each row belongs to, as texts; a row whose group is missing or empty stands for itself."""
    if groups is None:
        return None
    rows = enumerate(_group_values(groups))
    return [f"\0{row}" if is_missing(group) or group == "" else str(group) for row, group in rows]


def group_numbers(groups: Any, rows: int) -> npt.NDArray[np.uint64] | None:
    """The same as numbers."""
    texts = group_texts(groups)
    if texts is None:
        return None
    if len(texts) != rows:
        raise ValueError(f"groups must have an entry per row: {len(texts)} groups, {rows} rows")
    place: dict[str, int] = {}
    return np.fromiter((place.setdefault(text, len(place)) for text in texts), dtype=np.uint64, count=rows)


def weights_of(sample_weight: Any, rows: int) -> Floats | None:
    """Weights of rows, checked as scikit-learn does."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(weights) != rows:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(rows,)}!")
    if not np.isfinite(weights).all():
        raise ValueError("Input sample_weight contains NaN or infinity.")
    if (weights < 0).any():
        raise ValueError("Negative values in sample_weight")
    if rows and not (weights > 0).any():
        raise ValueError("All sample weights are zero; at least one row must count.")
    return np.ascontiguousarray(weights)


def native_matrix(X: Any) -> Any:
    """A matrix that scikit-learn has checked, as the native module borrows it."""
    if hasattr(X, "tocsr"):
        # Columns of a row may stand in any order, and those that come twice are added up where they are read.
        csr = X.tocsr()
        if csr.data.dtype not in (np.float32, np.float64):
            csr = csr.astype(np.float64)
        if csr.indices.dtype not in (np.int32, np.int64):
            csr.indices = csr.indices.astype(np.int64)
        if csr.indptr.dtype not in (np.int32, np.int64):
            csr.indptr = csr.indptr.astype(np.int64)
        return (csr.indptr, csr.indices, csr.data)
    array = np.asarray(X)
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    return np.ascontiguousarray(array)
