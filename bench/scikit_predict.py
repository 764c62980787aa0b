"""scikit-learn from file to written probabilities: scikit_predict.py CORPUS FOLDER MODEL OUTPUT

A CSV file gets the most probable class, JSON Lines get every class.
"""

import csv
import json
import sys

import joblib

from corpora import BY_NAME

name, folder, path, output = sys.argv[1:5]
model = joblib.load(path)
classes = model["classes"]
ids, texts, _ = BY_NAME[name].read(folder, "test")
probabilities = model["pipeline"].predict_proba(texts)
with open(output, "w", encoding="utf-8", newline="") as file:
    if output.endswith(".csv"):
        writer = csv.writer(file)
        writer.writerow(["id", "label", "probability"])
        best = probabilities.argmax(axis=1)
        for row, (identifier, place) in enumerate(zip(ids, best)):
            writer.writerow([identifier, classes[place], probabilities[row, place]])
    else:
        for identifier, row in zip(ids, probabilities.tolist()):
            each = [{"label": label, "probability": p} for label, p in zip(classes, row)]
            file.write(json.dumps({"id": identifier, "classes": each}) + "\n")
