"""Rankings in tables: judgements, runs and rows of features, to the files that the library reads and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calibrant import _calibrant
from calibrant._frames import Source, columns_of, is_table, lines_of, settled, source_of

#: What columns are called by those who rank, the first of each by ourselves.
_NAMES = {
    "query": ("query", "query_id", "qid", "q_id", "topic"),
    "document": ("document", "doc_id", "docno", "docid", "document_id"),
    "grade": ("grade", "relevance", "rel", "label"),
    "score": ("score",),
    "run": ("name", "run", "run_id", "system"),
    "text": ("text", "query", "title"),
    "id": ("id", "query_id", "qid", "q_id"),
}


def _column(columns: Mapping[str, Sequence[Any]], what: str, needed: bool = True) -> str | None:
    for name in _NAMES[what]:
        if name in columns:
            return name
    if needed:
        raise ValueError(f"there is no column for the {what}; it may be called {', '.join(_NAMES[what])}")
    return None


def has_queries(columns: Mapping[str, Any]) -> bool:
    """Whether there is a column for queries."""
    return _column(columns, "query", needed=False) is not None


def _word(cell: Any) -> str:
    """Give an identifier, which stands alone in a line."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def qrels_source(judgements: Any, name: str = "qrels") -> Source:
    """Give judgements as TREC's qrels."""
    if not is_table(judgements):
        return source_of(judgements, name)
    columns = columns_of(settled(judgements))
    query, document, grade = (columns[str(_column(columns, what))] for what in ("query", "document", "grade"))
    rows = zip(query, document, grade, strict=True)
    lines = [f"{_word(q)} 0 {_word(d)} {int(g)}\n" for q, d, g in rows]
    return (name, "".join(lines).encode())


def run_source(run: Any, name: str = "run") -> Source:
    """Give a system's lists as a TREC run; its name is that of its column, or `name`."""
    if not is_table(run):
        return source_of(run, name)
    columns = columns_of(settled(run))
    query, document, score = (columns[str(_column(columns, what))] for what in ("query", "document", "score"))
    own = _column(columns, "run", needed=False)
    called = columns[own][0] if own is not None and columns[own] else name
    rows = zip(query, document, score, strict=True)
    lines = [f"{_word(q)} Q0 {_word(d)} 1 {float(s)!r} {_word(called)}\n" for q, d, s in rows]
    return (name, "".join(lines).encode())


def run_rows(lines: bytes) -> list[dict[str, Any]]:
    """Give the rows of a run."""
    rows = []
    for line in lines.decode().splitlines():
        query, _, document, rank, score, name = line.split()
        rows.append({"query": query, "document": document, "rank": int(rank), "score": float(score), "name": name})
    return rows


def letor_source(table: Any, name: str = "table") -> Source:
    """Give rows of features as a LETOR file, whose columns have their names."""
    if not is_table(table):
        return source_of(table, name)
    columns = columns_of(settled(table))
    query, document, grade = ranking_columns(columns)
    features = [one for one in columns if one not in (query, document, grade, "judged")]
    wrong = [one for one in features if any(isinstance(cell, (str, list, dict)) for cell in columns[one])]
    if wrong:
        raise ValueError(f"the column `{wrong[0]}` holds no numbers; leave it out")
    order: dict[str, list[int]] = {}
    for row, cell in enumerate(columns[query]):
        order.setdefault(_word(cell), []).append(row)
    rows = [row for members in order.values() for row in members]
    grades = [_grade(columns, grade, row) for row in rows]
    documents = [_word(columns[document][row]) if document else str(row + 1) for row in rows]
    values = [float("nan") if columns[one][row] is None else float(columns[one][row]) for row in rows for one in features]
    queries = [(name, len(members)) for name, members in order.items()]
    return (f"{name}.letor", _calibrant.letor_lines(features, queries, documents, grades, values))


def ranking_columns(columns: Mapping[str, Sequence[Any]]) -> tuple[str, str | None, str | None]:
    """Give the names of the columns for query, document and grade."""
    query = _column(columns, "query")
    return str(query), _column(columns, "document", needed=False), _column(columns, "grade", needed=False)


def _grade(columns: Mapping[str, Sequence[Any]], grade: str | None, row: int) -> int:
    """Give a grade; one below zero says that nobody judged the document."""
    judged = columns.get("judged")
    if judged is not None and judged[row] is False:
        return -1
    cell = 0 if grade is None else columns[grade][row]
    return -1 if cell is None else max(int(cell), 0)


def letor_rows(lines: bytes) -> list[dict[str, Any]]:
    """Give the rows of a LETOR file that names its columns."""
    names: dict[str, str] = {}
    rows = []
    for line in lines.decode().splitlines():
        if line.startswith("#"):
            _, found, listed = line.partition("features:")
            if found:
                names = dict(pair.split("=", 1) for pair in listed.split())
            continue
        numbers, _, about = line.partition("#")
        grade, query, *cells = numbers.split()
        words = about.replace("docid =", " ").split()
        row: dict[str, Any] = {
            "query": query.removeprefix("qid:"),
            "document": words[0] if words else "",
            "grade": int(grade),
            "judged": "judged = no" not in about,
        }
        values = dict(cell.split(":", 1) for cell in cells)
        row.update({name: float(values[number]) if number in values else None for number, name in names.items()})
        rows.append(row)
    return rows


def query_source(queries: Any) -> Source:
    """Give queries as a file: of texts by name, a table with ``id`` and ``text``, or texts, which are numbered."""
    if not is_table(queries):
        return source_of(queries, "queries")
    if isinstance(queries, Mapping) and all(isinstance(text, str) for text in queries.values()):
        named = {"id": [str(name) for name in queries], "text": list(queries.values())}
        return ("queries.jsonl", lines_of(named))
    if isinstance(queries, (list, tuple)) and all(isinstance(text, str) for text in queries):
        return ("queries.jsonl", lines_of({"id": [str(n + 1) for n in range(len(queries))], "text": list(queries)}))
    columns = columns_of(settled(queries))
    identifier, text = str(_column(columns, "id")), str(_column(columns, "text"))
    return ("queries.jsonl", lines_of({"id": [_word(cell) for cell in columns[identifier]], "text": columns[text]}))
