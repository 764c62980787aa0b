"""Scores before calibration: how they are distributed in each class, and the log-odds that are made of them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple, Self, cast

import numpy as np
import numpy.typing as npt

from calibrant._input import Array, Floats, encode
from calibrant.plots._common import BLUE, GREY, VERMILLION, Display, Forecasts, name_of
from calibrant.plots._densities import fitted_densities, smooth_density

_GRID = 400


class Scored(NamedTuple):
    """Scores of one class beside the truth, and what calibration makes of them."""

    scores: Floats
    truth: npt.NDArray[np.bool_]
    log_odds: Floats | None
    """Calibrated log-odds of the same examples."""
    curve: tuple[Floats, Floats] | None
    """Scores and calibrated log-odds along the curve, where one score decides."""
    parameters: Any
    """The fitted curve as it is saved, where there is one."""
    event: str
    unit: str
    flipped: bool = False
    """Whether the scores are those of the other of two classes."""

    def grid(self) -> Floats:
        """Where curves are drawn."""
        low, high = float(self.scores.min()), float(self.scores.max())
        margin = 0.04 * (high - low) or 0.5
        return np.linspace(low - margin, high + margin, _GRID)


def scored_by(estimator: Any, X: Any, y: Any, class_label: Any) -> Scored:
    """Scores of a calibrator's own input, of a calibrated classifier, or of any classifier."""
    from calibrant.calibration import CalibratedClassifier, Calibrator

    if isinstance(estimator, Calibrator):
        return _by_calibrator(estimator, np.asarray(X, dtype=np.float64), y, class_label)
    if isinstance(estimator, CalibratedClassifier):
        return _by_calibrator(estimator.calibrator_, estimator._own_scores(X), y, class_label)
    classes = np.asarray(estimator.classes_)
    said = None
    if hasattr(estimator, "scores"):
        scores = np.asarray(estimator.scores(X), dtype=np.float64)
        if hasattr(estimator, "predict_proba"):  # With `calibrator=None` there is no curve to draw.
            said = _both(np.asarray(estimator.decision_function(X), dtype=np.float64))
    elif hasattr(estimator, "decision_function"):
        scores = _both(np.asarray(estimator.decision_function(X), dtype=np.float64))
    else:
        probabilities = np.clip(estimator.predict_proba(X), 1e-12, 1.0 - 1e-12)
        scores = np.log(probabilities) - np.log1p(-probabilities)
    return _chosen(scores, said, classes, y, class_label, one_score=len(classes) == 2)


def scored_as_given(y: Any, scores: Any, y_prob: Any, labels: Any, class_label: Any) -> Scored:
    """Scores by anyone, with the probabilities that were made of them, if any."""
    classes = encode(y).classes if labels is None else np.asarray(labels)
    table = _both(np.asarray(scores, dtype=np.float64))
    said = None
    if y_prob is not None:
        stated = np.clip(Forecasts.of(y, y_prob, classes=classes).probabilities, 1e-15, 1.0 - 1e-15)
        said = np.log(stated) - np.log1p(-stated)
    return _chosen(table, said, classes, y, class_label, one_score=len(classes) == 2)


def _both(said: Floats) -> Floats:
    """A column per class; of two classes the second is often the only one that is stated."""
    if said.ndim == 2 and said.shape[1] > 1:
        return said
    second = said.reshape(-1)
    return np.column_stack([-second, second])


def _by_calibrator(calibrator: Any, scores: Floats, y: Any, class_label: Any) -> Scored:
    said = calibrator._said(scores, True)
    report = calibrator.report_.to_dict()
    scale = report.get("scale", {})
    unit = "score"
    one_score = calibrator.calibrator_.is_binary
    own = scores
    if scale.get("score_is") == "probability":
        # Its curve is one of log-odds, and densities are densities of log-odds.
        within = np.clip(scores, 1e-15, 1.0 - 1e-15)
        own = np.clip(np.log(within) - np.log1p(-within), scale.get("lowest"), scale.get("highest"))
        unit = "log-odds of the stated probability"
    if not one_score:
        return _chosen(own, said, calibrator.classes_, y, class_label, one_score=False)._replace(unit=unit)
    found = _chosen(_both(own), said, calibrator.classes_, y, class_label, one_score=True)
    grid = found.grid()
    given = 1.0 / (1.0 + np.exp(-grid)) if unit != "score" else grid
    curve = (grid, calibrator._said(given, True)[:, 0 if found.flipped else 1])
    return found._replace(curve=curve, parameters=report["calibrator"].get("one_score"), unit=unit)


