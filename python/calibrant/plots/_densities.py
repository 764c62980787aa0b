"""The densities of scores that calibrators fit, and smooth ones for those that fit none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from calibrant._input import Floats


def fitted_densities(curve: Any, grid: Floats) -> tuple[Floats, Floats] | None:
    """Densities of positives and negatives along `grid`, where the method fits densities; ``None`` for others."""
    while isinstance(curve, Mapping) and "inner" in curve:
        curve = curve["inner"]
    if not (isinstance(curve, Mapping) and curve.get("method") in _DENSITIES and "positive" in curve):
        return None
    density = _DENSITIES[curve["method"]]
    return density(grid, **curve["positive"]), density(grid, **curve["negative"])


def _gauss(s: Floats, mean: float, deviation: float) -> Floats:
    return _asymmetric_gauss(s, mean, deviation, deviation)


def _asymmetric_gauss(s: Floats, mode: float, left_deviation: float, right_deviation: float) -> Floats:
    width = np.where(s <= mode, left_deviation, right_deviation)
    peak = 2.0 / (np.sqrt(2.0 * np.pi) * (left_deviation + right_deviation))
    return cast("Floats", peak * np.exp(-0.5 * ((s - mode) / width) ** 2))


def _laplace(s: Floats, median: float, deviation: float) -> Floats:
    return _asymmetric_laplace(s, median, 1.0 / deviation, 1.0 / deviation)


def _asymmetric_laplace(s: Floats, mode: float, left_rate: float, right_rate: float) -> Floats:
    rate = np.where(s <= mode, left_rate, right_rate)
    peak = left_rate * right_rate / (left_rate + right_rate)
    return cast("Floats", peak * np.exp(-rate * np.abs(s - mode)))


def _hybrid(s: Floats, mode: float, inner: str, inner_rate: float, outer_deviation: float) -> Floats:
    facing = s <= mode if inner == "left" else s >= mode
    exponential = np.exp(-inner_rate * np.abs(s - mode))
    normal = np.exp(-0.5 * ((s - mode) / outer_deviation) ** 2)
    area = 1.0 / inner_rate + outer_deviation * np.sqrt(np.pi / 2.0)
    return cast("Floats", np.where(facing, exponential, normal) / area)


_DENSITIES: dict[str, Any] = {
    "gauss": _gauss,
    "asymmetric_gauss": _asymmetric_gauss,
    "laplace": _laplace,
    "asymmetric_laplace": _asymmetric_laplace,
    "hybrid": _hybrid,
}


def smooth_density(scores: Floats, weights: Floats, grid: Floats) -> Floats:
    """A kernel estimate of the density of weighted scores.

    It goes by way of a fine histogram, so that its time does not grow with scores times grid.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.plots._densities import smooth_density
    >>> grid = np.linspace(-6, 6, 601)
    >>> density = smooth_density(np.random.default_rng(0).normal(size=5000), np.ones(5000), grid)
    >>> bool(abs(density.sum() * 0.02 - 1.0) < 0.01)
    True
    """
    total = weights.sum()
    if total <= 0.0:
        return np.zeros_like(grid)
    low, high = float(scores.min()), float(scores.max())
    if not low < high:
        low, high = low - 0.5, high + 0.5
    counts, edges = np.histogram(scores, bins=1000, range=(low, high), weights=weights)
    middles = (edges[1:] + edges[:-1]) / 2.0
    mean = np.average(middles, weights=counts)
    deviation = np.sqrt(np.average((middles - mean) ** 2, weights=counts))
    below = np.cumsum(counts) / total
    quarters = float(np.interp(0.75, below, middles) - np.interp(0.25, below, middles))
    spread = min(deviation, quarters / 1.349) if quarters > 0.0 else deviation
    effective = total**2 / np.square(weights).sum()
    width = max(0.9 * spread * effective**-0.2, edges[1] - edges[0])
    kernel = np.exp(-0.5 * ((grid[:, None] - middles[None, :]) / width) ** 2)
    return cast("Floats", kernel @ counts / (total * width * np.sqrt(2.0 * np.pi)))


__all__ = ["fitted_densities", "smooth_density"]
