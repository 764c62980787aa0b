"""Prediction sets as MAPIE makes them, from probabilities, draws and a level that are handed in."""

import mapie.conformity_scores.sets.aps as aps
import numpy as np
from mapie.conformity_scores import (
    APSConformityScore,
    LACConformityScore,
    RAPSConformityScore,
)
from sparse import answer, question


class Handed:
    """In place of a random state: the draws that calibrant used, once."""

    def __init__(self, draws):
        self.draws = np.array(draws)

    def uniform(self, size):
        return self.draws.reshape(size)


# MAPIE asks this function for its random state; what is handed in is passed on.
aps.check_random_state = lambda state: state

asked = question()
answers = []
for case in asked["cases"]:
    classes = np.arange(case["class_count"])
    calibration = np.array(case["calibration"]).reshape(-1, len(classes))
    test = np.array(case["test"]).reshape(-1, len(classes))
    labels = np.array(case["labels"])
    alpha = np.array([1.0 - case["coverage"]])
    score = {
        "lac": LACConformityScore,
        "aps": APSConformityScore,
        "raps": RAPSConformityScore,
    }[case["kind"]]()
    score.classes = classes
    score.random_state = Handed(case["calibration_draws"])
    if case["kind"] == "lac":
        scores = score.get_conformity_scores(labels, calibration, y_enc=labels)
    else:
        # Past the part of RAPS that asks an estimator; its penalty is handed in.
        scores = APSConformityScore.get_conformity_scores(
            score, labels, calibration, y_enc=labels
        )
    if case["kind"] == "raps":
        score.k_star = np.array([case["free"]])
        score.lambda_star = case["weight"]
        scores = score._regularize_conformity_score(
            score.k_star, score.lambda_star, scores, score.cutoff
        )[:, :, 0]
    score.quantiles_ = APSConformityScore.get_conformity_score_quantiles(
        score, scores, alpha, cv="prefit"
    )
    score.random_state = Handed(case["test_draws"])
    proba = np.repeat(test[:, :, np.newaxis], 1, axis=2)
    last = {"drawn": "randomized", "added": True, "whole": False}[case["last_class"]]
    arguments = {} if case["kind"] == "lac" else {"include_last_label": last}
    sets = score.get_prediction_sets(proba, scores, alpha, cv="prefit", **arguments)
    answers.append(
        {
            "threshold": float(np.ravel(score.quantiles_)[0]),
            "sets": [np.flatnonzero(row).tolist() for row in sets[:, :, 0]],
        }
    )
answer(answers)
