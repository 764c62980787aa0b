"""The two ways of dividing: files into files, tables into tables."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from calibrant import _calibrant
from calibrant._frames import TABLE, FrameKind, Source, columns_of, lines_of, part_of, refuse_empty, rows_of, source_of
from calibrant._report import Report, report_of

#: A column of our own, by which rows of a table are found again.
ROW = "__calibrant_row__"


@contextmanager
def unseen_row() -> Iterator[None]:
    """Leave the column of our own out of messages."""
    try:
        yield
    except _calibrant.CalibrantError as error:
        text = str(error)
        if ROW not in text:
            raise
        raise type(error)(text.replace(f", `{ROW}`", "").replace(f"`{ROW}`, ", "")) from None


def _beside(file: Path, side: str) -> Path:
    """``tickets.train.csv`` beside ``tickets.csv`` or ``tickets.csv.gz``; sheets are written as xlsx."""
    name = file.name
    if file.suffix.lower() in (".gz", ".zst", ".zstd"):
        name = file.stem
    stem, dot, ending = name.rpartition(".")
    if not dot or not stem:
        return file.with_name(f"{name}.{side}")
    ending = {"ods": "xlsx", "xlsm": "xlsx", "pq": "parquet"}.get(ending.lower(), ending)
    return file.with_name(f"{stem}.{side}.{ending}")


def split_file(
    documents: Any,
    reading: str,
    settings: str,
    train_out: str | os.PathLike[str] | None,
    test_out: str | os.PathLike[str] | None,
    progress: Any,
) -> Report:
    """Divide a file into two."""
    source: Source = source_of(documents)
    if not isinstance(source, str) and (train_out is None or test_out is None):
        raise ValueError("say where the two parts go: train_out=… and test_out=…")
    file = Path(source if isinstance(source, str) else source[0])
    train = os.fspath(train_out if train_out is not None else _beside(file, "train"))
    test = os.fspath(test_out if test_out is not None else _beside(file, "test"))
    return report_of(_calibrant.split_file(source, reading, settings, train, test, progress))


def split_table(table: Any, kind: FrameKind, reading: str, settings: str, progress: Any) -> tuple[Any, Any, Report]:
    """Divide a table into two of its kind."""
    columns = columns_of(table)
    count = refuse_empty(columns)
    numbered = lines_of({**columns, ROW: list(range(count))})
    with tempfile.TemporaryDirectory(prefix="calibrant-") as folder:
        places = [os.path.join(folder, f"{side}.jsonl") for side in ("train", "test")]
        with unseen_row():
            text = _calibrant.split_file((TABLE, numbered), reading, settings, places[0], places[1], progress)
        sides = []
        for place in places:
            rows = rows_of(Path(place).read_bytes())
            sides.append(part_of(table, [int(row[ROW]) for row in rows]))
    report = json.loads(text)
    for side in ("train", "test"):
        # Where it was written for a moment says nothing.
        report[side].pop("file", None)
    return sides[0], sides[1], Report(report, kind=kind)
