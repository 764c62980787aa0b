"""Discrete AdaBoost by scikit-learn: over its own trees of depth one, and over stumps of least error.

A tree's split is the one of least Gini impurity, which is not always the one of least error: for each case
the answer says whether it was, round for round.
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier
from sparse import answer, matrix, question


def cuts(column):
    values = np.unique(column)
    return (values[:-1] + values[1:]) / 2


def side_weights(labels, weights, above):
    """Rows: below, above. Columns: negative, positive."""
    return np.array([[weights[(above == side) & (labels == label)].sum() for label in (0, 1)] for side in (0, 1)])


class LeastErrorStump(ClassifierMixin, BaseEstimator):
    """Every threshold of every column is tried; so is one answer for all rows."""

    def fit(self, rows, labels, sample_weight):
        self.classes_ = np.unique(labels)
        totals = side_weights(labels, sample_weight, np.ones(len(labels)))[1]
        self.column, self.threshold, self.answers = 0, -np.inf, np.repeat(totals.argmax(), 2)
        self.error = totals.min()
        for column in range(rows.shape[1]):
            for threshold in cuts(rows[:, column]):
                sides = side_weights(labels, sample_weight, rows[:, column] > threshold)
                error = sides.min(axis=1).sum()
                if error < self.error - 1e-12:
                    self.column, self.threshold, self.error = column, threshold, error
                    self.answers = sides.argmax(axis=1)
        return self

    def predict(self, rows):
        return self.answers[(rows[:, self.column] > self.threshold).astype(int)]


def stump_of_tree(tree, rows):
    answers = tree.predict(np.array(rows))
    if tree.tree_.feature[0] < 0:
        return 0, -np.inf, np.repeat(answers[0], 2)
    column, threshold = int(tree.tree_.feature[0]), float(tree.tree_.threshold[0])
    above = rows[:, column] > threshold
    return column, threshold, np.array([answers[~above][0], answers[above][0]])


def stumps(model, parts):
    # Theirs is twice ours: SAMME weighs by ln((1 - e) / e).
    return [
        {
            "column": int(column),
            "threshold": None if np.isinf(threshold) else float(threshold),
            "below": float(0.5 * weight * (2 * answers[0] - 1)),
            "above": float(0.5 * weight * (2 * answers[1] - 1)),
        }
        for (column, threshold, answers), weight in zip(parts, model.estimator_weights_)
    ]


asked = question()
found = []
for case in asked["cases"]:
    rows = matrix(case["rows"]).toarray()
    labels = np.array(case["labels"], dtype=int)
    weights = np.array(case["weights"])
    exact = AdaBoostClassifier(LeastErrorStump(), n_estimators=case["rounds"])
    exact.fit(rows, labels, weights)
    parts = [(stump.column, stump.threshold, stump.answers) for stump in exact.estimators_]
    least = stumps(exact, parts)
    trees = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1, random_state=0), n_estimators=case["rounds"])
    trees.fit(rows, labels, weights)
    parts = [stump_of_tree(tree, rows) for tree in trees.estimators_]
    found.append(
        {
            "least_error": least,
            "trees": stumps(trees, parts),
            "scores": exact.decision_function(rows).tolist(),
            "weight_sum": float(exact.estimator_weights_.sum()),
        }
    )
answer(found)
