"""Classify and rank text with probabilities that can be trusted.

Estimators follow scikit-learn's conventions; functions take files and tables and do what the program ``calibrant`` does. Nothing heavy is
imported before it is used: ``import calibrant`` loads NumPy and the native module alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from calibrant._calibrant import (
    CalibrantError,
    FitError,
    Model,
    ReadError,
    SavedFileError,
    __version__,
    names,
    num_threads,
    set_num_threads,
)
from calibrant._report import Report

if TYPE_CHECKING:
    from calibrant._explanation import Explanation
    from calibrant.calibration import CalibratedClassifier, Calibrator
    from calibrant.linear import (
        AdaBoostStumps,
        LinearSVM,
        LogisticRegression,
        NaiveBayes,
        NearestNeighbours,
        OutputCode,
        Perceptron,
        Rocchio,
    )
    from calibrant.ranking import Ranker
    from calibrant.text import TextClassifier
    from calibrant.vectorizer import TextVectorizer

# Where names live that are imported when they are first used.
_LAZY = {
    "AdaBoostStumps": "linear",
    "CalibratedClassifier": "calibration",
    "Calibrator": "calibration",
    "Explanation": "_explanation",
    "LinearSVM": "linear",
    "LogisticRegression": "linear",
    "NaiveBayes": "linear",
    "NearestNeighbours": "linear",
    "OutputCode": "linear",
    "Perceptron": "linear",
    "Rocchio": "linear",
    "Ranker": "ranking",
    "TextClassifier": "text",
    "TextVectorizer": "vectorizer",
}

__all__ = [
    "AdaBoostStumps",
    "CalibrantError",
    "CalibratedClassifier",
    "Calibrator",
    "Explanation",
    "FitError",
    "LinearSVM",
    "LogisticRegression",
    "Model",
    "NaiveBayes",
    "NearestNeighbours",
    "OutputCode",
    "Perceptron",
    "Ranker",
    "ReadError",
    "Report",
    "Rocchio",
    "SavedFileError",
    "TextClassifier",
    "TextVectorizer",
    "__version__",
    "names",
    "num_threads",
    "set_num_threads",
]


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'calibrant' has no attribute {name!r}")
    value = getattr(import_module(f"calibrant.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
