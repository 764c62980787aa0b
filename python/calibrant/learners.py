"""Classifiers of rows of numbers that are not one weight per column: counts, neighbours, stumps, mistakes, codes."""

from __future__ import annotations

from typing import Any

from calibrant._matrix import Learner


class NaiveBayes(Learner):
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


class Rocchio(Learner):
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


class NearestNeighbours(Learner):
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


class AdaBoostStumps(Learner):
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


class Perceptron(Learner):
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


class OutputCode(Learner):
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
