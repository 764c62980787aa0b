"""Models from labelled documents."""

from __future__ import annotations

import builtins
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from calibrant import _calibrant, _words
from calibrant._frames import FrameKind, kind_of, settled, source_of
from calibrant._model import Model, model_of, wrap
from calibrant._notices import warn_of
from calibrant._progress import Progress, shown
from calibrant._report import Report, report_of
from calibrant._words import FitOptions, ReadingOptions


def fit(
    documents: Any,
    *,
    output: str | os.PathLike[str] | None = None,
    search: bool = False,
    time_budget: float | None = None,
    no_training_keys: bool = False,
    like: Any = None,
    progress: Progress | bool | None = None,
    **options: Unpack[FitOptions],
) -> Model:
    """Learn a calibrated classifier from labelled documents.

    Parameters
    ----------
    documents : path or table
        A file in any format that the program reads, or a table: a DataFrame of pandas or Polars, a table of
        PyArrow, a list of
        dictionaries. Its columns ``text`` and ``label`` are read unless `options` name others.
    output : path, optional
        Where to save the model.
    search : bool, default False
        Try learners, terms, weightings and costs, and keep the best or a pool of the best.
    time_budget : float, optional
        The seconds that a search may take, 300 by default.
    no_training_keys : bool, default False
        Leave out the filter by which documents that the model has learned from are noticed later.
    like : Model or path, optional
        Fit as this model was fitted: its fields, terms, learner, calibration, folds and seed, where no option says
        otherwise.
    progress : callable or bool, optional
        ``None`` shows a bar of tqdm where somebody looks; ``False`` shows nothing; a function is called with
        stage, done and total.
    **options
        The options of ``calibrant fit`` with underscores for dashes: `text`, `label`, `group`, `weight`, `where`
        and how else
        documents are read; `classifier`, `c`, `word_ngrams`, `calibrator`, `folds`, `seed` and how else it is learned.

    Returns
    -------
    Model
        With what was found in its attribute ``report``.

    Examples
    --------
    >>> import calibrant
    >>> mail = [{"body": f"lunch at noon {i}", "folder": "ham"} for i in range(20)]
    >>> mail += [{"body": f"win big money {i}", "folder": "spam"} for i in range(20)]
    >>> model = calibrant.fit(mail, text="body", label="folder", classifier="logistic")
    >>> model.report.rows, model.report.held_out.accuracy
    (40, 1.0)
    """
    reading, words = _words.fitting("fit", options)
    extras = {"search": search, "time_budget": time_budget, "no_training_keys": no_training_keys}
    if like is not None and search:
        raise ValueError("like and search exclude each other")
    alike = None if like is None else model_of(like)
    kind = kind_of(documents)
    with shown(progress) as report:
        native, text = _calibrant.fit_source(source_of(documents), reading, words, json.dumps(extras), alike, report)
    return _made(native, text, kind, output)


def open(path: str | os.PathLike[str]) -> Any:
    """Open whatever calibrant saved, as what it is.

    Parameters
    ----------
    path : path
        A file that the program, the library or this package wrote, or the folder of an index.

    Returns
    -------
    Model, ScoreCalibrator, RankModel, Policy or SearchIndex

    Examples
    --------
    >>> import calibrant, os, tempfile
    >>> mail = [{"label": "ham", "text": f"lunch at noon {i}"} for i in range(20)]
    >>> mail += [{"label": "spam", "text": f"win big money {i}"} for i in range(20)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "mail.calibrant")
    ...     _ = calibrant.fit(mail, output=path)
    ...     calibrant.open(path)
    Model(classes=['ham', 'spam'], documents=40)
    """
    return wrap(_calibrant.open_saved(os.fspath(path)))


