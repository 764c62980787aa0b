"""Tests of significance by scipy."""

import numpy as np
from scipy.special import gammaln, log_ndtr
from scipy.stats import binomtest, chi2, wilcoxon
from sklearn.metrics import roc_auc_score
from sparse import answer, question

asked = question()


def signed_ranks(differences):
    differences = np.array(differences)
    left = differences[differences != 0]
    tied = len(np.unique(np.abs(left))) < len(left)
    # Ours counts ties out exactly up to fifty; scipy can do so up to thirteen, by trying all signs.
    if len(left) > 50:
        method = "asymptotic"
    else:
        method = "auto" if tied else "exact"
    found = wilcoxon(left, method=method, correction=False)
    plus = wilcoxon(left, method=method, correction=False, alternative="greater").statistic
    return {"p": float(found.pvalue), "plus": float(plus)}


answer(
    {
        "wilcoxon": [signed_ranks(case) for case in asked["differences"]],
        "sign": [float(binomtest(wins, wins + losses).pvalue) for wins, losses in asked["counts"]],
        "mcnemar": [
            float(chi2.sf((abs(b - c) - 1) ** 2 / (b + c), 1)) for b, c in asked["counts"] if abs(b - c) > 0
        ],
        "ln_normal": log_ndtr(np.array(asked["z"])).tolist(),
        "ln_gamma": gammaln(np.array(asked["x"])).tolist(),
        "auc": [
            roc_auc_score(
                np.array(case["truth"]),
                np.array(case["stated"]),
                average="macro",
                sample_weight=np.array(case["weights"]),
            )
            for case in asked["auc"]
        ],
    }
)
