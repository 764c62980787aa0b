"""Why a document gets its probability."""

from __future__ import annotations

import html
from typing import Any

from calibrant._report import Report


class Explanation(Report):
    """How terms moved the log-odds of a class, for and against; the parts add up exactly.

    In a notebook the terms are shown as coloured words: blue speaks for the class, red against it.
    """

    def to_frame(self, key: str | None = "terms") -> Any:
        """The terms as a pandas DataFrame."""
        return super().to_frame(key)

    def _repr_html_(self) -> str:
        terms: list[dict[str, Any]] = self._values.get("terms", [])
        most = max((abs(float(term.get("log_odds") or 0.0)) for term in terms), default=0.0) or 1.0
        words = []
        for term in terms[:60]:
            moved = float(term.get("log_odds") or 0.0)
            colour = "30,100,220" if moved > 0 else "220,60,40"
            strength = min(abs(moved) / most, 1.0) * 0.75
            words.append(
                f"<span title='{moved:+.3f}' style='background:rgba({colour},{strength:.2f});padding:1px 4px;margin:1px;"
                f"border-radius:3px;display:inline-block'>{html.escape(str(term.get('term')))}"
                f"<sub>{moved:+.2f}</sub></span>"
            )
        label = html.escape(str(self._values.get("label", "")))
        probability = self._values.get("probability")
        head = f"<b>{label}</b>" + (f": probability {probability:.4f}" if isinstance(probability, float) else "")
        return f"<div>{head}<br>{' '.join(words)}</div>"
