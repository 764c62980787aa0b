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


class PaperRAPS(RAPSConformityScore):
    """RAPS that keeps the last class by algorithm 3 of Angelopoulos et al. (ICLR 2021): what it exceeds the threshold by is divided by its
    probability, as in APS. MAPIE takes λ·(L - k - 1) off that for the L-th class, where this is above 0."""

    _compute_v_parameter = APSConformityScore._compute_v_parameter


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
    listed = [np.flatnonzero(row).tolist() for row in sets[:, :, 0]]
    found = {"threshold": float(np.ravel(score.quantiles_)[0]), "sets": listed}
    if case["kind"] == "raps" and last == "randomized":
        everything = score.get_prediction_sets(proba, scores, alpha, cv="prefit", include_last_label=True)
        # How many classes there are with the last: up to one more than the free ones, MAPIE divides as the paper does.
        found["same_rule"] = (everything.sum(axis=1)[:, 0] <= case["free"] + 1).tolist()
        score.__class__ = PaperRAPS
        sets = score.get_prediction_sets(proba, scores, alpha, cv="prefit", **arguments)
        found["by_the_paper"] = [np.flatnonzero(row).tolist() for row in sets[:, :, 0]]
    answers.append(found)
answer(answers)
