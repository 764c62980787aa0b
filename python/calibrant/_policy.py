"""Which of several sources of answers answers what."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Unpack

from calibrant import _calibrant, _words
from calibrant._frames import kind_of, settled, source_of
from calibrant._model import Saved, is_model, model_of
from calibrant._progress import Progress, shown
from calibrant._report import report_of
from calibrant._words import ReadingOptions, Shares


class Policy(Saved):
    """Who answers what, with what was certified; :func:`predict` follows it.

    Made by :func:`calibrant.cascade`, or opened by :func:`calibrant.open`.

    Examples
    --------
    >>> import calibrant
    >>> truth = [{"id": str(i), "label": "yes" if i % 2 else "no"} for i in range(200)]
    >>> said = [{"id": row["id"], "label": row["label"], "probability": 0.9} for row in truth]
    >>> policy = calibrant.cascade(truth, {"llm": said}, {"llm": 0.01}, person=1.0)
    >>> policy
    Policy(sources=['llm', 'person'])
    """

    @property
    def sources(self) -> list[str]:
        """The names of the sources, in the order in which they are asked."""
        return [str(source["name"]) for source in json.loads(self._native.report())["sources"]]

    def __repr__(self) -> str:
        return f"Policy(sources={self.sources!r})"


def cascade(
    truth: Any,
    sources: Mapping[str, Any],
    cost: Shares,
    *,
    person: float | None = None,
    person_accuracy: float | None = None,
    max_error: float = 0.05,
    certainty: float = 0.95,
    set_aside: float = 0.0,
    seed: int = 0,
    output: str | os.PathLike[str] | None = None,
    progress: Progress | bool | None = None,
    **options: Unpack[ReadingOptions],
) -> Policy:
    """Decide which of several sources answers what, at least cost and with few errors.

    Sources are models, tables of what a language model said, and a person.

    Parameters
    ----------
    truth : path or table
        Documents whose right label is known, and that no source has learned from.
    sources : mapping
        Sources by name, cheap ones first: a model, or a table with ``id``, ``label`` and ``probability`` (or
        ``confidence``,
        ``log_probability``, ``logprob``).
    cost : mapping
        What it costs to ask each source about one document.
    person : float, optional
        A person answers what is left, at this cost a document.
    person_accuracy : float, optional
        The share of a person's answers that are right; by default what people say is the truth.
    max_error : float, default 0.05
        The share of all answers that may be wrong.
    certainty : float, default 0.95
        How sure that must be.
    set_aside : float, default 0
        Choose policies by this share of the documents, and test them on the others: the statement then holds exactly.
    seed : int, default 0
        Of what is set aside, and of a person's mistakes.
    output : path, optional
        Where to save the policy.
    progress : callable or bool, optional
        As for :func:`fit`.
    **options
        How the documents are read.

    Returns
    -------
    Policy
        With its certificate in its attribute ``report``.

    Examples
    --------
    >>> import calibrant
    >>> truth = [{"id": str(i), "label": "yes" if i % 2 else "no"} for i in range(200)]
    >>> said = [{"id": row["id"], "label": row["label"], "probability": 0.9} for row in truth]
    >>> policy = calibrant.cascade(truth, {"llm": said}, {"llm": 0.01}, person=1.0)
    >>> policy.sources  # who is always right costs a hundredth of a person
    ['llm', 'person']
    """
    costs = dict(_words.shares(cost))
    unknown = [name for name in costs if name not in sources]
    if unknown:
        raise ValueError(f"cost: there is no source `{unknown[0]}`; a person's cost is person=…")
    given: list[tuple[str, float, Any]] = []
    for name, source in sources.items():
        if name not in costs:
            raise ValueError(f"the source `{name}` has no cost; add cost={{{name!r}: 0.01}}")
        given.append((name, costs[name], _says(source, name)))
    if person is not None:
        given.append(("person", float(person), None if person_accuracy is None else float(person_accuracy)))
    elif person_accuracy is not None:
        raise ValueError("person_accuracy is about a person, and person=… is not given")
    settings = {"risk": max_error, "miss": 1.0 - certainty, "set_aside": set_aside, "seed": seed}
    reading = _words.reading("cascade", options)
    with shown(progress) as report:
        native = _calibrant.build_policy(source_of(settled(truth)), given, reading, json.dumps(settings), report)
    policy = Policy(native, report_of(native.report(), kind=kind_of(truth)))
    if output is not None:
        policy.save(output)
    return policy


def _says(source: Any, name: str) -> Any:
    """Give a model, or a table of answers."""
    if isinstance(source, (str, os.PathLike)):
        model = _calibrant.open_system(os.fspath(source))
        return os.fspath(source) if model is None else model
    if is_model(source):
        return model_of(source)
    return source_of(settled(source), name)
