"""Labels that are probably wrong, and how many of each class there really are."""

from __future__ import annotations

import json
import os
from typing import Any, Literal, Unpack

from calibrant import _calibrant, _words
from calibrant._frames import FrameKind, frame_of, installed_kind, kind_of, rows_of, settled, source_of
from calibrant._model import Model, model_of
from calibrant._notices import warn_of
from calibrant._progress import Progress, shown
from calibrant._report import Page, Report, report_of
from calibrant._words import FitOptions, ReadingOptions


class Suspects(Report):
    """Labels that are probably wrong, the most suspect first.

    Attributes
    ----------
    suspects : list of Report
        Each with the given label, a likelier one, their probabilities and the words for it.

    Examples
    --------
    >>> import calibrant
    >>> mail = [{"label": "ham", "text": f"see you at noon {i}"} for i in range(30)]
    >>> mail += [{"label": "spam", "text": f"win big money {i}"} for i in range(30)]
    >>> mail[40]["label"] = "ham"
    >>> found = calibrant.suspects(mail, most=5)
    >>> found.table(kind="dicts")[0]["text"]
    'win big money 10'
    >>> again = found.sample(5, kind="dicts")
    >>> for row in again:
    ...     row["correct"] = "ham" if "noon" in row["text"] else "spam"
    >>> found.reread(again).wrong
    1
    """

    __slots__ = ("_found",)

    def __init__(self, found: Any, kind: FrameKind | None = None) -> None:
        super().__init__(json.loads(found.report()), kind=kind)
        self._found = found

    @property
    def html(self) -> Page:
        """The list as a page for a browser."""
        return Page(self._found.page())

    @property
    def model(self) -> Model:
        """The model that was fitted to all documents."""
        return Model(self._found.model(), report_of(self._found.fit_report()))

    def table(self, *, kind: FrameKind | None = None) -> Any:
        """Give the list as a table.

        Parameters
        ----------
        kind : {"pandas", "polars", "pyarrow", "dicts"}, optional
            The kind of table; that of the documents by default, else what is installed.

        Returns
        -------
        table
        """
        return frame_of(rows_of(self._found.table()), kind or self._kind or installed_kind())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the list to a file.

        Parameters
        ----------
        path : path
            Where to; .csv, .tsv, .jsonl, .parquet or .xlsx.
        """
        self._found.save(os.fspath(path))

    def sample(self, size: int = 30, *, seed: int = 0, kind: FrameKind | None = None) -> Any:
        """Draw labels of the list at random, for a person to read again.

        Parameters
        ----------
        size : int, default 30
            How many.
        seed : int, default 0
            Of the draw.
        kind : {"pandas", "polars", "pyarrow", "dicts"}, optional
            The kind of table; that of the documents by default, else what is installed.

        Returns
        -------
        table
            With an empty column ``correct``.
        """
        return frame_of(rows_of(self._found.sample(size, seed)), kind or self._kind or installed_kind())

    def reread(self, sample: Any, *, certainty: float = 0.95, **options: Unpack[ReadingOptions]) -> Report:
        """Say how many labels of the list are really wrong.

        Parameters
        ----------
        sample : path or table
            What :meth:`sample` drew, with its column ``correct`` filled in.
        certainty : float, default 0.95
            How often the interval holds the truth, at least.
        **options
            How the sample is read.

        Returns
        -------
        Report
        """
        reading = _words.reading("reread", options)
        return report_of(self._found.reread(source_of(settled(sample), "sample"), reading, certainty))

    def __reduce__(self) -> Any:
        return (Report, (self._data,))


def suspects(
    documents: Any,
    *,
    most: int | None = None,
    progress: Progress | bool | None = None,
    **options: Unpack[FitOptions],
) -> Suspects:
    """List the labels that are probably wrong, with the likelier label and the words for it.

    Parameters
    ----------
    documents : path or table
        Labelled documents.
    most : int, optional
        At most so many, the most suspect first.
    progress : callable or bool, optional
        As for :func:`fit`.
    **options
        As for :func:`fit`.

    Returns
    -------
    Suspects

    Examples
    --------
    >>> import calibrant
    >>> mail = [{"label": "ham", "text": f"see you at noon {i}"} for i in range(30)]
    >>> mail += [{"label": "spam", "text": f"win big money {i}"} for i in range(30)]
    >>> mail[40]["label"] = "ham"
    >>> worst = calibrant.suspects(mail).suspects[0]
    >>> worst.given, worst.likely, worst.row
    ('ham', 'spam', 41)
    """
    reading, words = _words.fitting("suspects", options)
    with shown(progress) as report:
        found = _calibrant.suspect_labels(source_of(documents), reading, words, most, report)
    warn_of(report_of(found.fit_report()))
    return Suspects(found, kind_of(documents))


def _prevalence(confidence: float, together: bool, method: str, share_of: str) -> dict[str, Any]:
    return {
        "confidence": confidence,
        "simultaneous": together,
        "method": method.replace("-", "_"),
        "target": share_of.replace("-", "_"),
    }


def prevalence(
    model: Any,
    pool: Any,
    labelled: Any = None,
    *,
    confidence: float = 0.95,
    together: bool = False,
    method: str = "auto",
    share_of: Literal["documents", "population"] | str = "documents",
    progress: Progress | bool | None = None,
    **options: Unpack[ReadingOptions],
) -> Report:
    """Estimate how many documents of each class there really are.

    Parameters
    ----------
    model : Model or path
        The model.
    pool : path or table
        All documents whose classes are to be counted.
    labelled : path or table, optional
        Documents of the pool, drawn at random, with their labels; found again by ``id``, by ``row`` or by their
        text. Without
        them shares are as the model states them.
    confidence : float, default 0.95
        How often an interval holds the truth.
    together : bool, default False
        All intervals hold together with this confidence.
    method : str, default "auto"
        How intervals are found.
    share_of : str, default "documents"
        Whose share is wanted.
    progress : callable or bool, optional
        As for :func:`fit`.
    **options
        How documents are read.

    Returns
    -------
    Report
        ``classes`` with share, number and interval of each.

    Examples
    --------
    >>> import calibrant
    >>> mail = [{"label": "ham", "text": f"lunch at noon {i}"} for i in range(20)]
    >>> mail += [{"label": "spam", "text": f"win big money {i}"} for i in range(20)]
    >>> pool = [{"text": f"win {i}"} for i in range(60)] + [{"text": f"noon {i}"} for i in range(40)]
    >>> found = calibrant.prevalence(calibrant.fit(mail), pool)
    >>> [round(one.share, 1) for one in found.classes]
    [0.4, 0.6]
    """
    settings = json.dumps(_prevalence(confidence, together, method, share_of))
    reading = _words.reading("prevalence", options)
    beside = None if labelled is None else source_of(settled(labelled), "labelled")
    with shown(progress) as report:
        text = _calibrant.prevalence_of(model_of(model), source_of(pool), reading, settings, beside, report)
    return report_of(text, kind=kind_of(pool))


def plan_sample(
    model: Any,
    pool: Any,
    width: float,
    *,
    class_: str | None = None,
    strata: int = 12,
    seed: int = 0,
    confidence: float = 0.95,
    together: bool = False,
    method: str = "auto",
    share_of: str = "documents",
    frame: FrameKind | None = None,
    progress: Progress | bool | None = None,
    **options: Unpack[ReadingOptions],
) -> tuple[Any, Report]:
    """Say how many documents to label for intervals of a width, and draw them.

    Parameters
    ----------
    model : Model or path
        The model.
    pool : path or table
        All documents.
    width : float
        From end to end: 0.1 is ten percentage points.
    class_ : str, optional
        Plan for the share of this class, with more labels where its probability is unsure.
    strata : int, default 12
        At most so many strata by the probability of the class; 1 is a simple random sample.
    seed : int, default 0
        Of the sample.
    confidence, together, method, share_of
        As for :func:`prevalence`.
    frame : {"pandas", "polars", "pyarrow", "dicts"}, optional
        The kind of the sample.
    progress : callable or bool, optional
        As for :func:`fit`.
    **options
        How documents are read.

    Returns
    -------
    sample : table
        The documents to label, with an empty column for the label.
    report : Report
        The plan.

    Examples
    --------
    >>> import calibrant
    >>> mail = [{"label": "ham", "text": f"lunch at noon {i}"} for i in range(20)]
    >>> mail += [{"label": "spam", "text": f"win big money {i}"} for i in range(20)]
    >>> pool = [{"text": f"win {i}"} for i in range(60)] + [{"text": f"noon {i}"} for i in range(40)]
    >>> sample, plan = calibrant.plan_sample(calibrant.fit(mail), pool, width=0.3)
    >>> len(sample) < len(pool), sample[0]["label"]
    (True, '')
    """
    settings = {
        "width": width,
        "class": class_,
        "strata": strata,
        "prevalence": _prevalence(confidence, together, method, share_of),
        "seed": seed,
    }
    reading = _words.reading("plan_sample", options)
    with shown(progress) as report:
        text, lines = _calibrant.plan_labels(model_of(model), source_of(pool), reading, json.dumps(settings), report)
    kind = kind_of(pool)
    return frame_of(rows_of(lines), frame or kind or installed_kind()), report_of(text, kind=kind)
