"""Settings in the program's words, as the native module takes them."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict

from calibrant import _calibrant
from calibrant._frames import columns_of, is_table

#: A share for some of the classes, as ``{"spam": 0.3}`` or ``"spam=0.3"``.
Shares: TypeAlias = "Mapping[str, float] | str"
#: How many neighbours make a term: ``2``, ``(1, 2)`` or ``"1-2"``.
Ngrams: TypeAlias = "int | tuple[int, int] | str"
#: What decisions cost; see :func:`costs`.
Costs: TypeAlias = Any


class ReadingOptions(TypedDict, total=False):
    """How a file or a table is read: the program's options of the same names.

    Parameters
    ----------
    text : str or list of str
        The fields with text, joined in this order; by default what the model learned from, else ``text``.
    label : str
        The field with the label, or with a list of labels; ``label`` by default.
    label_separator : str
        Splits the label field into several labels.
    id : str
        The field that identifies a document; by default ``id`` where there is one.
    weight : str
        The field with the weight of a document; only the ratios of weights matter.
    group : str
        The field that says which documents belong together (a thread, a customer, an author): they are learned from, held out and
        resampled together.
    format : str
        ``csv``, ``tsv``, ``jsonl``, ``parquet``, ``xlsx``, ``ods``, ``fasttext``, ``folder`` or ``svmlight``; by default, by the name or
        the content.
    where : str or list of str
        Keep only rows that hold all of these: ``"field=value"`` or ``"field!=value"``; ``"field="`` is an empty cell.
    skip_bad_rows : bool
        Skip malformed rows, and warn of how many there were.
    delimiter : str
        What divides the fields of CSV: one character, or ``tab``; by default, by the header line.
    no_header : bool
        The first row is not a header; fields are called ``1``, ``2`` and so on.
    decimal : {"point", "comma"}
        The decimal sign of numbers; by default, column by column, where the delimiter is not a comma.
    encoding : str
        The encoding of the text, such as ``windows-1252``; UTF-8 by default, or UTF-16 where the file begins with its mark.
    sheet : str or int
        The sheet of an xlsx or ods file, by its name or number; the first that is not hidden by default.
    fold_labels : bool
        Labels that differ in case or space alone are one, spelt as most rows spell it; a model remembers it.
    empty_labels : {"leave-out", "error"}
        What becomes of rows whose label is empty, where each document has one label.
    """

    text: str | list[str]
    label: str
    label_separator: str
    id: str
    weight: str
    group: str
    format: str
    where: str | list[str]
    skip_bad_rows: bool
    delimiter: str
    no_header: bool
    decimal: Literal["point", "comma"]
    encoding: str
    sheet: str | int
    fold_labels: bool
    empty_labels: Literal["leave-out", "error"]


class FitOptions(ReadingOptions, total=False):
    """How a model is fitted: the options of ``calibrant fit`` of the same names, besides those of reading.

    What is not given is as by default; an option of another learner than the one that learns is refused.

    Parameters
    ----------
    numeric, categorical : str or list of str
        Fields with numbers, and with one of a set of values, as features beside the text or instead of it; ``"*"`` is every field not
        named otherwise that is no identifier.
    vector, classifier, loss, log_count_ratio, alpha, word_prior, nearness, rounds, boosting, neighbours, vote, approximate, epochs, voted
        As for :class:`TextClassifier`.
    c : float
        The cost of errors of the SVM and of logistic regression. By default 0.5 and 10; two or four times that if classes are easy to
        separate and the held-out log loss is lower.
    tolerance : float
        The relative duality gap at which the SVM and logistic regression stop.
    max_passes : int
        The most passes of these two over the data; if it is reached without convergence, the report says so.
    class_weight : str or mapping
        ``"balanced"``, or weights of classes in training, as ``{"spam": 2}`` or ``"spam=2"``.
    classes : list of str
        Learn only these classes.
    labels : {"one", "several"}
        One label per document or several; by default, by the data.
    calibrator, monotone, multiclass, folds
        As for :class:`TextClassifier`.
    other_cost : (float, float) or str
        The costs of a false positive and of a false negative, ``(1, 5)`` or ``"1:5"``, for ``other="cost"`` of :func:`predict`.
    seed : int
        The seed of folds and of the order in which rows are visited.
    keep_case, fold_accents, stem, stop_words, min_word_length, segmentation
        As for :class:`TextClassifier`.
    no_emoji : bool
        Leave out emoji, which are words otherwise.
    no_signs : bool
        Take C++ and C# for the word c.
    word_ngrams, char_ngrams, char_ngrams_across, hash_bits, min_df, max_df, max_features, weighting, bm25_k1, bm25_b, l2_norm
        As for :class:`TextClassifier`.
    select, select_terms, select_per_class, code, code_length, decode, code_output, code_weights, side_factor, vector_factor
        As for :class:`TextClassifier`.
    rules : path or str
        A file with hand-written rules, or their text: a Boolean query for each category. How strongly each matches is a feature (or,
        with ``classifier="rules"``, the score).
    allow_unique_labels : bool
        Learn even where most rows have a label of their own, as identifiers are.
    """

    numeric: str | list[str]
    categorical: str | list[str]
    vector: str | list[str]
    classifier: str
    c: float
    loss: str
    log_count_ratio: float
    tolerance: float
    max_passes: int
    alpha: float
    word_prior: float
    nearness: str
    rounds: int
    boosting: str
    neighbours: int | Literal["auto"]
    vote: str
    approximate: bool
    epochs: int
    voted: bool
    class_weight: Shares
    classes: list[str]
    labels: Literal["one", "several"]
    calibrator: str
    monotone: bool
    multiclass: str
    other_cost: tuple[float, float] | str
    folds: int
    seed: int
    keep_case: bool
    fold_accents: bool
    stem: str
    stop_words: str
    min_word_length: int
    segmentation: str
    no_emoji: bool
    no_signs: bool
    word_ngrams: Ngrams
    char_ngrams: Ngrams
    char_ngrams_across: bool
    hash_bits: int
    min_df: int
    max_df: float
    max_features: int
    weighting: str
    bm25_k1: float
    bm25_b: float
    l2_norm: bool
    select: str
    select_terms: int
    select_per_class: bool
    code: str
    code_length: int
    decode: str
    code_output: str
    code_weights: str
    rules: str | os.PathLike[str]
    side_factor: float
    vector_factor: float
    allow_unique_labels: bool


class RankOptions(TypedDict, total=False):
    """How a ranking is learned: the options of ``calibrant rank fit`` of the same names.

    Parameters
    ----------
    loss, bins, scale, relevant_from, grades
        As for :class:`Ranker`.
    c : float or list of float
        The cost of errors, or several to choose from by mean average precision on held-out queries; by default seven values scaled to
        the features, and up to five larger ones while the largest is the best.
    tolerance : float
        The relative gap to the minimum of the objective at which to stop, 0.001 by default.
    folds : int
        Folds of queries for cross-validated choices, 5 by default.
    seed : int
        The seed of the folds.
    unjudged : {"zero", "leave-out"}
        Unjudged documents of judged queries: they count as not relevant, or are not learned from. Queries without judgements are always
        left out.
    calibrator : str
        How scores become probabilities of relevance on held-out queries: ``"auto"``, a method by name, or ``"none"`` for no
        probabilities.
    calibration_folds : int
        Folds of held-out queries for that, 5 by default.
    """

    loss: str
    c: float | list[float]
    bins: int | Literal["auto"]
    scale: str
    relevant_from: int
    grades: str
    tolerance: float
    folds: int
    seed: int
    unjudged: Literal["zero", "leave-out"]
    calibrator: str
    calibration_folds: int


_READING = frozenset(ReadingOptions.__annotations__)
_FIT = frozenset(FitOptions.__annotations__)
_RANK = frozenset(RankOptions.__annotations__)
#: Options of the words of a text alone.
SPELLING = frozenset({"keep_case", "fold_accents", "stem"})


def _refuse(function: str, given: Iterable[str], known: frozenset[str]) -> None:
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")


def _several(value: Any) -> list[str]:
    """One name or several."""
    return [value] if isinstance(value, str) else [str(one) for one in value]


def reading(function: str, given: Mapping[str, Any]) -> str:
    """Give the options of reading as JSON; others are refused."""
    _refuse(function, given, _READING)
    return json.dumps(_reading(given))


def _reading(given: Mapping[str, Any]) -> dict[str, Any]:
    words = {name: value for name, value in given.items() if value is not None}
    for name in ("text", "where", "numeric", "categorical", "vector"):
        if name in words:
            words[name] = _several(words[name])
    if "sheet" in words:
        words["sheet"] = str(words["sheet"])
    return words


def fitting(function: str, given: Mapping[str, Any], allowed: frozenset[str] | None = None) -> tuple[str, str]:
    """Give the options of reading, and those of learning, as JSON; others are refused."""
    _refuse(function, given, _FIT if allowed is None else _READING | allowed)
    read = _READING | {"numeric", "categorical", "vector"}
    words = {name: value for name, value in given.items() if name not in read and value is not None}
    if given.get("fold_labels"):
        words["fold_labels"] = True
    if "class_weight" in words and words["class_weight"] != "balanced":
        words["class_weight"] = dict(shares(words["class_weight"]))
    for name in ("word_ngrams", "char_ngrams"):
        if name in words:
            words[name] = _ngrams(words[name])
    if isinstance(words.get("other_cost"), str):
        words["other_cost"] = [float(part) for part in words["other_cost"].split(":")]
    if isinstance(words.get("l2_norm"), str):
        words["l2_norm"] = words["l2_norm"] == "yes"
    if "classes" in words:
        words["classes"] = _several(words["classes"])
    if "rules" in words:
        words["rules"] = rule_text(words["rules"])
    _check(words)
    return json.dumps(_reading({k: v for k, v in given.items() if k in read})), json.dumps(words)


def _check(words: Mapping[str, Any]) -> None:
    """Say of which word a value is none; what does not go together is found later."""

    def problem(some: Mapping[str, Any]) -> str | None:
        try:
            _calibrant.check_words(json.dumps(some))
        except _calibrant.FitError:
            return None
        except _calibrant.CalibrantError as error:
            return str(error)
        return None

    whole = problem(words)
    if whole is not None:
        at_fault = [name for name, value in words.items() if problem({name: value}) == whole]
        raise _calibrant.CalibrantError(f"{at_fault[0]}: {whole}" if at_fault else whole)


def rule_text(rules: str | os.PathLike[str]) -> str:
    """Give the text of rules: that of a file, or the text itself."""
    if isinstance(rules, os.PathLike) or ("\n" not in rules and ":" not in rules) or os.path.isfile(rules):
        return Path(rules).read_text(encoding="utf-8")
    return rules


def _ngrams(given: Any) -> Any:
    if isinstance(given, str):
        parts = [int(part) for part in given.split("-")]
        return parts if len(parts) > 1 else parts[0]
    return list(given) if isinstance(given, (tuple, list)) else given


def shares(given: Any) -> list[tuple[str, float]]:
    """Give pairs of a class and a number, of a mapping or a text ``a=0.3,b=0.1``.

    Examples
    --------
    >>> from calibrant._words import shares
    >>> shares("spam=0.3,ham=0.7") == shares({"spam": 0.3, "ham": 0.7})
    True
    """
    if isinstance(given, Mapping):
        return [(str(name), float(share)) for name, share in given.items()]
    if not isinstance(given, str):
        return [(str(name), float(share)) for name, share in given]
    pairs = []
    for part in given.split(","):
        name, found, number = part.rpartition("=")
        try:
            pairs.append((name, float(number)))
        except ValueError:
            found = ""
        if not found or not name:
            raise ValueError(f"`{part}` is not CLASS=NUMBER, for example spam=0.3")
    return pairs


def prior(given: Shares | None, adapt: bool | str | None) -> Any:
    """Give what to do about the classes' shares."""
    if given is not None and adapt:
        raise ValueError("give prior or adapt_prior, not both")
    if given is not None:
        return {"given": shares(given)}
    if adapt:
        return {"estimated": "tested" if adapt is True else adapt}
    return "keep"


