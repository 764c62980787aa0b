"""Measures of written probabilities: the same code for whoever wrote them."""

import json

import numpy as np

BINS = 15


def read_predictions(path):
    """Class names, and for each identifier the probability of every class."""
    rows, names = {}, None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            each = {entry["label"]: entry["probability"] for entry in row["classes"]}
            names = names or sorted(each)
            rows[row["id"]] = [each[name] for name in names]
    return names, rows


def table(path, ids):
    names, rows = read_predictions(path)
    return names, np.array([rows[identifier] for identifier in ids])


def one_label(path, ids, labels):
    """Accuracy, log loss, Brier score and expected calibration error of exclusive classes."""
    names, stated = table(path, ids)
    truth = np.array([names.index(label) for label in labels])
    rows = np.arange(len(truth))
    top = stated.argmax(axis=1)
    hits = (top == truth).astype(float)
    is_true = np.zeros(stated.shape)
    is_true[rows, truth] = 1
    return {
        "accuracy": hits.mean(),
        "log loss": -np.log(np.maximum(stated[rows, truth], 1e-300)).mean(),
        "Brier": ((stated - is_true) ** 2).sum(axis=1).mean(),
        "ECE": calibration_error(stated[rows, top], hits),
    }


def several_labels(path, ids, labels):
    """F1 at one half, log loss a decision and expected calibration error of classes that may meet."""
    names, stated = table(path, ids)
    truth = np.array([[name in row for name in names] for row in labels])
    said = stated > 0.5
    both, said_count, true_count = (said & truth).sum(0), said.sum(0), truth.sum(0)
    counted = (said_count + true_count) > 0
    losses = -np.log(np.maximum(np.where(truth, stated, 1 - stated), 1e-300))
    return {
        "micro-F1": 2 * both.sum() / (said_count.sum() + true_count.sum()),
        "macro-F1": (2 * both[counted] / (said_count + true_count)[counted]).mean(),
        "log loss": losses.mean(),
        "ECE": calibration_error(stated.ravel(), truth.ravel().astype(float)),
        "classes": len(names),
    }


def calibration_error(stated, happened):
    """Mean distance between what was said and what happened, over bins of equal size."""
    order = np.argsort(stated, kind="stable")
    bins = [part for part in np.array_split(order, BINS) if len(part)]
    apart = [len(part) * abs(stated[part].mean() - happened[part].mean()) for part in bins]
    return sum(apart) / len(order)
