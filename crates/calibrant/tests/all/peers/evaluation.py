"""Measures by scikit-learn."""

import numpy as np
from sklearn.metrics import accuracy_score, brier_score_loss, f1_score, log_loss
from sparse import answer, question

asked = question()
classes = len(asked["probabilities"][0])
stated = np.array(asked["probabilities"])
weights = np.array(asked["weights"])
if asked["single_label"]:
    truth = np.array([labels[0] for labels in asked["labels"]])
    said = stated.argmax(axis=1)
    every = list(range(classes))
    # With two classes scikit-learn wants the probability of the second.
    forecast = stated[:, 1] if classes == 2 else stated
    measures = {
        "accuracy": accuracy_score(truth, said, sample_weight=weights),
        "log_loss": log_loss(truth, stated, labels=every, sample_weight=weights),
        "brier": brier_score_loss(truth, forecast, labels=every, sample_weight=weights),
    }
else:
    truth = np.zeros(stated.shape, dtype=int)
    for row, labels in enumerate(asked["labels"]):
        truth[row, labels] = 1
    said = (stated > 0.5).astype(int)
    every = None
    each = np.repeat(weights, classes)
    measures = {
        "log_loss": log_loss(truth.ravel(), stated.ravel(), sample_weight=each),
        "brier": brier_score_loss(truth.ravel(), stated.ravel(), sample_weight=each),
    }
for average in ["micro", "macro"]:
    # Classes without a positive and without a prediction have no F1 and are left out.
    measures[f"{average}_f1"] = f1_score(
        truth, said, labels=every, average=average, sample_weight=weights, zero_division=np.nan
    )
answer({name: float(value) for name, value in measures.items()})
