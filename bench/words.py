"""What rules of words are worth: default fits that differ in one option, on the corpora of words_corpora.py and defaults_corpora.py.

    python bench/words.py segmentation|emoji|signs --program target/release/calibrant [--corpora target/corpora] [--only NAME,…] [--draws 3]

Held-out log loss and accuracy, means over draws; behind each alternative the ratio of its log loss to the first one's, with the standard
error over draws. The model's size and the seconds of fit and predictions are those of the largest size. Rows of classes that the training part does
not have are left out of the test.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import quality
from defaults_splits import Corpus

SIZES = [300, 1_000, 3_000, "all"]
QUESTIONS = {
    "segmentation": {
        "characters": ["--segmentation", "characters"],
        "dictionary": ["--segmentation", "dictionary"],
        "pairs": ["--segmentation", "pairs"],
        "dictionary_pairs": ["--segmentation", "dictionary_pairs"],
    },
    "emoji": {"without": ["--no-emoji"], "with": []},
    "signs": {"without": ["--no-signs"], "with": []},
}


def write(path, corpus, rows):
    with open(path, "w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps({"id": str(row), "text": corpus.texts[row], "label": corpus.labels[row]}, ensure_ascii=False) + "\n")


def measure(program, corpus, size, draw, options, folder):
    train, test = corpus.split(size, draw)
    if not corpus.several:
        known = {corpus.labels[row] for row in train}
        test = [row for row in test if corpus.labels[row] in known]
    paths = {name: Path(folder) / name for name in ["train.jsonl", "test.jsonl", "model", "out.jsonl"]}
    write(paths["train.jsonl"], corpus, train)
    write(paths["test.jsonl"], corpus, test)
    labels = ["--labels", "several"] if corpus.several else []
    begun = time.monotonic()
    run([program, "fit", paths["train.jsonl"], "-o", paths["model"], *labels, *options])
    run([program, "predict", paths["model"], paths["test.jsonl"], "-o", paths["out.jsonl"]])
    seconds = time.monotonic() - begun
    judge = quality.several_labels if corpus.several else quality.one_label
    found = judge(paths["out.jsonl"], [str(row) for row in test], [corpus.labels[row] for row in test])
    return found["log loss"], found.get("accuracy", found.get("micro-F1")), paths["model"].stat().st_size, seconds


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("question", choices=QUESTIONS)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--corpora", default="target/corpora", type=Path)
    arguments.add_argument("--only", required=True, help="names of corpora, separated by commas")
    arguments.add_argument("--sizes", default="300,1000,3000,all")
    arguments.add_argument("--draws", default=3, type=int)
    options = arguments.parse_args()
    ways = QUESTIONS[options.question]
    first, *others = ways
    sizes = [size if size == "all" else int(size) for size in options.sizes.split(",")]
    print(f"| corpus | training | {first} | accuracy | " + " | ".join(f"{way} | accuracy | ratio" for way in others) + " |")
    print("|---|---:|" + "---:|" * (2 + 3 * len(others)))
    for name in options.only.split(","):
        corpus = Corpus(options.corpora, name)
        rest = len(corpus.split("all", 0)[0])
        for size in [size for size in sizes if size == "all" or size <= rest]:
            with tempfile.TemporaryDirectory() as folder:
                draws = range(options.draws)
                found = {way: np.array([measure(options.program, corpus, size, draw, ways[way], folder) for draw in draws]) for way in ways}
            line = [name, str(size), f"{found[first][:, 0].mean():.4f}", f"{found[first][:, 1].mean():.3f}"]
            for way in others:
                ratios = found[way][:, 0] / found[first][:, 0]
                error = ratios.std(ddof=1) / np.sqrt(len(ratios)) if len(ratios) > 1 else np.nan
                line += [f"{found[way][:, 0].mean():.4f}", f"{found[way][:, 1].mean():.3f}", f"{ratios.mean():.3f} ± {error:.3f}"]
            print("| " + " | ".join(line) + " |", flush=True)
        costs = [f"{way} {found[way][:, 2].mean() / 1e6:.2f} MB, {found[way][:, 3].mean():.2f} s" for way in ways]
        print(f"<!-- {name}: {'; '.join(costs)} -->", flush=True)


if __name__ == "__main__":
    main()
