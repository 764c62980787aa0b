"""What the program says on standard error, as warnings."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

_PACKAGE = os.path.dirname(__file__)


class CalibrantWarning(UserWarning):
    """Something to beware of, about documents or labels: rows that were left out, documents that a model has learned from."""


def warn(text: str) -> None:
    """Warn whoever called the package."""
    depth = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == _PACKAGE:
        frame = frame.f_back
        depth += 1
    warnings.warn(text, CalibrantWarning, stacklevel=depth)


def _count(number: int, one: str, more: str) -> str:
    return f"1 {one}" if number == 1 else f"{number} {more}"


def warn_of(report: Mapping[str, Any]) -> None:
    """Warn of what a report says of its documents: rows that were left out, strange labels, documents learned from."""
    if report.get("bad_rows"):
        warn(_count(report["bad_rows"], "malformed row was skipped", "malformed rows were skipped"))
    if report.get("unlabelled_rows"):
        rows = report["unlabelled_rows"]
        warn(_count(rows, "row without a label was left out", "rows without a label were left out"))
    unknown = report.get("unknown_labels")
    if unknown:
        shown = ", ".join(f"`{label}` ({count})" for label, count in list(unknown.items())[:5])
        more = ", …" if len(unknown) > 5 else ""
        warn(f"labels that are no class, with how many documents have them: {shown}{more}")
    for name, count in _learned(report.get("learned_from")):
        if count:
            documents = _count(count, "document", "documents")
            warn(f"{name} has learned from about {documents} of these: what is measured on them is too good")


# With fewer examples in all everybody knows that there are few of a class.
_FEW_IN_ALL = 100


def warn_of_notes(notes: Sequence[tuple[str, str]], examples: int) -> None:
    """Warn of what a calibrator says of scores and examples, if there is something to be done about it."""
    for about, sentence in notes:
        if about in ("scores", "folds", "curve"):
            warn(sentence)
    few = [sentence for about, sentence in notes if about == "few"]
    if few and examples >= _FEW_IN_ALL:
        more = f" (and so for {_count(len(few) - 1, 'more class', 'more classes')})" if few[1:] else ""
        warn(few[0] + more)


def _learned(found: Any) -> list[tuple[str, int | None]]:
    """Give how many documents each model has learned from."""
    if isinstance(found, Mapping):
        return list(found.items())
    if isinstance(found, list):
        return [(f"model {number}", count) for number, count in enumerate(found, 1)]
    return [("the model", found)]
