"""Why a document gets its probabilities."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from typing import Any, Unpack

from calibrant import _calibrant, _words
from calibrant._frames import FrameKind, source_of
from calibrant._model import model_of
from calibrant._report import Report
from calibrant._words import ReadingOptions


def explain(
    model: Any,
    document: str | None = None,
    *,
    file: Any = None,
    row: int = 1,
    classes: str | Sequence[str] = (),
    **options: Unpack[ReadingOptions],
) -> list[Report]:
    """Say which terms moved a document's log-odds, up and down.

    Parameters
    ----------
    model : Model or path
        The model.
    document : str, optional
        The text to explain.
    file : path or table, optional
        Take the document from here instead.
    row : int, default 1
        Which row of it, counting from 1.
    classes : str or sequence of str, optional
        The classes to explain; the most probable one by default.
    **options
        How `file` is read.

    Returns
    -------
    list of Explanation
        One for each class; parts and intercept add up to the log-odds.

    Examples
    --------
    >>> import calibrant
    >>> mail = [{"label": "ham", "text": f"lunch at noon {i}"} for i in range(20)]
    >>> mail += [{"label": "spam", "text": f"win big money {i}"} for i in range(20)]
    >>> [why] = calibrant.explain(calibrant.fit(mail), "win money at noon", classes="spam")
    >>> why.label, why.terms[0].term
    ('spam', 'money')
    """
    if (document is None) == (file is None):
        raise TypeError("give a text, or file=… and row=…")
    named = [classes] if isinstance(classes, str) else list(classes)
    found = _calibrant.explain_source(
        model_of(model),
        document,
        None if file is None else source_of(file),
        row,
        _words.reading("explain", options),
        named,
    )
    return [Explanation(one, text=document) for one in json.loads(found)]


class Explanation(Report):
    """Why one class of one document is as probable as it is; notebooks show the words in colour.

    Examples
    --------
    >>> import calibrant
    >>> mail = [{"label": "ham", "text": f"lunch at noon {i}"} for i in range(20)]
    >>> mail += [{"label": "spam", "text": f"win big money {i}"} for i in range(20)]
    >>> [why] = calibrant.explain(calibrant.fit(mail), "win money at noon", classes="spam")
    >>> abs(why.base_log_odds + sum(term.log_odds for term in why.terms) - why.log_odds) < 1e-9
    True
    """

    __slots__ = ("_text",)

    def __init__(self, data: Any, *, kind: FrameKind | None = None, page: str | None = None, text: str | None = None) -> None:
        super().__init__(data, kind=kind, page=page)
        self._text = text

    def to_frame(self, key: str | None = "terms", *, kind: FrameKind | None = None) -> Any:
        """Give the terms as a table.

        Parameters
        ----------
        key : str, default "terms"
            What becomes the table, as for :meth:`Report.to_frame`.
        kind : {"pandas", "polars", "pyarrow", "dicts"}, optional
            The kind of table; what is installed by default.

        Returns
        -------
        table
        """
        return super().to_frame(key, kind=kind)

    def __repr__(self) -> str:
        probability, log_odds = self._data.get("probability", 0.0), self._data.get("log_odds", 0.0)
        head = f"{self._data.get('label')}: probability {probability:.4f} (log-odds {log_odds:+.2f})"
        terms = self._data.get("terms", [])
        width = max((len(str(one["term"])) for one in terms), default=4)
        lines = [f"{one['term']!s:<{width}}  {one['log_odds']:+.3f}" for one in terms[:20]]
        more = [f"… and {len(terms) - 20} more"] if len(terms) > 20 else []
        return "\n".join([head, *lines, *more])

    def _repr_html_(self) -> str:
        parts = {str(one["term"]): float(one["log_odds"]) for one in self._data.get("terms", [])}
        most = max((abs(value) for value in parts.values()), default=0.0) or 1.0

        def marked(word: str) -> str:
            value = parts.get(word, parts.get(word.lower()))
            if value is None:
                return html.escape(word)
            return f'<span style="background:{_colour(value / most)}" title="{value:+.4f}">{html.escape(word)}</span>'

        if self._text is not None:
            shown = "".join(marked(word) for word in re.split(r"(\w+)", self._text))
        else:
            strongest = sorted(parts, key=lambda term: -abs(parts[term]))[:40]
            shown = " ".join(f"{marked(term)} <small>{parts[term]:+.2f}</small>" for term in strongest)
        said = f"{html.escape(str(self._data.get('label')))}: {self._data.get('probability', 0.0):.4f}"
        return f"<p><b>{said}</b></p><p>{shown}</p>{super()._repr_html_()}"


def _colour(strength: float) -> str:
    """Green for what speaks for the class, red for what speaks against it."""
    channel = int(255 - 130 * min(abs(strength), 1.0))
    return f"rgb({channel},255,{channel})" if strength > 0 else f"rgb(255,{channel},{channel})"
