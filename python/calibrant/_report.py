"""Results as objects: what the program prints as JSON, with attributes, tables and a look for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import Any


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return Report(value)
    if isinstance(value, list):
        return [_wrapped(one) for one in value]
    return value


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return (
            f"{len(value)} entries" if len(value) > 6 or any(isinstance(v, (dict, list)) for v in value) else ", ".join(map(_shown, value))
        )
    if isinstance(value, dict):
        return f"{len(value)} entries"
    return "–" if value is None else str(value)


class Report(Mapping[str, Any]):
    """A result of a job: a read-only mapping whose keys are attributes, too.

    Keys are those of the program's JSON. What is nested is a report again.

    Examples
    --------
    >>> from calibrant import Report
    >>> report = Report({"log_loss": 0.25, "classes": [{"label": "ham", "f1": 0.9}]})
    >>> report.log_loss
    0.25
    >>> report["classes"][0].f1
    0.9
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getitem__(self, key: str) -> Any:
        return _wrapped(self._values[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the report has no `{name}`; it has {', '.join(self._values)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def to_dict(self) -> dict[str, Any]:
        """The plain values."""
        return dict(self._values)

    def to_frame(self, key: str | None = None) -> Any:
        """A pandas DataFrame of the entries of a list, or of all plain values where no `key` is given."""
        import pandas

        if key is None:
            plain = {name: value for name, value in self._values.items() if not isinstance(value, (dict, list))}
            return pandas.DataFrame({"value": plain})
        return pandas.DataFrame(self._values[key])

    def __repr__(self) -> str:
        lines = [f"  {name}: {_shown(value)}" for name, value in self._values.items()]
        return "Report(\n" + "\n".join(lines) + "\n)"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th><td style='text-align:left'>{html.escape(_shown(value))}</td></tr>"
            for name, value in self._values.items()
        )
        return f"<table>{rows}</table>"
