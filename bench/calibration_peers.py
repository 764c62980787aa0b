"""The calibrators of other libraries behind one interface: fit(scores, labels) gives a function of scores."""

import warnings

import numpy as np
from betacal import BetaCalibration
from scipy.special import expit
from sklearn.calibration import _SigmoidCalibration, _TemperatureScaling
from sklearn.isotonic import IsotonicRegression
from venn_abers import VennAbers

warnings.filterwarnings("ignore")
TINY = np.finfo(float).eps


def sigmoid(scores, labels):
    return _SigmoidCalibration().fit(scores, labels).predict


def isotonic(scores, labels):
    return IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(scores, labels).predict


def temperature(scores, labels):
    # For two classes scikit-learn takes the score itself as the log-odds.
    fitted = _TemperatureScaling().fit(scores.reshape(-1, 1), labels)
    return lambda scores: fitted.predict(scores.reshape(-1, 1))[:, 1]


def beta(parameters):
    def fit(scores, labels):
        fitted = BetaCalibration(parameters=parameters).fit(expit(scores).reshape(-1, 1), labels)
        return lambda scores: fitted.predict(expit(scores).reshape(-1, 1))

    return fit


def two_columns(scores):
    p = expit(scores)
    return np.column_stack([1 - p, p])


def venn_abers(scores, labels):
    fitted = VennAbers()
    fitted.fit(two_columns(scores), labels)
    return lambda scores: fitted.predict_proba(two_columns(scores))[0][:, 1]


PEERS = {
    "scikit-learn sigmoid": sigmoid,
    "scikit-learn isotonic": isotonic,
    "scikit-learn temperature": temperature,
    "betacal abm": beta("abm"),
    "betacal ab": beta("ab"),
    "betacal am": beta("am"),
    "venn-abers": venn_abers,
}


def clipped(probabilities):
    """Off the ends, as scikit-learn's log loss does it."""
    return np.clip(np.asarray(probabilities, dtype=float).ravel(), TINY, 1 - TINY)


def losses(probabilities, labels):
    """Sums of log loss and squared error."""
    p = clipped(probabilities)
    stated = np.where(labels, p, 1 - p)
    return -np.log(stated).sum(), np.square(p - labels).sum()


def excess(probabilities, truth):
    """Mean divergence from the true posterior, given as log-odds."""
    q, p = clipped(probabilities), expit(truth)
    here = np.logaddexp(0, -truth), np.logaddexp(0, truth)
    return float(np.mean(p * (-np.log(q) - here[0]) + expit(-truth) * (-np.log1p(-q) - here[1])))
