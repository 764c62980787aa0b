"""Classifiers of rows of numbers: scikit-learn's interface over calibrant's learners, with calibrated probabilities."""

from __future__ import annotations

import json
import warnings
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from calibrant import _calibrant
from calibrant._base import ModelClassifier, class_weight_words, json_words, seed_of
from calibrant._explain import Explanation
from calibrant._input import Array, Floats, Labels, encode, group_numbers, native_matrix, weights_of
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
            _warn_of_passes(getattr(self, "max_iter", 1000))
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


class _Common(MatrixClassifier):
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


def _warn_of_passes(most: int) -> None:
    from sklearn.exceptions import ConvergenceWarning

    words = f"a solver stopped before its tolerance, after at most {most} passes: scale the columns, or change C, max_iter or tol"
    warnings.warn(words, ConvergenceWarning, stacklevel=3)


def _is_calibrated(self: Any) -> bool:
    if self.calibrator is None:
        raise AttributeError("a margin is no probability: calibrator=None leaves scores as they are")
    return True


class _Linear(_Common):
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
            _warn_of_passes(self.max_iter)
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


class NaiveBayes(_Common):
    """Naive Bayes of counts, with probabilities that can be believed.

    Parameters
    ----------
    kind : {"multinomial", "bernoulli", "complement"}
        How counts are modelled.
    alpha : float, optional
        Additive smoothing (by default 1).
    word_prior : float, optional
        Smooth with this many extra counts, distributed as in all rows, instead of `alpha`.
    calibrator, multiclass, monotone, folds, random_state, progress
        As for :class:`LinearSVM`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from calibrant import NaiveBayes
    >>> X, y = load_digits(return_X_y=True)
    >>> model = NaiveBayes().fit(X[:1000], y[:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.8
    True
    """

    _positive = True

    def __init__(
        self,
        kind: str = "multinomial",
        *,
        alpha: float | None = None,
        word_prior: float | None = None,
        calibrator: str = "auto",
        multiclass: str = "auto",
        monotone: bool = False,
        folds: int = 5,
        random_state: Any = 0,
        progress: Any = False,
    ) -> None:
        self.kind = kind
        self.alpha = alpha
        self.word_prior = word_prior
        self.calibrator = calibrator
        self.multiclass = multiclass
        self.monotone = monotone
        self.folds = folds
        self.random_state = random_state
        self.progress = progress

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Counts, not positions: clouds of points are not what it is for.
        tags.classifier_tags.poor_score = True
        return tags

    def _words(self) -> dict[str, Any]:
        kinds = {
            "multinomial": "naive-bayes",
            "bernoulli": "bernoulli-naive-bayes",
            "complement": "complement-naive-bayes",
        }
        if self.kind not in kinds:
            raise ValueError(f"kind must be one of {', '.join(kinds)}; it is {self.kind!r}")
        return {"classifier": kinds[self.kind], "alpha": self.alpha, "word_prior": self.word_prior, **self._shared()}


class Rocchio(_Common):
    """The nearest centroid, calibrated.

    Parameters
    ----------
    nearness : {"cosine", "euclidean"}
        The similarity of a row and the centroid of a class.
    calibrator, multiclass, monotone, folds, random_state, progress
        As for :class:`LinearSVM`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from calibrant import Rocchio
    >>> X, y = load_digits(return_X_y=True)
    >>> model = Rocchio().fit(X[:1000], y[:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.8
    True
    """

    def __init__(
        self,
        *,
        nearness: str = "cosine",
        calibrator: str = "auto",
        multiclass: str = "auto",
        monotone: bool = False,
        folds: int = 5,
        random_state: Any = 0,
        progress: Any = False,
    ) -> None:
        self.nearness = nearness
        self.calibrator = calibrator
        self.multiclass = multiclass
        self.monotone = monotone
        self.folds = folds
        self.random_state = random_state
        self.progress = progress

    def _words(self) -> dict[str, Any]:
        return {"classifier": "rocchio", "nearness": self.nearness, **self._shared()}


class NearestNeighbours(_Common):
    """Training rows that vote, by cosine similarity; calibrated.

    Parameters
    ----------
    neighbours : int or "auto"
        How many vote; ``"auto"`` chooses by log loss among the training rows.
    vote : {"similarity", "majority"}
        How votes are weighted.
    approximate : bool
        Search only part of the index: faster, and may miss some neighbours.
    calibrator, multiclass, monotone, folds, random_state, progress
        As for :class:`LinearSVM`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from calibrant import NearestNeighbours
    >>> X, y = load_digits(return_X_y=True)
    >>> model = NearestNeighbours().fit(X[:1000], y[:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.9
    True
    """

    def __init__(
        self,
        neighbours: int | str = "auto",
        *,
        vote: str = "similarity",
        approximate: bool = False,
        calibrator: str = "auto",
        multiclass: str = "auto",
        monotone: bool = False,
        folds: int = 5,
        random_state: Any = 0,
        progress: Any = False,
    ) -> None:
        self.neighbours = neighbours
        self.vote = vote
        self.approximate = approximate
        self.calibrator = calibrator
        self.multiclass = multiclass
        self.monotone = monotone
        self.folds = folds
        self.random_state = random_state
        self.progress = progress

    def _words(self) -> dict[str, Any]:
        own = {"neighbours": self.neighbours, "vote": self.vote, "approximate": self.approximate}
        return {"classifier": "knn", **own, **self._shared()}


