"""Beta calibration as betacal fits it, and plain logistic regression as scikit-learn does."""

from functools import partial

import betacal.beta_calibration
import numpy as np
from betacal import BetaCalibration
from sklearn.linear_model import LogisticRegression
from sparse import answer, question

patient = partial(LogisticRegression, tol=1e-12, solver="newton-cholesky", max_iter=1000)
# By itself it stops when the gradient is below 1e-4, about as far from the end in probabilities.
betacal.beta_calibration.LogisticRegression = patient

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
        beta.fit(forecasts, labels, weights)
        curves[kind] = beta.predict(forecasts).tolist()
    line = patient(C=np.inf)
    line.fit(scores.reshape(-1, 1), labels, weights)
    curves["line"] = line.predict_proba(scores.reshape(-1, 1))[:, 1].tolist()
    answers.append(curves)
answer(answers)
