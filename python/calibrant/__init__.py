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
    ReadError,
    SavedFileError,
    __version__,
    names,
    num_threads,
    set_num_threads,
)

if TYPE_CHECKING:
    from calibrant._evaluate import compare, evaluate, expect
    from calibrant._explain import Explanation, explain
    from calibrant._fit import check_rules, combine, fit, inspect, recalibrate, split
    from calibrant._fit import open as open
    from calibrant._labels import Suspects, plan_sample, prevalence, suspects
    from calibrant._model import Model
    from calibrant._notices import CalibrantWarning
    from calibrant._policy import Policy, cascade
    from calibrant._predict import predict
    from calibrant._ranking import RankModel, evaluate_rankings, rank_outlook
    from calibrant._report import Page, Report
    from calibrant._scores import ScoreCalibrator, calibrate
    from calibrant._search import SearchIndex
    from calibrant.calibration import CalibratedClassifier, Calibrator
    from calibrant.learners import AdaBoostStumps, NaiveBayes, NearestNeighbours, OutputCode, Perceptron, Rocchio
    from calibrant.linear import LinearSVM, LogisticRegression
    from calibrant.ranking import Ranker
    from calibrant.text import TextClassifier
    from calibrant.vectorizer import TextVectorizer

# Where names live that are imported when they are first used.
_LAZY = {
    "AdaBoostStumps": "learners",
    "CalibrantWarning": "_notices",
    "CalibratedClassifier": "calibration",
    "Calibrator": "calibration",
    "Explanation": "_explain",
    "LinearSVM": "linear",
    "LogisticRegression": "linear",
    "Model": "_model",
    "NaiveBayes": "learners",
    "NearestNeighbours": "learners",
    "OutputCode": "learners",
    "Page": "_report",
    "Perceptron": "learners",
    "Policy": "_policy",
    "RankModel": "_ranking",
    "Ranker": "ranking",
    "Report": "_report",
    "Rocchio": "learners",
    "ScoreCalibrator": "_scores",
    "SearchIndex": "_search",
    "Suspects": "_labels",
    "TextClassifier": "text",
    "TextVectorizer": "vectorizer",
    "calibrate": "_scores",
    "cascade": "_policy",
    "check_rules": "_fit",
    "combine": "_fit",
    "compare": "_evaluate",
    "evaluate": "_evaluate",
    "evaluate_rankings": "_ranking",
    "expect": "_evaluate",
    "explain": "_explain",
    "fit": "_fit",
    "inspect": "_fit",
    "open": "_fit",
    "plan_sample": "_labels",
    "predict": "_predict",
    "prevalence": "_labels",
    "rank_outlook": "_ranking",
    "recalibrate": "_fit",
    "split": "_fit",
    "suspects": "_labels",
}

# `open` is there as well, but not for `from calibrant import *`, which would hide Python's own.
__all__ = [
    "AdaBoostStumps",
    "CalibrantError",
    "CalibrantWarning",
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
    "Page",
    "Perceptron",
    "Policy",
    "RankModel",
    "Ranker",
    "ReadError",
    "Report",
    "Rocchio",
    "SavedFileError",
    "ScoreCalibrator",
    "SearchIndex",
    "Suspects",
    "TextClassifier",
    "TextVectorizer",
    "__version__",
    "calibrate",
    "cascade",
    "check_rules",
    "combine",
    "compare",
    "evaluate",
    "evaluate_rankings",
    "expect",
    "explain",
    "fit",
    "inspect",
    "names",
    "num_threads",
    "plan_sample",
    "predict",
    "prevalence",
    "rank_outlook",
    "recalibrate",
    "set_num_threads",
    "split",
    "suspects",
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
