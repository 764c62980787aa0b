"""A model file without calibrant: opened by safetensors, its scores and probabilities worked out anew."""

import json
import math
from collections import Counter

import numpy as np
from safetensors import safe_open
from sparse import answer, question


def vocabulary(file):
    text = file.get_tensor("vocabulary.bytes").tobytes()
    ends = file.get_tensor("vocabulary.ends").tolist()
    starts = [0] + ends[:-1]
    return {text[start:end].decode(): column for column, (start, end) in enumerate(zip(starts, ends))}


def values(model, frequencies, columns):
    """Feature values of one document: (1 + ln tf) idf of unit length, or counts."""
    counted = Counter(columns)
    weighting = model["settings"]["weighting"]
    kind = weighting["weighting"]["kind"]
    weighted = {}
    for column, count in counted.items():
        if kind == "tf":
            weighted[column] = float(count)
        else:
            assert kind == "log_tf_idf", kind
            idf = math.log((1 + model["document_count"]) / (1 + frequencies[column])) + 1
            weighted[column] = (1 + math.log(count)) * idf
    if weighting["l2_norm"]:
        norm = math.sqrt(sum(value * value for value in weighted.values()))
        weighted = {column: value / norm for column, value in weighted.items()}
    return weighted


def scores(model, weights, biases, row):
    outputs = biases + sum(value * weights[column].astype(np.float64) for column, value in row.items())
    if model["scorer"]["link"] != "against_rest":
        return outputs
    return np.array(
        [output - np.logaddexp.reduce(np.delete(outputs, place)) for place, output in enumerate(outputs)]
    )


def probabilities(model, scores):
    log_odds = []
    for calibrator, score in zip(model["calibrators"], scores):
        # A curve holds where the held-out scores end.
        assert calibrator["method"] == "held", calibrator
        score = min(max(score, calibrator["low"]), calibrator["high"])
        calibrator = calibrator["inner"]
        assert calibrator["method"] == "platt", calibrator
        log_odds.append(calibrator["slope"] * score + calibrator["intercept"])
    each = 1 / (1 + np.exp(-np.array(log_odds)))
    if model["scorer"]["link"] == "mirror":
        return np.array([1 - each[0], each[0]])
    if model["summary"]["task"] == "single_label":
        return each / each.sum()
    return each


asked = question()
with safe_open(asked["path"], framework="numpy") as file:
    description = json.loads(file.metadata()["calibrant"])
    model = description["model"]
    terms = vocabulary(file)
    frequencies = file.get_tensor("document_frequencies")
    weights, biases = file.get_tensor("weights"), file.get_tensor("biases")
answers = []
for document in asked["documents"]:
    row = values(model, frequencies, [terms[term] for term in document if term in terms])
    row_scores = scores(model, weights, biases, row)
    answers.append(
        {"scores": row_scores.tolist(), "probabilities": probabilities(model, row_scores).tolist()}
    )
answer(
    {
        "version": description["version"],
        "classes": [entry["label"] for entry in model["summary"]["classes"]],
        "weight_type": str(weights.dtype),
        "documents": answers,
    }
)
