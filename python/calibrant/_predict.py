"""The class probabilities of documents, with decisions and promises."""

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
from calibrant._model import model_of
from calibrant._notices import warn_of
from calibrant._progress import Progress, shown
from calibrant._report import Report, report_of
from calibrant._split import ROW, unseen_row
from calibrant._words import Costs, ReadingOptions, Shares


def predict(
    model: Any,
    documents: Any,
    *,
    top: int | None = None,
    scores: bool = False,
    wide: bool = False,
    keep: bool = False,
    like_input: bool = False,
    prior: Shares | None = None,
    adapt_prior: bool | Literal["tested", "always"] | None = None,
    other: float | Literal["balanced", "cost"] | None = None,
    costs: Costs = None,
    ask: int | float | str | None = None,
    sets: float | None = None,
    set_kind: Literal["lac", "aps", "raps"] | None = None,
    per_class: bool = False,
    keep_top: bool = False,
    max_error: float | None = None,
    certainty: float = 0.95,
    calibration: Any = None,
    f_beta: float | None = None,
    f_average: Literal["micro", "macro", "samples"] | None = None,
    policy: Any = None,
    answers: Mapping[str, Any] | None = None,
    part: str | None = None,
    output: str | os.PathLike[str] | None = None,
    frame: FrameKind | Literal["json"] | None = None,
    return_summary: bool = False,
    progress: Progress | bool | None = None,
    **options: Unpack[ReadingOptions],
) -> Any:
    """Compute the class probabilities of every document of a file or a table.

    Parameters
    ----------
    model : Model or path
        The model.
    documents : path, table or list of str
        Documents in any format that the program reads, a table, or texts.
    top : int, optional
        So many of the most probable classes, in columns ``label``, ``probability``, ``label_2`` and so on; one by
        default.
    scores : bool, default False
        Add the learner's own score, before calibration.
    wide : bool, default False
        A column for each class, with its probability.
    keep : bool, default False
        Of a file: its own columns beside the results. Tables always have theirs.
    like_input : bool, default False
        With `keep` and `output`: delimiter, encoding and so on as the file has them.
    prior : mapping or str, optional
        Classes' shares that are known to differ from those of training, as ``{"spam": 0.3}``.
    adapt_prior : bool or {"tested", "always"}, optional
        Estimate the classes' shares from the documents, and adjust to them (where a test finds that they differ).
    other : float or {"balanced", "cost"}, optional
        Say ``other`` where no class is likely; a number is the share of known documents that may be lost to it.
    costs : str, path, table or mapping, optional
        What decisions cost: ``"truth,decision,cost;…"``, a file or a table of such rows, or ``{(truth, decision):
        cost}``.
    ask : int, float or str, optional
        Decide ``ask`` for so many documents (or a share, 0.05 or ``"5%"``) that are most worth a person's time.
    sets : float, optional
        Give each document a set of classes that holds the true one with this probability.
    set_kind : {"lac", "aps", "raps"}, optional
        By what a class is judged to fit badly.
    per_class : bool, default False
        Whether that holds for documents of each class.
    keep_top : bool, default False
        Whether a set that would be empty gets the most probable class.
    max_error : float, optional
        Answer only where at most this share of the answers is wrong; the decision about others is ``ask``.
    certainty : float, default 0.95
        How sure `max_error` is to be.
    calibration : path or table, optional
        Labelled documents that the model has not seen, for `sets` and `max_error` to rest on.
    f_beta, f_average : float, str, optional
        Decide yes or no about every label so that the expected F is as large as can be.
    policy : Policy or path, optional
        Follow what :func:`cascade` made: adds a decision, which is a label or ``ask NAME``.
    answers : mapping, optional
        With `policy`: what its other sources said of these documents, by name, as tables or files.
    part : str, optional
        With `policy`: the source that this model is.
    output : path, optional
        Write to a file instead: .csv, .tsv, .jsonl, .parquet or .xlsx.
    frame : {"pandas", "polars", "pyarrow", "dicts", "json"}, optional
        The kind of the result; that of `documents` by default, for files what is installed. ``"json"`` gives what
        the program
        prints with ``--json``, a report for each document.
    return_summary : bool, default False
        Also return what was promised and found over all documents.
    progress : callable or bool, optional
        As for :func:`fit`.
    **options
        How documents are read; by default as the model learned it.

    Returns
    -------
    table
        One row for each document, with its own columns where a table was given.
    summary : Report
        Only with `return_summary`.

    Examples
    --------
    >>> import calibrant
    >>> mail = [{"label": "ham", "text": f"lunch at noon {i}"} for i in range(20)]
    >>> mail += [{"label": "spam", "text": f"win big money {i}"} for i in range(20)]
    >>> model = calibrant.fit(mail)
    >>> found = calibrant.predict(model, [{"id": "a", "text": "win money"}, {"id": "b", "text": "lunch"}])
    >>> [(row["id"], row["label"]) for row in found]
    [('a', 'spam'), ('b', 'ham')]
    >>> calibrant.predict(model, ["lunch"], costs="ham,spam,1;*,ask,0.001")[0]["decision"]
    'ask'
    """
    _words.reading("predict", options)  # A word that is none is refused before anything is opened.
    native = model_of(model)
    reading: dict[str, Any] = dict(options)
    if policy is not None:
        return _follow(native, documents, policy, answers or {}, part, frame, output, progress, reading)
    if answers or part:
        raise ValueError("answers and part are about a policy, and policy=… is not given")
    decides = costs is not None or ask is not None or max_error is not None or f_beta is not None
    in_rows = frame != "json" and (output is None or keep or wide)
    every = wide or (decides and bool(native.several_labels)) or not in_rows
    settings = {
        "top": top if top is not None or every else 1,
        "scores": scores,
        "prior": _words.prior(prior, adapt_prior),
        "other": _words.other(other),
        "costs": _words.costs(costs),
        "ask": _words.ask(ask),
        "sets": _words.sets(sets, set_kind, per_class, keep_top),
        "max_error": _words.certify(max_error, certainty),
        "f_beta": None if f_beta is None else {"beta": f_beta, "average": f_average or "micro"},
    }
    if calibration is not None and sets is None and max_error is None:
        raise ValueError("calibration is for sets and max_error, and neither is given")
    kind = kind_of(documents)
    documents = settled(documents)
    numbered = kind is not None and in_rows and output is None
    if numbered:
        reading["id"] = ROW
        columns = columns_of(documents)
        count = refuse_empty(columns)
        source: Any = (TABLE, lines_of({**columns, ROW: list(range(count))}))
    else:
        source = source_of(documents)
    by_file = keep and kind is None
    shape = {
        "rows": in_rows and (output is not None or by_file),
        "keep": keep and (output is not None or by_file),
        "wide": wide,
        "like_input": like_input,
        "top": top,
    }
    with shown(progress) as report, unseen_row():
        lines, text = _calibrant.predict_source(
            native,
            source,
            _words.reading("predict", reading),
            json.dumps(settings),
            json.dumps(shape),
            None if calibration is None else source_of(calibration, "calibration"),
            None if output is None else os.fspath(output),
            report,
        )
    found: Any = None
    if lines is not None:
        found = rows_of(lines)
        if frame == "json":
            found = [Report(one) for one in found]
        elif by_file:
            found = frame_of(found, frame or installed_kind())
        else:
            flat = [_flat(one, top or 1, wide, native.class_names) for one in found]
            found = _as_asked(documents, flat, kind, frame)
    summary = report_of(text, kind=kind)
    warn_of(summary)
    return (found, summary) if return_summary else found


