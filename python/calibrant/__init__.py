"""Classify and rank text with probabilities that can be trusted."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from calibrant._calibrant import CalibrantError, FitError, ReadError, SavedFileError, __version__

if TYPE_CHECKING:
    from calibrant._evaluate import compare, evaluate, expect
    from calibrant._explain import Explanation, explain
    from calibrant._fit import check_rules, combine, fit, inspect, open, recalibrate, split
    from calibrant._labels import Suspects, plan_sample, prevalence, suspects
    from calibrant._model import Model
    from calibrant._notices import CalibrantWarning
    from calibrant._policy import Policy, cascade
    from calibrant._predict import predict
    from calibrant._ranking import RankModel, evaluate_rankings, rank_outlook
    from calibrant._report import Page, Report
    from calibrant._scores import ScoreCalibrator, calibrate
    from calibrant._search import SearchIndex

#: Where names are that are loaded when they are first asked for.
_LAZY = {
    "CalibrantWarning": "_notices",
    "Explanation": "_explain",
    "Model": "_model",
    "Page": "_report",
    "Policy": "_policy",
    "RankModel": "_ranking",
    "Report": "_report",
    "ScoreCalibrator": "_scores",
    "SearchIndex": "_search",
    "Suspects": "_labels",
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

__all__ = [
    "CalibrantError",
    "CalibrantWarning",
    "Explanation",
    "FitError",
    "Model",
    "Page",
    "Policy",
    "RankModel",
    "ReadError",
    "Report",
    "SavedFileError",
    "ScoreCalibrator",
    "SearchIndex",
    "Suspects",
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
    "open",
    "plan_sample",
    "predict",
    "prevalence",
    "rank_outlook",
    "recalibrate",
    "split",
    "suspects",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(importlib.import_module(f"calibrant.{_LAZY[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'calibrant' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
