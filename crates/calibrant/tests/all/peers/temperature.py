"""Temperature scaling as scikit-learn fits it."""

import numpy as np
from sklearn.calibration import _TemperatureScaling
from sparse import answer, question

asked = question()
answers = []
for case in asked["cases"]:
    scores = np.array(case["scores"]).reshape(-1, case["class_count"])
    scaling = _TemperatureScaling()
    scaling.fit(scores, np.array(case["labels"]), np.array(case["weights"]))
    answers.append(
        {
            "inverse_temperature": float(scaling.beta_),
            "probabilities": scaling.predict(scores).ravel().tolist(),
        }
    )
answer(answers)
