"""Platt's curve as scikit-learn fits it."""

import numpy as np
from sklearn.calibration import _SigmoidCalibration
from sparse import answer, question

asked = question()
answers = []
for case in asked["cases"]:
    curve = _SigmoidCalibration()
    curve.fit(np.array(case["scores"]), np.array(case["labels"], dtype=int), np.array(case["weights"]))
    answers.append(curve.predict(np.array(case["scores"])).tolist())
answer(answers)
