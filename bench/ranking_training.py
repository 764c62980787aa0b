"""calibrant's learned rankings beside LightGBM's lambdarank and XGBoost's rank:map: OHSUMED of LETOR 3.0, official folds.
Also the oracle of average precision, divide and conquer beside comparing all places. Prints Markdown, writes
target/bench/ranking_training.json.

Run by bench/run ranking_training.
"""

import argparse
import gzip
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import lightgbm
import numpy as np
import xgboost

from machine import facts
from measure import say
from report import Report

ROOT = Path(__file__).resolve().parent.parent
FOLDER = "letor/OHSUMED-3.0/QueryLevelNorm"
FOLDS = 5
# Trees of the peers: enough for the validation part to say when to stop.
ROUNDS, PATIENCE = 1000, 50
# What the peers choose from on the validation part, as calibrant chooses its C.
LEAVES, RATE = [7, 15, 31], 0.05


def parts_of(data, fold):
    """Training, validation and test parts of a fold, as paths."""
    part = lambda offset: data / FOLDER / f"S{(fold + offset) % FOLDS + 1}.txt.gz"
    return [part(0), part(1), part(2)], part(3), part(4)


def read(paths):
    """Values, grades and the number of rows of each query."""
    values, grades, queries, sizes = [], [], [], []
    for path in paths:
        with gzip.open(path, "rt", encoding="ascii") as lines:
            for line in lines:
                fields = line.split("#")[0].split()
                grades.append(int(fields[0]))
                values.append([float(field.split(":")[1]) for field in fields[2:]])
                if not queries or queries[-1] != fields[1]:
                    queries.append(fields[1])
                    sizes.append(0)
                sizes[-1] += 1
    return np.array(values, dtype=np.float32), np.array(grades), np.array(sizes)


def mean_average_precision(grades, sizes, scores):
    """As LETOR counts: relevant from grade 1 on, ties in the order of the file, queries without relevant documents are 0."""
    start, total = 0, 0.0
    for size in sizes:
        order = np.argsort(-scores[start : start + size], kind="stable")
        relevant = grades[start : start + size][order] >= 1
        if relevant.any():
            ranks = np.flatnonzero(relevant) + 1
            total += (np.arange(1, len(ranks) + 1) / ranks).mean()
        start += size
    return total / len(sizes)