def _chosen(scores: Floats, said: Floats | None, classes: Array, y: Any, class_label: Any, *, one_score: bool) -> Scored:
    """One class: the one that is named, the second of two, or the one that is answered."""
    if scores.shape[1] != len(classes):
        raise ValueError(f"scores have {scores.shape[1]} columns and there are {len(classes)} classes: name them with labels=[…]")
    truth = Forecasts.of(y, np.full(scores.shape, 0.5), classes=classes)
    if class_label is None and one_score:
        class_label = classes.tolist()[1]
    if class_label is None:
        if truth.starts is not None:
            raise ValueError("with several labels per document name one of them: class_label=…")
        rows = np.arange(len(scores))
        top = np.argmax(scores if said is None else said, axis=1)
        own = None if said is None else said[rows, top]
        return Scored(scores[rows, top], top == truth.numbers, own, None, None, "the answer", "score of the answer")
    place = truth.place(class_label)
    # Of two classes the second is scored; the first has the same scores, and the opposite truth.
    shown = scores[:, 1] if one_score else scores[:, place]
    own = None if said is None else said[:, place]
    curve = None
    if one_score and own is not None:
        order = np.argsort(shown, kind="stable")
        curve = (shown[order], own[order])
    flipped = one_score and place == 0
    return Scored(shown, truth.has(place), own, curve, None, f"“{class_label}”", "score", flipped)


