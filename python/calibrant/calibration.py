"""Calibrates what others have scored: scores as they are, or any scikit-learn classifier with honest held-out scores."""

from __future__ import annotations

import json
import warnings
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, _routing_enabled, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_is_fitted, has_fit_parameter

from calibrant import _calibrant
from calibrant._input import Array, Floats, Labels, column_names, column_of, encode, group_texts, is_frame, label_names, weights_of
from calibrant._keys import content_groups
from calibrant._notices import CalibrantWarning, warn_of_notes
from calibrant._progress import shown
from calibrant._report import Report


def _words(estimator: Any) -> str:
    return json.dumps(
        {
            "method": estimator.method,
            "multiclass": estimator.multiclass,
            "monotone": estimator.monotone,
        }
    )


def _table(scores: Any) -> Floats:
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim not in (1, 2):
        raise ValueError(f"scores must be one number per example, or one per class; this array has the shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("Input scores contain NaN or infinity.")
    if array.ndim == 1:
        array = array[:, None]
    return np.ascontiguousarray(array)


def _column_names(scores: Any) -> list[str] | None:
    """The names of a table's columns; nothing where there are none."""
    return column_names(scores) if is_frame(scores) else None


def _in_order(scores: Any, names: list[str]) -> Any:
    """Columns by their names."""
    by_name = {str(name): column_of(scores, name) for name in (scores.column_names if hasattr(scores, "column_names") else scores.columns)}
    return np.column_stack([np.asarray(by_name[name], dtype=np.float64) for name in names])


def _check_shares(table: Floats) -> None:
    if table.size and not (table.min() >= 0.0 and table.max() <= 1.0):
        raise ValueError("scores must be probabilities, from 0 to 1; a calibrator fitted with score_is='number' takes any number")


class Calibrator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Turns scores of any classifier into probabilities.

    Scores are of examples that the classifier did **not** learn from: one number per example (a margin, a log-odds, a
    probability of the positive class), or one per class.

    Parameters
    ----------
    method : str
        For one score, and for each class against the rest. ``"auto"`` compares methods by cross-validated log loss and keeps a flexible one
        only where it is better; ``calibrant.names("calibrator")`` lists all.
    multiclass : str
        For one score per class: how the classes are calibrated together.
    score_is : {"auto", "number", "probability"}
        What the scores are; ``"auto"`` takes numbers between 0 and 1 for probabilities.
    monotone : bool
        Make the curve monotone.
    progress : None, bool or callable
        Whether progress is shown.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted: the second of two is the positive one.
    calibrator_ : native calibrator
        As the program saves it.
    cross_validated_ : ndarray of shape (examples, classes)
        What curves that were fitted to the other folds say of each example: for honest plots and measures of the examples themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import Calibrator
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(2000) < 0.3
    >>> scores = rng.normal(np.where(truth, 1.0, -1.0))
    >>> calibrator = Calibrator().fit(scores, truth)
    >>> probability = calibrator.predict_proba([0.0])[0, 1]
    >>> bool(abs(probability - 0.3) < 0.05)
    True
    """

    classes_: Array
    calibrator_: _calibrant.Calibrator
    cross_validated_: Floats

    def __init__(
        self,
        method: str = "auto",
        *,
        multiclass: str = "auto",
        score_is: str = "auto",
        monotone: bool = False,
        progress: Any = False,
    ) -> None:
        self.method = method
        self.multiclass = multiclass
        self.score_is = score_is
        self.monotone = monotone
        self.progress = progress

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.no_validation = True
        return tags

    def fit(self, scores: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fits the curve, or the curves of all classes together.

        Parameters
        ----------
        scores : array of shape (examples,) or (examples, classes)
            Held-out scores. With one column per class, columns are in the order of the sorted labels.
        y : array of shape (examples,)
            The labels.
        sample_weight : array of shape (examples,), optional
            How much each example counts.
        groups : array of shape (examples,), optional
            Examples of one group are never divided between folds.

        Returns
        -------
        self
        """
        labels = encode(y)
        if labels.starts is not None:
            raise ValueError("a calibrator needs one label per example; calibrate each label of several by itself")
        self.__dict__.pop("feature_names_in_", None)
        names = _column_names(scores)
        if names is not None and sorted(names) == sorted(labels.names):
            names, scores = labels.names, _in_order(scores, labels.names)
        table = _table(scores)
        if self.score_is == "probability":
            _check_shares(table)
        self._fit(table, labels, sample_weight, groups)
        if names is not None and len(names) > 1:
            self.feature_names_in_ = np.array(names, dtype=object)
        self._warn()
        return self

    def _warn(self) -> None:
        warn_of_notes(self.calibrator_.notes(), len(self.cross_validated_))

    def _fit(self, table: Floats, labels: Labels, sample_weight: Any, groups: Any) -> None:
        rows, width = table.shape
        if len(labels.numbers) != rows:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {len(labels.numbers)}]")
        if len(labels.classes) < 2:
            raise ValueError("y has one class; a calibrator needs at least two classes")
        if width == 1 and len(labels.classes) != 2:
            raise ValueError(f"one score per example is for two classes; y has {len(labels.classes)}")
        if width > 1 and width != len(labels.classes):
            raise ValueError(f"scores have {width} columns and y has {len(labels.classes)} classes")
        weights = weights_of(sample_weight, rows)
        kept = None
        if weights is not None and not weights.all():
            kept = weights > 0
            groups = None if groups is None else np.asarray(groups)[kept]
            table, weights = np.ascontiguousarray(table[kept]), weights[kept]
            labels = labels._replace(numbers=labels.numbers[kept])
        words = json.loads(_words(self))
        words["score_is"] = self.score_is
        with shown(self.progress) as show:
            self.calibrator_, said = _calibrant.fit_calibrator(
                table, labels.numbers, labels.names, weights, group_texts(groups), json.dumps(words), show
            )
        self.classes_ = labels.classes
        if kept is not None:  # Of examples that do not count nothing was said.
            said_of_all = np.full((rows, said.shape[1]), np.nan)
            said_of_all[kept] = said
            said = said_of_all
        self.cross_validated_ = said

    @property
    def method_(self) -> str:
        """The method that was chosen."""
        check_is_fitted(self)
        return self.calibrator_.method

    @property
    def report_(self) -> Report:
        """How it was fitted: methods that were tried with their log losses, measures of cross-validated forecasts, notes."""
        check_is_fitted(self)
        report = json.loads(self.calibrator_.report())
        report["notes"] = [sentence for _, sentence in self.calibrator_.notes()]
        measured = json.loads(self.calibrator_.description())["summary"].get("measured")
        # With very many examples methods are compared on some of them.
        return Report(report if measured is None else {**report, "measured": measured})

    def _said(self, scores: Any, log_odds: bool) -> Floats:
        check_is_fitted(self)
        known, given = getattr(self, "feature_names_in_", None), _column_names(scores)
        if known is not None and given is not None:
            if sorted(given) != sorted(known.tolist()):
                raise ValueError(f"scores have the columns {given}; the calibrator was fitted to {known.tolist()}")
            scores = _in_order(scores, known.tolist())
        table = _table(scores)
        if self._of_shares:
            _check_shares(table)
        width = 1 if self.calibrator_.is_binary else len(self.classes_)
        if table.shape[1] != width:
            expected = "one score per example" if width == 1 else f"{width} classes"
            raise ValueError(f"scores have {table.shape[1]} columns; the calibrator was fitted to {expected}")
        return self.calibrator_.predict(table, log_odds)

    @property
    def _of_shares(self) -> bool:
        """Whether it was fitted to probabilities."""
        scale = json.loads(self.calibrator_.description())["scale"]
        return "probability" in json.dumps(scale).lower()

    def predict_proba(self, scores: Any) -> Floats:
        """Probabilities of the classes: rows by classes, in the order of ``classes_``."""
        return self._said(scores, False)

    def decision_function(self, scores: Any) -> Floats:
        """Calibrated log-odds; with two classes those of the second alone."""
        said = self._said(scores, True)
        return said[:, 1] if said.shape[1] == 2 else said

    def transform(self, scores: Any) -> Floats:
        """The probability of the positive class for two classes, else those of all classes."""
        said = self.predict_proba(scores)
        return said[:, 1] if said.shape[1] == 2 else said

    def predict(self, scores: Any) -> Array:
        """The most probable class."""
        return cast("Array", self.classes_[np.argmax(self._said(scores, True), axis=1)])

    def predict_interval(self, scores: Any) -> Floats:
        """The interval of the probability of the positive class, for methods that have one (``venn_abers``, ``cross_venn_abers``)."""
        check_is_fitted(self)
        found = self.calibrator_.intervals(np.ascontiguousarray(_table(scores)[:, 0])) if self.calibrator_.is_binary else None
        if found is None:
            raise ValueError(f"the method {self.calibrator_.method} states no interval; venn_abers does")
        return found

    def save(self, path: Any) -> None:
        """Writes the calibrator to a file that the program and :func:`calibrant.open` read."""
        check_is_fitted(self)
        self.calibrator_.save(path)


