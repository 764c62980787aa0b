"""What more documents would bring: refits on growing samples, measured on documents that none of them has seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples

from calibrant._base import seed_of
from calibrant._input import Array, Floats, Labels, encode
from calibrant._keys import content_groups
from calibrant.plots._common import BLUE, GREY, Display, Forecasts, name_of

_MEASURES = {
    "log_loss": "log loss, nats per document",
    "brier": "Brier score",
    "ece": "calibration error (ECE)",
    "accuracy": "accuracy",
}


class LearningCurveDisplay(Display):
    """A measure on held-out documents beside the number of documents that were learned from.

    Parameters
    ----------
    sizes : ndarray of shape (sizes,)
        How many documents were learned from.
    values : ndarray of shape (sizes, repeats)
        The measure on held-out documents.
    of_perfect : ndarray of shape (sizes, repeats), optional
        The calibration error of perfect forecasters with the same probabilities.
    measure : {"log_loss", "brier", "ece", "accuracy"}
        What was measured.
    name : str, optional
        What the legend says.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from calibrant import LinearSVM
    >>> from calibrant.plots import LearningCurveDisplay
    >>> X, y = make_classification(800, flip_y=0.1, random_state=0)
    >>> display = LearningCurveDisplay.from_estimator(LinearSVM(), X, y, sizes=(50, 200, 600), repeats=2)
    >>> display.sizes.tolist(), display.values.shape
    ([50, 200, 600], (3, 2))
    >>> bool(display.values[0].mean() > display.values[-1].mean())
    True
    """

    def __init__(
        self,
        sizes: Array,
        values: Floats,
        of_perfect: Floats | None = None,
        *,
        measure: str = "log_loss",
        name: str | None = None,
    ) -> None:
        self.sizes = sizes
        self.values = values
        self.of_perfect = of_perfect
        self.measure = measure
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sizes: Sequence[float] | int = 5,
        measure: str = "log_loss",
        test_size: float = 0.25,
        repeats: int = 3,
        groups: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Fits copies of the estimator to growing samples and draws what they do on documents that none has seen.

        Parameters
        ----------
        estimator : classifier
            With ``predict_proba``; it is cloned, not changed.
        X, y
            Documents, and their labels.
        sizes : int or sequence
            How many sizes, evenly spaced on a scale of ratios up to all that there is; or the sizes themselves, as
            counts or as shares of it.
        measure : {"log_loss", "brier", "ece", "accuracy"}
            What is measured.
        test_size : float
            The share of documents that is held out, each time another one.
        repeats : int
            How often all is done with other samples.
        groups : array, optional
            What belongs together is never on both sides; nor are equal documents.
        random_state : int or RandomState
            The seed of the samples.
        n_jobs : int, optional
            How many fits run at once.
        name : str, optional
            What the legend says.
        ax : matplotlib Axes, optional
            Where to draw.
        **kwargs
            Handed on to matplotlib's ``plot``.
        """
        if measure not in _MEASURES:
            raise ValueError(f"measure must be one of {', '.join(_MEASURES)}; it is {measure!r}")
        labels = encode(y)
        target = _target(y, labels)
        together = content_groups(X, groups)
        generator = np.random.default_rng(seed_of(random_state))
        splits = [_split(labels, _num_samples(X), together, test_size, generator) for _ in range(repeats)]
        counts = _sizes(sizes, min(len(train) for train, _ in splits), len(labels.classes))
        jobs = [(train[:count], test) for count in counts for train, test in splits]
        found = Parallel(n_jobs=n_jobs)(delayed(_measure)(clone(estimator), X, target, train, test, measure) for train, test in jobs)
        values = np.array(found).reshape(len(counts), repeats, 2)
        perfect = values[:, :, 1] if measure == "ece" else None
        made = cls(np.array(counts), values[:, :, 0], perfect, measure=measure, name=name_of(estimator, name))
        return made.plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draws the mean of the repeats, and each repeat as a point.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default a new figure.
        **kwargs
            Handed on to matplotlib's ``plot``.

        Returns
        -------
        self
        """
        ax = self._begin(ax)
        colour = self._colour(kwargs) if kwargs or ax.lines else BLUE
        for values in self.values.T:
            ax.plot(self.sizes, values, "o", color=colour, alpha=0.5, markersize=4, markeredgewidth=0)
        how: dict[str, Any] = {"linewidth": 1.8, "label": self.name or "mean"}
        self._line(self.sizes, self.values.mean(axis=1), color=colour, **(how | kwargs))
        if self.of_perfect is not None:
            means = self.of_perfect.mean(axis=1)
            ax.plot(self.sizes, means, color=GREY, linestyle="--", linewidth=1.2, label="perfect forecaster")
        ax.set_xscale("log")
        ax.set_xticks(self.sizes, [f"{size:,}" for size in self.sizes])
        ax.minorticks_off()
        ax.set(xlabel="documents that were learned from", ylabel=_MEASURES[self.measure])
        ax.set_title("Learning curve, held-out documents")
        ax.legend(fontsize="small", frameon=False)
        return self


def _target(y: Any, labels: Labels) -> Any:
    """Labels that can be divided: an array, or lists as they are."""
    return labels.classes[labels.numbers] if labels.starts is None else y


def _split(
    labels: Labels, rows: int, together: npt.NDArray[np.int64] | None, test_size: float, generator: np.random.Generator
) -> tuple[Array, Array]:
    """Training rows, every beginning of which has the classes in about their shares, and held-out rows."""
    order = generator.permutation(rows)
    if labels.starts is None:
        # The k-th row of a class of n goes to k/n of the way.
        numbers = labels.numbers[order]
        place = np.empty(rows)
        for number in range(len(labels.classes)):
            own = np.flatnonzero(numbers == number)
            place[own] = (np.arange(len(own)) + generator.random()) / max(len(own), 1)
        order = order[np.argsort(place, kind="stable")]
    wanted = min(max(round(test_size * rows), 1), rows - 1)
    if together is None:
        return order[:-wanted], order[-wanted:]
    # Whole groups, in random order, until enough is held out.
    held = np.zeros(rows, dtype=bool)
    for group in generator.permutation(np.unique(together)):
        if held.sum() >= wanted:
            break
        held |= together == group
    if held.all():
        raise ValueError("all rows belong together, and groups are not divided: there is nothing to hold out")
    return order[~held[order]], order[held[order]]


def _sizes(sizes: Sequence[float] | int, most: int, class_count: int) -> list[int]:
    """Sizes of the samples, as counts."""
    if isinstance(sizes, (int, np.integer)):
        least = min(max(most // 20, 10 * class_count), most)
        found = np.geomspace(least, most, int(sizes)).round().astype(int)
    else:
        given = np.asarray(sizes, dtype=np.float64)
        found = (given * most if (given <= 1.0).all() else given).round().astype(int)
    counts = sorted({int(count) for count in found})
    if not counts or counts[0] < 1 or counts[-1] > most:
        raise ValueError(f"sizes must lie between 1 and {most}, the documents that are left to learn from")
    return counts


def _measure(model: Any, X: Any, y: Any, train: Array, test: Array, measure: str) -> tuple[float, float]:
    model.fit(_safe_indexing(X, train), _safe_indexing(y, train))
    held = _safe_indexing(X, test)
    said = np.asarray(model.predict_proba(held), dtype=np.float64)
    truth = _safe_indexing(y, test)
    classes = np.asarray(model.classes_)
    said, classes = _with_unknown(said, classes, truth)
    report = Forecasts.of(truth, said, classes=classes).report()
    return float(report[measure]), float(report["ece_of_perfect"])


def _with_unknown(said: Floats, classes: Array, truth: Any) -> tuple[Floats, Array]:
    """A small sample may lack a class, which it then states with hardly any probability."""
    known = set(classes.tolist())
    unknown = [label for label in encode(truth).classes.tolist() if label not in known]
    if not unknown:
        return said, classes
    little = np.full((len(said), len(unknown)), 1e-6)
    table = np.column_stack([said * (1.0 - 1e-6 * len(unknown)), little])
    return cast("Floats", table), np.array([*classes.tolist(), *unknown])


__all__ = ["LearningCurveDisplay"]
