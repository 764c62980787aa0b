"""Which length should vectors have beside words of length 1, and alone? Log loss on documents that were not learned from."""

import argparse
import json
import math
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from vectors_corpora import CORPORA, sample_of

FACTORS = [0.125, 0.25, 0.5, 1, 2, 4, 8, 16]
# These two choose; what is shown of the others took no part.
CHOOSING = CORPORA[:2]
LEARNERS = ["svm", "logistic"]


def write(path: Path, rows: list[dict], vectors: np.ndarray | None, words: bool) -> None:
    with path.open("w", encoding="utf-8") as out:
        for number, row in enumerate(rows):
            line = {"label": row["label"]}
            if words:
                line["text"] = row["text"]
            if vectors is not None:
                line["embedding"] = [round(float(x), 6) for x in vectors[number]]
            out.write(json.dumps(line) + "\n")


def log_loss(program: str, folder: Path, name: str, learner: str, options: list[str]) -> tuple[float, float, float]:
    """Log loss and accuracy on the test half, and the seconds of the fit."""
    model = folder / "model"
    fit = [program, "fit", folder / f"{name}-train.jsonl", "-o", model, "--classifier", learner, *options]
    start = time.time()
    subprocess.run(fit, check=True, capture_output=True)
    seconds = time.time() - start
    test = [program, "evaluate", model, folder / f"{name}-test.jsonl", "--json"]
    said = subprocess.run(test, check=True, capture_output=True)
    measures = json.loads(said.stdout)
    measures = measures.get("evaluation", measures)
    return measures["log_loss"], measures["accuracy"], seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("CALIBRANT_DATA", "../shared/data")))
    parser.add_argument("--vectors", type=Path, default=Path("target/bench/vectors"))
    parser.add_argument("--release", type=Path, default=Path("target/release"))
    parser.add_argument("--factors", type=lambda text: [float(part) for part in text.split(",")], default=FACTORS)
    parser.add_argument("--corpora", type=lambda text: text.split(","), default=CORPORA)
    arguments = parser.parse_args()
    program = str(arguments.release / "calibrant")
    head = ["corpus", "learner", "columns", "words alone", *(f"{factor:g}" for factor in arguments.factors)]
    print("|", " | ".join(head), "|")
    print("|---|---|---|" + "---:|" * (len(head) - 3))
    ratios: dict[tuple[str, str, float], list[float]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for corpus in arguments.corpora:
            vectors = np.load(arguments.vectors / f"{corpus}.npy")
            rows = sample_of(arguments.data, corpus)
            half = len(rows) // 2
            for name, with_vectors, words in (("words", False, True), ("beside", True, True), ("alone", True, False)):
                for part, members in (("train", slice(0, half)), ("test", slice(half, None))):
                    own = vectors[members] if with_vectors else None
                    write(folder / f"{name}-{part}.jsonl", rows[members], own, words)
            for learner in LEARNERS:
                of_words = log_loss(program, folder, "words", learner, [])[0]
                for columns in ("alone", "beside"):
                    losses = []
                    for factor in arguments.factors:
                        options = ["--vector", "embedding", "--vector-factor", str(factor)]
                        losses.append(log_loss(program, folder, columns, learner, options)[0])
                    least = min(losses)
                    for factor, loss in zip(arguments.factors, losses):
                        which = "chosen on" if corpus in CHOOSING else "the others"
                        ratios.setdefault((which, columns, factor), []).append(math.log(loss / least))
                    shown = (f"**{loss:.4f}**" if loss == least else f"{loss:.4f}" for loss in losses)
                    print("|", " | ".join([corpus, learner, columns, f"{of_words:.4f}", *shown]), "|", flush=True)
    for which in ("chosen on", "the others"):
        for columns in ("alone", "beside"):
            means = [ratios.get((which, columns, factor)) for factor in arguments.factors]
            shown = ("" if mean is None else f"{math.exp(sum(mean) / len(mean)):.3f}" for mean in means)
            print("|", " | ".join([which, "both", columns, "", *shown]), "|")


if __name__ == "__main__":
    main()
