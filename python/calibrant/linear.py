"""Linear classifiers of rows of numbers: calibrated, or solved alone."""

from __future__ import annotations

import json
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from calibrant import _calibrant
from calibrant._base import class_weight_words, json_words
from calibrant._input import Array, Floats, Labels, encode, native_matrix, weights_of
from calibrant._matrix import Learner, warn_of_passes
from calibrant._progress import shown


def _is_calibrated(self: Any) -> bool:
    if self.calibrator is None:
        raise AttributeError("a margin is no probability: calibrator=None leaves scores as they are")
    return True


class _Linear(Learner):
    """Learners that find a weight for each column: calibrated, or solved alone with ``calibrator=None``."""

    _intercept_scaling = 1.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self.calibrator is not None
        return tags

    coef_: Floats
    intercept_: Floats

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Learns from rows; see :class:`LinearSVM`.

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
        for name in ("_model", "coef_", "intercept_"):
            self.__dict__.pop(name, None)
        if self.calibrator is not None:
            return super().fit(X, y, sample_weight, groups=groups)
        X = self._checked(X, reset=True)
        labels = encode(y)
        if labels.starts is not None:
            raise ValueError("several labels per row need a calibrator, or a classifier per label (OneVsRestClassifier)")
        if X.shape[0] == 1:
            raise ValueError("one sample is not enough to learn from: n_samples=1")
        if len(labels.numbers) != X.shape[0]:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{X.shape[0]}, {len(labels.numbers)}]")
        weights = self._plain_weights(labels, weights_of(sample_weight, X.shape[0]))
        words = {name: value for name, value in self._words().items() if name in self._SOLVED}
        with shown(getattr(self, "progress", False)) as show:
            coefficients, intercepts, ends = _calibrant.solve_rows(
                native_matrix(X), labels.numbers, weights, json_words(words), self._intercept_scaling, show
            )
        # Columns behind the last entry have no weight.
        width = X.shape[1] - coefficients.shape[1]
        self.coef_ = np.pad(coefficients, ((0, 0), (0, width))) if width else coefficients
        self.intercept_ = np.array(intercepts)
        self._ends = json.loads(ends)
        if not all(end["converged"] for end in self._ends):
            warn_of_passes(self.max_iter)
        self.classes_ = labels.classes
        self._several = False
        return self

    max_iter: int
    _SOLVED = ("classifier", "c", "loss", "tolerance", "max_passes", "seed")

    def _plain_weights(self, labels: Labels, weights: Floats | None) -> Floats | None:
        class_weight = getattr(self, "class_weight", None)
        if class_weight is None:
            return weights
        from sklearn.utils.class_weight import compute_sample_weight

        factors = np.asarray(compute_sample_weight(class_weight, labels.classes[labels.numbers]), dtype=np.float64)
        return factors if weights is None else weights * factors

    @property
    def n_iter_(self) -> int:
        """The most passes that a solver took."""
        if "coef_" not in self.__dict__:
            return super().n_iter_
        return max([1, *(int(end["passes"]) for end in self._ends)])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model") or "coef_" in self.__dict__

    def _margins(self, X: Any) -> Floats:
        X = self._checked(X, reset=False)
        # In the numbers of the rows: SciPy and NumPy would copy the matrix to make them longer.
        found: Floats = X @ self.coef_.T.astype(X.dtype, copy=False) + self.intercept_
        return found

    def decision_function(self, X: Any) -> Floats:
        """Calibrated log-odds, or with ``calibrator=None`` the scores as they are; with two classes one number per row."""
        check_is_fitted(self)
        if "coef_" not in self.__dict__:
            return super().decision_function(X)
        margins = self._margins(X)
        return margins[:, 0] if len(self.classes_) == 2 else margins

    def predict(self, X: Any) -> Array:
        """The most probable label of each row; with several labels per row an indicator matrix."""
        check_is_fitted(self)
        if "coef_" not in self.__dict__:
            return super().predict(X)
        margins = self._margins(X)
        best = (margins[:, 0] > 0).astype(int) if len(self.classes_) == 2 else np.argmax(margins, axis=1)
        found: Array = self.classes_[best]
        return found

    def scores(self, X: Any) -> Floats:
        """The learner's own scores before calibration; rows by classes."""
        check_is_fitted(self)
        if "coef_" not in self.__dict__:
            return super().scores(X)
        margins = self._margins(X)
        return np.column_stack([-margins[:, 0], margins[:, 0]]) if len(self.classes_) == 2 else margins

    @available_if(_is_calibrated)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Calibrated probabilities: rows by classes, in the order of ``classes_``."""
        return super().predict_proba(X)

    @available_if(_is_calibrated)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of the probabilities, exact however small these are."""
        return super().predict_log_proba(X)


