"""How good probabilities are, and whose are better."""

from __future__ import annotations

import datetime
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal, Unpack

from calibrant import _calibrant, _words
from calibrant._fit import named
from calibrant._frames import columns_of, is_table, kind_of, lines_of, settled, source_of
from calibrant._model import is_model, model_of, name_of
from calibrant._notices import warn_of
from calibrant._progress import Progress, shown
from calibrant._report import Report, report_of
from calibrant._words import Costs, ReadingOptions, Shares


@contextmanager
def _file_of(table: Any, name: str) -> Iterator[str]:
    """Give a table of probabilities as a file, for as long as it is read."""
    with tempfile.TemporaryDirectory(prefix="calibrant-") as folder:
        path = os.path.join(folder, f"{name}.jsonl")
        Path(path).write_bytes(lines_of(columns_of(settled(table))))
        yield path


def _made(name: str, documents: Any) -> str:
    """Give what a page says of itself."""
    test = os.path.basename(os.fspath(documents)) if isinstance(documents, (str, os.PathLike)) else "a table"
    today = datetime.date.today()
    return f"{name} on {test}. {today.day} {today:%B %Y}, calibrant {_calibrant.__version__}."


def _finished(text: str, page: str | None, documents: Any, html: Any) -> Report:
    report = report_of(text, kind=kind_of(documents), page=page)
    warn_of(report)
    if page is not None and isinstance(html, (str, os.PathLike)):
        report.html.save(html)
    return report


def _system_settings(classes: Sequence[str], positive: str | None, labels: str | None) -> str:
    task = {None: None, "one": "single_label", "several": "multi_label"}
    if labels not in task:
        raise ValueError(f'labels must be "one" or "several", not {labels!r}')
    return json.dumps({"classes": list(classes), "positive": positive, "task": task[labels]})


def evaluate(
    system: Any,
    documents: Any,
    *,
    classes: Sequence[str] = (),
    positive: str | None = None,
    labels: Literal["one", "several"] | None = None,
    prior: Shares | None = None,
    adapt_prior: bool | Literal["tested", "always"] | None = None,
    other: float | Literal["balanced", "cost"] | None = None,
    costs: Costs = None,
    bootstrap: int | None = None,
    sets: float | None = None,
    set_kind: Literal["lac", "aps", "raps"] | None = None,
    per_class: bool = False,
    keep_top: bool = False,
    max_error: float | None = None,
    certainty: float = 0.95,
    calibration: Any = None,
    ledger: bool = False,
    html: bool | str | os.PathLike[str] = False,
    no_texts: bool = False,
    progress: Progress | bool | None = None,
    **options: Unpack[ReadingOptions],
) -> Report:
    """Measure a model, or a table of probabilities, on labelled documents that it has not seen.

    Parameters
    ----------
    system : Model, path or table
        A model; or probabilities with a column for each class (or one ``probability``), one row for each document
        in the same
        order or joined by ``id``.
    documents : path or table
        Labelled documents.
    classes : sequence of str, optional
        Measure only these classes (several labels), or name the class columns of a table.
    positive : str, optional
        The class that a single column ``probability`` refers to.
    labels : {"one", "several"}, optional
        For tables of probabilities: one label per document or several.
    prior, adapt_prior, other, costs
        As for :func:`predict`.
    bootstrap : int, optional
        Replicates for the 95 % intervals; 0 leaves them out.
    sets, set_kind, per_class, keep_top, max_error, certainty, calibration
        As for :func:`predict`.
    ledger : bool, default False
        Write down beside the file of the system that it was measured on these documents, as the program does, and
        say how
        often that was before.
    html : bool or path, default False
        Also make a page for a browser, ``report.html``; a path is where to write it.
    no_texts : bool, default False
        Leave texts and words of documents out of the page, for data that is confidential.
    progress : callable or bool, optional
        As for :func:`fit`.
    **options
        How documents are read; `group` keeps documents together in intervals.

    Returns
    -------
    Report
        What ``calibrant evaluate --json`` prints.

    Examples
    --------
    >>> import calibrant
    >>> mail = [{"label": "ham", "text": f"lunch at noon {i}"} for i in range(20)]
    >>> mail += [{"label": "spam", "text": f"win big money {i}"} for i in range(20)]
    >>> new = [{"label": "spam", "text": "big money"}, {"label": "ham", "text": "lunch"}]
    >>> new += [{"label": "ham", "text": "noon"}]
    >>> calibrant.evaluate(calibrant.fit(mail), new, bootstrap=0).accuracy
    1.0
    >>> stated = [{"ham": 0.1, "spam": 0.9}, {"ham": 0.8, "spam": 0.2}, {"ham": 0.5, "spam": 0.5}]
    >>> round(calibrant.evaluate(stated, new, bootstrap=0).log_loss, 4)  # by hand: -(ln 0.9 + ln 0.8 + ln 0.5) / 3
    0.3406
    """
    name = name_of(system)
    page = _made(name, documents) if html else None
    reading = _words.reading("evaluate", options)
    source = source_of(documents)
    native = None
    if isinstance(system, (str, os.PathLike)):
        native = _calibrant.open_system(os.fspath(system))
    elif not is_table(system) or is_model(system):
        native = model_of(system)
    promises = sets is not None or max_error is not None
    if native is None:
        if promises or calibration is not None or other is not None or prior is not None or adapt_prior:
            raise ValueError("sets, max_error, calibration, other, prior and adapt_prior need a model, not a table")
        settings = _system_settings(classes, positive, labels)
        with ExitStack() as stack:
            report = stack.enter_context(shown(progress))
            is_file = isinstance(system, (str, os.PathLike))
            path = os.fspath(system) if is_file else stack.enter_context(_file_of(system, "table"))
            found = _calibrant.evaluate_table(
                path,
                name,
                source,
                reading,
                settings,
                json.dumps(_words.costs(costs)),
                bootstrap,
                page,
                ledger and is_file,
                report,
            )
        return _finished(*found, documents, html)
    if positive is not None or labels is not None:
        raise ValueError("positive and labels are for tables of probabilities; a model knows its classes")
    if promises and (prior is not None or adapt_prior):
        raise ValueError("sets and max_error cannot be measured with prior or adapt_prior")
    words = {
        "settings": {
            "classes": list(classes),
            "prior": _words.prior(prior, adapt_prior),
            "other": _words.other(other),
            "costs": _words.costs(costs),
            "bootstrap": bootstrap,
        },
        "sets": _words.sets(sets, set_kind, per_class, keep_top),
        "max_error": _words.certify(max_error, certainty),
        "no_texts": no_texts,
    }
    place = os.fspath(system) if ledger and isinstance(system, (str, os.PathLike)) else None
    beside = None if calibration is None else source_of(calibration, "calibration")
    with shown(progress) as report:
        found = _calibrant.evaluate_source(native, name, source, reading, json.dumps(words), beside, page, place, report)
    return _finished(*found, documents, html)