class ScoreDensityDisplay(Display):
    """How scores are distributed in a class and outside it, with the densities that calibration fits.

    Histograms are what was seen. Lines are fitted: by calibrators that fit densities (``gauss``, ``laplace``, their
    asymmetric kin and ``hybrid``) they are these densities; for all others, they are smooth densities of the same
    scores where every example counts for the class by its calibrated probability and not by its label. Where lines and
    histograms part, the calibrator does not describe the scores.

    Parameters
    ----------
    edges : ndarray
        Ends of the histogram's bins.
    positive, negative : ndarray
        The histograms as densities.
    grid : ndarray
        Scores along the fitted lines.
    positive_fit, negative_fit : ndarray, optional
        The fitted densities.
    event, unit : str
        The class, and what the scores are.
    name : str, optional
        What fitted the lines.

    References
    ----------
    Bennett, *Using asymmetric distributions to improve text classifier probability estimates*, SIGIR 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import Calibrator
    >>> from calibrant.plots import ScoreDensityDisplay
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(2000) < 0.3
    >>> scores = rng.laplace(np.where(truth, 1.0, -1.0))
    >>> calibrator = Calibrator("asymmetric_laplace").fit(scores, truth)
    >>> display = ScoreDensityDisplay.from_estimator(calibrator, scores, truth)
    >>> bool(0.4 < display.positive_fit.max() < 0.6)  # a Laplace density of scale 1 peaks at one half
    True
    """

    def __init__(
        self,
        edges: Floats,
        positive: Floats,
        negative: Floats,
        grid: Floats,
        positive_fit: Floats | None = None,
        negative_fit: Floats | None = None,
        *,
        event: str = "the answer",
        unit: str = "score",
        name: str | None = None,
    ) -> None:
        self.edges = edges
        self.positive = positive
        self.negative = negative
        self.grid = grid
        self.positive_fit = positive_fit
        self.negative_fit = negative_fit
        self.event = event
        self.unit = unit
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        class_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draws the densities of a classifier's scores on documents that it has not learned from.

        Parameters
        ----------
        estimator : Calibrator, CalibratedClassifier, or classifier
            For a :class:`calibrant.Calibrator`, `X` are the scores themselves.
        X, y
            Documents (or scores), and their labels.
        class_label : optional
            The class that is told apart from all others; by default the second of two, and with more the answered
            class, whether it is right or wrong.
        name : str, optional
            What the legend says.
        ax : matplotlib Axes, optional
            Where to draw.
        **kwargs
            Handed on to matplotlib's ``plot`` of the lines.
        """
        return cls._of(scored_by(estimator, X, y, class_label), _method(estimator, name)).plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        scores: Any,
        y_prob: Any = None,
        *,
        labels: Any = None,
        class_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draws the densities of scores by anyone; with the probabilities that were made of them, lines as well.

        Parameters
        ----------
        y_true : array
            The labels.
        scores : array of shape (examples,) or (examples, classes)
            One score per example, of the second class in sorted order, or one per class.
        y_prob : array, optional
            The probabilities that were made of the scores, of the same shape.
        labels : list, optional
            The classes in the order of the columns, where they are not the sorted labels of `y_true`.
        class_label, name, ax, **kwargs
            As for :meth:`from_estimator`.

        Returns
        -------
        self
        """
        return cls._of(scored_as_given(y_true, scores, y_prob, labels, class_label), name).plot(ax, **kwargs)

    @classmethod
    def _of(cls, found: Scored, name: str | None) -> Self:
        edges = np.histogram_bin_edges(found.scores, bins=_bin_count(found.scores))
        positive, negative = (_density(found.scores[which], edges) for which in (found.truth, ~found.truth))
        grid = found.grid()
        fits: tuple[Floats, Floats] | None = None
        if found.parameters is not None:
            fits = fitted_densities(found.parameters, grid)
            if fits is not None and found.flipped:
                fits = (fits[1], fits[0])
        if fits is None and found.log_odds is not None:
            probability = 1.0 / (1.0 + np.exp(-np.clip(found.log_odds, -700.0, 700.0)))
            fits = (
                smooth_density(found.scores, probability, grid),
                smooth_density(found.scores, 1.0 - probability, grid),
            )
        first, second = (None, None) if fits is None else fits
        return cls(edges, positive, negative, grid, first, second, event=found.event, unit=found.unit, name=name)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draws histograms and lines.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default a new figure.
        **kwargs
            Handed on to matplotlib's ``plot`` of the lines.

        Returns
        -------
        self
        """
        ax = self._begin(ax, (5.6, 4.0))
        right, wrong = ("right", "wrong") if self.event == "the answer" else (self.event, "all others")
        for heights, colour, label in ((self.negative, VERMILLION, wrong), (self.positive, BLUE, right)):
            ax.stairs(heights, self.edges, color=colour, alpha=0.3, fill=True, label=label)
        fitted = f"fitted: {self.name}" if self.name else "fitted"
        for line, colour, style in ((self.negative_fit, VERMILLION, "--"), (self.positive_fit, BLUE, "-")):
            if line is not None:
                how: dict[str, Any] = {"linewidth": 1.8, "linestyle": style, "color": colour}
                how["label"] = fitted if style == "-" else "_fitted"
                ax.plot(self.grid, line, **(how | kwargs))
        ax.set(xlabel=self.unit, ylabel="density per unit of score", xlim=(self.grid[0], self.grid[-1]))
        ax.set_ylim(bottom=0.0)
        ax.set_title(f"Scores: {self.event}")
        ax.legend(fontsize="small", frameon=False)
        return self


class LogOddsDisplay(Display):
    """Log-odds as a function of the score: what was seen, and what calibration makes of it.

    Points are bins of about equally many scores: the logarithm of ``(k + ½) / (n - k + ½)`` with its 95 % interval,
    where `k` of `n` examples have the class. The line is the calibrator's.

    Parameters
    ----------
    scores : ndarray
        Mean score of each bin.
    log_odds : ndarray
        Log-odds that were seen there.
    errors : ndarray
        Half of the width of the 95 % interval.
    curve_scores, curve_log_odds : ndarray, optional
        Calibrated log-odds along scores. Where several scores decide (three and more classes), means of bins.
    event, unit : str
        The class, and what the scores are.
    name : str, optional
        What the legend calls the line.

    References
    ----------
    Bennett, *Using asymmetric distributions to improve text classifier probability estimates*, SIGIR 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import Calibrator
    >>> from calibrant.plots import LogOddsDisplay
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(0.0, 2.0, 5000)
    >>> truth = rng.random(5000) < 1 / (1 + np.exp(-2 * scores))  # log-odds are twice the score
    >>> display = LogOddsDisplay.from_estimator(Calibrator("platt").fit(scores, truth), scores, truth)
    >>> slope = np.polyfit(display.curve_scores, display.curve_log_odds, 1)[0]
    >>> bool(1.8 < slope < 2.2)
    True
    """

    def __init__(
        self,
        scores: Floats,
        log_odds: Floats,
        errors: Floats,
        curve_scores: Floats | None = None,
        curve_log_odds: Floats | None = None,
        *,
        event: str = "the answer",
        unit: str = "score",
        name: str | None = None,
    ) -> None:
        self.scores = scores
        self.log_odds = log_odds
        self.errors = errors
        self.curve_scores = curve_scores
        self.curve_log_odds = curve_log_odds
        self.event = event
        self.unit = unit
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        class_label: Any = None,
        bins: int = 20,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draws the log-odds of a classifier's scores on documents that it has not learned from.

        Parameters
        ----------
        estimator, X, y, class_label
            As for :meth:`ScoreDensityDisplay.from_estimator`.
        bins : int
            How many points; fewer where there are few examples (ten at least in each).
        name : str, optional
            What the legend says.
        ax : matplotlib Axes, optional
            Where to draw.
        **kwargs
            Handed on to matplotlib's ``plot`` of the line.
        """
        return cls._of(scored_by(estimator, X, y, class_label), bins, _method(estimator, name)).plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        scores: Any,
        y_prob: Any = None,
        *,
        labels: Any = None,
        class_label: Any = None,
        bins: int = 20,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draws the log-odds of scores by anyone; with the probabilities that were made of them, a line as well.

        Parameters
        ----------
        y_true, scores, y_prob, labels
            As for :meth:`ScoreDensityDisplay.from_predictions`.
        class_label, bins, name, ax, **kwargs
            As for :meth:`from_estimator`.

        Returns
        -------
        self
        """
        return cls._of(scored_as_given(y_true, scores, y_prob, labels, class_label), bins, name).plot(ax, **kwargs)

    @classmethod
    def _of(cls, found: Scored, bins: int, name: str | None) -> Self:
        if bins < 1:
            raise ValueError(f"bins must be at least 1; it is {bins}")
        parts = _equal_parts(found.scores, bins)
        means = np.array([found.scores[part].mean() for part in parts])
        hits = np.array([found.truth[part].sum() for part in parts]) + 0.5
        misses = np.array([(~found.truth[part]).sum() for part in parts]) + 0.5
        errors = 1.96 * np.sqrt(1.0 / hits + 1.0 / misses)
        curve: tuple[Floats | None, Floats | None] = (None, None)
        if found.curve is not None:
            curve = found.curve
        elif found.log_odds is not None:
            curve = _mean_curve(found, parts)
        seen = np.log(hits / misses)
        return cls(means, seen, errors, *curve, event=found.event, unit=found.unit, name=name)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draws points and line.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default a new figure.
        **kwargs
            Handed on to matplotlib's ``plot`` of the line.

        Returns
        -------
        self
        """
        ax = self._begin(ax, (5.6, 4.0))
        colour = self._colour(kwargs)
        if not any(line.get_gid() == "even" for line in ax.lines):
            ax.axhline(0.0, color=GREY, linewidth=0.8, linestyle=":", gid="even", label="_even")
            bars = {"fmt": "o", "color": "black", "markersize": 4, "linewidth": 1.0, "capsize": 2.0}
            ax.errorbar(self.scores, self.log_odds, yerr=self.errors, label="seen, with 95 % interval", **bars)
        if self.curve_scores is not None and self.curve_log_odds is not None:
            how: dict[str, Any] = {"linewidth": 1.8, "color": colour, "label": self.name or "calibrated"}
            self._line(self.curve_scores, self.curve_log_odds, **(how | kwargs))
        # A curve may go far beyond what was seen; it must not flatten that.
        low, high = float((self.log_odds - self.errors).min()), float((self.log_odds + self.errors).max())
        margin = 0.3 * (high - low)
        ax.set_ylim(low - margin, high + margin)
        ax.set(xlabel=self.unit, ylabel=f"log-odds of {self.event}, nats")
        ax.set_title(f"Log-odds: {self.event}")
        ax.legend(loc="best", fontsize="small", frameon=False)
        return self


