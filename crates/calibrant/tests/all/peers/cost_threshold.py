"""Decisions by a fixed threshold, and the threshold that is best on the data, by scikit-learn."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import make_scorer
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sparse import answer, question


class Stated(ClassifierMixin, BaseEstimator):
    """Says the probabilities that it is asked about."""

    def fit(self, rows, labels):
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, rows):
        return np.column_stack([1 - rows[:, 0], rows[:, 0]])


def one(case):
    rows = np.array(case["stated"]).reshape(-1, 1)
    labels = np.array(case["labels"])
    false_positive, false_negative = case["false_positive"], case["false_negative"]
    stated = Stated().fit(rows, labels)
    threshold = false_positive / (false_positive + false_negative)
    fixed = FixedThresholdClassifier(stated, threshold=threshold, response_method="predict_proba").fit(rows, labels)

    def saved(truth, decision):
        wrong_yes = np.sum((truth == 0) & (decision == 1))
        wrong_no = np.sum((truth == 1) & (decision == 0))
        return -(false_positive * wrong_yes + false_negative * wrong_no) / len(truth)

    tuned = TunedThresholdClassifierCV(
        stated,
        scoring=make_scorer(saved),
        thresholds=np.append(np.unique(rows), 2.0),
        cv="prefit",
        refit=False,
    ).fit(rows, labels)
    return {
        "decisions": fixed.predict(rows).tolist(),
        "cost": -saved(labels, fixed.predict(rows)),
        "best_cost": -float(tuned.best_score_),
    }


answer([one(case) for case in question()])