class LinearSVM(_Linear):
    """A linear support vector machine with calibrated probabilities.

    Parameters
    ----------
    C : float, optional
        The cost of errors; larger values fit the training rows more closely. By default 0.5, or more where classes are easy to
        separate and the held-out log loss is lower.
    loss : {"squared_hinge", "hinge"}
        The loss.
    tol : float
        The relative duality gap at which the solver stops.
    max_iter : int
        The most passes over the rows.
    class_weight : "balanced" or mapping, optional
        Weights of classes in training; probabilities refer to the rows as they are all the same.
    calibrator : str
        How scores become probabilities; ``"auto"`` chooses for each class by held-out log loss (``calibrant.names("calibrator")``
        lists all). ``None`` solves the problem alone, in a small part of the time: no folds and no probabilities, but ``coef_`` and
        ``intercept_``.
    multiclass : str
        How three or more classes are calibrated together.
    monotone : bool
        Make every curve monotone.
    folds : int
        Folds of the cross-fitting that gives calibration its held-out scores.
    random_state : int or RandomState
        The seed of folds and of the order in which rows are visited.
    progress : bool or callable
        Whether progress is shown.

    Attributes
    ----------
    coef_ : ndarray of shape (outputs, columns)
        With ``calibrator=None``: the weight of each column, in one row for two classes, else in one for each class.
    intercept_ : ndarray of shape (outputs,)
        With ``calibrator=None``: what is added to these sums.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import LinearSVM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5))
    >>> y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    >>> model = LinearSVM().fit(X, y)
    >>> bool(model.predict_proba([[3.0, 0, 0, 0, 0]])[0, 1] > 0.9)
    True
    """

    def __init__(
        self,
        C: float | None = None,
        *,
        loss: str = "squared_hinge",
        tol: float = 1e-4,
        max_iter: int = 1000,
        class_weight: Any = None,
        calibrator: str | None = "auto",
        multiclass: str = "auto",
        monotone: bool = False,
        folds: int = 5,
        random_state: Any = 0,
        progress: Any = False,
    ) -> None:
        self.C = C
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.calibrator = calibrator
        self.multiclass = multiclass
        self.monotone = monotone
        self.folds = folds
        self.random_state = random_state
        self.progress = progress

    def _words(self) -> dict[str, Any]:
        return {
            "classifier": "svm",
            "c": self.C,
            "loss": self.loss,
            "tolerance": self.tol,
            "max_passes": self.max_iter,
            "class_weight": class_weight_words(self.class_weight),
            **self._shared(),
        }


class LogisticRegression(_Linear):
    """Regularised logistic regression, calibrated on held-out scores.

    With ``calibrator=None`` the problem of scikit-learn's logistic regression is solved (the intercept is not penalised), one class
    against the rest.

    Parameters
    ----------
    C : float, optional
        The weight of the loss relative to the regularisation; by default 10, or more where classes are easy to separate and the
        held-out log loss is lower.
    tol, max_iter, class_weight, calibrator, multiclass, monotone, folds, random_state, progress
        As for :class:`LinearSVM`.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        As those of :class:`LinearSVM`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from calibrant import LogisticRegression
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LogisticRegression().fit(X[:1000], y[:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.85
    True
    """

    _intercept_scaling = float("inf")

    def __init__(
        self,
        C: float | None = None,
        *,
        tol: float = 1e-4,
        max_iter: int = 1000,
        class_weight: Any = None,
        calibrator: str | None = "auto",
        multiclass: str = "auto",
        monotone: bool = False,
        folds: int = 5,
        random_state: Any = 0,
        progress: Any = False,
    ) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.calibrator = calibrator
        self.multiclass = multiclass
        self.monotone = monotone
        self.folds = folds
        self.random_state = random_state
        self.progress = progress

    def _words(self) -> dict[str, Any]:
        return {
            "classifier": "logistic",
            "c": self.C,
            "tolerance": self.tol,
            "max_passes": self.max_iter,
            "class_weight": class_weight_words(self.class_weight),
            **self._shared(),
        }