def inspect(saved: Any, *, terms: int | None = None) -> Report:
    """Show what is in a saved file, or in something opened, as ``calibrant inspect --json`` does.

    Parameters
    ----------
    saved : path, Model, ScoreCalibrator, RankModel, Policy or SearchIndex
        The file, or what was opened.
    terms : int, optional
        Also show so many of the strongest terms for each class of a model.

    Returns
    -------
    Report

    Examples
    --------
    >>> import calibrant
    >>> mail = [{"label": "ham", "text": f"lunch at noon {i}"} for i in range(20)]
    >>> mail += [{"label": "spam", "text": f"win big money {i}"} for i in range(20)]
    >>> calibrant.inspect(calibrant.fit(mail)).summary.documents
    40
    """
    if isinstance(saved, (str, os.PathLike)):
        return report_of(_calibrant.inspect_saved(os.fspath(saved), terms))
    found = saved.inspect(terms) if isinstance(saved, Model) else saved.inspect()
    if not isinstance(found, Report):
        raise TypeError(f"{type(saved).__name__} cannot be inspected")
    return found


def named(systems: Any) -> list[tuple[str | None, Any]]:
    """Give systems with their names: of a mapping its keys, of a list none."""
    if isinstance(systems, Mapping):
        return [(str(name), system) for name, system in systems.items()]
    return [(None, system) for system in systems]


def combine(
    models: Sequence[Any] | Mapping[str, Any],
    documents: Any,
    *,
    output: str | os.PathLike[str] | None = None,
    folds: int = 5,
    seed: int = 0,
    even_if_learned_from: bool = False,
    progress: Progress | bool | None = None,
    **options: Unpack[ReadingOptions],
) -> Model:
    """Combine several models into one, weighted by how well they forecast documents that none has seen.

    Parameters
    ----------
    models : sequence or mapping
        Two models or more, or paths of them; the keys of a mapping are their names.
    documents : path or table
        Labelled documents that no model has learned from.
    output : path, optional
        Where to save the combination.
    folds, seed : int
        Of the cross-validation behind the expected measures.
    even_if_learned_from : bool, default False
        Continue even where a model has learned from most of the documents.
    progress : callable or bool, optional
        As for :func:`fit`.
    **options
        How documents are read.

    Returns
    -------
    Model
        With weights and measures in its attribute ``report``.

    Examples
    --------
    >>> import calibrant
    >>> def mail(start):
    ...     rows = [{"label": "ham", "text": f"lunch at noon {start + i}"} for i in range(20)]
    ...     return rows + [{"label": "spam", "text": f"win big money {start + i}"} for i in range(20)]
    >>> models = {name: calibrant.fit(mail(0), classifier=name) for name in ("svm", "naive-bayes")}
    >>> calibrant.combine(models, mail(100)).is_combination
    True
    """
    given = [(name, os.fspath(one) if isinstance(one, (str, os.PathLike)) else model_of(one)) for name, one in named(models)]
    settings = json.dumps({"folds": folds, "seed": seed})
    reading = _words.reading("combine", options)
    with shown(progress) as report:
        native, text = _calibrant.combine_models(given, source_of(documents), reading, settings, even_if_learned_from, report)
    return _made(native, text, kind_of(documents), output)


def recalibrate(
    model: Any,
    documents: Any,
    *,
    output: str | os.PathLike[str] | None = None,
    folds: int = 10,
    seed: int = 0,
    even_if_learned_from: bool = False,
    progress: Progress | bool | None = None,
    **options: Unpack[ReadingOptions],
) -> Model:
    """Correct a model's probabilities by a few new labels: the answer to drift.

    Parameters
    ----------
    model : Model or path
        A model, or a combination.
    documents : path or table
        Labelled documents that the model has not learned from, drawn as those to come; five or more.
    output : path, optional
        Where to save the model.
    folds, seed : int
        Of the cross-validation that decides whether the old curves are given up.
    even_if_learned_from : bool, default False
        Continue even where the model has learned from most of the documents.
    progress : callable or bool, optional
        As for :func:`fit`.
    **options
        How documents are read.

    Returns
    -------
    Model
        Unchanged where the new labels do not make it clearly better, as ``report.changed`` says.

    Examples
    --------
    >>> import calibrant
    >>> def mail(start, spam):
    ...     words = ["money" if i % 10 < 3 else "lunch" for i in range(100)]
    ...     labels = ["spam" if i % 10 < spam else "ham" for i in range(100)]
    ...     return {"text": [f"{w} {i + start}" for i, w in enumerate(words)], "label": labels}
    >>> model = calibrant.fit(mail(0, 2))
    >>> now = calibrant.recalibrate(model, mail(200, 3))
    >>> now.report.changed, now.report.log_loss_after < now.report.log_loss_before
    (True, True)
    """
    settings = json.dumps({"folds": folds, "seed": seed})
    reading = _words.reading("recalibrate", options)
    with shown(progress) as report:
        native, text = _calibrant.recalibrate_model(model_of(model), source_of(documents), reading, settings, even_if_learned_from, report)
    return _made(native, text, kind_of(documents), output)