def other(given: float | str | None) -> Any:
    """Give the rule by which a document belongs to none of the classes."""
    if given is None or given == "balanced":
        return given
    if given == "cost":
        return "least_cost"
    return {"loss": float(given)}


def costs(given: Costs) -> Any:
    """Give what decisions cost: a file, a text ``truth,decision,cost;…``, a table, or a mapping of pairs."""
    if given is None:
        return []
    if isinstance(given, os.PathLike) or (isinstance(given, str) and os.path.isfile(given)):
        return json.loads(_calibrant.read_costs(Path(given).read_text(encoding="utf-8")))
    if isinstance(given, str):
        return json.loads(_calibrant.read_costs(given))
    if isinstance(given, Mapping) and all(isinstance(key, tuple) for key in given):
        return [{"truth": truth, "decision": decision, "cost": cost} for (truth, decision), cost in given.items()]
    if is_table(given) and not (isinstance(given, (list, tuple)) and given and isinstance(given[0], tuple)):
        columns = columns_of(given)
        try:
            rows = zip(columns["truth"], columns["decision"], columns["cost"], strict=True)
        except KeyError as missing:
            raise ValueError(f"costs: there is no column {missing}; they are truth, decision and cost") from None
        return [{"truth": t, "decision": d, "cost": c} for t, d, c in rows]
    return [{"truth": truth, "decision": decision, "cost": cost} for truth, decision, cost in given]