def _mean_curve(found: Scored, parts: list[npt.NDArray[np.int64]]) -> tuple[Floats, Floats]:
    """The log-odds of the mean calibrated probability of each bin."""
    assert found.log_odds is not None
    probability = 1.0 / (1.0 + np.exp(-np.clip(found.log_odds, -700.0, 700.0)))
    means = np.clip([probability[part].mean() for part in parts], 1e-15, 1.0 - 1e-15)
    places = np.array([found.scores[part].mean() for part in parts])
    return places, cast("Floats", np.log(means) - np.log1p(-means))


def _equal_parts(scores: Floats, bins: int) -> list[npt.NDArray[np.int64]]:
    """Examples in order of their scores, in parts of about equal size; equal scores stay together."""
    count = max(1, min(bins, len(scores) // 10))
    order = np.argsort(scores, kind="stable")
    ranked = scores[order]
    cuts = {0, len(scores)}
    for number in range(1, count):
        cuts.add(int(np.searchsorted(ranked, ranked[number * len(scores) // count])))
    ends = sorted(cuts)
    return [order[start:end] for start, end in pairwise(ends)]


def _bin_count(scores: Floats) -> int:
    """Bins of a histogram: more for more scores, within what the eye can use."""
    return int(np.clip(len(np.histogram_bin_edges(scores[:100_000], bins="auto")) - 1, 10, 50))


def _density(scores: Floats, edges: Floats) -> Floats:
    counts, _ = np.histogram(scores, bins=edges)
    density: Floats = counts / max(len(scores), 1) / np.diff(edges)
    return density


def _method(estimator: Any, name: str | None) -> str:
    """The calibrator's method, or the classifier's name."""
    if name is not None:
        return name
    calibrator = getattr(estimator, "calibrator_", None)
    own = estimator if hasattr(estimator, "method_") else calibrator
    return str(own.method_) if own is not None and hasattr(own, "method_") else name_of(estimator, None)


__all__ = ["LogOddsDisplay", "ScoreDensityDisplay"]