def expect(
    model: Any,
    documents: Any,
    *,
    prior: Shares | None = None,
    adapt_prior: bool | Literal["tested", "always"] | None = None,
    html: bool | str | os.PathLike[str] = False,
    progress: Progress | bool | None = None,
    **options: Unpack[ReadingOptions],
) -> Report:
    """Say what a model's probabilities promise of documents, without reading any label.

    Parameters
    ----------
    model : Model or path
        The model.
    documents : path, table or list of str
        The documents.
    prior, adapt_prior
        As for :func:`predict`.
    html : bool or path, default False
        Also make a page for a browser, ``report.html``; a path is where to write it.
    progress : callable or bool, optional
        As for :func:`fit`.
    **options
        How documents are read.

    Returns
    -------
    Report
        Expected accuracy and mistakes, how much can be answered, and what acting on each class is expected to be worth.

    Examples
    --------
    >>> import calibrant
    >>> mail = [{"label": "ham", "text": f"lunch at noon {i}"} for i in range(20)]
    >>> mail += [{"label": "spam", "text": f"win big money {i}"} for i in range(20)]
    >>> found = calibrant.expect(calibrant.fit(mail), ["big money", "lunch"])
    >>> found.documents, found.expected_accuracy > 0.9
    (2, True)
    """
    name = name_of(model)
    page = _made(name, documents) if html else None
    choice = json.dumps(_words.prior(prior, adapt_prior))
    reading = _words.reading("expect", options)
    with shown(progress) as report:
        found = _calibrant.expect_source(model_of(model), name, source_of(documents), reading, choice, page, report)
    return _finished(*found, documents, html)


def compare(
    documents: Any,
    systems: Sequence[Any] | Mapping[str, Any],
    *,
    classes: Sequence[str] = (),
    positive: str | None = None,
    labels: Literal["one", "several"] | None = None,
    costs: Costs = None,
    level: float = 0.01,
    bootstrap: int = 1000,
    seed: int = 1,
    ledger: bool = False,
    html: bool | str | os.PathLike[str] = False,
    progress: Progress | bool | None = None,
    **options: Unpack[ReadingOptions],
) -> Report:
    """Compare models, or tables of probabilities, on one test set.

    Parameters
    ----------
    documents : path or table
        Labelled documents that no system has seen.
    systems : sequence or mapping
        Two or more models, paths, or tables of probabilities; the keys of a mapping are their names.
    classes, positive, labels, costs
        As for :func:`evaluate`.
    level : float, default 0.01
        A p-value below this counts as significant.
    bootstrap : int, default 1000
        Replicates for the intervals of differences; 0 leaves them out.
    seed : int, default 1
        Of the bootstrap.
    ledger : bool, default False
        As for :func:`evaluate`.
    html : bool or path, default False
        Also make a page for a browser, ``report.html``; a path is where to write it.
    progress : callable or bool, optional
        As for :func:`fit`.
    **options
        How documents are read.

    Returns
    -------
    Report
        ``systems`` with their measures and ``pairs`` with their tests, as ``calibrant compare --json`` prints them.

    Examples
    --------
    >>> import calibrant
    >>> truth = [{"label": "no"}, {"label": "yes"}, {"label": "yes"}]
    >>> sure = [{"no": 0.9, "yes": 0.1}, {"no": 0.1, "yes": 0.9}, {"no": 0.1, "yes": 0.9}]
    >>> even = [{"no": 0.5, "yes": 0.5}] * 3
    >>> found = calibrant.compare(truth, {"sure": sure, "even": even}, bootstrap=0)
    >>> [(one.name, round(one.log_loss.mean, 4)) for one in found.systems]
    [('sure', 0.1054), ('even', 0.6931)]
    """
    with ExitStack() as stack:
        given: list[tuple[str | None, Any]] = []
        for number, (name, system) in enumerate(named(systems), 1):
            if isinstance(system, (str, os.PathLike)):
                given.append((name, os.fspath(system)))
            elif is_model(system):
                given.append((name, model_of(system)))
            else:
                given.append((name, stack.enter_context(_file_of(system, name or f"table {number}"))))
        report = stack.enter_context(shown(progress))
        found = _calibrant.compare_source(
            source_of(documents),
            given,
            _words.reading("compare", options),
            _system_settings(classes, positive, labels),
            json.dumps(_words.costs(costs)),
            json.dumps({"level": level, "bootstrap": bootstrap, "seed": seed}),
            bool(html),
            ledger,
            report,
        )
    return _finished(*found, documents, html)