def _estimator_has(name: str) -> Any:
    def check(self: Any) -> bool:
        estimator = getattr(self, "estimator_", self.estimator)
        return estimator is None or hasattr(estimator, name)

    return check


class CalibratedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Wraps any scikit-learn classifier and gives it honest probabilities.

    Each row is scored by a copy of the classifier that has not seen its fold. Rows of one group are never on both sides, nor are copies
    of a row, unless there are so few distinct rows that equal ones are observations of one kind. All classes are calibrated together
    on these scores. What is left is one final classifier: of a linear one, the mean of the folds', and else one that is fitted to all rows.

    Parameters
    ----------
    estimator : classifier
        Any classifier with ``decision_function`` or ``predict_proba``; a linear SVM of scikit-learn if absent.
    method : str
        As for :class:`Calibrator`.
    multiclass : str
        How three or more classes are calibrated together.
    cv : int or splitter
        Folds. A number means stratified folds that keep copies and groups together; a splitter of scikit-learn is taken as it
        is (each row must be held out once). ``"prefit"`` takes the estimator as it is fitted, and `X` as held-out rows.
    ensemble : bool, "auto" or None
        ``False`` fits one final classifier to all rows. ``True`` keeps the classifiers of the folds and means their scores.
        ``"auto"`` tries both on a fold that is held out from either, and takes the ensemble where its log loss is lower by
        a standard error; that takes about twice as long. ``None`` is ``True`` where the mean is one classifier again, as it is of linear
        ones (``LinearSVC``, ``SGDClassifier``, ``RidgeClassifier``, ``Perceptron``) of five folds or more: their weights are
        averaged, which saves the final fit, and forecasts are mostly better. Else, and for logistic regression, it is ``False``.
    monotone : bool
        Make every curve monotone.
    n_jobs : int, optional
        How many folds are fitted at once.
    progress : None, bool or callable
        Whether the progress of the calibration is shown.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    estimator_ : classifier
        The final classifier.
    calibrator_ : Calibrator
        The calibration of its scores.
    ensemble_ : list of classifiers
        Those of the folds, where they were kept; else empty.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.svm import LinearSVC
    >>> from calibrant import CalibratedClassifier
    >>> X, y = make_classification(600, flip_y=0.2, random_state=0)
    >>> model = CalibratedClassifier(LinearSVC()).fit(X[:500], y[:500])
    >>> model.predict_proba(X[500:]).shape
    (100, 2)
    """

    classes_: Array
    estimator_: Any
    calibrator_: Calibrator
    ensemble_: list[Any]

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "auto",
        multiclass: str = "auto",
        cv: Any = 5,
        ensemble: bool | str | None = None,
        monotone: bool = False,
        n_jobs: int | None = None,
        progress: Any = False,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.multiclass = multiclass
        self.cv = cv
        self.ensemble = ensemble
        self.monotone = monotone
        self.n_jobs = n_jobs
        self.progress = progress

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._base()).input_tags
        tags.no_validation = True
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """What is handed on to the estimator."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=type(self).__name__).add_self_request(self).add(estimator=self._base(), method_mapping=mapping)

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from sklearn.svm import LinearSVC

        return LinearSVC(random_state=0)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **fit_params: Any) -> Self:
        """Fits classifiers to folds and to all rows, and calibrates their held-out scores.

        Parameters
        ----------
        X : whatever the estimator takes
            Rows.
        y : array of shape (rows,)
            Labels.
        sample_weight : array of shape (rows,), optional
            How much each row counts, for the estimator (if it takes weights) and for the calibration. Rows of weight 0 are left out.
        groups : array of shape (rows,), optional
            Rows of one group are held out together.
        **fit_params
            Handed on to the estimator's ``fit``; arrays with an entry per row are divided as the rows are.

        Returns
        -------
        self
        """
        base = self._base()
        labels = encode(y)
        if labels.starts is not None:
            raise ValueError("one label per row is needed; wrap a classifier per label with OneVsRestClassifier")
        rows = _num_samples(X)
        if rows != len(labels.numbers):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {len(labels.numbers)}]")
        if not (self.ensemble is None or isinstance(self.ensemble, bool) or self.ensemble == "auto"):
            raise ValueError(f"ensemble must be True, False, 'auto' or None; it is {self.ensemble!r}")
        weights = weights_of(sample_weight, rows)
        if weights is not None and not weights.all():
            # Rows of weight zero are not there at all.
            kept = np.flatnonzero(weights)
            groups = None if groups is None else np.asarray(groups)[kept]
            fit_params = _of_rows(fit_params, kept, rows)
            return self.fit(_safe_indexing(X, kept), _target(y, labels)[kept], weights[kept], groups=groups, **fit_params)
        own = self._fit_params(base, weights, fit_params)
        self.ensemble_ = []
        if isinstance(self.cv, str) and self.cv == "prefit":
            check_is_fitted(base)
            labels = _labels_among(np.asarray(base.classes_), labels)
            self.estimator_ = base
            self._calibrate(_scores(base, X, labels.classes), labels, weights, groups)
            return self._finish(labels)
        if len(labels.classes) < 2:
            raise ValueError("y has one class; a classifier needs at least two classes")
        target = _target(y, labels)
        together = content_groups(X, groups)
        splits = self._splits(X, labels, groups, together)
        fitted = Parallel(n_jobs=self.n_jobs)(delayed(_fit_part)(clone(base), X, target, train, own) for train, _ in splits)
        scores = np.full((rows, 1 if len(labels.classes) == 2 else len(labels.classes)), np.nan)
        for model, (_, test) in zip(fitted, splits, strict=True):
            scores[test] = _scores(model, _safe_indexing(X, test), labels.classes)
        times = np.bincount(np.concatenate([test for _, test in splits]), minlength=rows)
        if (times != 1).any():
            raise ValueError("every row must be held out once: the splitter leaves some rows out, or holds some out again")
        self._calibrate(scores, labels, weights, together)
        mean = _mean_of(fitted, labels.classes) if self.ensemble is None else None
        if mean is not None:
            self.estimator_ = mean
            return self._finish(labels)
        if self._keeps_folds(base, X, target, labels, weights, together, own, splits, fitted, scores):
            self.ensemble_ = list(fitted)
        self.estimator_ = clone(base).fit(X, target, **own)
        return self._finish(labels)

    def _finish(self, labels: Labels) -> Self:
        self.classes_ = labels.classes
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _fit_params(self, base: Any, weights: Floats | None, given: dict[str, Any]) -> dict[str, Any]:
        if _routing_enabled():
            routed = process_routing(self, "fit", **given, **({} if weights is None else {"sample_weight": weights}))
            return dict(routed.estimator.fit)
        own = dict(given)
        if weights is not None:
            if has_fit_parameter(base, "sample_weight"):
                own["sample_weight"] = weights
            else:
                name = type(base).__name__
                words = f"{name} takes no sample_weight: weights count for the calibration alone (a pipeline takes STEP__sample_weight)"
                warnings.warn(words, CalibrantWarning, stacklevel=4)
        return own

    def _splits(self, X: Any, labels: Labels, groups: Any, together: npt.NDArray[np.int64] | None) -> list[tuple[Array, Array]]:
        y = labels.numbers
        if isinstance(self.cv, (int, np.integer)):
            folds = _folds(int(self.cv), y, together)
            return [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in np.unique(folds)]
        cv = check_cv(self.cv, y, classifier=True)
        return list(cv.split(X, y, groups))

    def _calibrate(self, scores: Floats, labels: Labels, weights: Floats | None, groups: Any) -> None:
        self.calibrator_ = self._curve(scores, labels, weights, groups)
        self.calibrator_._warn()

    def _curve(self, scores: Floats, labels: Labels, weights: Floats | None, groups: Any) -> Calibrator:
        calibrator = Calibrator(
            self.method,
            multiclass=self.multiclass,
            score_is="number",
            monotone=self.monotone,
            progress=self.progress,
        )
        calibrator._fit(np.ascontiguousarray(scores), labels, weights, groups)
        return calibrator

    def _keeps_folds(
        self,
        base: Any,
        X: Any,
        target: Array,
        labels: Labels,
        weights: Floats | None,
        together: npt.NDArray[np.int64] | None,
        own: dict[str, Any],
        splits: list[tuple[Array, Array]],
        fitted: list[Any],
        scores: Floats,
    ) -> bool:
        """Whether the mean of the folds' classifiers is better than one: tried on the first fold, which none of these has seen."""
        if self.ensemble is None or isinstance(self.ensemble, bool):
            return bool(self.ensemble)
        if len(splits) < 3:
            return False
        first = splits[0][1]
        rest = np.setdiff1d(np.arange(len(labels.numbers)), first)
        smaller = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_part)(clone(base), X, target, np.setdiff1d(rest, test), own) for _, test in splits[1:]
        )
        held = _safe_indexing(X, first)
        many = np.mean([_scores(model, held, labels.classes) for model in smaller], axis=0)
        one = _scores(fitted[0], held, labels.classes)
        truth = labels.numbers[first]
        # The curve that both are judged by has not seen the fold either.
        curve = self._curve(
            scores[rest],
            labels._replace(numbers=labels.numbers[rest]),
            None if weights is None else weights[rest],
            None if together is None else together[rest],
        )
        losses = [_losses(curve._said(tried, False), truth) for tried in (one, many)]
        gain = losses[0] - losses[1]
        weight = np.ones(len(first)) if weights is None else weights[first]
        mean = float(np.average(gain, weights=weight))
        error = float(np.sqrt(np.average((gain - mean) ** 2, weights=weight) / max(len(first) - 1, 1)))
        return mean > error

    def _curve_said(self, scores: Floats) -> Floats:
        return self.calibrator_._said(scores, False)

    def _own_scores(self, X: Any) -> Floats:
        check_is_fitted(self, "estimator_")
        if not self.ensemble_:
            return _scores(self.estimator_, X, self.classes_)
        return cast("Floats", np.mean([_scores(model, X, self.classes_) for model in self.ensemble_], axis=0))

    def predict_proba(self, X: Any) -> Floats:
        """Calibrated probabilities: rows by classes."""
        return self._curve_said(self._own_scores(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of the probabilities."""
        return cast("Floats", -np.logaddexp(0.0, -self.calibrator_._said(self._own_scores(X), True)))

    def decision_function(self, X: Any) -> Floats:
        """Calibrated log-odds; with two classes those of the second alone."""
        said = self.calibrator_._said(self._own_scores(X), True)
        return said[:, 1] if said.shape[1] == 2 else said

    def predict(self, X: Any) -> Array:
        """The most probable class."""
        said = self.calibrator_._said(self._own_scores(X), True)
        return cast("Array", self.classes_[np.argmax(said, axis=1)])

    @property
    def report_(self) -> Report:
        """How the scores were calibrated, with measures of held-out forecasts."""
        check_is_fitted(self, "estimator_")
        return self.calibrator_.report_

    @available_if(_estimator_has("transform"))  # type: ignore[untyped-decorator]
    def transform(self, X: Any) -> Any:
        """What the final classifier makes of rows, where it transforms."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.transform(X)


# Of fewer folds each classifier lacks too much of what one that is fitted to all rows has seen.
_FOLDS_TO_AVERAGE = 5


def _mean_of(models: list[Any], classes: Array) -> Any:
    """The mean of linear classifiers, which is one again; ``None`` of others."""
    from copy import deepcopy

    from sklearn.linear_model import LogisticRegression
    from sklearn.linear_model._base import LinearClassifierMixin

    first = models[0]
    # Its weights hardly hang on single rows: what counts is how many there are.
    if isinstance(first, LogisticRegression):
        return None
    weights: list[tuple[Any, Any]] = [(getattr(model, "coef_", None), getattr(model, "intercept_", None)) for model in models]
    is_linear = getattr(type(first), "decision_function", None) is LinearClassifierMixin.decision_function
    alike = all(
        isinstance(coef, np.ndarray) and coef.shape == weights[0][0].shape and np.array_equal(model.classes_, classes)
        for (coef, _), model in zip(weights, models, strict=True)
    )
    if not (is_linear and alike and len(models) >= _FOLDS_TO_AVERAGE):
        return None
    mean = deepcopy(first)
    mean.coef_ = np.mean([coef for coef, _ in weights], axis=0)
    mean.intercept_ = np.mean([intercept for _, intercept in weights], axis=0)
    return mean


def _target(y: Any, labels: Labels) -> Array:
    """Labels as an array that can be divided."""
    return labels.classes[labels.numbers]


def _fit_part(model: Any, X: Any, y: Array, rows: Array, own: dict[str, Any]) -> Any:
    return model.fit(_safe_indexing(X, rows), y[rows], **_of_rows(own, rows, len(y)))


def _of_rows(given: dict[str, Any], rows: Array, count: int) -> dict[str, Any]:
    """What is given for each of `count` rows, for some of them; what is not by row stays."""
    return {name: _safe_indexing(value, rows) if _has_entry_per_row(value, count) else value for name, value in given.items()}


def _has_entry_per_row(value: Any, rows: int) -> bool:
    if isinstance(value, (str, bytes, dict)) or not hasattr(value, "__len__"):
        return False
    return len(value) == rows


def _scores(model: Any, X: Any, classes: Array) -> Floats:
    """Scores by class in the order of `classes`, or one column for two. A class that a fold lacks gets the lowest score of its row."""
    if hasattr(model, "decision_function"):
        said = np.asarray(model.decision_function(X), dtype=np.float64)
        if said.ndim == 1:
            said = said[:, None]
    else:
        probabilities = np.asarray(model.predict_proba(X), dtype=np.float64)
        # Zeros and ones are rounded, not meant; the curve says what they are worth.
        said = np.log(np.clip(probabilities, 1e-12, None))
        if said.shape[1] == 2:
            said = (said[:, 1] - np.log(np.clip(probabilities[:, 0], 1e-12, None)))[:, None]
    known = np.asarray(model.classes_)
    if said.shape[1] not in (1, len(known)) or (said.shape[1] == len(known) == 3 and _is_one_against_one(model)):
        raise ValueError("scores must be one per class: a classifier that gives one per pair of classes (ovo) has none")
    if len(known) == len(classes):
        return said
    table = np.full((len(said), len(classes)), said.min(axis=1, keepdims=True) if said.shape[1] > 1 else -np.abs(said))
    place = np.searchsorted(classes, known)
    if said.shape[1] == 1:
        said = np.column_stack([-said[:, 0], said[:, 0]]) if len(known) == 2 else np.zeros((len(said), 1))
    table[:, place] = said
    return table if len(classes) > 2 else cast("Floats", (table[:, 1] - table[:, 0])[:, None])


def _is_one_against_one(model: Any) -> bool:
    return getattr(model, "decision_function_shape", None) == "ovo"


def _labels_among(classes: Array, labels: Labels) -> Labels:
    """The same labels as numbers of a fitted classifier's classes."""
    place = {label: number for number, label in enumerate(classes.tolist())}
    unknown = [label for label in labels.classes.tolist() if label not in place]
    if unknown:
        raise ValueError(f"y contains labels that the fitted classifier does not know: {unknown[:5]}")
    numbers = np.array([place[label] for label in labels.classes.tolist()], dtype=np.uint32)[labels.numbers]
    return Labels(classes, label_names(classes), numbers, None)


def _losses(said: Floats, truth: npt.NDArray[np.uint32]) -> Floats:
    return cast("Floats", -np.log(said[np.arange(len(truth)), truth]))


def _folds(count: int, y: npt.NDArray[np.uint32], together: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64]:
    """A fold for each row: every class spread evenly, and what belongs together in one fold."""
    if count < 2:
        raise ValueError(f"cv must be at least 2; it is {count}")
    if together is None:
        from sklearn.model_selection import StratifiedKFold

        count = int(min(count, max(2, np.bincount(y).max())))
        folds = np.empty(len(y), dtype=np.int64)
        with warnings.catch_warnings():
            # A class with fewer rows than folds is in some of them only, which calibration can live with.
            warnings.simplefilter("ignore", UserWarning)
            for fold, (_, test) in enumerate(StratifiedKFold(count).split(y, y)):
                folds[test] = fold
        return folds
    return _grouped_folds(count, y, together)


def _grouped_folds(count: int, y: npt.NDArray[np.uint32], together: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The largest groups first, each to the fold with the fewest rows of its classes so far."""
    _, group, sizes = np.unique(together, return_inverse=True, return_counts=True)
    if len(sizes) < 2:
        raise ValueError("all rows belong to one group, and groups are not divided: there is nothing to leave out")
    count = min(count, len(sizes))
    classes = int(y.max()) + 1
    from scipy.sparse import coo_matrix

    by_group = coo_matrix((np.ones(len(y)), (group, y)), shape=(len(sizes), classes)).tocsr()
    totals = np.maximum(np.bincount(y, minlength=classes), 1)
    filled = np.zeros((count, classes))
    of_group = np.empty(len(sizes), dtype=np.int64)
    alone = np.flatnonzero(sizes == 1)
    for number in np.argsort(-sizes, kind="stable")[: len(sizes) - len(alone)]:
        start, end = by_group.indptr[number], by_group.indptr[number + 1]
        own, amounts = by_group.indices[start:end], by_group.data[start:end]
        # Rare classes leave the least choice: rows count by their share of the class.
        cost = (filled[:, own] / totals[own] * amounts).sum(axis=1) + 1e-9 * filled.sum(axis=1)
        fold = int(np.argmin(cost))
        of_group[number] = fold
        filled[fold, own] += amounts
    # Rows that stand for themselves fill up, class by class, where there are the fewest.
    of_class = by_group[alone].indices
    for label in np.unique(of_class):
        rows = alone[of_class == label]
        wanted = filled[:, label].sum() + len(rows)
        room = np.maximum(np.ceil(wanted / count) - filled[:, label], 0).astype(np.int64)
        deal = np.repeat(np.arange(count), room)[: len(rows)]
        spare = np.arange(len(rows) - len(deal)) % count
        of_group[rows] = np.concatenate([deal, spare])
    return of_group[group]


__all__ = ["CalibratedClassifier", "Calibrator"]
