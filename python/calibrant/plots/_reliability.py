"""Reliability diagrams: what was stated beside what came true."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from calibrant._input import Array, Floats
from calibrant.plots._common import GREY, Display, Forecasts, Outcomes, column, name_of

_HISTOGRAM = "forecasts"


class ReliabilityDisplay(Display):
    """A reliability diagram: stated probabilities beside the share that came true.

    The grey band is where 95 of 100 perfect forecasters with the same probabilities would lie, point by point. What
    lies within it is no evidence of miscalibration. Numbers are those of ``calibrant evaluate``.

    Parameters
    ----------
    stated, observed : ndarray
        Mean stated probability and share that came true, bin by bin or along the curve.
    band_lower, band_upper : ndarray
        The band of perfect forecasters.
    lower, upper : ndarray, optional
        The 95 % interval of each share (bins alone have it).
    counts, edges : ndarray
        The histogram of the forecasts.
    ece, ece_of_perfect : float
        The calibration error, and the mean of that of perfect forecasters with the same probabilities.
    event : str
        Whose probability it is.
    name : str, optional
        What the legend says.

    Examples
    --------
    >>> from calibrant.plots import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_predictions(["no", "no", "yes", "yes"] * 25, [0.2, 0.2, 0.2, 0.9] * 25)
    >>> display.stated.round(2).tolist(), display.observed.round(2).tolist()  # one of three came true where 0.2 was stated
    ([0.2, 0.9], [0.33, 1.0])
    >>> bool(display.band_upper[0] < display.observed[0])  # more than perfect forecasters would show
    True
    """

    def __init__(
        self,
        stated: Floats,
        observed: Floats,
        band_lower: Floats,
        band_upper: Floats,
        *,
        lower: Floats | None = None,
        upper: Floats | None = None,
        counts: Array,
        edges: Floats,
        ece: float,
        ece_of_perfect: float,
        event: str = "the answer",
        name: str | None = None,
    ) -> None:
        self.stated = stated
        self.observed = observed
        self.band_lower = band_lower
        self.band_upper = band_upper
        self.lower = lower
        self.upper = upper
        self.counts = counts
        self.edges = edges
        self.ece = ece
        self.ece_of_perfect = ece_of_perfect
        self.event = event
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        kind: str = "bins",
        class_label: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draws the diagram of a fitted classifier on documents that it has not learned from.

        Parameters
        ----------
        estimator : classifier
            Anything with ``predict_proba`` and ``classes_``.
        X, y
            Documents, and their labels.
        kind : {"bins", "curve"}
            Fifteen bins of about equally many forecasts, or the isotonic curve without bins.
        class_label : optional
            The class whose probability is looked at; by default the most probable class of each document, as in the
            reports (with several labels per document, every label).
        sample_weight : array, optional
            How much each document counts.
        name : str, optional
            What the legend says.
        ax : matplotlib Axes, optional
            Where to draw; several displays can share axes.
        **kwargs
            Handed on to matplotlib's ``plot``.
        """
        forecasts = Forecasts.of_estimator(estimator, X, y, sample_weight)
        made = cls._of(forecasts.outcomes(class_label), kind, name_of(estimator, name))
        return made.plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        labels: Any = None,
        kind: str = "bins",
        class_label: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draws the diagram of probabilities, whoever stated them.

        Parameters
        ----------
        y_true : array
            The labels.
        y_prob : array of shape (examples,) or (examples, classes)
            Probabilities of the second class in sorted order, or of all.
        labels : list, optional
            The classes in the order of the columns, where they are not the sorted labels of `y_true`.
        kind, class_label, sample_weight, name, ax, **kwargs
            As for :meth:`from_estimator`; where `y_prob` has one column the default class is the second.
        """
        forecasts = Forecasts.of(y_true, y_prob, classes=labels, sample_weight=sample_weight)
        return cls._of(forecasts.outcomes(class_label), kind, name).plot(ax, **kwargs)

    @classmethod
    def _of(cls, outcomes: Outcomes, kind: str, name: str | None) -> Self:
        if kind not in ("bins", "curve"):
            raise ValueError(f"kind must be 'bins' or 'curve'; it is {kind!r}")
        found = outcomes.report()["calibration_of_second"]
        points = found["reliability" if kind == "bins" else "reliability_curve"]
        error = found["ece_equal_mass"]
        counts, edges = np.histogram(outcomes.probabilities, bins=20, range=(0.0, 1.0), weights=outcomes.weights)
        bins = kind == "bins"
        return cls(
            column(points, "stated"),
            column(points, "observed"),
            column(points, "consistent_lower"),
            column(points, "consistent_upper"),
            lower=column(points, "lower") if bins else None,
            upper=column(points, "upper") if bins else None,
            counts=counts,
            edges=edges,
            ece=float(error["value"]),
            ece_of_perfect=float(error["of_perfect"]),
            event=outcomes.event,
            name=name,
        )

    def plot(self, ax: Any = None, *, histogram: bool = True, band: bool = True, **kwargs: Any) -> Self:
        """Draws the diagram.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default a new figure.
        histogram : bool
            Whether the forecasts are counted below the diagram.
        band : bool
            Whether the band of perfect forecasters is drawn.
        **kwargs
            Handed on to matplotlib's ``plot``.

        Returns
        -------
        self
        """
        ax = self._begin(ax, (4.8, 5.4) if histogram else (4.8, 4.6))
        first = not any(line.get_gid() == "diagonal" for line in ax.lines)
        colour = self._colour(kwargs)
        if first:
            ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle=":", gid="diagonal", label="_perfect")
        if band:
            shade = GREY if first else colour
            what = "95 % of perfect forecasters" if first else "_band"
            ax.fill_between(self.stated, self.band_lower, self.band_upper, color=shade, alpha=0.22, lw=0, label=what)
        error = f"ECE {self.ece:.3f} (perfect {self.ece_of_perfect:.3f})"
        how: dict[str, Any] = {"label": f"{self.name}: {error}" if self.name else error, "linewidth": 1.6}
        if self.lower is not None and self.upper is not None:
            ax.vlines(self.stated, self.lower, self.upper, color=colour, linewidth=1.1, alpha=0.8)
            how |= {"marker": "o", "markersize": 4.5}
        self._line(self.stated, self.observed, color=colour, **(how | kwargs))
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), ylabel="share that came true", aspect="equal")
        ax.set_title(f"Reliability: {self.event}")
        ax.legend(loc="best", fontsize="small", frameon=False)
        label = f"stated probability of {self.event}"
        if histogram:
            self._count(colour, label)
        else:
            ax.set_xlabel(label)
        return self

    def _count(self, colour: Any, label: str) -> None:
        """The histogram below the diagram; one for all displays that share the axes."""
        below = next((child for child in self.ax_.child_axes if child.get_label() == _HISTOGRAM), None)
        if below is None:
            below = self.ax_.inset_axes((0.0, -0.27, 1.0, 0.2), label=_HISTOGRAM)
            self.ax_.tick_params(labelbottom=False)
            below.set(xlim=self.ax_.get_xlim(), ylabel="forecasts", xlabel=label)
            below.spines[["top", "right"]].set_visible(False)
            below.fill_between(self.edges, np.append(self.counts, 0), step="post", color=colour, alpha=0.35, lw=0)
        below.stairs(self.counts, self.edges, color=colour, linewidth=1.2)
        self.histogram_ax_ = below


__all__ = ["ReliabilityDisplay"]
