"""The scores of others, made probabilities."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

from calibrant import _calibrant, _words
from calibrant._frames import (
    TABLE,
    FrameKind,
    beside,
    columns_of,
    frame_of,
    installed_kind,
    kind_of,
    lines_of,
    refuse_empty,
    rows_of,
    settled,
    source_of,
)
from calibrant._model import Saved
from calibrant._progress import Progress, shown
from calibrant._report import Report, report_of
from calibrant._split import ROW, unseen_row
from calibrant._words import ReadingOptions, Shares


def _score_fields(score: Any) -> list[dict[str, str]]:
    """One field, or one for each class: ``"s"``, ``["a", "b"]``, ``["A=a"]`` or ``{"A": "a"}``."""
    if isinstance(score, Mapping):
        return [{"class": str(name), "field": str(field)} for name, field in score.items()]
    fields = []
    for one in [score] if isinstance(score, str) else score:
        name, found, field = one.partition("=")
        fields.append({"class": name, "field": field if found else name})
    return fields


class ScoreCalibrator(Saved):
    """A calibrator that turns scores of any classifier into probabilities.

    Made by :func:`calibrant.calibrate`, or opened by :func:`calibrant.open`.

    Examples
    --------
    >>> import calibrant
    >>> rows = [{"s": i / 10, "label": "yes" if i % 4 or i > 30 else "no"} for i in range(60)]
    >>> curve = calibrant.calibrate(rows, "s", positive="yes", method="platt")
    >>> curve.score_fields, curve.class_names
    (['s'], ['no', 'yes'])
    >>> curve.measure(rows).after.log_loss < curve.measure(rows).before.log_loss
    True
    """

    @property
    def class_names(self) -> list[str]:
        """The classes; of a single score the negative one first."""
        return list(self._native.class_names)

    @property
    def method(self) -> str:
        """The method that was chosen."""
        return str(self._native.method)

    @property
    def score_fields(self) -> list[str]:
        """The fields that hold scores."""
        return list(self._native.score_fields)

    def _fields(self, score: Any) -> list[str]:
        fitted = self.score_fields
        if score is None:
            return fitted
        given = _score_fields(score)
        if len(given) != len(fitted):
            raise ValueError(f"the calibrator takes {len(fitted)} scores per row, score names {len(given)}")
        if self._native.is_binary:
            return [one["field"] for one in given]
        by_class = {one["class"]: one["field"] for one in given}
        missing = [name for name in self.class_names if name not in by_class]
        if missing:
            raise ValueError(f"score names no field for the class `{missing[0]}`")
        return [by_class[name] for name in self.class_names]

    def apply(
        self,
        scores: Any,
        *,
        score: Any = None,
        prior: Shares | None = None,
        adapt_prior: bool | Literal["tested", "always"] | None = None,
        wide: bool = False,
        keep: bool = False,
        output: str | os.PathLike[str] | None = None,
        frame: FrameKind | Literal["json"] | None = None,
        progress: Progress | bool | None = None,
        **options: Unpack[ReadingOptions],
    ) -> Any:
        """Turn new scores into probabilities.

        Parameters
        ----------
        scores : path or table
            Rows with the scores.
        score : str, sequence or mapping, optional
            The fields that hold them, as for :func:`calibrate`; those of the fit by default.
        prior, adapt_prior
            As for :func:`predict`.
        wide : bool, default False
            A column for each class, with its probability.
        keep : bool, default False
            Of a file: its own columns beside the results. Tables always have theirs.
        output : path, optional
            Write to a file instead.
        frame : {"pandas", "polars", "pyarrow", "dicts", "json"}, optional
            The kind of the result, as for :func:`predict`.
        progress : callable or bool, optional
            As for :func:`fit`.
        **options
            How rows are read.

        Returns
        -------
        table
            With the columns ``label`` and ``probability`` (and ``lower`` and ``upper`` by methods that say them).
        """
        reading = dict(options)
        kind = kind_of(scores)
        scores = settled(scores)
        in_rows = frame != "json" and (output is None or keep or wide)
        numbered = kind is not None and in_rows and output is None
        if numbered:
            reading["id"] = ROW
            columns = columns_of(scores)
            count = refuse_empty(columns)
            source: Any = (TABLE, lines_of({**columns, ROW: list(range(count))}))
        else:
            source = source_of(scores)
        rows = json.dumps({"keep": keep and not numbered, "wide": wide}) if in_rows else None
        with shown(progress) as report, unseen_row():
            lines, _ = self._native.apply(
                source,
                _words.reading("apply", reading),
                self._fields(score),
                json.dumps(_words.prior(prior, adapt_prior)),
                rows,
                None if output is None else os.fspath(output),
                report,
            )
        if lines is None:
            return None
        found = rows_of(lines)
        if frame == "json":
            return [Report(one) for one in found]
        if not numbered:
            return frame_of(found, frame or installed_kind())
        places = [int(row.pop("id")) for row in found]
        if frame is None or frame == kind:
            return beside(scores, found, places)
        columns = columns_of(scores)
        plain = [{name: column[place] for name, column in columns.items()} for place in places]
        return frame_of(beside(plain, found), frame)

    def measure(
        self,
        scores: Any,
        *,
        score: Any = None,
        prior: Shares | None = None,
        adapt_prior: bool | Literal["tested", "always"] | None = None,
        html: bool | str | os.PathLike[str] = False,
        progress: Progress | bool | None = None,
        **options: Unpack[ReadingOptions],
    ) -> Report:
        """Measure it on other labelled scores, before and after.

        Parameters
        ----------
        scores : path or table
            Rows with scores and labels.
        score, prior, adapt_prior
            As for :meth:`apply`.
        html : bool or path, default False
            Also make a page for a browser, ``report.html``; a path is where to write it.
        progress, **options
            As for :meth:`apply`.

        Returns
        -------
        Report
            Measures ``before`` and ``after`` the calibration.
        """
        with shown(progress) as report:
            text, page = self._native.measure(
                source_of(scores),
                _words.reading("measure", options),
                self._fields(score),
                json.dumps(_words.prior(prior, adapt_prior)),
                bool(html),
                report,
            )
        return _with_page(text, page, scores, html)

    def __repr__(self) -> str:
        return f"ScoreCalibrator(method={self.method!r}, classes={self.class_names!r})"


def _with_page(text: str, page: str | None, scores: Any, html: Any) -> Report:
    found = report_of(text, kind=kind_of(scores), page=page)
    if page is not None and isinstance(html, (str, os.PathLike)):
        found.html.save(html)
    return found


def calibrate(
    scores: Any,
    score: str | Sequence[str] | Mapping[str, str],
    *,
    output: str | os.PathLike[str] | None = None,
    score_is: Literal["auto", "number", "probability"] = "auto",
    positive: str | None = None,
    method: str = "auto",
    monotone: bool = False,
    test: Any = None,
    html: bool | str | os.PathLike[str] = False,
    progress: Progress | bool | None = None,
    **options: Unpack[ReadingOptions],
) -> ScoreCalibrator:
    """Turn scores of any classifier into probabilities: no text is needed.

    Parameters
    ----------
    scores : path or table
        Scores and labels of examples that the classifier did not learn from.
    score : str, sequence or mapping
        The column with the score of the positive class; or one for each class, ``{class: column}``.
    output : path, optional
        Where to save the calibrator.
    score_is : {"auto", "number", "probability"}, default "auto"
        What the scores are: probabilities become log-odds first.
    positive : str, optional
        The label that a single score is for.
    method : str, default "auto"
        Of one score ``platt``, ``isotonic``, ``beta``, ``spline`` and so on; of one for each class also
        ``temperature``,
        ``dirichlet`` and so on.
    monotone : bool, default False
        Make the curve monotone, so that probabilities rank as scores do.
    test : path or table, optional
        Measure on these examples; by default measures are cross-validated.
    html : bool or path, default False
        Also make a page for a browser, ``report.html``; a path is where to write it.
    progress : callable or bool, optional
        As for :func:`fit`.
    **options
        How rows are read: `label`, `weight`, `group`, `where` and so on.

    Returns
    -------
    ScoreCalibrator
        With measures before and after in its attribute ``report``.

    Examples
    --------
    >>> import calibrant
    >>> rows = [{"s": i / 10, "label": "yes" if i % 4 or i > 30 else "no"} for i in range(60)]
    >>> curve = calibrant.calibrate(rows, "s", positive="yes", method="platt")
    >>> curve
    ScoreCalibrator(method='platt', classes=['no', 'yes'])
    >>> curve.apply([{"s": 5.9}])[0]["label"]
    'yes'
    """
    settings: dict[str, Any] = {
        "scores": _score_fields(score),
        "positive": positive,
        "score_is": score_is,
        "rules": {"monotone": monotone},
    }
    one_score = len(settings["scores"]) == 1
    if not one_score and (monotone or positive is not None):
        raise ValueError("monotone and positive are for one score per row")
    settings.update(_method(method.replace("-", "_"), one_score))
    reading = _words.reading("calibrate", options)
    with shown(progress) as report:
        native, text, page = _calibrant.calibrate_scores(
            source_of(scores), reading, json.dumps(settings), bool(html) and test is None, report
        )
    calibrator = ScoreCalibrator(native, _with_page(text, page, scores, html))
    if test is not None:
        calibrator.report = calibrator.measure(test, html=html, progress=progress, **options)
    if output is not None:
        calibrator.save(output)
    return calibrator


def _method(name: str, one_score: bool) -> dict[str, str]:
    """Give the settings of a method: one for one score is also one for each class against the rest."""
    if name == "auto":
        return {}
    if _calibrant.is_calibrator(name):
        return {"method": name, "multiclass": "one_vs_rest"}
    if one_score and _calibrant.is_class_calibrator(name):
        raise ValueError(f"method {name!r} needs one score per class: score={{class: column}}")
    return {"multiclass": name}