def ours(program, fold_parts, more=()):
    train, validation, test = fold_parts
    with tempfile.TemporaryDirectory() as folder:
        model, scores = Path(folder) / "model", Path(folder) / "scores"
        start = time.perf_counter()
        fit = [program, "rank", "fit", *train, "--validation", validation, "-o", model, *more]
        subprocess.run(fit, check=True, stderr=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        subprocess.run([program, "rank", "predict", model, test, "-o", scores], check=True)
        found = np.loadtxt(scores)
    _, grades, sizes = read([test])
    return seconds, mean_average_precision(grades, sizes, found)


def lightgbm_fit(fold_parts):
    train, validation, test = (read(paths if isinstance(paths, list) else [paths]) for paths in fold_parts)
    start = time.perf_counter()
    best = (-1.0, None)
    for leaves in LEAVES:
        settings = {"objective": "lambdarank", "num_leaves": leaves, "learning_rate": RATE, "metric": "map",
                    "eval_at": [1000], "label_gain": [0, 1, 3], "verbosity": -1, "seed": 1, "num_threads": os.cpu_count()}
        learned = lightgbm.Dataset(train[0], train[1], group=train[2])
        held = lightgbm.Dataset(validation[0], validation[1], group=validation[2], reference=learned)
        quiet = lightgbm.early_stopping(PATIENCE, verbose=False)
        booster = lightgbm.train(settings, learned, ROUNDS, valid_sets=[held], callbacks=[quiet])
        value = mean_average_precision(validation[1], validation[2], booster.predict(validation[0]))
        best = max(best, (value, booster), key=lambda found: found[0])
    seconds = time.perf_counter() - start
    return seconds, mean_average_precision(test[1], test[2], best[1].predict(test[0]))


def xgboost_fit(fold_parts):
    train, validation, test = (read(paths if isinstance(paths, list) else [paths]) for paths in fold_parts)
    start = time.perf_counter()
    best = (-1.0, None)
    # This objective knows relevant and not relevant alone.
    matrices = [xgboost.DMatrix(values, (grades >= 1).astype(int)) for values, grades, _ in (train, validation, test)]
    for matrix, (_, _, sizes) in zip(matrices, (train, validation, test)):
        matrix.set_group(sizes)
    for leaves in LEAVES:
        settings = {"objective": "rank:map", "eval_metric": "map", "eta": RATE, "max_leaves": leaves, "max_depth": 0,
                    "grow_policy": "lossguide", "tree_method": "hist", "seed": 1, "nthread": os.cpu_count()}
        booster = xgboost.train(settings, matrices[0], ROUNDS, evals=[(matrices[1], "held")],
                                early_stopping_rounds=PATIENCE, verbose_eval=False)
        until = (0, booster.best_iteration + 1)
        value = mean_average_precision(validation[1], validation[2], booster.predict(matrices[1], iteration_range=until))
        best = max(best, (value, booster.predict(matrices[2], iteration_range=until)), key=lambda found: found[0])
    return time.perf_counter() - start, mean_average_precision(test[1], test[2], best[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", type=Path, default=ROOT / "target/release", help="where the programs are")
    parser.add_argument("--data", type=Path, default=os.environ.get("CALIBRANT_DATA", ROOT.parent / "shared/data"))
    parser.add_argument("--rounds", type=int, default=3, help="how often fold 1 is timed")
    arguments = parser.parse_args()
    release = arguments.release.resolve()
    program = release / "calibrant"
    output = ROOT / "target/bench"
    output.mkdir(parents=True, exist_ok=True)
    report = Report(facts(program, ["lightgbm", "xgboost"]), arguments.rounds)

    slopes, scores = ["--bins", "0", "--grades", "one"], ["--calibrator", "none"]
    learners = {
        "calibrant": lambda fold: ours(program, fold),
        "calibrant, scores alone": lambda fold: ours(program, fold, scores),
        "calibrant, slopes": lambda fold: ours(program, fold, slopes),
        "calibrant, slopes, scores alone": lambda fold: ours(program, fold, [*slopes, *scores]),
        "calibrant, slopes, pairs": lambda fold: ours(program, fold, [*slopes, "--loss", "pairs"]),
        "LightGBM lambdarank": lightgbm_fit,
        "XGBoost rank:map": xgboost_fit,
    }
    seconds, precision = {}, {}
    for name, learn in learners.items():
        for fold in range(FOLDS):
            runs = arguments.rounds if fold == 0 else 1
            found = [learn(parts_of(arguments.data, fold)) for _ in range(runs)]
            say(f"{name}, fold {fold + 1}: {found[0][0]:.2f} s, test MAP {found[0][1]:.4f}")
            precision.setdefault(name, []).append(found[0][1])
            if fold == 0:
                seconds[name] = statistics.median(cost for cost, _ in found)
    report.section("OHSUMED, learning fold 1 with its choice of settings")
    for peer in ["LightGBM lambdarank", "XGBoost rank:map"]:
        for way in ["calibrant, slopes", "calibrant"]:
            alone = f"{way}, scores alone"
            report.cost("learn, s", seconds[alone], seconds[peer], alone, peer)
            report.cost("learn and calibrate, s", seconds[way], seconds[peer], way, peer)
    for name in learners:
        folds = ", ".join(f"{value:.4f}" for value in precision[name])
        report.note(f"{name}: test MAP {statistics.mean(precision[name]):.4f} over five folds ({folds}).")
    report.note("calibrant's seconds are those of the program from start to end, seven values of C, reading included; without "
                "`slopes` it also chooses bins and grades, on held-out training queries as well (24 times as many fits); the peers' begin with the data in memory, three numbers of leaves, stopped early on the validation part.")

    command = [release / "calibrant-experiments", "oracle-speed", "--json"]
    speed = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    report.section(f"The most violated ranking of {speed['relevant']:,} relevant and {speed['others']:,} other documents")
    report.cost("after the sort, s", speed["fast_seconds"], speed["plain_seconds"], "divide and conquer", "all places")
    print(report.markdown())
    (output / "ranking_training.json").write_text(json.dumps(report.values(), indent=2) + "\n", encoding="utf-8")
    say(f"wrote {output / 'ranking_training.json'}")


if __name__ == "__main__":
    main()
