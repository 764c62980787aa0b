"""Which classes are taken for which."""

from __future__ import annotations

from typing import Any, Self, cast

import numpy as np

from calibrant._input import Floats, weights_of
from calibrant.plots._common import Display, pyplot

_BY = {None: "documents", "truth": "% of the true class", "decision": "% of the decision", "all": "% of all documents"}


class ConfusionDisplay(Display):
    """True classes beside decisions, as counts or shares.

    Decisions may be more than classes: what :meth:`calibrant.TextClassifier.decide` answers, with ``"ask"`` and actions
    of yours, has columns of its own.

    Parameters
    ----------
    matrix : ndarray of shape (classes, decisions)
        Documents (or their weight) by truth and decision.
    truths, decisions : list
        What rows and columns are.

    Examples
    --------
    >>> from calibrant.plots import ConfusionDisplay
    >>> display = ConfusionDisplay.from_predictions(["a", "b", "b"], ["a", "a", "ask"])
    >>> display.decisions
    ['a', 'b', 'ask']
    >>> display.matrix.tolist()
    [[1.0, 0.0, 0.0], [1.0, 0.0, 1.0]]
    """

    def __init__(self, matrix: Floats, truths: list[Any], decisions: list[Any]) -> None:
        self.matrix = matrix
        self.truths = truths
        self.decisions = decisions

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, ax: Any = None, **kwargs: Any) -> Self:
        """Draws what a fitted classifier answers on documents that it has not learned from.

        Parameters
        ----------
        estimator : classifier
            Anything with ``predict`` and ``classes_``.
        X, y
            Documents, and their labels.
        sample_weight : array, optional
            How much each document counts.
        ax, **kwargs
            As for :meth:`plot`.

        Returns
        -------
        self
        """
        decided = estimator.predict(X)
        classes = np.asarray(estimator.classes_).tolist()
        return cls.from_predictions(y, decided, labels=classes, sample_weight=sample_weight, ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draws decisions beside the truth.

        Parameters
        ----------
        y_true : array
            The labels.
        y_pred : array of shape (examples,) or (examples, classes)
            Decisions; or probabilities of classes, the highest of which is the decision.
        labels : list, optional
            The classes in order; by default, those of `y_true` and `y_pred` sorted. Columns of probabilities are in
            this order (by default that of the sorted labels of `y_true`).
        sample_weight : array, optional
            How much each example counts.
        ax, **kwargs
            As for :meth:`plot`.
        """
        truth = _plain(y_true)
        classes = _sorted(truth) if labels is None else list(labels)
        table = np.asarray(y_pred)
        if table.ndim == 2:
            if table.shape[1] != len(classes):
                raise ValueError(f"y_pred states {table.shape[1]} classes and there are {len(classes)}: name them with labels=[…]")
            decided = [classes[place] for place in np.argmax(table, axis=1)]
        else:
            decided = _plain(y_pred)
        if len(decided) != len(truth):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{len(truth)}, {len(decided)}]")
        actions = classes + [one for one in _sorted(decided) if one not in classes]
        rows = classes + [one for one in _sorted(truth) if one not in classes]
        weights = weights_of(sample_weight, len(truth))
        matrix = np.zeros((len(rows), len(actions)))
        places = {one: place for place, one in enumerate(actions)}
        lines = {one: line for line, one in enumerate(rows)}
        where = ([lines[one] for one in truth], [places[one] for one in decided])
        np.add.at(matrix, where, 1.0 if weights is None else weights)
        return cls(matrix, rows, actions).plot(ax, **kwargs)

    def shares(self, by: str | None) -> Floats:
        """The matrix in percent of the true class, of the decision or of all; as it is where `by` is ``None``.

        Parameters
        ----------
        by : {"truth", "decision", "all"} or None
            Shares of what.

        Returns
        -------
        ndarray of shape (classes, decisions)
        """
        if by not in _BY:
            raise ValueError(f"by must be 'truth', 'decision', 'all' or None; it is {by!r}")
        if by is None:
            return self.matrix
        axis = {"truth": 1, "decision": 0, "all": None}[by]
        total = self.matrix.sum(axis=axis, keepdims=True)
        return cast("Floats", 100.0 * np.divide(self.matrix, total, out=np.zeros_like(self.matrix), where=total > 0))

    def plot(self, ax: Any = None, *, by: str | None = None, numbers: bool | None = None, cmap: str = "Blues") -> Self:
        """Draws the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default a new figure.
        by : {"truth", "decision", "all"}, optional
            Shares of what, in percent; counts where it is ``None``.
        numbers : bool, optional
            Whether numbers are written into the cells; by default where there are at most twenty classes.
        cmap : str
            The colours. Cells are coloured by their share of the true class, whatever the numbers.

        Returns
        -------
        self
        """
        rows, columns = self.matrix.shape
        side = min(3.0 + 0.5 * max(rows, columns), 11.0)
        ax = self._begin(ax, (side + 0.6, side))
        image = ax.imshow(self.shares("truth"), cmap=cmap, vmin=0.0, vmax=100.0, aspect="equal")
        if numbers or (numbers is None and max(rows, columns) <= 20):
            self._write(ax, image, self.shares(by), by)
        ax.set_xticks(range(columns), [str(one) for one in self.decisions])
        ax.set_yticks(range(rows), [str(one) for one in self.truths])
        if sum(len(str(one)) for one in self.decisions) > 6 * columns or columns > 12:
            pyplot().setp(ax.get_xticklabels(), rotation=45, ha="right", rotation_mode="anchor")
        ax.set(xlabel="decision", ylabel="truth", title=f"Confusion, {_BY[by]}")
        return self

    def _write(self, ax: Any, image: Any, values: Floats, by: str | None) -> None:
        whole = by is None and bool(np.all(values == np.round(values)))
        for (row, column), value in np.ndenumerate(values):
            if value > 0.0:
                red, green, blue, _ = image.cmap(image.norm(image.get_array()[row, column]))
                dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
                text = f"{value:.0f}" if whole else f"{value:.1f}"
                ax.text(column, row, text, ha="center", va="center", color="white" if dark else "black", fontsize="small")


def _plain(labels: Any) -> list[Any]:
    """Labels as Python's own values, however they come."""
    if hasattr(labels, "to_pylist"):
        found: list[Any] = labels.to_pylist()
    elif hasattr(labels, "to_list"):
        found = labels.to_list()
    else:
        found = labels if isinstance(labels, list) else np.asarray(labels).tolist()
    if any(isinstance(one, (list, tuple, set)) for one in found):
        raise ValueError("a confusion matrix needs one label per example; these have several")
    return [one.item() if isinstance(one, np.generic) else one for one in found]


def _sorted(labels: list[Any]) -> list[Any]:
    """Distinct labels in order; those of different types by their texts."""
    distinct = set(labels)
    try:
        return sorted(distinct)
    except TypeError:
        return sorted(distinct, key=str)


__all__ = ["ConfusionDisplay"]
