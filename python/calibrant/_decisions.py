"""Costs, budgets and promises in the words of Python, as settings of predictions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from calibrant import _calibrant
from calibrant._input import Array, column_names, column_of, is_frame, label_names


def cost_entries(costs: Any, classes: Array | None = None) -> list[dict[str, Any]]:
    """Costs as people give them: a mapping of (truth, action) pairs, a matrix, a text in the program's words, or entries."""
    if costs is None:
        return []
    if isinstance(costs, str):
        found: list[dict[str, Any]] = json.loads(_calibrant.read_costs(costs))
        return found
    if isinstance(costs, Mapping):
        return [_entry(pair, cost) for pair, cost in costs.items()]
    if isinstance(costs, list) and all(isinstance(one, Mapping) for one in costs):
        return [dict(one) for one in costs]
    if is_frame(costs):
        columns = column_names(costs)
        if {"truth", "decision", "cost"} <= set(columns):
            rows = zip(*(column_of(costs, name).to_list() for name in ("truth", "decision", "cost")), strict=True)
            return [_entry((truth, action), cost) for truth, action, cost in rows]
        costs = _in_order(costs, columns, classes)
    matrix = np.asarray(costs, dtype=np.float64)
    if classes is None or matrix.shape != (len(classes), len(classes)):
        raise ValueError(f"a matrix of costs has a row and a column per class; this one has the shape {matrix.shape}")
    names = label_names(classes)
    return [
        {"truth": truth, "decision": action, "cost": float(matrix[row, column])}
        for row, truth in enumerate(names)
        for column, action in enumerate(names)
    ]


def _in_order(costs: Any, columns: list[str], classes: Array | None) -> Any:
    """A matrix whose rows and columns are named, in the order of the classes."""
    index = [str(name) for name in getattr(costs, "index", [])]
    names = [] if classes is None else label_names(classes)
    if index == [str(row) for row in range(len(index))] and index != names:
        index = names  # Rows that nobody has named.
    if not names or sorted(columns) != sorted(names) or sorted(index) != sorted(names):
        raise ValueError(
            f"a table of costs has the columns truth, decision and cost, or a row and a column named for each of the classes {names}; "
            f"this one has the columns {columns}"
        )
    matrix = np.asarray(costs, dtype=np.float64)
    return matrix[np.ix_([index.index(name) for name in names], [columns.index(name) for name in names])]


def _entry(pair: Any, cost: Any) -> dict[str, Any]:
    if not (isinstance(pair, tuple) and len(pair) == 2):
        raise ValueError(f"costs are given for pairs (truth, action), not for {pair!r}")
    truth, action = pair
    text = f"{truth},{action},{cost}"
    if isinstance(cost, str):  # `@FIELD`
        found: list[dict[str, Any]] = json.loads(_calibrant.read_costs(text))
        return found[0]
    return {"truth": str(truth), "decision": str(action), "cost": float(cost)}


def costs_json(costs: Any, classes: Array | None = None) -> str:
    """The same as JSON."""
    return json.dumps(cost_entries(costs, classes))


def predict_settings(
    *,
    costs: Any = None,
    ask: int | float | str | None = None,
    max_error: float | None = None,
    certainty: float = 0.95,
    prior: Mapping[Any, float] | str | None = None,
    classes: Array | None = None,
    top: int | None = None,
) -> dict[str, Any]:
    """Settings of predictions, without those that are not given."""
    settings: dict[str, Any] = {}
    if top is not None:
        settings["top"] = top
    entries = cost_entries(costs, classes)
    if entries:
        settings["costs"] = entries
    if ask is not None:
        settings["ask"] = _budget(ask)
    if max_error is not None:
        settings["max_error"] = {"max_error": max_error, "certainty": certainty}
    if isinstance(prior, Mapping):
        settings["prior"] = {"given": [[str(label), float(share)] for label, share in prior.items()]}
    elif prior is not None:
        settings["prior"] = {"estimated": prior}
    return settings


def _budget(ask: int | float | str) -> str:
    if isinstance(ask, str):
        return ask
    share = float(ask)
    if 0.0 < share < 1.0:
        return f"{100.0 * share}%"
    return str(int(share))