def ask(given: int | float | str | None) -> str | None:
    """Give how many documents a person has time for: a number, or a share such as 0.05 or ``"5%"``."""
    if isinstance(given, float) and 0 < given < 1:
        return f"{100 * given!r}%"
    return None if given is None else str(given)


def sets(coverage: float | None, kind: str | None, per_class: bool, keep_top: bool) -> dict[str, Any] | None:
    """Give what sets are to hold."""
    if coverage is None:
        if kind is not None or per_class or keep_top:
            raise ValueError("set_kind, per_class and keep_top are about sets, and sets=… is not given")
        return None
    asked = {"coverage": coverage, "class_by_class": per_class, "keep_top": keep_top}
    return asked if kind is None else {**asked, "kind": kind}


def certify(max_error: float | None, certainty: float) -> dict[str, float] | None:
    """Give how few answers may be wrong."""
    return None if max_error is None else {"max_error": max_error, "certainty": certainty}


def ranking(function: str, given: Mapping[str, Any]) -> str:
    """Give the options of learning a ranking as JSON."""
    _refuse(function, given, _RANK)
    words = {name: value for name, value in given.items() if value is not None}
    if "c" in words:
        many = words["c"]
        if isinstance(many, str):
            many = [float(part) for part in many.split(",")]
        words["c"] = list(many) if isinstance(many, (list, tuple)) else [many]
    for name in ("scale", "unjudged", "grades"):
        if isinstance(words.get(name), str):
            words[name] = words[name].replace("_", "-")
    if isinstance(words.get("calibrator"), str):
        words["calibrator"] = words["calibrator"].replace("-", "_")
    return json.dumps(words)
