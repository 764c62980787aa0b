"""calibrant's nearest neighbours and perceptrons beside scikit-learn's, on the same matrices of 20 Newsgroups. Prints
Markdown, writes target/bench/neighbours.json.

Run by bench/run neighbours.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Perceptron
from sklearn.neighbors import KNeighborsClassifier

from corpora import NEWSGROUPS
from machine import facts
from measure import say
from report import Report

ROOT = Path(__file__).resolve().parent.parent


def matrices(data):
    """Weights of words of unit length, and classes by number."""
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2, dtype=np.float32)
    _, texts, labels = NEWSGROUPS.read(data, "train")
    names = sorted(set(labels))
    train, train_classes = vectorizer.fit_transform(texts), np.array([names.index(label) for label in labels])
    _, texts, labels = NEWSGROUPS.read(data, "test")
    return train, train_classes, vectorizer.transform(texts), np.array([names.index(label) for label in labels])


def theirs(model, train, train_classes, test, test_classes):
    """Seconds and accuracy of a model of scikit-learn."""
    start = time.perf_counter()
    model.fit(train, train_classes)
    fitted = time.perf_counter()
    found = model.predict(test)
    end = time.perf_counter()
    return {"fit": fitted - start, "predict": end - fitted, "accuracy": float((found == test_classes).mean())}


def medians(runs):
    """The median of every figure of every name over all rounds."""
    return {
        name: {what: statistics.median(run[name][what] for run in runs) for what in runs[0][name]}
        for name in runs[0]
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", type=Path, default=ROOT / "target/release", help="where the programs are")
    parser.add_argument("--rounds", type=int, default=3, help="how often each side runs, in turn")
    parser.add_argument("--k", type=int, default=10, help="how many neighbours vote")
    arguments = parser.parse_args()
    data = Path(os.environ.get("CALIBRANT_DATA", ROOT / "../shared/data")).resolve()
    if not (data / NEWSGROUPS.file).is_file():
        sys.exit(f"{data} lacks {NEWSGROUPS.file} (set CALIBRANT_DATA)")
    output = ROOT / "target/bench"
    output.mkdir(parents=True, exist_ok=True)
    release = arguments.release.resolve()

    parts = matrices(data)
    files = [output / "neighbours_train.svm", output / "neighbours_test.svm"]
    for file, values, classes in [(files[0], *parts[:2]), (files[1], *parts[2:])]:
        with open(file, "wb") as stream:
            dump_svmlight_file(values, classes, stream, zero_based=True)
    models = {
        "brute, uniform": lambda jobs: KNeighborsClassifier(
            arguments.k, metric="cosine", algorithm="brute", n_jobs=jobs
        ),
        "Perceptron": lambda jobs: Perceptron(random_state=0, n_jobs=jobs),
    }
    our_runs, their_runs = {1: [], 0: []}, {1: [], -1: []}
    for number in range(arguments.rounds):
        for threads in our_runs:
            say(f"round {number + 1} of {arguments.rounds}: calibrant, {threads or 'all'} threads")
            command = [release / "calibrant-bench", "neighbours", *files, arguments.k, threads, 1]
            ran = subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE)
            our_runs[threads].append(json.loads(ran.stdout))
        for jobs in their_runs:
            say(f"round {number + 1} of {arguments.rounds}: scikit-learn, n_jobs={jobs}")
            their_runs[jobs].append({name: theirs(make(jobs), *parts) for name, make in models.items()})

    report = Report(facts(release / "calibrant"), arguments.rounds)
    for threads, jobs, name in [(1, 1, "one thread"), (0, -1, "all processors")]:
        ours, peers = medians(our_runs[threads]), medians(their_runs[jobs])
        report.section(f"20 Newsgroups, the same rows on both sides, k = {arguments.k}, {name}")
        for our_name, their_name in [
            ("majority", "brute, uniform"),
            ("similarity", "brute, uniform"),
            ("approximate", "brute, uniform"),
            ("averaged perceptron", "Perceptron"),
            ("voted perceptron", "Perceptron"),
        ]:
            us, them = ours[our_name], peers[their_name]
            for what, title in [("fit", "fit, s"), ("predict", "predict the test split, s")]:
                report.cost(title, us[what], them[what], our_name, their_name)
            report.quality(our_name, {"accuracy": us["accuracy"]}, their_name, {"accuracy": them["accuracy"]})
    print(report.markdown())
    (output / "neighbours.json").write_text(json.dumps(report.values(), indent=2) + "\n", encoding="utf-8")
    say(f"wrote {output / 'neighbours.json'}")


if __name__ == "__main__":
    main()
