"""Measures of yes-or-no forecasts by scikit-learn, model-diagnostics, MAPIE, relplot and SciPy."""

import numpy as np
import relplot
import relplot.config
import scipy.optimize
import scipy.stats
from mapie.metrics.calibration import (
    cumulative_differences,
    kolmogorov_smirnov_p_value,
    kolmogorov_smirnov_statistic,
    kuiper_p_value,
    kuiper_statistic,
    spiegelhalter_p_value,
    spiegelhalter_statistic,
)
from model_diagnostics.scoring import LogLoss, SquaredError, decompose
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, brier_score_loss, log_loss, roc_auc_score
from sparse import answer, question


def parts(function, truth, stated, weights):
    table = decompose(y_obs=truth, y_pred=stated, weights=weights, scoring_function=function)
    return {name: float(table[name][0]) for name in ["miscalibration", "discrimination", "uncertainty", "score"]}


def equal_width(truth, stated, weights, bins):
    place = np.minimum((stated * bins).astype(int), bins - 1)
    gaps = np.bincount(place, weights * (truth - stated), minlength=bins)
    return float(np.abs(gaps).sum() / weights.sum())


answers = []
for case in question()["cases"]:
    truth = np.array(case["happened"], dtype=float)
    stated = np.array(case["stated"])
    log_odds = np.array(case["log_odds"])
    weights = np.array(case["weights"])
    found = {
        "log_loss": log_loss(truth, stated, sample_weight=weights),
        "brier": brier_score_loss(truth, stated, sample_weight=weights),
        "auc": roc_auc_score(truth, stated, sample_weight=weights),
        "average_precision": average_precision_score(truth, stated, sample_weight=weights),
        "brier_parts": parts(SquaredError(), truth, stated, weights),
        "log_loss_parts": parts(LogLoss(), truth, stated, weights),
        "ece_10": equal_width(truth, stated, weights, 10),
        "ece_15": equal_width(truth, stated, weights, 15),
    }
    line = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(
        log_odds[:, None], truth, sample_weight=weights
    )
    found["slope"] = float(line.coef_[0, 0])
    found["intercept"] = float(line.intercept_[0])
    # Standard errors: the inverse Hessian, or the sandwich where weights differ.
    rows = np.column_stack([np.ones_like(log_odds), log_odds])
    fitted = line.predict_proba(log_odds[:, None])[:, 1]
    hessian = np.linalg.inv((rows * (weights * fitted * (1 - fitted))[:, None]).T @ rows)
    if not np.all(weights == weights[0]):
        pulls = rows * (weights * (truth - fitted))[:, None]
        hessian = hessian @ (pulls.T @ pulls) @ hessian
    found["intercept_error"], found["slope_error"] = np.sqrt(np.diag(hessian)).tolist()
    found["in_the_large"] = scipy.optimize.brentq(
        lambda a: np.sum(weights * (truth - 1 / (1 + np.exp(-log_odds - a)))), -20, 20, xtol=1e-13
    )
    if np.all(weights == 1):
        drift = cumulative_differences(truth, stated)
        found["straddles"] = bool(drift.min() < 0 < drift.max())
        found["smirnov"] = [kolmogorov_smirnov_statistic(truth, stated), kolmogorov_smirnov_p_value(truth, stated)]
        found["kuiper"] = [kuiper_statistic(truth, stated), kuiper_p_value(truth, stated)]
        # MAPIE's p-value is for the upper side alone.
        upper = spiegelhalter_p_value(truth, stated)
        found["spiegelhalter"] = [spiegelhalter_statistic(truth, stated), 2 * min(upper, 1 - upper)]
        found["smooth"] = relplot.smECE(stated, truth)
        # Looked at on a finer mesh, its integral comes closer to what it stands for.
        relplot.config.smECE_mesh_pts = 4001
        found["smooth_fine"] = relplot.smECE(stated, truth)
        relplot.config.smECE_mesh_pts = 200
    answers.append(found)
answer(answers)
