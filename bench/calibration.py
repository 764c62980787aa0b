"""calibrant's calibrators beside those of other libraries: quality where the truth is known, a league table over
real corpora, and speed. Prints Markdown, writes target/bench/calibration.json.

Run by bench/run --calibration.
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

from calibration_peers import PEERS, excess, losses
from machine import facts
from measure import say

ROOT = Path(__file__).resolve().parent.parent
OURS = "calibrant "
# venn-abers needs a minute and a half for a million scores; its quality there is not measured.
SLOW_FROM = {"venn-abers": 1_000_000}


class Bench:
    def __init__(self, release, data, output):
        self.program = str(release / "calibrant-experiments")
        self.output = output
        self.environment = {**os.environ, "CALIBRANT_DATA": str(data), "RAYON_NUM_THREADS": "1"}

    def experiment(self, *arguments):
        say(" ".join(["calibrant-experiments", *arguments]))
        command = [self.program, *arguments, "--json"]
        done = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)


def floats(path):
    return np.fromfile(path, dtype="<f8")


def labels(path):
    return np.fromfile(path, dtype=np.uint8).astype(int)


def known_truth(bench, largest):
    """Excess log loss on scores whose posterior is known."""
    folder = bench.output / "known-truth"
    ours = bench.experiment("known-truth", "--largest", str(largest), "--export", str(folder))
    table = {}
    for name, sizes in ours.items():
        fresh, truth = floats(folder / f"{name}-fresh-scores.f64"), floats(folder / f"{name}-fresh-truth.f64")
        for size, methods in sizes.items():
            cells = {OURS + method: row["excess"] for method, row in methods.items()}
            ends = sum(row["zeros_and_ones"] for row in methods.values())
            for peer, fit in PEERS.items():
                if int(size) >= SLOW_FROM.get(peer, 10**9):
                    continue
                say(f"{peer} on {name} at {size}")
                found = []
                for draw in (1, 2):
                    stem = folder / f"{name}-{size}-{draw}"
                    predict = fit(floats(stem.with_suffix(".f64")), labels(stem.with_suffix(".u8")))
                    found.append(excess(predict(fresh), truth))
                cells[peer] = statistics.mean(found)
            chosen = methods["auto"]["chosen"]
            table.setdefault(name, {})[size] = {"excess": cells, "chosen": chosen, "zeros_and_ones": ends}
    return table


def show_known_truth(table):
    columns = [(name, size) for name, sizes in table.items() for size in sizes]
    heads = [f"{name} {int(size):.0e}".replace("e+0", "e") for name, size in columns]
    print("\n## Known truth: nats per score above the true posterior\n")
    print("| method | " + " | ".join(heads) + " |")
    print("|---|" + "---:|" * len(columns))
    methods = {m for name, size in columns for m in table[name][size]["excess"]}
    first = columns[0]
    key = lambda m: table[first[0]][first[1]]["excess"].get(m, 9)
    for method in sorted(methods, key=key):
        cells = [table[name][size]["excess"].get(method) for name, size in columns]
        print(f"| {method} | " + " | ".join("" if c is None else f"{c:.1e}" for c in cells) + " |")
    chosen = [", ".join(f"{m} {k}" for m, k in table[n][s]["chosen"].items()) for n, s in columns]
    print("| *auto chose* | " + " | ".join(chosen) + " |")


def league(bench):
    """Held-out log loss and Brier on every corpus, all calibrators of all libraries."""
    folder = bench.output / "league"
    ours = bench.experiment("league", "--export", str(folder))
    cells = {}
    for corpus, classifiers in ours.items():
        for classifier, methods in classifiers.items():
            cell = {OURS + method: row for method, row in methods.items()}
            here = folder / f"{corpus}-{classifier}"
            numbers = sorted(path.name[:3] for path in here.glob("*-test.f64"))
            for peer, fit in PEERS.items():
                say(f"{peer} on {corpus}, {classifier}")
                cell[peer] = peer_cell(fit, here, numbers)
            cells[f"{corpus}, {classifier}"] = cell
    return cells


def peer_cell(fit, folder, numbers):
    total = {"log_loss": 0.0, "brier": 0.0, "fit_seconds": 0.0, "predict_seconds": 0.0}
    decisions = 0
    for number in numbers:
        scores, truth = floats(folder / f"{number}-held-out.f64"), labels(folder / f"{number}-held-out.u8")
        test, test_truth = floats(folder / f"{number}-test.f64"), labels(folder / f"{number}-test.u8")
        start = time.perf_counter()
        predict = fit(scores, truth)
        total["fit_seconds"] += time.perf_counter() - start
        start = time.perf_counter()
        stated = predict(test)
        total["predict_seconds"] += time.perf_counter() - start
        log_loss, brier = losses(stated, test_truth)
        total["log_loss"] += log_loss
        total["brier"] += brier
        decisions += len(test)
    total["log_loss"] /= decisions
    total["brier"] /= decisions
    return total


def ranks(cells):
    """The mean rank of each method over all cells and both measures, equal values sharing theirs."""
    found = {}
    for cell in cells.values():
        for measure in ("log_loss", "brier"):
            values = {method: row[measure] for method, row in cell.items()}
            for method, value in values.items():
                below = sum(other < value for other in values.values())
                equal = sum(other == value for other in values.values())
                found.setdefault(method, []).append(below + (equal + 1) / 2)
    return {method: statistics.mean(places) for method, places in found.items()}


def show_league(cells):
    mean_ranks = ranks(cells)
    order = sorted(mean_ranks, key=mean_ranks.get)
    worst = []
    print("\n## League: log loss in nats per decision on test documents\n")
    print("| method | mean rank | " + " | ".join(cells) + " | fit s | predict s |")
    print("|---|---:|" + "---:|" * (len(cells) + 2))
    for method in order:
        rows = [cell[method] for cell in cells.values()]
        values = " | ".join(f"{row['log_loss']:.5f}" for row in rows)
        fit, predict = (sum(row[k] for row in rows) for k in ("fit_seconds", "predict_seconds"))
        print(f"| {method} | {mean_ranks[method]:.2f} | {values} | {fit:.2f} | {predict:.2f} |")
    for name, cell in cells.items():
        for measure in ("log_loss", "brier"):
            best = min((cell[peer][measure], peer) for peer in PEERS)
            worst.append((cell[OURS + "auto"][measure] / best[0] - 1, name, measure, best[1]))
    print("\nauto against the best peer, cell by cell (negative is better):\n")
    for ratio, name, measure, peer in sorted(worst, reverse=True):
        print(f"- {name}, {measure}: {100 * ratio:+.2f} % beside {peer}")
    return {"mean_rank": mean_ranks, "worst_cell": worst and max(worst)[0]}


def speed(bench, count):
    """Seconds to fit and to apply, one thread, in turn."""
    folder = bench.output / "speed"
    from sklearn.calibration import calibration_curve
    from sklearn.metrics import brier_score_loss, log_loss

    ours, theirs = [], []
    for number in range(3):
        ours.append(bench.experiment("speed", "--count", str(count), "--export", str(folder)))
        scores, truth = floats(folder / "scores.f64"), labels(folder / "labels.u8")
        times = {}
        for peer, fit in PEERS.items():
            # A minute and a half each: once is enough.
            if peer == "venn-abers" and number > 0:
                times[peer] = theirs[0][peer]
                continue
            say(f"{peer}, {count} scores")
            start = time.perf_counter()
            predict = fit(scores, truth)
            if peer == "venn-abers":
                predict(scores[:2])
            middle = time.perf_counter()
            fitted = middle - start
            predict(scores) if peer != "venn-abers" else None
            times[peer] = {"fit": fitted, "predict": time.perf_counter() - middle}
        stated = floats(folder / "stated.f64")
        start = time.perf_counter()
        log_loss(truth, stated)
        brier_score_loss(truth, stated)
        calibration_curve(truth, stated, n_bins=15, strategy="quantile")
        times["log loss + Brier + curve"] = {"report": time.perf_counter() - start}
        theirs.append(times)
    middle = lambda runs: {
        name: {k: statistics.median(run[name][k] for run in runs) for k in runs[0][name]} for name in runs[0]
    }
    return {"ours": middle(ours), "theirs": middle(theirs)}


def show_speed(result, count):
    ours, theirs = result["ours"], result["theirs"]
    print(f"\n## Speed: {count} scores, one thread, median of three runs in turn\n")
    print("| method | fit s | predict s |")
    print("|---|---:|---:|")
    for name, row in sorted(ours.items(), key=lambda item: item[1].get("fit", 0)):
        if "fit" in row:
            print(f"| {OURS}{name} | {row['fit']:.4f} | {row['predict']:.4f} |")
    for name, row in theirs.items():
        if "fit" in row:
            print(f"| {name} | {row['fit']:.4f} | {row['predict']:.4f} |")
    print("\n| what | calibrant | peer | ratio |")
    print("|---|---:|---:|---:|")
    for mine, peer in [
        ("asymmetric_laplace", "scikit-learn sigmoid"),
        ("platt", "scikit-learn sigmoid"),
        ("isotonic", "scikit-learn isotonic"),
        ("beta", "betacal abm"),
        ("venn_abers", "venn-abers"),
    ]:
        a, b = ours[mine]["fit"], theirs[peer]["fit"]
        print(f"| fit {mine} / {peer} | {a:.4f} s | {b:.4f} s | {b / a:.1f} |")
    a, b = ours["report"]["report"], theirs["log loss + Brier + curve"]["report"]
    print(f"| whole report / log loss + Brier + curve | {a:.3f} s | {b:.3f} s | {b / a:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("CALIBRANT_DATA", "../shared/data")))
    parser.add_argument("--only", choices=["known-truth", "league", "speed"], action="append")
    parser.add_argument("--largest", type=int, default=1_000_000, help="largest set with known truth")
    arguments = parser.parse_args()
    output = ROOT / "target" / "bench"
    output.mkdir(parents=True, exist_ok=True)
    bench = Bench(arguments.release.resolve(), arguments.data.resolve(), output)
    wanted = arguments.only or ["known-truth", "league", "speed"]
    machine = facts(str(arguments.release / "calibrant"), ["betacal", "venn-abers"])
    results = {"machine": machine}
    print(" · ".join(f"{name} {value}" for name, value in machine.items()))
    if "known-truth" in wanted:
        results["known_truth"] = known_truth(bench, arguments.largest)
        show_known_truth(results["known_truth"])
    if "league" in wanted:
        cells = league(bench)
        results["league"] = {"cells": cells, **show_league(cells)}
    if "speed" in wanted:
        results["speed"] = speed(bench, 1_000_000)
        show_speed(results["speed"], 1_000_000)
    (output / "calibration.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    sys.exit(main())
