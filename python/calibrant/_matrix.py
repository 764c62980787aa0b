"""Classifiers of rows of a matrix: what all of them have in common."""

from __future__ import annotations

import json
import warnings
from typing import Any, Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from calibrant import _calibrant
from calibrant._base import ModelClassifier, json_words, seed_of
from calibrant._explain import Explanation
from calibrant._input import Floats, encode, group_numbers, native_matrix, weights_of
from calibrant._progress import shown

_LARGEST = float(np.finfo(np.float32).max)


class MatrixClassifier(ModelClassifier):
    """A classifier of rows of a matrix, dense or CSR; the entries are borrowed, not copied.

    Attributes
    ----------
    n_features_in_ : int
        How many columns there were.
    feature_names_in_ : ndarray of str
        Their names, where `X` was a table.
    """

    _positive = False

    def _words(self) -> dict[str, Any]:
        raise NotImplementedError

    def _words_for(self, class_count: int) -> dict[str, Any]:
        return self._words()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self._positive
        tags.classifier_tags.multi_label = True
        return tags

    def _checked(self, X: Any, *, reset: bool) -> Any:
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            accept_large_sparse=True,
            dtype=[np.float64, np.float32],
            order="C",
            reset=reset,
            ensure_non_negative=self._positive,
        )
        values = X.data if hasattr(X, "tocsr") else X
        if values.dtype == np.float64 and values.size and max(abs(values.max()), abs(values.min())) > _LARGEST:
            raise ValueError(f"values above {_LARGEST:.3g} are too large: learners work with single precision")
        return X

    def _table(self, X: Any, *, reset: bool = False) -> dict[str, Any]:
        X = self._checked(X, reset=reset)
        return {"rows": X.shape[0], "matrix": native_matrix(X)}

    def _predict(self, X: Any, wanted: str) -> Floats:
        return self._model.predict_rows(native_matrix(self._checked(X, reset=False)), wanted)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Learns from rows, and calibrates on scores of rows that were held out.

        Parameters
        ----------
        X : array or CSR matrix of shape (rows, columns)
            The rows: float32 or float64, which are borrowed as they are; other numbers are converted.
        y : array of shape (rows,), lists of labels, or an indicator matrix
            One label per row, or several.
        sample_weight : array of shape (rows,), optional
            How much each row counts: a weight of 2 is the row twice, a row of weight 0 is left out.
        groups : array of shape (rows,), optional
            Rows of one group are never divided between what is learned from and what is calibrated on.

        Returns
        -------
        self
        """
        X = self._checked(X, reset=True)
        labels = encode(y)
        if labels.starts is None:
            check_classification_targets(labels.classes)
        rows = X.shape[0]
        count = len(labels.numbers) if labels.starts is None else len(labels.starts) - 1
        if count != rows:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {count}]")
        if rows == 1:
            raise ValueError("one sample is not enough to learn from: n_samples=1")
        weights = weights_of(sample_weight, rows)
        words = {"min_df": 1, "labels": "one" if labels.starts is None else "several", "allow_unique_labels": True}
        with shown(getattr(self, "progress", False)) as show:
            model = _calibrant.fit_rows(
                native_matrix(X),
                labels.names,
                labels.numbers,
                labels.starts,
                weights,
                group_numbers(groups, rows),
                json_words({**words, **self._words_for(len(labels.classes))}),
                show,
            )
        self._take_model(model, labels)
        ends = [one.get("convergence") or {} for one in self.report_.to_dict()["classes"]]
        if any(not end.get("converged", True) for end in ends):
            warn_of_passes(getattr(self, "max_iter", 1000))
        return self

    @property
    def n_iter_(self) -> int:
        """The most passes that a solver took; 1 for learners that compute in closed form."""
        ends = [one.get("convergence") or {} for one in self.report_.to_dict()["classes"]]
        return max([1, *(int(end.get("passes", 1)) for end in ends)])

    def explain(self, X: Any, label: Any = None) -> list[Explanation]:
        """How each column moved the log-odds of a class, for every row of `X`: of the most probable one unless `label` is given.

        Parameters
        ----------
        X : array or CSR matrix of shape (rows, columns)
            As for :meth:`fit`.
        label : optional
            The class to explain.

        Returns
        -------
        list of Explanation
            One for each row; the parts add up exactly.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        matrix = native_matrix(X)
        names = [str(name) for name in getattr(self, "feature_names_in_", [])]
        if label is None:
            classes = np.argmax(self._predict(X, "log_odds"), axis=1)
        else:
            place = self._model.class_names.index(str(label))
            classes = np.full(X.shape[0], place)
        return [Explanation(json.loads(self._model.explain_row(matrix, row, int(number), names))) for row, number in enumerate(classes)]


class Learner(MatrixClassifier):
    """What learners have in common, as settings in the program's words."""

    calibrator: str | None
    multiclass: str
    monotone: bool
    folds: int
    random_state: Any

    def _shared(self) -> dict[str, Any]:
        return {
            "calibrator": self.calibrator,
            "multiclass": self.multiclass,
            "monotone": self.monotone or None,
            "folds": self.folds,
            "seed": seed_of(self.random_state),
        }


def warn_of_passes(most: int) -> None:
    from sklearn.exceptions import ConvergenceWarning

    words = f"a solver stopped before its tolerance, after at most {most} passes: scale the columns, or change C, max_iter or tol"
    warnings.warn(words, ConvergenceWarning, stacklevel=3)
