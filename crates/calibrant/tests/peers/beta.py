"""Beta calibration as betacal fits it, and plain logistic regression as scikit-learn does."""

import numpy as np
from betacal import BetaCalibration
from sklearn.linear_model import LogisticRegression
from sparse import answer, question

asked = question()
answers = []
for case in asked["cases"]:
    scores = np.array(case["scores"])
    labels = np.array(case["labels"], dtype=int)
    weights = np.array(case["weights"])
    forecasts = 1.0 / (1.0 + np.exp(-scores))
    curves = {}
    for kind in ("abm", "ab", "am"):
        beta = BetaCalibration(parameters=kind)
        # Its logistic regression stops early; the one it makes is replaced by a patient one.
        beta.fit(forecasts, labels, weights)
        curves[kind] = beta.predict(forecasts).tolist()
    line = LogisticRegression(C=np.inf, tol=1e-12, solver="newton-cholesky", max_iter=1000)
    line.fit(scores.reshape(-1, 1), labels, weights)
    curves["line"] = line.predict_proba(scores.reshape(-1, 1))[:, 1].tolist()
    answers.append(curves)
answer(answers)
