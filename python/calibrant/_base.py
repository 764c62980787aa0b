"""What all classifiers have in common: a model, its classes in the user's own labels, and what can be asked of it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from calibrant import _calibrant
from calibrant._decisions import predict_settings
from calibrant._explain import Explanation
from calibrant._input import (
    Array,
    Floats,
    Labels,
    column_of,
    encode,
    group_texts,
    indicators,
    is_frame,
    is_list_of_lists,
    known_indicators,
    label_names,
    weights_of,
)
from calibrant._model import Model
from calibrant._notices import CalibrantWarning
from calibrant._report import Report


def seed_of(random_state: Any) -> int:
    """A seed from what scikit-learn takes for one."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)):
        return int(random_state) % (1 << 63)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 1 << 31))
    return int(random_state.randint(0, 1 << 31))


def class_weight_words(class_weight: Any) -> Any:
    """`balanced`, or factors by the names of classes."""
    if isinstance(class_weight, Mapping):
        return {str(label): float(weight) for label, weight in class_weight.items()}
    return class_weight


def plain_json(words: Mapping[str, Any]) -> str:
    """Settings as JSON; numbers of NumPy are numbers."""

    def plain(value: Any) -> Any:
        if hasattr(value, "item"):
            return value.item()
        raise TypeError(f"a setting cannot be of type {type(value).__name__}: {value!r}")

    for name, value in words.items():
        if isinstance(value, (float, np.floating)) and not np.isfinite(value):
            raise ValueError(f"{name} must be a finite number; it is {value}")
    return json.dumps(words, default=plain)


class ModelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that ends in a calibrated model.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    model_ : calibrant.Model
        Classifier and calibration together, as the program and the library know them: ``model_.save(path)`` writes a file that
        both open.
    """

    classes_: Array
    _model: _calibrant.Model
    _several: bool
    _order: npt.NDArray[np.int64]

    # What differs between texts and rows.

    def _table(self, X: Any, *, reset: bool = False) -> dict[str, Any]:
        """Documents as the native module takes them."""
        raise NotImplementedError

    def _predict(self, X: Any, wanted: str) -> Floats:
        """Documents by classes, in the order of the model."""
        raise NotImplementedError

    # Fitting.

    def _take_model(self, model: _calibrant.Model, labels: Labels) -> Self:
        self._model = model
        self.classes_ = labels.classes
        self._several = labels.starts is not None
        place = {name: number for number, name in enumerate(model.class_names)}
        self._order = np.array([place[name] for name in labels.names], dtype=np.int64)
        return self

    @classmethod
    def load(cls, path: Any) -> Self:
        """Opens a file that :meth:`save`, the program or the library wrote, as an estimator.

        Labels are the texts that the file knows them by; settings of the fit are in ``report_`` and ``model_.inspect()``.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        self
        """
        estimator = cls()
        model = _calibrant.Model.open(path)
        estimator._take_fields(json.loads(model.fields()))
        names = model.class_names
        starts = np.zeros(1, dtype=np.int64) if model.several_labels else None
        return estimator._take_model(model, Labels(np.array(names), list(names), np.zeros(0, dtype=np.uint32), starts))

    def _take_fields(self, fields: dict[str, Any]) -> None:
        """Columns that a model reads, where the estimator has a word for them."""

    @property
    def model_(self) -> Model:
        """Classifier and calibration together, as the program and the library know them."""
        return Model(self._calibrated())

    def _calibrated(self) -> _calibrant.Model:
        check_is_fitted(self)
        if not hasattr(self, "_model"):
            raise AttributeError("with calibrator=None there is no calibrated model: only coef_, intercept_, decision_function and predict")
        return self._model

    @property
    def report_(self) -> Report:
        """How the model was fitted and what it may be expected to do on new documents, by held-out forecasts."""
        return Report(json.loads(self._calibrated().summary()))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    # Predicting.

    def _said(self, X: Any, wanted: str) -> Floats:
        check_is_fitted(self)
        said = self._predict(X, wanted)
        if np.array_equal(self._order, np.arange(said.shape[1])):
            return said
        return said[:, self._order]

    def predict_proba(self, X: Any) -> Floats:
        """Calibrated probabilities: rows by classes, in the order of ``classes_``.

        With one label per document rows sum to one; with several, each class is on its own.

        Parameters
        ----------
        X : documents
            Texts or rows, as for ``fit``.

        Returns
        -------
        ndarray of shape (documents, classes)
        """
        return self._said(X, "probability")

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of the probabilities, exact however small these are.

        Parameters
        ----------
        X : documents
            Texts or rows, as for ``fit``.

        Returns
        -------
        ndarray of shape (documents, classes)
        """
        return cast("Floats", -np.logaddexp(0.0, -self._said(X, "log_odds")))

    def decision_function(self, X: Any) -> Floats:
        """Calibrated log-odds: above 0 means more probable than not.

        With two classes one number per document, the log-odds of the second class; else one per class.

        Parameters
        ----------
        X : documents
            Texts or rows, as for ``fit``.

        Returns
        -------
        ndarray of shape (documents,) or (documents, classes)
        """
        said = self._said(X, "log_odds")
        return said[:, 1] if not self._several and said.shape[1] == 2 else said

    def scores(self, X: Any) -> Floats:
        """The learner's own scores before calibration, as margins or log-odds.

        Parameters
        ----------
        X : documents
            Texts or rows, as for ``fit``.

        Returns
        -------
        ndarray of shape (documents, classes)
        """
        return self._said(X, "score")

    def predict(self, X: Any) -> Array:
        """The most probable label of each document; with several labels per document an indicator matrix of those above one half.

        Parameters
        ----------
        X : documents
            Texts or rows, as for ``fit``.

        Returns
        -------
        ndarray of shape (documents,) or (documents, classes)
        """
        said = self._said(X, "log_odds")
        if self._several:
            return (said > 0.0).astype(np.int64)
        return cast("Array", self.classes_[np.argmax(said, axis=1)])

    # Deciding.

    def _examples(self, calibration: tuple[Any, Any] | None) -> dict[str, Any] | None:
        """Labelled documents that promises rest on, as the native module takes them."""
        self._calibrated()
        if calibration is None:
            return None
        texts, labels = calibration
        examples = self._table(texts)
        examples["labels"] = self._own_labels(labels)
        return examples

    def _answered(self, X: Any, threshold: float) -> Array:
        """The most probable label of each document whose log-odds are above the threshold, else ``"ask"``."""
        said = self._predict(X, "log_odds")
        top = np.argmax(said, axis=1)
        # Below all numbers everything is answered, whatever it is.
        answered = (said[np.arange(len(said)), top] > threshold) | (threshold == -np.inf)
        labels = self.classes_[np.argsort(self._order)[top]]
        if answered.all() and labels.dtype.kind in "iufb":
            return cast("Array", labels)
        found = labels.astype(object)
        found[~answered] = "ask"
        return cast("Array", found)

    def _own_labels(self, y: Any) -> tuple[list[str], npt.NDArray[np.uint32], npt.NDArray[np.int64] | None]:
        labels = self._known(y)
        return (labels.names, labels.numbers, labels.starts)

    def _known(self, y: Any) -> Labels:
        """Labels as numbers of the model's own classes; unknown ones are an error, as scikit-learn has it."""
        rows_of_flags = isinstance(y, list) and len(y) > 0 and isinstance(y[0], (list, tuple))
        if self._several and not is_list_of_lists(y) and (rows_of_flags or getattr(y, "ndim", 1) == 2):
            return known_indicators(y, self.classes_)
        labels = encode(y)
        if (labels.starts is not None) != self._several:
            self._refuse_kind()
        place = {label: number for number, label in enumerate(self.classes_.tolist())}
        unknown = [label for label in labels.classes.tolist() if label not in place]
        if unknown:
            raise ValueError(f"y contains previously unseen labels: {unknown[:5]}; the model knows {list(place)[:10]}")
        numbers = np.array([place[label] for label in labels.classes.tolist()], dtype=np.uint32)
        return Labels(self.classes_, label_names(self.classes_), numbers[labels.numbers], labels.starts)

    def _label(self, name: str) -> Any:
        names = label_names(self.classes_)
        return self.classes_.tolist()[names.index(name)] if name in names else name

    def decide(
        self,
        X: Any,
        costs: Any = None,
        *,
        ask: int | float | str | None = None,
        max_error: float | None = None,
        certainty: float = 0.95,
        prior: Mapping[Any, float] | str | None = None,
        calibration: tuple[Any, Any] | None = None,
    ) -> Array:
        """What to do with each document: the decision of least expected cost, or an answer where few answers are wrong.

        Parameters
        ----------
        X : documents
            As for :meth:`predict`.
        costs : mapping, matrix, text or None
            Costs of actions by truth: ``{("refund", "*"): 50, ("*", "*"): 5, ("*", "ask"): 2}``, a matrix (rows are true classes, columns
            decisions, in the order of ``classes_``), or the program's text ``'*,*,5; refund,*,50; *,ask,2'``. ``ask`` hands a document to a
            person; any other word is an action of yours.
        ask : int, float or str, optional
            How many documents a person has time for (a number, or a share below 1): the most worthwhile get ``ask``.
        max_error : float, optional
            Answers only where at most this share of answers is wrong, with `certainty`; else ``ask``. Not with `costs`.
        certainty : float
            How sure `max_error` is to hold.
        prior : mapping or {"tested", "always"}, optional
            Shares of classes that are known to be others than in training, or that are to be estimated from `X`.
        calibration : (X, y), optional
            Labelled documents that the model has not learned from, on which `max_error` then rests instead of the model's own
            held-out forecasts.

        Returns
        -------
        ndarray
            A class of ``classes_`` for each document, ``"ask"``, or another action.
        """
        self._refuse_several("decide")
        if prior is not None and costs is None and ask is None and max_error is None:
            costs = {("*", "*"): 1}  # The most probable class, by these shares.
        settings = predict_settings(
            costs=costs, ask=ask, max_error=max_error, certainty=certainty, prior=prior, classes=self.classes_, top=1
        )
        if not (settings.get("costs") or settings.get("ask") or settings.get("max_error")):
            return self.predict(X)
        if max_error is not None and settings.keys() == {"top", "max_error"} and calibration is None:
            threshold = self._model.certified(max_error, certainty)
            if threshold is not None:
                return self._answered(X, threshold)
        examples = self._examples(calibration)
        names, numbers = self._model.decisions(self._table(X), json.dumps(settings), examples)
        actions = [self._label(name) for name in names]
        is_object = any(isinstance(action, str) for action in actions)
        return np.array(actions, dtype=object if is_object else None)[numbers]

    def predict_sets(
        self,
        X: Any,
        coverage: float = 0.9,
        *,
        kind: str = "lac",
        class_by_class: bool = False,
        keep_top: bool = False,
        calibration: tuple[Any, Any] | None = None,
    ) -> list[list[Any]]:
        """Sets of labels that hold the true one with a stated probability.

        Parameters
        ----------
        X : documents
            As for :meth:`predict`.
        coverage : float
            How probably the true label is in the set; with several labels per document, which share of the true ones is.
        kind : {"lac", "aps", "raps"}
            By what a class is judged to fit badly.
        class_by_class : bool
            Whether that is to hold for documents of each class.
        keep_top : bool
            Whether a set that would be empty gets the most probable class.
        calibration : (X, y), optional
            Labelled documents that the model has not learned from, on which the promise then rests.

        Returns
        -------
        list of lists
            The labels of each document's set, the most probable first.
        """
        sets = {"coverage": coverage, "kind": kind, "class_by_class": class_by_class, "keep_top": keep_top}
        examples = self._examples(calibration)
        said, _ = self._model.predictions(self._table(X), json.dumps({"sets": sets, "top": 1}), examples)
        return [[self._label(name) for name in one["set"]] for one in json.loads(said)]

    def _refuse_several(self, what: str) -> None:
        check_is_fitted(self)
        if self._several:
            raise ValueError(f"{what} is for one label per document; use predict_proba and your own threshold for several")

    # Measuring.

    def evaluate(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        costs: Any = None,
        prior: Mapping[Any, float] | str | None = None,
        bootstrap: int | None = None,
        unknown_labels: str = "error",
    ) -> Report:
        """Measures of the probabilities on labelled documents, as ``calibrant evaluate --json`` prints them.

        Labels that the model has not learned are an error; ``unknown_labels="leave_out"`` leaves such documents (of several labels, such
        labels) out and counts them, as the program does. Documents that the model has learned from are told by a warning.

        Parameters
        ----------
        X : documents
            Texts or rows, as for ``fit``; the model should not have learned from them.
        y : labels
            As for ``fit``; the name of a column where `X` is a table.
        sample_weight : array of shape (documents,), optional
            How much each document counts.
        groups : array of shape (documents,), optional
            What each document belongs to: intervals draw whole groups again.
        costs, prior
            As for :meth:`decide`: what decisions by these costs come to, and shares of classes that are known to differ.
        bootstrap : int, optional
            Replicates for the 95 % intervals; 0 leaves them out.
        unknown_labels : {"error", "leave_out"}
            What becomes of labels that the model does not know.

        Returns
        -------
        Report
            Log loss, Brier score, calibration error beside that of a perfect forecaster, accuracy, F1 and more, with intervals.
        """
        self._calibrated()
        table = self._table(X)
        if isinstance(y, str) and is_frame(X):
            y = column_of(X, y)
        if unknown_labels not in ("error", "leave_out"):
            raise ValueError(f"unknown_labels must be 'error' or 'leave_out'; it is {unknown_labels!r}")
        if unknown_labels == "error":
            table["labels"] = self._own_labels(y)
        else:
            labels = encode(y)
            table["labels"] = (labels.names, labels.numbers, labels.starts)
        table["weights"] = weights_of(sample_weight, table["rows"])
        table["groups"] = group_texts(groups)
        settings = predict_settings(costs=costs, prior=prior, classes=self.classes_)
        chosen: dict[str, Any] = {key: settings[key] for key in ("costs", "prior") if key in settings}
        chosen["bootstrap"] = bootstrap
        report = json.loads(self._model.evaluate(table, json.dumps(chosen)))
        if report.get("learned_from"):
            warnings.warn(
                f"the model has learned from about {report['learned_from']} of these documents: what is measured on them is too good",
                CalibrantWarning,
                stacklevel=2,
            )
        return Report(report)

    def _refuse_kind(self) -> Any:
        one, other = ("several labels", "one label") if self._several else ("one label", "several labels")
        raise ValueError(f"the model was fitted with {one} per document, y has {other}")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of documents whose most probable label is the true one (with several labels: whose labels are all right).

        Parameters
        ----------
        X, y
            Documents and labels, as for ``fit``.
        sample_weight : array of shape (documents,), optional
            How much each document counts.

        Returns
        -------
        float
        """
        from sklearn.metrics import accuracy_score

        truth = y = column_of(X, y) if isinstance(y, str) and is_frame(X) else y
        if self._several:
            labels = self._known(y)
            truth = indicators(labels, len(labels.starts) - 1 if labels.starts is not None else len(labels.numbers))
        return float(accuracy_score(truth, self.predict(X), sample_weight=sample_weight))

    def save(self, path: Any) -> None:
        """Writes the model to a file that the program, the library and :func:`calibrant.open` read.

        Parameters
        ----------
        path : path
            Where to; the file is written as a whole or not at all.
        """
        self._calibrated().save(path)

    def _explanations(self, found: str) -> list[Explanation]:
        return [Explanation(one) for one in json.loads(found)]


def json_words(words: Mapping[str, Any]) -> str:
    """Settings that are given, as JSON in the program's words."""
    return plain_json({name: value for name, value in words.items() if value is not None})


__all__ = ["ModelClassifier", "class_weight_words", "json_words", "seed_of"]
