"""Pictures by scikit-learn's convention: ``Display.from_estimator``, ``Display.from_predictions``, ``display.plot``.

matplotlib is imported when the first picture is drawn. Numbers are those of ``calibrant evaluate``; every display keeps
its own as attributes.
"""

from calibrant.plots._confusion import ConfusionDisplay
from calibrant.plots._decisions import AnsweredDisplay, DecisionCurveDisplay
from calibrant.plots._learning import LearningCurveDisplay
from calibrant.plots._reliability import ReliabilityDisplay
from calibrant.plots._scores import LogOddsDisplay, ScoreDensityDisplay

__all__ = [
    "AnsweredDisplay",
    "ConfusionDisplay",
    "DecisionCurveDisplay",
    "LearningCurveDisplay",
    "LogOddsDisplay",
    "ReliabilityDisplay",
    "ScoreDensityDisplay",
]
