"""Standardised and one-hot columns, and the accuracy of logistic regression on them, by scikit-learn."""

import csv
import gzip

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sparse import answer, question

asked = question()


def read(path):
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    numbers = np.array([[float(row[name]) for name in asked["numeric"]] for row in rows])
    categories = np.array([[row[name] for name in asked["categorical"]] for row in rows])
    return numbers.reshape(len(rows), -1), categories.reshape(len(rows), -1), [row["class"] for row in rows]


numbers, categories, labels = read(asked["train"])
scaler = StandardScaler().fit(numbers)
names = list(asked["numeric"])
encoder = None
if asked["categorical"]:
    encoder = OneHotEncoder(sparse_output=False).fit(categories)
    for field, values in zip(asked["categorical"], encoder.categories_):
        names += [f"{field}={value}" for value in values]


def features(numbers, categories):
    parts = [scaler.transform(numbers)]
    if encoder is not None:
        parts.append(encoder.transform(categories))
    return np.hstack(parts)


assert names == asked["columns"], (names, asked["columns"])
model = OneVsRestClassifier(LogisticRegression(C=asked["c"], max_iter=5000))
model.fit(features(numbers, categories), labels)
numbers, categories, labels = read(asked["test"])
rows = features(numbers, categories)
answer({"rows": rows[: asked["rows"]].tolist(), "accuracy": float(model.score(rows, labels))})