class AdaBoostStumps(_Common):
    """A committee of decision stumps, calibrated.

    Parameters
    ----------
    rounds : int, optional
        The most stumps per class.
    boosting : {"real", "discrete", "shares"}
        The kind of stump: it says how sure it is on each side of its threshold; or yes or no, with one weight; or the same with scores
        that are shares of the votes.
    calibrator, multiclass, monotone, folds, random_state, progress
        As for :class:`LinearSVM`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from calibrant import AdaBoostStumps
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostStumps().fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.9
    True
    """

    def __init__(
        self,
        rounds: int | None = None,
        *,
        boosting: str = "real",
        calibrator: str = "auto",
        multiclass: str = "auto",
        monotone: bool = False,
        folds: int = 5,
        random_state: Any = 0,
        progress: Any = False,
    ) -> None:
        self.rounds = rounds
        self.boosting = boosting
        self.calibrator = calibrator
        self.multiclass = multiclass
        self.monotone = monotone
        self.folds = folds
        self.random_state = random_state
        self.progress = progress

    def _words(self) -> dict[str, Any]:
        return {"classifier": "adaboost", "rounds": self.rounds, "boosting": self.boosting, **self._shared()}


class Perceptron(_Common):
    """Averaged or voted perceptrons, calibrated.

    Parameters
    ----------
    epochs : int, optional
        Passes over the rows.
    voted : bool
        Let all stages of learning vote, instead of averaging them.
    calibrator, multiclass, monotone, folds, random_state, progress
        As for :class:`LinearSVM`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from calibrant import Perceptron
    >>> X, y = load_digits(return_X_y=True)
    >>> model = Perceptron().fit(X[:1000], y[:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.8
    True
    """

    def __init__(
        self,
        epochs: int | None = None,
        *,
        voted: bool = False,
        calibrator: str = "auto",
        multiclass: str = "auto",
        monotone: bool = False,
        folds: int = 5,
        random_state: Any = 0,
        progress: Any = False,
    ) -> None:
        self.epochs = epochs
        self.voted = voted
        self.calibrator = calibrator
        self.multiclass = multiclass
        self.monotone = monotone
        self.folds = folds
        self.random_state = random_state
        self.progress = progress

    def _words(self) -> dict[str, Any]:
        return {"classifier": "perceptron", "epochs": self.epochs, "voted": self.voted, **self._shared()}


class OutputCode(_Common):
    """An error-correcting output code around a learner, decoded into calibrated probabilities.

    Parameters
    ----------
    classifier : str
        The learner of the binary problems, in the program's words: ``"svm"``, ``"logistic"``, ``"naive-bayes"``, …
    code : str
        The design of the code (``calibrant.names("code")`` lists all).
    code_length : int, optional
        How many binary problems; by default the design's usual number.
    decode : {"margin", "least_squares"}
        How answers become scores of classes.
    code_output : str
        Which output of a binary problem is decoded.
    code_weights : str
        How columns are weighted.
    C : float, optional
        The cost of errors, for learners that have one.
    calibrator, multiclass, monotone, folds, random_state, progress
        As for :class:`LinearSVM`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from calibrant import OutputCode
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OutputCode("logistic", code="all_pairs").fit(X[:1000], y[:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.85
    True
    """

    def __init__(
        self,
        classifier: str = "svm",
        *,
        code: str = "random_dense",
        code_length: int | None = None,
        decode: str | None = None,
        code_output: str | None = None,
        code_weights: str | None = None,
        C: float | None = None,
        calibrator: str = "auto",
        multiclass: str = "auto",
        monotone: bool = False,
        folds: int = 5,
        random_state: Any = 0,
        progress: Any = False,
    ) -> None:
        self.classifier = classifier
        self.code = code
        self.code_length = code_length
        self.decode = decode
        self.code_output = code_output
        self.code_weights = code_weights
        self.C = C
        self.calibrator = calibrator
        self.multiclass = multiclass
        self.monotone = monotone
        self.folds = folds
        self.random_state = random_state
        self.progress = progress

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags

    def _words_for(self, class_count: int) -> dict[str, Any]:
        words = self._words()
        if class_count < 3:  # Two classes need one scorer and no code.
            words = {name: None if name in self._CODE else value for name, value in words.items()}
        return words

    _CODE = ("code", "code_length", "decode", "code_output", "code_weights")

    def _words(self) -> dict[str, Any]:
        return {
            "classifier": self.classifier,
            "c": self.C,
            "code": self.code,
            "code_length": self.code_length,
            "decode": self.decode,
            "code_output": self.code_output,
            "code_weights": self.code_weights,
            **self._shared(),
        }
