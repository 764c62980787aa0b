"""Output codes over AdaBoost stumps: calibrant's probabilities by margins beside those by least squares, and its accuracy
beside scikit-learn's OutputCodeClassifier with codes of the same length. Prints Markdown, writes target/bench/ecoc.json;
exits 1 where calibrant's accuracy is lower than theirs by more than chance would explain.

Run by bench/run ecoc.
"""

import argparse
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.ensemble import AdaBoostClassifier
from sklearn.multiclass import OutputCodeClassifier
from sklearn.tree import DecisionTreeClassifier

from machine import facts
from measure import say

ROOT = Path(__file__).resolve().parent.parent


def rows(path, features):
    """A file of rows, and their classes."""
    values, classes = load_svmlight_file(str(path), n_features=features, zero_based=False)
    return values.toarray(), classes.astype(int)


def width(path):
    return max(int(cell.split(":")[0]) for line in path.read_text().splitlines() for cell in line.split()[1:])


def theirs(folder, columns, rounds, seeds):
    """Mean accuracy over divisions and seeds."""
    found = []
    for training in sorted(folder.glob("*-train.svm")):
        features = width(training)
        test = training.with_name(training.name.replace("train", "test"))
        features = max(features, width(test))
        x, y = rows(training, features)
        test_x, test_y = rows(test, features)
        for seed in range(seeds):
            stumps = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=rounds, random_state=seed)
            # The number of columns is rounded down.
            size = (columns + 0.5) / len(np.unique(y))
            coded = OutputCodeClassifier(stumps, code_size=size, random_state=seed, n_jobs=os.cpu_count())
            found.append(float((coded.fit(x, y).predict(test_x) == test_y).mean()))
    return float(np.mean(found))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--release", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=100, help="stumps a binary problem")
    parser.add_argument("--seeds", type=int, default=2, help="codes of theirs to average over")
    parser.add_argument("--tables", default="", help="only these, separated by commas")
    parser.add_argument("--ours-only", action="store_true")
    arguments = parser.parse_args()
    output = ROOT / "target" / "bench"
    export = output / "ecoc"
    output.mkdir(parents=True, exist_ok=True)
    data = Path(os.environ.get("CALIBRANT_DATA", ROOT / ".." / "shared" / "data"))
    command = [str(arguments.release / "calibrant-experiments"), "ecoc", "--json", "--rounds", str(arguments.rounds)]
    command += ["--export", str(export), "--html", str(output / "ecoc.html")]
    command += ["--tables", arguments.tables] if arguments.tables else []
    say(" ".join(["calibrant-experiments", *command[1:]]))
    environment = {**os.environ, "CALIBRANT_DATA": str(data)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    ours = json.loads(done.stdout)

    print("\n## Output codes\n")
    for name, value in facts(str(arguments.release / "calibrant")).items():
        print(f"- {name}: {value}")
    print("\n| table | method | log loss | Brier | classwise ECE | of perfect | before normalisation | accuracy | µs per row | decoding |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for table, ways in ours.items():
        for way, m in sorted(ways.items(), key=lambda item: item[1]["log_loss"]):
            decode = m.get("decode_microseconds_per_row")
            raw = m.get("classwise_ece_raw", m["classwise_ece"])
            print(
                f"| {table} | {way} | {m['log_loss']:.4f} | {m['brier']:.4f} | {m['classwise_ece']:.4f} "
                f"| {m['classwise_ece_of_perfect']:.4f} | {raw:.4f} | {m['accuracy']:.4f} | {m['microseconds_per_row']:.2f} "
                f"| {'' if decode is None else f'{decode:.2f}'} |"
            )

    # What the probability of a column is can be read in three ways: see the experiment.
    wins = {}
    for other in ("least_squares", "least_squares_of_log_odds", "least_squares_of_calibrated"):
        for measure in ("log_loss", "classwise_ece", "decode_microseconds_per_row"):
            better = [table for table, ways in ours.items() if ways["margin"][measure] < ways[other][measure]]
            wins.setdefault(other, {})[measure] = better
            print(f"\nmargin below {other} in {measure}: {len(better)} of {len(ours)} ({', '.join(better)})")

    lower = []
    if not arguments.ours_only:
        print("\n| table | columns | calibrant accuracy | scikit-learn accuracy |")
        print("|---|---:|---:|---:|")
        for table, ways in ours.items():
            margin = ways["margin"]
            say(f"scikit-learn on {table}")
            accuracy = theirs(export / table, margin["code_length"], arguments.rounds, arguments.seeds)
            margin["scikit_learn_accuracy"] = accuracy
            print(f"| {table} | {margin['code_length']} | {margin['accuracy']:.4f} | {accuracy:.4f} |")
            # Two standard errors of a share.
            error = 2 * math.sqrt(accuracy * (1 - accuracy) / margin["test_rows"])
            if margin["accuracy"] < accuracy - error:
                lower.append(table)
        print(f"\nbelow scikit-learn by more than two standard errors: {', '.join(lower) or 'nowhere'}")
    (output / "ecoc.json").write_text(json.dumps({"tables": ours, "margin_wins": wins, "lower": lower}, indent=1))
    sys.exit(1 if lower else 0)


if __name__ == "__main__":
    main()
