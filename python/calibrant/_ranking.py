"""Rankings of documents for queries: learned, asked and measured."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Unpack

from calibrant import _calibrant, _words
from calibrant._frames import FrameKind, beside, columns_of, frame_of, installed_kind, is_table, kind_of, settled
from calibrant._model import Saved
from calibrant._progress import Progress, shown
from calibrant._rank_tables import has_queries, letor_source, qrels_source, ranking_columns, run_rows, run_source
from calibrant._report import Report, report_of
from calibrant._words import RankOptions


def _many(given: Any) -> list[Any]:
    """One file or table, or several; a list of dictionaries is one table."""
    if given is None:
        return []
    if isinstance(given, (list, tuple)) and not (given and isinstance(given[0], Mapping)):
        is_named_bytes = isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], bytes)
        return [given] if is_named_bytes else list(given)
    return [given]


def _runs(given: Any) -> list[Any]:
    """Give runs as sources; the keys of a mapping of tables are their names."""
    # A mapping with a column for queries is a table.
    if isinstance(given, Mapping) and not has_queries(given):
        return [run_source(run, str(name)) for name, run in given.items()]
    return [run_source(run, f"run{number}") for number, run in enumerate(_many(given), 1)]


class RankModel(Saved):
    """A learned ranking, with the probability that each document is relevant.

    Made by :meth:`RankModel.fit`, or opened by :func:`calibrant.open`.

    Examples
    --------
    >>> import calibrant
    >>> pairs = [(q, d) for q in range(8) for d in range(3)]
    >>> rows = [{"query": q, "document": f"d{d}", "grade": int(d == 2), "bm25": d + q / 10} for q, d in pairs]
    >>> model = calibrant.RankModel.fit(rows, calibrator="none")
    >>> model.columns, model.report.training_map
    (['bm25'], 1.0)
    >>> [row["rank"] for row in model.predict(rows[:3])]
    [3, 2, 1]
    """

    @classmethod
    def fit(
        cls,
        train: Any = None,
        *,
        runs: Any = None,
        qrels: Any = None,
        validation: Any = None,
        output: str | os.PathLike[str] | None = None,
        progress: Progress | bool | None = None,
        **options: Unpack[RankOptions],
    ) -> RankModel:
        """Learn a ranking from judged documents.

        Parameters
        ----------
        train : path, table or sequence of these, optional
            LETOR files; or tables with a row for each query and document, the columns ``query``, ``document``
            (optional) and ``grade``,
            and one for each feature.
        runs : path, table, sequence or mapping, optional
            Learn from runs instead: each becomes a column named after it.
        qrels : path or table, optional
            The judgements of `runs`.
        validation : path or table, optional
            Judged documents on which to choose; never learned from.
        output : path, optional
            Where to save the model.
        progress : callable or bool, optional
            As for :func:`calibrant.fit`.
        **options
            The options of ``calibrant rank fit``: `loss`, `c`, `bins`, `grades`, `calibrator` and so on.

        Returns
        -------
        RankModel
            With what was found in its attribute ``report``.
        """
        if (train is None) == (runs is None):
            raise TypeError("give training rows, or runs=… and qrels=…")
        settings = _words.ranking("RankModel.fit", options)
        with shown(progress) as report:
            native, text = _calibrant.fit_ranking(
                [letor_source(table, "train") for table in _many(train)],
                _runs(runs),
                None if qrels is None else qrels_source(qrels),
                None if validation is None else letor_source(validation, "validation"),
                settings,
                report,
            )
        rows = _many(train if train is not None else runs)
        model = cls(native, report_of(text, kind=kind_of(rows[0]) if rows else None))
        if output is not None:
            model.save(output)
        return model

    @property
    def columns(self) -> list[str]:
        """The names of the features."""
        return list(self._native.columns)

    @property
    def has_probabilities(self) -> bool:
        """Whether it gives probabilities of relevance."""
        return bool(self._native.has_probabilities)

    @property
    def summary(self) -> Report:
        """What the model remembers of its training."""
        return report_of(self._native.summary())

    def predict(
        self,
        tables: Any = None,
        *,
        runs: Any = None,
        ignore_unknown: bool = False,
        ignore_missing: bool = False,
        frame: FrameKind | Literal["json"] | None = None,
    ) -> Any:
        """Score documents.

        Parameters
        ----------
        tables : path, table or sequence of these, optional
            LETOR files, or tables as for :meth:`fit`; grades are ignored.
        runs : path, table, sequence or mapping, optional
            Runs, for a model that was fitted on runs.
        ignore_unknown, ignore_missing : bool, default False
            Continue where columns are not known, or missing.
        frame : {"pandas", "polars", "pyarrow", "dicts", "json"}, optional
            The kind of the result.

        Returns
        -------
        table
            Of one table: its own rows with ``rank``, ``score`` and ``probability`` beside them. Else ``query``,
            ``document``,
            ``rank``, ``score`` and ``probability``, the best documents of a query first.
        """
        settings = json.dumps({"ignore_unknown": ignore_unknown, "ignore_missing": ignore_missing})
        given = _many(tables)
        sources = [letor_source(table, "test") for table in given]
        text, _ = self._native.predict(sources, _runs(runs), settings)
        ranked: list[dict[str, Any]] = json.loads(text)
        if frame == "json":
            return [Report(row) for row in ranked]
        if len(given) != 1 or not is_table(given[0]):
            return frame_of(ranked, frame or installed_kind())
        table = settled(given[0])
        columns = columns_of(table)
        query, document, _ = ranking_columns(columns)
        said = {(row["query"], row["document"]): row for row in ranked}
        names = columns[document] if document else [str(row + 1) for row in range(len(columns[query]))]
        keys = zip(columns[query], names, strict=True)
        rows = [said[_key(q), _key(d)] for q, d in keys]
        cells: list[dict[str, Any]] = [{name: row[name] for name in ("rank", "score", "probability") if name in row} for row in rows]
        kind = kind_of(table)
        if frame is None or frame == kind:
            return beside(table, cells)
        plain = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return frame_of(beside(plain, cells), frame)

    def run(
        self,
        tables: Any = None,
        *,
        runs: Any = None,
        name: str = "calibrant",
        probabilities: bool = False,
        output: str | os.PathLike[str] | None = None,
        ignore_unknown: bool = False,
        ignore_missing: bool = False,
        frame: FrameKind | None = None,
    ) -> Any:
        """Rank documents as a TREC run: a table, or a file where `output` names one.

        Parameters
        ----------
        tables, runs, ignore_unknown, ignore_missing, frame
            As for :meth:`predict`.
        name : str, default "calibrant"
            The run's name.
        probabilities : bool, default False
            Probabilities of relevance instead of scores.
        output : path, optional
            Where to write the run.

        Returns
        -------
        table or None
        """
        settings = json.dumps({"ignore_unknown": ignore_unknown, "ignore_missing": ignore_missing})
        sources = [letor_source(table, "test") for table in _many(tables)]
        lines = bytes(self._native.predict_run(sources, _runs(runs), settings, name, probabilities))
        if output is not None:
            Path(output).write_bytes(lines)
            return None
        rows = _many(tables if tables is not None else runs)
        kind = kind_of(rows[0]) if rows else None
        return frame_of(run_rows(lines), frame or kind or installed_kind())

    def __repr__(self) -> str:
        return f"RankModel(columns={self.columns!r})"


def _key(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def evaluate_rankings(
    qrels: Any,
    runs: Any,
    *,
    measure: str | Sequence[str] = (),
    per_query: bool = False,
    complete: bool = False,
    relevant_from: int = 1,
    most_documents: int | None = None,
    collection_size: int | None = None,
    letor: Literal[3, 4] | None = None,
    probabilities: bool = False,
    unjudged: Literal["zero", "leave-out"] = "zero",
    baseline: str = "first",
    seed: int = 1,
) -> Report:
    """Measure rankings against judgements, with the figures of trec_eval.

    Parameters
    ----------
    qrels : path or table
        Judgements: TREC qrels, or a table with ``query``, ``document`` and ``grade``. With `letor` the test file.
    runs : path, table, sequence or mapping
        Runs: TREC runs, or tables with ``query``, ``document`` and ``score``; several are compared. With `letor`
        files with a score
        per line.
    measure : str or sequence of str, optional
        By trec_eval's names: ``map``, ``P.5,10``, ``ndcg_cut.10``, ``all_trec``; ``official`` by default.
    per_query : bool, default False
        Also tell of every query.
    complete : bool, default False
        Count judged queries that a run lacks as 0.
    relevant_from : int, default 1
        The smallest grade that is relevant.
    most_documents : int, optional
        Use only the first so many documents of each query.
    collection_size : int, optional
        The number of documents in the collection, for ``utility``.
    letor : {3, 4}, optional
        Count as LETOR does.
    probabilities : bool, default False
        Scores are probabilities of relevance: measure log loss, Brier score and calibration.
    unjudged : {"zero", "leave-out"}, default "zero"
        With `probabilities`, what becomes of documents that nobody judged.
    baseline : str, default "first"
        Which of several rankings the others are compared with.
    seed : int, default 1
        Of the randomisation test.

    Returns
    -------
    Report
        ``runs`` with their measures, and how they compare with the baseline.

    Examples
    --------
    >>> import calibrant
    >>> qrels = [{"query": "q", "document": "a", "grade": 1}, {"query": "q", "document": "b", "grade": 0}]
    >>> run = [{"query": "q", "document": "b", "score": 2.0}, {"query": "q", "document": "a", "score": 1.0}]
    >>> found = calibrant.evaluate_rankings(qrels, run, measure="map")
    >>> found.runs[0].measures["map"]  # by hand: the one relevant document is second
    0.5
    """
    settings = {
        "measures": [measure] if isinstance(measure, str) else list(measure),
        "per_query": per_query,
        "complete": complete,
        "relevant_from": relevant_from,
        "most_documents": most_documents,
        "collection_size": collection_size,
        "letor": None if letor is None else {3: "three", 4: "four"}[int(letor)],
        "probabilities": probabilities,
        "unjudged": unjudged,
        "baseline": baseline,
        "seed": seed,
    }
    if letor is None:
        truth, rankings = qrels_source(qrels), _runs(runs)
    else:
        truth, rankings = letor_source(qrels, "test"), [_scores(one, n) for n, one in enumerate(_many(runs), 1)]
    text = _calibrant.measure_rankings(truth, rankings, json.dumps(settings))
    return report_of(text, kind=kind_of(qrels))


def _scores(given: Any, number: int) -> Any:
    """Scores of the rows of a LETOR file: a file of them, or an array."""
    from calibrant._frames import source_of

    if not is_table(given):
        return source_of(given)
    return (f"scores{number}", "".join(f"{float(score)!r}\n" for score in given).encode())


def rank_outlook(
    run: Any,
    *,
    model: Any = None,
    recall: float = 0.95,
    certainty: float = 0.9,
    at: Sequence[int] = (10, 100),
    qrels: Any = None,
    relevant_from: int = 1,
) -> list[Report]:
    """Estimate how many relevant documents are left below a rank, and where to stop reading.

    Parameters
    ----------
    run : path or table
        A run whose scores are probabilities of relevance.
    model : RankModel, Model or path, optional
        The model whose probabilities these are.
    recall : float, default 0.95
        The share of the relevant documents to find.
    certainty : float, default 0.9
        The probability with which that recall must be reached.
    at : sequence of int, default (10, 100)
        Ranks below which to count the expected relevant documents.
    qrels : path or table, optional
        Judgements, to compare with the expected numbers.
    relevant_from : int, default 1
        The smallest grade that is relevant.

    Returns
    -------
    list of Report
        One for each query.

    Examples
    --------
    >>> import calibrant
    >>> stated = [0.9, 0.8, 0.1, 0.0]
    >>> run = [{"query": "q", "document": f"d{i}", "score": p} for i, p in enumerate(stated)]
    >>> [found] = calibrant.rank_outlook(run, at=[2], recall=0.5, certainty=0.8)
    >>> round(found.expected_relevant, 6)  # by hand: 0.9 + 0.8 + 0.1
    1.8
    """
    settings = {"recall": recall, "certainty": certainty, "at": list(at), "relevant_from": relevant_from}
    native = os.fspath(model) if isinstance(model, (str, os.PathLike)) else getattr(model, "native", model)
    text = _calibrant.look_ahead(run_source(run), None if qrels is None else qrels_source(qrels), native, json.dumps(settings))
    return [Report(one, kind=kind_of(run)) for one in json.loads(text)]
