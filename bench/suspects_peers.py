"""cleanlab on the probabilities that `calibrant-experiments suspects --export FOLDER` wrote: precision at the number of flipped labels.

    pip install cleanlab && python bench/suspects_peers.py FOLDER
"""

import collections
import json
import pathlib
import sys

import numpy
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores

METHODS = ["self_confidence", "normalized_margin", "confidence_weighted_entropy"]


def first(scores, count):
    return numpy.argsort(scores, kind="stable")[:count]


def measure(stem):
    about = json.loads(stem.with_suffix(".json").read_text())
    labels, flipped = numpy.array(about["labels"]), numpy.array(about["flipped"])
    stated = numpy.fromfile(stem.with_suffix(".f64")).reshape(len(labels), about["classes"])
    count = int(flipped.sum())
    found = {"calibrant": flipped[about["order"][:count]].mean()}
    for method in METHODS:
        scores = get_label_quality_scores(labels, stated, method=method)
        found[method] = flipped[first(scores, count)].mean()
    mask = find_label_issues(labels, stated)
    scores = get_label_quality_scores(labels, stated) + 2.0 * ~mask  # what it does not list comes last
    found["find_label_issues"] = flipped[first(scores, count)].mean()
    return found


def main(folder):
    cells = collections.defaultdict(list)
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        corpus, noise, _ = path.stem.rsplit("-", 2)
        cells[corpus, noise].append(measure(path.with_suffix("")))
    for (corpus, noise), rows in cells.items():
        mean = {name: numpy.mean([row[name] for row in rows]) for name in rows[0]}
        best = max((name for name in mean if name != "calibrant"), key=mean.get)
        difference = numpy.array([row["calibrant"] - row[best] for row in rows])
        error = difference.std(ddof=1) / len(rows) ** 0.5 if len(rows) > 1 else float("nan")
        others = ", ".join(f"{name} {mean[name]:.4f}" for name in mean if name != "calibrant")
        print(
            f"{corpus} {noise} ({len(rows)}): calibrant {mean['calibrant']:.4f}; {others}; "
            f"lead over {best} {difference.mean():+.4f}, standard error {error:.4f}"
        )


if __name__ == "__main__":
    main(sys.argv[1])
