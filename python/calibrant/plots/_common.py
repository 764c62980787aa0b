"""What displays have in common: colours, axes, and forecasts as the library measures them."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, Self, cast

import numpy as np
import numpy.typing as npt

from calibrant import _calibrant
from calibrant._input import Array, Floats, Labels, encode, label_names, weights_of

# Okabe and Ito's colours, which people tell apart whatever their eyes see.
BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
PALETTE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
GREY = "#808080"

_OURS = "calibrant"


class Display:
    """A picture that knows its numbers: made by ``from_estimator`` or ``from_predictions``, drawn by ``plot``.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of these axes.
    """

    ax_: Any
    figure_: Any

    def _begin(self, ax: Any, size: tuple[float, float] = (5.2, 4.4)) -> Any:
        """Axes to draw on: those that are given, or those of a new figure."""
        if ax is None:
            _, ax = pyplot().subplots(figsize=size, layout="constrained")
        self.ax_ = ax
        self.figure_ = ax.figure
        return ax

    def _colour(self, given: dict[str, Any]) -> Any:
        """The colour that is asked for, or the next one that is not yet on the axes."""
        if "color" in given:
            return given.pop("color")
        used = sum(line.get_gid() == _OURS for line in self.ax_.lines)
        return PALETTE[used % len(PALETTE)]

    def _line(self, x: Any, y: Any, **how: Any) -> Any:
        """A line that counts as one of ours when colours are given out."""
        return self.ax_.plot(x, y, gid=_OURS, **how)[0]


def pyplot() -> Any:
    """The pyplot of matplotlib, imported when the first picture is asked for."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'calibrant[plots]', or pip install matplotlib") from error
    return plt


class Outcomes(NamedTuple):
    """Probabilities of events, and whether they happened."""

    probabilities: Floats
    happened: npt.NDArray[np.bool_]
    weights: Floats | None
    event: str
    """What is stated to be probable, for the label of an axis."""

    def report(self) -> dict[str, Any]:
        """All measures of these forecasts, as of two classes of which the second is the event."""
        second = np.clip(self.probabilities, 0.0, 1.0)
        both = np.column_stack([1.0 - second, second])
        return _measured(both, ["no", "yes"], self.happened.astype(np.uint32), None, self.weights)


class Forecasts(NamedTuple):
    """Stated probabilities of classes beside the truth."""

    probabilities: Floats
    classes: Array
    numbers: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.int64] | None
    weights: Floats | None
    one_column: bool = False
    """Whether the probability of the second class alone was given."""

    @classmethod
    def of_estimator(cls, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """What a fitted classifier says of `X`."""
        said = estimator.predict_proba(X)
        if isinstance(said, list):
            raise ValueError("predict_proba gives a list of tables; one table of rows by classes is needed")
        return cls.of(y, said, classes=np.asarray(estimator.classes_), sample_weight=sample_weight)

    @classmethod
    def of(cls, y_true: Any, y_prob: Any, *, classes: Any = None, sample_weight: Any = None) -> Self:
        """What was stated of examples by anyone.

        `y_prob` is the probability of the second class in sorted order, or a table of examples by classes.
        """
        table = np.asarray(y_prob, dtype=np.float64)
        if table.ndim not in (1, 2):
            raise ValueError(f"y_prob must be one number per example, or one per class; its shape is {table.shape}")
        if not np.isfinite(table).all():
            raise ValueError("Input y_prob contains NaN or infinity.")
        if ((table < 0.0) | (table > 1.0)).any():
            raise ValueError("y_prob must lie between 0 and 1; calibrant.Calibrator makes probabilities of scores")
        labels = encode(y_true)
        one_column = table.ndim == 1 or table.shape[1] == 1
        if one_column:
            second = table.reshape(-1)
            table = np.column_stack([1.0 - second, second])
        known = labels.classes if classes is None else np.asarray(classes)
        if len(known) != table.shape[1]:
            raise ValueError(
                f"y_prob states {table.shape[1]} classes and there are {len(known)}: name them with labels=[…] in the order of the columns"
            )
        numbers = _numbers_among(labels, known)
        rows = len(numbers) if labels.starts is None else len(labels.starts) - 1
        if rows != len(table):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {len(table)}]")
        weights = weights_of(sample_weight, rows)
        return cls(np.ascontiguousarray(table), known, numbers, labels.starts, weights, one_column)

    def report(self) -> dict[str, Any]:
        """All measures, as ``calibrant evaluate --json`` prints them."""
        return _measured(self.probabilities, label_names(self.classes), self.numbers, self.starts, self.weights)

    def place(self, class_label: Any) -> int:
        """The column of a class."""
        known = self.classes.tolist()
        if class_label not in known:
            raise ValueError(f"there is no class {class_label!r}; there are {', '.join(map(repr, known[:20]))}")
        return int(known.index(class_label))

    def has(self, column: int) -> npt.NDArray[np.bool_]:
        """Which rows have a class."""
        if self.starts is None:
            return cast("npt.NDArray[np.bool_]", self.numbers == column)
        found = np.zeros(len(self.probabilities), dtype=bool)
        found[np.repeat(np.arange(len(found)), np.diff(self.starts))[self.numbers == column]] = True
        return found

    def outcomes(self, class_label: Any, *, second_of_two: bool = False) -> Outcomes:
        """One class; where none is named the most probable one (with several labels per document each label).

        Where the probability of one class was given, or `second_of_two` is asked for, the second of two classes is the
        default.
        """
        if class_label is None and self.starts is None and len(self.classes) == 2 and (self.one_column or second_of_two):
            class_label = self.classes.tolist()[1]
        if class_label is not None:
            column = self.place(class_label)
            return Outcomes(self.probabilities[:, column], self.has(column), self.weights, f"“{class_label}”")
        if self.starts is None:
            top = np.argmax(self.probabilities, axis=1)
            highest = self.probabilities[np.arange(len(top)), top]
            return Outcomes(highest, top == self.numbers, self.weights, "the answer")
        width = self.probabilities.shape[1]
        happened = np.column_stack([self.has(column) for column in range(width)])
        weights = None if self.weights is None else np.repeat(self.weights, width)
        return Outcomes(self.probabilities.reshape(-1), happened.reshape(-1), weights, "a label")


def _numbers_among(labels: Labels, classes: Array) -> npt.NDArray[np.uint32]:
    """Labels by their places among classes that are known already."""
    place = {label: number for number, label in enumerate(classes.tolist())}
    own = labels.classes.tolist()
    unknown = [label for label in own if label not in place]
    if unknown:
        raise ValueError(f"y has the label {unknown[0]!r}, of which no probability is stated")
    found: npt.NDArray[np.uint32] = np.array([place[label] for label in own], dtype=np.uint32)
    return found[labels.numbers]


def _measured(
    probabilities: Floats,
    names: list[str],
    numbers: npt.NDArray[np.uint32],
    starts: npt.NDArray[np.int64] | None,
    weights: Floats | None,
) -> dict[str, Any]:
    table = np.ascontiguousarray(probabilities)
    found: dict[str, Any] = json.loads(_calibrant.evaluate_forecasts(table, names, numbers, starts, weights, None, "[]", 0))
    return found


def name_of(estimator: Any, name: str | None) -> str:
    """What a classifier is called in a legend."""
    return type(estimator).__name__ if name is None else name


def column(entries: list[dict[str, Any]], key: str) -> Floats:
    """One value of every entry; what is missing is NaN."""
    return np.array([np.nan if entry[key] is None else entry[key] for entry in entries], dtype=np.float64)


__all__ = ["Display", "Forecasts", "Outcomes", "column", "name_of", "pyplot"]
