"""Indexes of documents: built and searched."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Unpack

from calibrant import _calibrant, _words
from calibrant._frames import FrameKind, frame_of, installed_kind, is_table, kind_of, settled, source_of
from calibrant._progress import Progress, shown
from calibrant._rank_tables import letor_rows, qrels_source, query_source, run_rows
from calibrant._report import Report, report_of
from calibrant._words import ReadingOptions


class SearchIndex:
    """An index of documents, searched with any of eighteen retrieval functions or by a learned ranking.

    Attributes
    ----------
    report : Report or None
        What :meth:`build` found.

    Examples
    --------
    >>> import calibrant, tempfile
    >>> articles = [{"id": "a", "text": "a wing in a slipstream"}, {"id": "b", "text": "heat of a blunt body"}]
    >>> folder = tempfile.TemporaryDirectory()
    >>> index = calibrant.SearchIndex.build(articles, folder.name + "/articles.index")
    >>> len(index), [hit.id for hit in index.search("wings").hits]
    (2, ['a'])
    >>> index.run({"q1": "blunt bodies"}, frame="dicts")[0]["document"]
    'b'
    """

    def __init__(self, native: Any, report: Report | None = None) -> None:
        self._native = native
        self.report = report

    @property
    def native(self) -> Any:
        """The object of the native module."""
        return self._native

    @classmethod
    def build(
        cls,
        documents: Any,
        folder: str | os.PathLike[str],
        *,
        title: str | None = None,
        numbered: bool = False,
        stemmer: str = "porter",
        stop_words: str = "english",
        segmentation: str | None = None,
        no_text: bool = False,
        progress: Progress | bool | None = None,
        **options: Unpack[ReadingOptions],
    ) -> SearchIndex:
        """Index documents.

        Parameters
        ----------
        documents : path, table or sequence of paths
            Documents with an ``id``, in any format that the program reads (TREC's, too), or a table.
        folder : path
            A new or empty folder, or one that holds an index, which is replaced.
        title : str, optional
            A field to show above each hit.
        numbered : bool, default False
            Number the documents, if there is no field that identifies them.
        stemmer, stop_words : str
            The languages of stems and stop words.
        segmentation : str, optional
            What a word is in languages without spaces.
        no_text : bool, default False
            Do not store the texts: searches then show only identifiers and scores.
        progress : callable or bool, optional
            As for :func:`calibrant.fit`.
        **options
            How documents are read: `text`, `id`, `where` and so on.

        Returns
        -------
        SearchIndex
        """
        given = documents if _are_paths(documents) else [documents]
        settings: dict[str, Any] = {"stemmer": stemmer, "stop_words": stop_words, "store_text": not no_text}
        if segmentation is not None:
            settings["words"] = {"segmentation": segmentation}
        reading: dict[str, Any] = dict(options)
        words = {"title": title, "numbered": numbered, "format": reading.pop("format", None)}
        with shown(progress) as report:
            text = _calibrant.index_documents(
                [source_of(settled(one), "documents") for one in given],
                os.fspath(folder),
                json.dumps(settings),
                _words.reading("SearchIndex.build", reading),
                json.dumps(words),
                report,
            )
        built = cls.open(folder)
        built.report = report_of(text)
        return built

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, verify: bool = True) -> SearchIndex:
        """Open an index.

        Parameters
        ----------
        path : path
            Its folder.
        verify : bool, default True
            Hold all of it against its checksums.

        Returns
        -------
        SearchIndex
        """
        return cls(_calibrant.SearchIndex.open(os.fspath(path), verify))

    @property
    def path(self) -> Path:
        """Its folder."""
        return Path(self._native.path)

    def inspect(self) -> Report:
        """Show what is in it, as ``calibrant inspect --json`` does."""
        return report_of(self._native.inspect())

    def __len__(self) -> int:
        return len(self._native)

    def search(
        self,
        query: str,
        *,
        function: str | None = None,
        model: Any = None,
        depth: int | None = None,
        top: int = 10,
        explain: bool = False,
    ) -> Report:
        """Find the documents that answer a query.

        Parameters
        ----------
        query : str
            Some words.
        function : str, optional
            How documents are scored: ``bm25.stems`` by default.
        model : RankModel or path, optional
            Rank by a model that was learned from :meth:`features`, with probabilities of relevance.
        depth : int, optional
            With `model`: how many documents of each function are ranked.
        top : int, default 10
            How many documents.
        explain : bool, default False
            Show what each term of the query adds to the score of each document.

        Returns
        -------
        Report
            With ``hits``.
        """
        if not query.strip():
            raise ValueError("the query is empty")
        settings = json.dumps({"top": top, "detail": {"explain": explain}})
        return report_of(self._native.search(query, settings, function, _ranking(model), depth))

    def search_many(
        self,
        queries: Any,
        *,
        function: str | None = None,
        model: Any = None,
        depth: int | None = None,
        top: int = 10,
        explain: bool = False,
        query_format: Literal["jsonl", "tsv", "topics"] | None = None,
        topic_fields: Sequence[str] = ("title",),
    ) -> list[Report]:
        """Find the documents that answer each of many queries.

        Parameters
        ----------
        queries : path, table, mapping or list of str
            A file of queries, a table with ``id`` and ``text``, texts by name, or texts, which are numbered.
        function, model, depth, top, explain
            As for :meth:`search`.
        query_format : {"jsonl", "tsv", "topics"}, optional
            The format of a file.
        topic_fields : sequence of str, default ("title",)
            Which parts of a topic form the query.

        Returns
        -------
        list of Report
            One for each query, as :meth:`search` gives it.
        """
        settings = json.dumps({"top": top, "detail": {"explain": explain}})
        text = self._native.search_many(query_source(queries), settings, query_format, list(topic_fields), function, _ranking(model), depth)
        return [Report(one) for one in json.loads(text)]

    def run(
        self,
        queries: Any,
        *,
        function: str | None = None,
        model: Any = None,
        depth: int | None = None,
        top: int = 1000,
        run_name: str | None = None,
        probabilities: bool = False,
        output: str | os.PathLike[str] | None = None,
        query_format: Literal["jsonl", "tsv", "topics"] | None = None,
        topic_fields: Sequence[str] = ("title",),
        frame: FrameKind | None = None,
        progress: Progress | bool | None = None,
    ) -> Any:
        """Find the best documents of many queries, as a TREC run: a table, or a file where `output` names one.

        Parameters
        ----------
        queries, query_format, topic_fields
            As for :meth:`search_many`.
        function, model, depth
            As for :meth:`search`.
        top : int, default 1000
            How many documents of each query.
        run_name : str, optional
            The run's name; the function's by default.
        probabilities : bool, default False
            With `model`: probabilities of relevance instead of scores.
        output : path, optional
            Where to write the run.
        frame : {"pandas", "polars", "pyarrow", "dicts"}, optional
            The kind of the table.
        progress : callable or bool, optional
            As for :func:`calibrant.fit`.

        Returns
        -------
        table or None
        """
        settings = json.dumps({"top": top, "name": run_name, "probabilities": probabilities})
        with shown(progress) as report:
            lines = self._native.run(
                query_source(queries),
                settings,
                query_format,
                list(topic_fields),
                function,
                _ranking(model),
                depth,
                report,
            )
        return _written(bytes(lines), output, run_rows, frame, queries)

    def features(
        self,
        queries: Any,
        *,
        qrels: Any = None,
        function: str | Sequence[str] = (),
        top: int = 1000,
        unjudged: Literal["zero", "leave-out"] = "zero",
        output: str | os.PathLike[str] | None = None,
        query_format: Literal["jsonl", "tsv", "topics"] | None = None,
        topic_fields: Sequence[str] = ("title",),
        frame: FrameKind | None = None,
    ) -> Any:
        """Give the value of every function for every document that one of them found: what a ranking is learned from.

        Parameters
        ----------
        queries, query_format, topic_fields
            As for :meth:`search_many`.
        qrels : path or table, optional
            Judgements that give rows their grades.
        function : str or sequence of str, optional
            Retrieval functions; the fifteen of Yue et al. 2007 by default.
        top : int, default 1000
            How many documents of each function.
        unjudged : {"zero", "leave-out"}, default "zero"
            What becomes of documents that nobody judged.
        output : path, optional
            Write a LETOR file instead.
        frame : {"pandas", "polars", "pyarrow", "dicts"}, optional
            The kind of the table.

        Returns
        -------
        table or None
            ``query``, ``document``, ``grade``, ``judged`` (whether somebody has judged the document: no feature to learn from), and a
            column for each function.
        """
        names = [function] if isinstance(function, str) else list(function)
        lines, _ = self._native.features(
            query_source(queries),
            names,
            top,
            query_format,
            list(topic_fields),
            None if qrels is None else qrels_source(qrels),
            unjudged,
        )
        return _written(bytes(lines), output, letor_rows, frame, queries)

    def __reduce__(self) -> Any:
        return (SearchIndex.open, (os.fspath(self.path),))

    def __repr__(self) -> str:
        return f"SearchIndex({os.fspath(self.path)!r}, documents={len(self)})"


def _are_paths(documents: Any) -> bool:
    is_list = isinstance(documents, (list, tuple)) and bool(documents)
    return is_list and all(isinstance(one, os.PathLike) or (isinstance(one, str) and os.path.exists(one)) for one in documents)


def _ranking(model: Any) -> Any:
    """Give the native ranking of a model or a file."""
    from calibrant._ranking import RankModel

    if model is None:
        return None
    return (RankModel.open(model) if isinstance(model, (str, os.PathLike)) else model).native


def _written(lines: bytes, output: Any, read: Any, frame: FrameKind | None, queries: Any) -> Any:
    if output is not None:
        Path(output).write_bytes(lines)
        return None
    kind = kind_of(queries) if is_table(queries) and not isinstance(queries, (dict, list)) else None
    return frame_of(read(lines), frame or kind or installed_kind())
