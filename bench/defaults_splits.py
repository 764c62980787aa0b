"""How the experiment `defaults` divides a corpus: the same numbers as `crates/calibrant-experiments/src/defaults/split.rs`.

A row's place in the random order is the hash of (draw, purpose, row). The test part is a third of the rows, at most
3,000, by whole groups; the training part of a size is the beginning of the others, so that a larger one contains the smaller.
"""

import json
from pathlib import Path

import numpy as np

SIZES = [300, 1_000, 3_000, 10_000]
DRAWS = 5
MOST_TEST_ROWS = 3_000
TEST, TRAINING = 1, 2


class Corpus:
    """Rows of one prepared file."""

    def __init__(self, folder, name):
        self.name = name
        about = json.loads((Path(folder) / f"{name}.about.json").read_text())
        self.half, self.several = about["half"], about["several"]
        lines = (Path(folder) / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
        rows = [json.loads(line) for line in lines if line]
        self.texts = [row["text"] for row in rows]
        self.labels = [row["label"] for row in rows]
        self.groups = np.array([row["group"] for row in rows], dtype=np.uint64)
        self.given = [row.get("split") for row in rows]

    def sizes(self):
        """Training sizes that the corpus is large enough for, and `all`, unless that is hardly another one."""
        if self.given[0] is not None:
            return ["all"]
        rest = len(self.texts) - len(self.split("all", 0)[1])
        sizes = [size for size in SIZES if size <= rest]
        return sizes + (["all"] if not sizes or rest > 1.1 * sizes[-1] else [])

    def split(self, size, draw, copies=False):
        """Row numbers of the training part, copies behind, and of the test part."""
        rows = np.arange(len(self.texts), dtype=np.uint64)
        if self.given[0] is not None:
            test = np.array([split == "test" for split in self.given])
            return rows[~test].astype(int), rows[test].astype(int)
        by_group = np.lexsort((lot(draw, TEST, rows), lot(draw, TEST, self.groups)))
        count = min(len(rows) // 3, MOST_TEST_ROWS)
        test = by_group[:count]
        others = by_group[count:]
        # The group that the boundary cuts is neither here nor there.
        others = others[self.groups[others] != self.groups[test[-1]]]
        training = others[np.argsort(lot(draw, TRAINING, others.astype(np.uint64)), kind="stable")]
        if size != "all":
            training = training[:size]
        if copies:
            training = np.concatenate([training, training[: len(training) // 10]])
        return training, test


def lot(draw, purpose, numbers):
    """SplitMix64's mixed numbers: https://prng.di.unimi.it/splitmix64.c, with the place in place of a state."""
    with np.errstate(over="ignore"):
        start = np.uint64((draw * 16 + purpose) << 40)
        z = (numbers.astype(np.uint64) + start + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def cell_name(size, draw, copies):
    return f"{size}-{draw}{'-copies' if copies else ''}"