def _flat(said: Mapping[str, Any], top: int, wide: bool, classes: Sequence[str]) -> dict[str, Any]:
    """Give what is said of one document, as cells."""
    row: dict[str, Any] = {key: said[key] for key in ("id", "row") if key in said}
    for rank, one in enumerate(said["classes"][:top]):
        ending = "" if rank == 0 else f"_{rank + 1}"
        for name in ("label", "probability", "score"):
            if name in one:
                row[name + ending] = one[name]
    decision = said.get("decision")
    if decision is not None:
        row["decision"] = decision["action"]
        for name in ("expected_cost",):
            if decision.get(name) is not None:
                row[name] = decision[name]
        if decision.get("runner_up"):
            row["runner_up"] = decision["runner_up"]["action"]
    elif any("decision" in one for one in said["classes"]):
        row["decision"] = [
            one["label"] + ("?" if one["decision"]["action"] == "ask" else "")
            for one in said["classes"]
            if one["decision"]["action"] != "no"
        ]
    if "set" in said:
        row["set"] = said["set"]
    if wide:
        stated = {one["label"]: one["probability"] for one in said["classes"]}
        names = [name for name in classes if name in stated] + [name for name in stated if name not in classes]
        row.update({name: stated[name] for name in names})
    return row


def _as_asked(documents: Any, flat: list[dict[str, Any]], kind: FrameKind | None, frame: Any) -> Any:
    """Give it beside the caller's columns, or as a table of its own where a file was read."""
    if kind is None:
        return frame_of(flat, frame or installed_kind())
    places = [int(row.pop("id")) for row in flat]
    if frame is None or frame == kind:
        return beside(documents, flat, places)
    columns = columns_of(documents)
    rows = [{name: column[place] for name, column in columns.items()} for place in places]
    return frame_of(beside(rows, flat), frame)


def _follow(
    native: Any,
    documents: Any,
    policy: Any,
    answers: Mapping[str, Any],
    part: str | None,
    frame: Any,
    output: str | os.PathLike[str] | None,
    progress: Progress | bool | None,
    options: Mapping[str, Any],
) -> Any:
    """Decide by a policy, whose other sources are found by the documents' identifiers or rows."""
    from calibrant._policy import Policy

    if output is not None:
        raise ValueError("output is not for policies; save the table that is returned")
    followed = policy if isinstance(policy, Policy) else Policy.open(policy)
    said = [(name, source_of(table, name)) for name, table in answers.items()]
    kind = kind_of(documents)
    documents = settled(documents)
    with shown(progress) as report:
        lines = followed.native.follow(native, source_of(documents), _words.reading("predict", options), said, part, report)
    rows = rows_of(lines)
    if frame == "json":
        return [Report(row) for row in rows]
    if kind is None or options.get("where") or options.get("skip_bad_rows"):
        return frame_of(rows, frame or kind or installed_kind())
    flat = [{name: row[name] for name in ("label", "probability", "decision")} for row in rows]
    found = beside(documents, flat)
    if frame is None or frame == kind:
        return found
    columns = columns_of(found)
    return frame_of([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)], frame)
