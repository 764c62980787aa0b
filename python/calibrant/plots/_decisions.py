"""What probabilities are good for: decision curves, and how much can be answered."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from calibrant._input import Floats
from calibrant.plots._common import GREY, Display, Forecasts, Outcomes, column, name_of


class DecisionCurveDisplay(Display):
    """The net benefit of acting where the probability reaches a threshold.

    The threshold states the trade: who acts from 0.2 on takes four false alarms for one hit. Net benefit counts hits
    per document, less false alarms at that rate: ``hits/n - false alarms/n · t/(1-t)``. Acting never is worth 0. A
    curve below zero or below "always" at a threshold says: do not use these probabilities there.

    Parameters
    ----------
    thresholds : ndarray
        From which probability on one acts.
    benefit : ndarray
        Net benefit at each threshold.
    expected : ndarray
        What the probabilities promise.
    act_always : ndarray
        Net benefit of acting on every document.
    event : str
        What one acts on.
    name : str, optional
        What the legend says.

    Examples
    --------
    >>> from calibrant.plots import DecisionCurveDisplay
    >>> display = DecisionCurveDisplay.from_predictions(["no", "yes", "yes", "no"], [0.3, 0.9, 0.6, 0.8])
    >>> at_half = display.thresholds.tolist().index(0.5)
    >>> float(display.benefit[at_half])  # two hits and one false alarm among four
    0.25
    """

    def __init__(
        self,
        thresholds: Floats,
        benefit: Floats,
        expected: Floats,
        act_always: Floats,
        *,
        event: str = "the answer",
        name: str | None = None,
    ) -> None:
        self.thresholds = thresholds
        self.benefit = benefit
        self.expected = expected
        self.act_always = act_always
        self.event = event
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        class_label: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draws the curve of a fitted classifier on documents that it has not learned from.

        Parameters
        ----------
        estimator : classifier
            Anything with ``predict_proba`` and ``classes_``.
        X, y
            Documents, and their labels.
        class_label : optional
            The class on whose probability one acts; by default the second of two classes, and with more the most
            probable one: one acts on the answer, which is right or wrong.
        sample_weight, name, ax, **kwargs
            As for :meth:`ReliabilityDisplay.from_estimator`.
        """
        forecasts = Forecasts.of_estimator(estimator, X, y, sample_weight)
        return cls._of(forecasts.outcomes(class_label, second_of_two=True), name_of(estimator, name)).plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        labels: Any = None,
        class_label: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draws the curve of probabilities, whoever stated them.

        Parameters
        ----------
        y_true, y_prob, labels, sample_weight, name, ax, **kwargs
            As for :meth:`ReliabilityDisplay.from_predictions`.
        class_label : optional
            As for :meth:`from_estimator`.

        Returns
        -------
        self
        """
        forecasts = Forecasts.of(y_true, y_prob, classes=labels, sample_weight=sample_weight)
        return cls._of(forecasts.outcomes(class_label, second_of_two=True), name).plot(ax, **kwargs)

    @classmethod
    def _of(cls, outcomes: Outcomes, name: str | None) -> Self:
        points = outcomes.report()["decision_curves"][1]["points"]
        keys = ("threshold", "benefit", "expected", "accept_all")
        return cls(*(column(points, key) for key in keys), event=outcomes.event, name=name)

    def plot(self, ax: Any = None, *, promised: bool = True, **kwargs: Any) -> Self:
        """Draws the curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default a new figure.
        promised : bool
            Whether what the probabilities promise is drawn beside what came true.
        **kwargs
            Handed on to matplotlib's ``plot``.

        Returns
        -------
        self
        """
        ax = self._begin(ax)
        colour = self._colour(kwargs)
        if not any(line.get_gid() == "never" for line in ax.lines):
            ax.axhline(0.0, color=GREY, linewidth=1.1, gid="never", label="act never")
            ax.plot(self.thresholds, self.act_always, color=GREY, linestyle="--", linewidth=1.1, label="act always")
        if promised:
            ax.plot(
                self.thresholds,
                self.expected,
                color=colour,
                linestyle=":",
                linewidth=1.4,
                label=_beside(self.name, "as promised"),
            )
        how: dict[str, Any] = {"label": self.name or "as it came", "linewidth": 1.8, "marker": "o", "markersize": 3.5}
        self._line(self.thresholds, self.benefit, color=colour, **(how | kwargs))
        # Acting always is a disaster at high thresholds, and would flatten all else.
        highest = float(np.nanmax([self.benefit.max(), self.expected.max(), self.act_always.max()]))
        lowest = min(float(np.nanmin(self.benefit)), 0.0)
        low, high = ax.get_ylim() if ax.get_gid() == "decision" else (0.0, 0.0)
        ax.set_gid("decision")
        ax.set_ylim(min(low, lowest - 0.15 * highest), max(high, highest * 1.08))
        ax.set(xlim=(0, 1), xlabel="threshold probability", ylabel="net benefit, hits per document")
        ax.set_title(f"Decision curve: {self.event}")
        ax.legend(fontsize="small", frameon=False)
        return self


class AnsweredDisplay(Display):
    """How often answers are right where only the surest are given.

    Documents are answered from the highest probability downwards. The dashed line is what the probabilities themselves
    state; where it lies within the band they can be trusted to choose what to answer.

    Parameters
    ----------
    answered : ndarray
        Shares of documents that are answered.
    accuracy : ndarray
        The share of these answers that is right.
    lower, upper : ndarray
        Its 95 % interval.
    stated : ndarray
        The accuracy that the probabilities state.
    thresholds : ndarray
        The least probability that is answered.
    name : str, optional
        What the legend says.

    Examples
    --------
    >>> from calibrant.plots import AnsweredDisplay
    >>> stated = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]]
    >>> display = AnsweredDisplay.from_predictions(["a", "a", "b", "a"], stated)
    >>> float(display.accuracy[display.answered.tolist().index(0.5)]), float(display.accuracy[-1])
    (1.0, 0.75)
    """

    def __init__(
        self,
        answered: Floats,
        accuracy: Floats,
        lower: Floats,
        upper: Floats,
        stated: Floats,
        thresholds: Floats,
        *,
        name: str | None = None,
    ) -> None:
        self.answered = answered
        self.accuracy = accuracy
        self.lower = lower
        self.upper = upper
        self.stated = stated
        self.thresholds = thresholds
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draws the curve of a fitted classifier on documents that it has not learned from.

        With several labels per document an answer is right where all labels are.

        Parameters
        ----------
        estimator, X, y, sample_weight, name, ax, **kwargs
            As for :meth:`ReliabilityDisplay.from_estimator`.

        Returns
        -------
        self
        """
        return cls._of(Forecasts.of_estimator(estimator, X, y, sample_weight), name_of(estimator, name)).plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draws the curve of probabilities, whoever stated them.

        Parameters
        ----------
        y_true, y_prob, labels, sample_weight, name, ax, **kwargs
            As for :meth:`ReliabilityDisplay.from_predictions`.

        Returns
        -------
        self
        """
        forecasts = Forecasts.of(y_true, y_prob, classes=labels, sample_weight=sample_weight)
        return cls._of(forecasts, name).plot(ax, **kwargs)

    @classmethod
    def _of(cls, forecasts: Forecasts, name: str | None) -> Self:
        points = forecasts.report()["answered"]["shares"]
        keys = ("answered", "accuracy", "lower", "upper", "stated", "threshold")
        return cls(*(column(points, key) for key in keys), name=name)

    def plot(self, ax: Any = None, *, band: bool = True, **kwargs: Any) -> Self:
        """Draws the curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default a new figure.
        band : bool
            Whether the 95 % interval of the accuracy is drawn.
        **kwargs
            Handed on to matplotlib's ``plot``.

        Returns
        -------
        self
        """
        ax = self._begin(ax)
        colour = self._colour(kwargs)
        share = 100.0 * self.answered
        if band:
            ax.fill_between(share, 100.0 * self.lower, 100.0 * self.upper, color=colour, alpha=0.15, lw=0)
        ax.plot(
            share,
            100.0 * self.stated,
            color=colour,
            linestyle="--",
            linewidth=1.3,
            label=_beside(self.name, "as stated"),
        )
        how: dict[str, Any] = {"label": self.name or "as it came", "linewidth": 1.8, "marker": "o", "markersize": 4}
        self._line(share, 100.0 * self.accuracy, color=colour, **(how | kwargs))
        low = ax.get_ylim()[0]
        ax.set_ylim(max(0.0, min(low, 98.0)), 100.6)
        ax.set(xlabel="documents that are answered, %", ylabel="answers that are right, %")
        ax.set_title("Accuracy of the surest answers")
        ax.legend(loc="best", fontsize="small", frameon=False)
        return self


def _beside(name: str | None, what: str) -> str:
    return f"{name}, {what}" if name else what


__all__ = ["AnsweredDisplay", "DecisionCurveDisplay"]
