"""calibrant's AdaBoost beside scikit-learn's: both learn from the same matrices, one class against the rest. Prints
Markdown, writes target/bench/boosting.json.

Run by bench/run boosting.
"""

import argparse
import csv
import gzip
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import dump_svmlight_file
from sklearn.ensemble import AdaBoostClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.tree import DecisionTreeClassifier

from corpora import REUTERS, TEN_TOPICS
from machine import facts
from measure import say
from report import Report

ROOT = Path(__file__).resolve().parent.parent
# Of the 20,000 letters, the last 4,000 are for the test, as their donors divided them.
LETTERS_TO_LEARN = 16_000


def letter(data):
    """UCI letter: 16 dense numbers, 26 classes."""
    with gzip.open(data / "uci/letter.csv.gz", "rt", encoding="utf-8") as lines:
        rows = list(csv.reader(lines))[1:]
    values = np.array([row[:-1] for row in rows], dtype=np.float32)
    names = sorted({row[-1] for row in rows})
    labels = np.array([[row[-1] == name for name in names] for row in rows], dtype=int)
    n = LETTERS_TO_LEARN
    return values[:n], labels[:n], values[n:], labels[n:]


def reuters(data):
    """Reuters-21578, ten topics: sparse weights of words."""
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2, dtype=np.float32)
    parts = []
    for split in ["train", "test"]:
        _, texts, topics = REUTERS.read(data, split)
        values = vectorizer.fit_transform(texts) if split == "train" else vectorizer.transform(texts)
        labels = np.array([[topic in row for topic in TEN_TOPICS] for row in topics], dtype=int)
        parts += [values, labels]
    return parts


def accuracy(labels, scores):
    return (labels.argmax(axis=1) == scores.argmax(axis=1)).mean()


def micro_f1(labels, scores):
    return f1_score(labels, scores > 0, average="micro")


TASKS = {
    "letter": ("UCI letter, 16,000 rows of 16 numbers, 26 classes", letter, "accuracy", accuracy),
    "reuters": ("Reuters-21578, words, ten topics", reuters, "micro-F1", micro_f1),
}


class Ours:
    """`calibrant-bench boosting` over files that hold the same matrices."""

    def __init__(self, release, folder, train, train_labels, test, test_labels):
        self.program, self.folder, self.shape = release / "calibrant-bench", folder, test_labels.shape
        for name, values, labels in [("train", train, train_labels), ("test", test, test_labels)]:
            with open(folder / f"{name}.svm", "wb") as file:
                dump_svmlight_file(values, labels, file, zero_based=True, multilabel=True)

    def run(self, kind, rounds, threads):
        say(f"calibrant, {kind}, {rounds} rounds, {threads or 'all'} threads")
        files = [self.folder / name for name in ["train.svm", "test.svm", "scores.f64"]]
        command = [self.program, "boosting", *files[:2], kind, str(rounds), str(threads), files[2]]
        found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        return found, np.fromfile(files[2], dtype="<f8").reshape(self.shape)


def theirs(rounds, train, train_labels, test):
    """One AdaBoostClassifier a class; seconds, and scores of the test rows."""
    say(f"scikit-learn, {rounds} rounds")
    # Trees read columns; given this way, their matrix is not copied for every round.
    values = train.tocsc() if hasattr(train, "tocsc") else np.asfortranarray(train)
    fit, predict, scores = 0.0, 0.0, []
    for labels in train_labels.T:
        model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1, random_state=0), n_estimators=rounds)
        start = time.perf_counter()
        model.fit(values, labels)
        middle = time.perf_counter()
        decisions = model.decision_function(test)
        fit, predict = fit + middle - start, predict + time.perf_counter() - middle
        # They divide by the sum of the weights, which differs from class to class: of 26 letters the one
        # with the largest sum is right more often than the one with the largest mean.
        scores.append(decisions * model.estimator_weights_.sum())
    return {"fit": fit, "predict": predict}, np.array(scores).T


def measure(bench, report, task, rounds, repeats):
    title, load, quality_name, quality = TASKS[task]
    train, train_labels, test, test_labels = load(bench["data"])
    ours = Ours(bench["release"], bench["output"], train, train_labels, test, test_labels)
    costs = {}
    for _ in range(repeats):
        found = {
            "discrete, one thread": ours.run("discrete", rounds, 1),
            "discrete": ours.run("discrete", rounds, 0),
            "real": ours.run("real", rounds, 0),
            "scikit-learn": theirs(rounds, train, train_labels, test),
        }
        for name, (seconds, _) in found.items():
            costs.setdefault(name, []).append(seconds)
    report.section(f"{title}: {rounds} stumps per class")
    median = lambda name, what: statistics.median(seconds[what] for seconds in costs[name])
    peer_quality = quality(test_labels, found["scikit-learn"][1])
    for name in ["discrete, one thread", "discrete", "real"]:
        for what in ["fit", "predict"]:
            report.cost(f"{what}, s", median(name, what), median("scikit-learn", what), f"calibrant, {name}")
        value = quality(test_labels, found[name][1])
        report.quality(f"calibrant, {name}", {quality_name: value}, "scikit-learn", {quality_name: peer_quality})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", type=Path, default=ROOT / "target/release", help="where the programs are")
    parser.add_argument("--rounds", type=int, default=1, help="how often each is run")
    parser.add_argument("--stumps", type=int, default=50, help="stumps per class")
    parser.add_argument("--only", choices=sorted(TASKS), help="one task alone")
    arguments = parser.parse_args()
    data = Path(os.environ.get("CALIBRANT_DATA", ROOT / "../shared/data")).resolve()
    missing = [file for file in ["uci/letter.csv.gz", REUTERS.file] if not (data / file).is_file()]
    if missing:
        sys.exit(f"{data} lacks {', '.join(missing)} (set CALIBRANT_DATA)")
    output = ROOT / "target/bench"
    output.mkdir(parents=True, exist_ok=True)
    bench = {"release": arguments.release.resolve(), "data": data, "output": output}
    report = Report(facts(bench["release"] / "calibrant"), arguments.rounds)
    for task in [arguments.only] if arguments.only else TASKS:
        measure(bench, report, task, arguments.stumps, arguments.rounds)
    print(report.markdown())
    (output / "boosting.json").write_text(json.dumps(report.values(), indent=2) + "\n", encoding="utf-8")
    say(f"wrote {output / 'boosting.json'}")


if __name__ == "__main__":
    main()