def _made(native: Any, text: str, kind: FrameKind | None, output: str | os.PathLike[str] | None) -> Model:
    report = report_of(text, kind=kind)
    warn_of(report)
    model = Model(native, report)
    if output is not None:
        model.save(output)
    return model


def check_rules(
    rules: str | os.PathLike[str],
    documents: Any,
    *,
    keep_case: bool = False,
    fold_accents: bool = False,
    stem: str | None = None,
    progress: Progress | bool | None = None,
    **options: Unpack[ReadingOptions],
) -> Report:
    """Check hand-written rules on labelled documents.

    Parameters
    ----------
    rules : path or str
        Lines ``category: query`` with AND, OR, NOT, ``"phrases"``, ``begin*``, ``field:word`` and ``2 of (a, b, c)``.
    documents : path or table
        Labelled documents.
    keep_case, fold_accents : bool, default False
        Which spellings of a word are one.
    stem : str, optional
        Reduce words to stems of this language.
    progress : callable or bool, optional
        As for :func:`fit`.
    **options
        How documents are read.

    Returns
    -------
    Report
        Precision and recall of each rule, and what each of its clauses adds and costs.

    Examples
    --------
    >>> import calibrant
    >>> mail = [{"label": "spam", "text": "win money"}, {"label": "ham", "text": "money for lunch"}]
    >>> calibrant.check_rules("spam: money AND NOT lunch", mail).rules[0].precision
    1.0
    """
    spelling = {"keep_case": keep_case, "fold_accents": fold_accents, "stem": stem}
    given: dict[str, Any] = {**options, **{name: value for name, value in spelling.items() if value}}
    reading, words = _words.fitting("check_rules", given, _words.SPELLING)
    with shown(progress) as report:
        text = _calibrant.check_rule_set(_words.rule_text(rules), source_of(documents), reading, words, report)
    return report_of(text, kind=kind_of(documents))


def split(
    documents: Any,
    *,
    test: float = 0.2,
    time: str | None = None,
    date_order: str | None = None,
    seed: int = 1,
    train_out: str | os.PathLike[str] | None = None,
    test_out: str | os.PathLike[str] | None = None,
    progress: Progress | bool | None = None,
    **options: Unpack[ReadingOptions],
) -> Any:
    """Divide documents into those to learn from and those to test on: copies, groups and the newest stay together.

    Parameters
    ----------
    documents : path or table
        The documents.
    test : float, default 0.2
        The share of rows to test on.
    time : str, optional
        The field that says when a document was: the newest are for testing.
    date_order : {"day", "month"}, optional
        What comes first in dates such as 3/4/2024.
    seed : int, default 1
        Chooses among equally good divisions.
    train_out, test_out : path, optional
        Where the two parts of a file go; beside it by default, as ``tickets.train.csv``.
    progress : callable or bool, optional
        As for :func:`fit`.
    **options
        How documents are read; `group` keeps documents together.

    Returns
    -------
    train, test : table
        Of the caller's kind, where a table was given; the original rows in their order.
    report : Report
        What is on each side; the only result where a file was given.

    Examples
    --------
    >>> import calibrant
    >>> mail = [{"label": "ham", "text": f"lunch {i // 2}"} for i in range(40)]
    >>> train, test, report = calibrant.split(mail, test=0.25)
    >>> len(train), len(test), report.copies
    (30, 10, 20)
    """
    from calibrant._split import split_file, split_table

    settings = json.dumps({"test": test, "time": time, "date_order": date_order, "seed": seed})
    reading = _words.reading("split", options)
    kind = kind_of(documents)
    with shown(progress) as report:
        if kind is None:
            return split_file(documents, reading, settings, train_out, test_out, report)
        if train_out is not None or test_out is not None:
            raise builtins.ValueError("train_out and test_out are for files; the parts of a table are returned")
        return split_table(settled(documents), kind, reading, settings, report)
