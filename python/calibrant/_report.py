"""What jobs tell: the JSON that the program prints, with attributes and as tables."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from calibrant._frames import FrameKind, frame_of, installed_kind

#: Nested reports are shown to this depth.
_DEPTH = 3
#: Of a long list so many rows are shown.
_ROWS = 12


class Page(str):
    """A page for a browser, as a ``str``, which notebooks show in a frame.

    Examples
    --------
    >>> import calibrant
    >>> truth = [{"label": "no"}, {"label": "yes"}]
    >>> stated = [{"no": 0.9, "yes": 0.1}, {"no": 0.2, "yes": 0.8}]
    >>> page = calibrant.evaluate(stated, truth, bootstrap=0, html=True).html
    >>> page.lower().startswith("<!doctype html>")
    True
    """

    __slots__ = ()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file.

        Parameters
        ----------
        path : path
            Where to.
        """
        Path(path).write_text(self, encoding="utf-8")

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self)}" width="100%" height="700" style="border:0"></iframe>'


class Report(Mapping[str, Any]):
    """What a job found: a mapping whose keys are those of the program's JSON, and attributes, too.

    Examples
    --------
    >>> from calibrant import Report
    >>> report = Report({"log_loss": 0.25, "classes": [{"label": "ham", "f1": 0.9}, {"label": "spam", "f1": 0.8}]})
    >>> report.log_loss, report["classes"][1].label
    (0.25, 'spam')
    >>> report.to_frame("classes", kind="dicts")
    [{'label': 'ham', 'f1': 0.9}, {'label': 'spam', 'f1': 0.8}]
    """

    __slots__ = ("_data", "_kind", "_page")

    _data: dict[str, Any]
    _kind: FrameKind | None
    _page: Page | None

    def __init__(self, data: Mapping[str, Any], *, kind: FrameKind | None = None, page: str | None = None) -> None:
        self._data = dict(data)
        self._kind = kind
        self._page = None if page is None else Page(page)

    @property
    def html(self) -> Page:
        """The page for a browser, where one was asked for with ``html=True``."""
        if self._page is None:
            raise AttributeError("html")
        return self._page

    def _wrapped(self, value: Any) -> Any:
        if isinstance(value, dict):
            return Report(value, kind=self._kind)
        if isinstance(value, list):
            return [self._wrapped(one) for one in value]
        return value

    def __getitem__(self, key: str) -> Any:
        return self._wrapped(self._data[key])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name == "html":
            raise AttributeError("there is no page; ask for one with html=True")
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the report has no `{name}`; it has {', '.join(self._data)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(key for key in self._data if key.isidentifier())]

    def __reduce__(self) -> Any:
        return (_restored, (self._data, self._kind, None if self._page is None else str(self._page)))

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain dictionaries and lists.

        Returns
        -------
        dict
        """
        copy: dict[str, Any] = json.loads(json.dumps(self._data))
        return copy

    def to_frame(self, key: str | None = None, *, kind: FrameKind | None = None) -> Any:
        """Give a part of the report as a table.

        Parameters
        ----------
        key : str, optional
            What becomes the table: a list has a row for each entry, a mapping one for each key. Without a name it is
            the numbers, words and truths of the report itself, in one row.
        kind : {"pandas", "polars", "pyarrow", "dicts"}, optional
            The kind of table; that of the documents by default, else what is installed.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame, pyarrow.Table or list of dict
        """
        wanted: FrameKind = kind or self._kind or installed_kind()
        if key is None:
            plain = (str, int, float, bool, type(None))
            return frame_of([{name: v for name, v in self._data.items() if isinstance(v, plain)}], wanted)
        value = self._data[key]
        if isinstance(value, Mapping):
            if any(isinstance(one, Mapping) for one in value.values()):
                rows = [{"key": name, **_flat(one)} for name, one in value.items()]
            else:
                rows = [{"key": name, "value": one} for name, one in value.items()]
        elif isinstance(value, list):
            rows = [_flat(one) if isinstance(one, Mapping) else {key: one} for one in value]
        else:
            rows = [{key: value}]
        return frame_of(rows, wanted)

    def __repr__(self) -> str:
        shown = []
        for key, value in self._data.items():
            if isinstance(value, (dict, list)):
                continue
            shown.append(f"{key}={value:.5g}" if isinstance(value, float) else f"{key}={value!r}")
        nested = [key for key, value in self._data.items() if isinstance(value, (dict, list)) and value]
        more = f"; with {', '.join(nested)}" if nested else ""
        return f"Report({', '.join(shown)}{more})"

    def _repr_html_(self) -> str:
        return _table(self._data, _DEPTH)


def report_of(text: str, *, kind: FrameKind | None = None, page: str | None = None) -> Report:
    """Make a report of JSON."""
    return Report(json.loads(text), kind=kind, page=page)


def _restored(data: dict[str, Any], kind: FrameKind | None, page: str | None) -> Report:
    return Report(data, kind=kind, page=page)


def _flat(row: Any, before: str = "") -> dict[str, Any]:
    """Nested keys with dots between them."""
    if not isinstance(row, Mapping):
        return {before or "value": row}
    flat: dict[str, Any] = {}
    for key, value in row.items():
        name = f"{before}.{key}" if before else str(key)
        if isinstance(value, Mapping):
            flat.update(_flat(value, name))
        else:
            flat[name] = value
    return flat


def _cell(value: Any, depth: int) -> str:
    if isinstance(value, Mapping):
        return _table(value, depth - 1) if depth > 0 else "…"
    if isinstance(value, list):
        return _list(value, depth - 1)
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else html.escape(str(value))


def _list(values: list[Any], depth: int) -> str:
    if not values or not all(isinstance(one, Mapping) for one in values):
        return ", ".join(_cell(one, 0) for one in values[:_ROWS]) + (", …" if len(values) > _ROWS else "")
    if depth < 0:
        return f"{len(values)} entries"
    names = list(dict.fromkeys(name for one in values for name in one))
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{_cell(one.get(name), 0)}</td>" for name in names) + "</tr>" for one in values[:_ROWS])
    more = f"<tr><td colspan='{len(names)}'>… {len(values) - _ROWS} more</td></tr>" if len(values) > _ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}{more}</tbody></table>"


def _table(data: Mapping[str, Any], depth: int) -> str:
    """Give a table of the plain values, then what is nested, folded up."""
    nested = {key: value for key, value in data.items() if isinstance(value, (Mapping, list)) and value}
    plain = {key: value for key, value in data.items() if key not in nested}
    rows = "".join(f"<tr><th>{html.escape(str(key))}</th><td>{_cell(value, 0)}</td></tr>" for key, value in plain.items())
    folded = "".join(f"<details><summary>{html.escape(str(key))}</summary>{_cell(value, depth)}</details>" for key, value in nested.items())
    return f"<table><tbody>{rows}</tbody></table>{folded}"
