"""The Python package beside scikit-learn, in one process and one run.

    bench/run python [--only log_loss,text,…] [--splits N] [--rows N] [--data FOLDER]

Parts: `log_loss` (CalibratedClassifier against six CalibratedClassifierCV over random splits), `text` (texts to a calibrated model),
`svm` (a linear SVM on a given CSR matrix, one thread, to the same objective), `logistic` (10^5 x 768 dense float32), `calibrators`
(10^6 scores), `one_text`, `memory` (what predicting and fitting add to a matrix of a gigabyte).
"""

import argparse
import csv
import gzip
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

# One thread for BLAS: calibrant is told its number of threads part by part.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.calibration import CalibratedClassifierCV, _SigmoidCalibration
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import calibrant

ONE_LABEL = {
    "20newsgroups": ("20newsgroups.jsonl.gz", ("text",), "label"),
    "ag_news": ("ag_news_part.jsonl.gz", ("text",), "label"),
    "human_ratings": ("human_ratings.jsonl.gz", ("text",), "label"),
    "imdb": ("imdb.jsonl.gz", ("text",), "label"),
    "polarity2": ("polarity2.jsonl.gz", ("text",), "label"),
    "reuters": ("reuters21578.jsonl.gz", ("title", "body"), "topics"),
    "sms_spam": ("sms_spam.tsv.gz", ("text",), "label"),
    "tweet_emoji": ("tweet_emoji.jsonl.gz", ("text",), "label"),
}


def read(data, name):
    """Texts and labels of a corpus."""
    file, fields, label = ONE_LABEL[name]
    with gzip.open(Path(data) / file, "rt", encoding="utf-8") as lines:
        if file.endswith(".tsv.gz"):
            rows = list(csv.reader(io.StringIO(lines.read()), delimiter="\t", quoting=csv.QUOTE_NONE))
            return [row[1] for row in rows], np.array([row[0] for row in rows])
        rows = [json.loads(line) for line in lines]
    if name == "human_ratings":
        for row in rows:
            row["label"] = "negative" if row["mean"] < -0.5 else "positive" if row["mean"] > 0.5 else "between"
    one = lambda value: str(value[0] if isinstance(value, list) else value)
    rows = [row for row in rows if row.get(label) and (isinstance(row[label], str) or len(row[label]) == 1)]
    return ["\n".join(str(row[field] or "") for field in fields) for row in rows], np.array([one(row[label]) for row in rows])


def sampled(texts, labels, rows, seed, test_size=0.5):
    """Training and test texts of a random split, `rows` to learn from at most; classes with fewer than ten texts are left out."""
    names, counts = np.unique(labels, return_counts=True)
    kept = np.flatnonzero(np.isin(labels, names[counts >= 10]))
    kept = np.random.default_rng(seed).permutation(kept)[: round(rows / (1 - test_size))]
    names, counts = np.unique(labels[kept], return_counts=True)
    kept = kept[np.isin(labels[kept], names[counts >= 4])]
    return train_test_split([texts[row] for row in kept], labels[kept], test_size=test_size, random_state=seed, stratify=labels[kept])


def timed(work):
    """Seconds on the clock, and what came of it."""
    begun = time.perf_counter()
    found = work()
    return time.perf_counter() - begun, found


def alternated(works, rounds):
    """The median seconds of each, run in turn."""
    seconds = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            seconds[name].append(timed(work)[0])
    return {name: statistics.median(all_) for name, all_ in seconds.items()}


def part_log_loss(options):
    """Lower log loss than each of six peers, and than the best of them; no slower than `ensemble=False`."""
    calibrant.set_num_threads(1)
    peers = [(method, ensemble) for method in ("sigmoid", "isotonic", "temperature") for ensemble in (True, False)]
    wins, best, cells, ratios = dict.fromkeys(peers, 0), 0, 0, []
    print("| corpus | split | calibrant | " + " | ".join(f"{m}, {'ensemble' if e else 'one'}" for m, e in peers) + " | time / one |")
    print("|---|---:" + "|---:" * (len(peers) + 2) + "|")
    for name in options.corpora.split(","):
        texts, labels = read(options.data, name)
        for split in range(options.splits):
            train, test, y, truth = sampled(texts, labels, options.split_rows, 100 + split, 0.25)
            vectorizer = TfidfVectorizer(sublinear_tf=True)
            X, Z = vectorizer.fit_transform(train), vectorizer.transform(test)
            seconds, ours = timed(lambda: calibrant.CalibratedClassifier(LinearSVC(random_state=0)).fit(X, y))
            loss = log_loss(truth, ours.predict_proba(Z), labels=ours.classes_)
            others, one = {}, []
            for method, ensemble in peers:
                peer = CalibratedClassifierCV(LinearSVC(random_state=0), method=method, ensemble=ensemble)
                took, model = timed(lambda: peer.fit(X, y))
                others[method, ensemble] = log_loss(truth, model.predict_proba(Z), labels=model.classes_)
                if not ensemble:
                    one.append(took)
            cells += 1
            best += loss < min(others.values())
            ratios.append(seconds / min(one))
            for peer in peers:
                wins[peer] += loss < others[peer]
            print(f"| {name} | {split} | {loss:.4f} | " + " | ".join(f"{others[p]:.4f}" for p in peers) + f" | {ratios[-1]:.2f} |", flush=True)
    print(f"\nlower than each: {', '.join(f'{m} {e}: {wins[m, e]} of {cells}' for m, e in peers)}")
    print(f"lower than the best of the six: {best} of {cells}; time beside the quickest ensemble=False: median {statistics.median(ratios):.2f}")


def part_text(options):
    """Texts to a calibrated model."""
    calibrant.set_num_threads(0)
    for name in ("20newsgroups", "imdb", "ag_news"):
        train, test, y, truth = sampled(*read(options.data, name), 5 * options.rows, 1)
        ours = lambda: calibrant.TextClassifier(progress=False).fit(train, y)
        theirs = lambda: make_pipeline(TfidfVectorizer(sublinear_tf=True), CalibratedClassifierCV(LinearSVC())).fit(train, y)
        took = alternated({"ours": ours, "theirs": theirs}, options.rounds)
        losses = [log_loss(truth, model().predict_proba(test)) for model in (ours, theirs)]
        print(
            f"{name}: {len(train)} texts: calibrant {took['ours']:.2f} s, log loss {losses[0]:.4f}; vectoriser, LinearSVC and "
            f"CalibratedClassifierCV {took['theirs']:.2f} s, {losses[1]:.4f}; ratio {took['theirs'] / took['ours']:.1f}"
        )


def objective(X, y, weights, intercept, C, squared):
    """Of a linear SVM with a penalised intercept."""
    margin = y * (X @ weights + intercept)
    slack = np.maximum(0.0, 1.0 - margin)
    return 0.5 * (weights @ weights + intercept**2) + C * (slack**2 if squared else slack).sum()


def svm_objective(model, X, y, squared):
    """The sum over all outputs' problems."""
    classes = np.unique(y)
    signs = [np.where(y == c, 1.0, -1.0) for c in (classes[1:] if len(classes) == 2 else classes)]
    outputs = zip(signs, model.coef_, np.ravel(model.intercept_), strict=True)
    return sum(objective(X, sign, np.asarray(w, dtype=np.float64), b, 1.0, squared) for sign, w, b in outputs)


def part_svm(options):
    """A linear SVM on a given CSR, one thread: to the objective that LIBLINEAR reaches, and as users get it by default."""
    calibrant.set_num_threads(1)
    ladder = np.logspace(-2, -8, 25)
    for name in ("20newsgroups", "imdb", "ag_news"):
        train, _, y, _ = sampled(*read(options.data, name), 5 * options.rows, 1)
        X = TfidfVectorizer(sublinear_tf=True).fit_transform(train)
        for loss in ("squared_hinge", "hinge"):
            squared = loss == "squared_hinge"
            peer = LinearSVC(C=1.0, loss=loss, dual=True, random_state=0)
            usual = calibrant.LinearSVM(C=1.0, loss=loss, calibrator=None)
            to = lambda gap, loss=loss: calibrant.LinearSVM(C=1.0, loss=loss, calibrator=None, tol=gap)
            wanted = svm_objective(peer.fit(X, y), X, y, squared)
            # The largest gap at which ours is not worse: none of this is timed.
            gap = next(gap for gap in ladder if svm_objective(to(gap).fit(X, y), X, y, squared) <= wanted * (1 + 1e-6))
            equal = to(gap)
            works = {"equal": lambda: equal.fit(X, y), "usual": lambda: usual.fit(X, y), "theirs": lambda: peer.fit(X, y)}
            took = alternated(works, options.rounds)
            found = {what: svm_objective(model, X, y, squared) for what, model in (("equal", equal), ("usual", usual))}
            print(
                f"{name}, {loss}, {len(np.unique(y))} classes: calibrant to a gap of {gap:.1e} {took['equal']:.3f} s, objective "
                f"{found['equal']:.4f}; LIBLINEAR {took['theirs']:.3f} s, {wanted:.4f}; ratio {took['theirs'] / took['equal']:.2f}; by default "
                f"{took['usual']:.3f} s, {found['usual']:.4f} ({found['usual'] / wanted - 1:+.1e}), ratio {took['theirs'] / took['usual']:.2f}",
                flush=True,
            )


def part_logistic(options):
    """Dense rows of float32, two classes and ten, one thread: to the objective that scikit-learn reaches."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(options.dense_rows, 768)).astype(np.float32)
    truth = rng.normal(size=(768, 10)) / np.sqrt(768)
    two = (rng.random(len(X)) < 1 / (1 + np.exp(-2 * (X @ truth[:, 0])))).astype(int)
    ten = np.argmax(2 * (X @ truth) + rng.gumbel(size=(len(X), 10)), axis=1)
    sign = np.where(two == 1, 1.0, -1.0)

    def value(model):
        """Of two classes, without and with the penalty of the intercept, which is calibrant's alone."""
        weights, intercept = np.ravel(model.coef_).astype(float), float(np.ravel(model.intercept_)[0])
        margin = sign * (X @ weights + intercept)
        free = 0.5 * (weights @ weights) + np.logaddexp(0.0, -margin).sum()
        return free, free + 0.5 * intercept**2

    calibrant.set_num_threads(1)
    to = lambda gap: calibrant.LogisticRegression(C=1.0, calibrator=None, tol=gap)
    peer = LogisticRegression(C=1.0)
    wanted = value(peer.fit(X, two))
    # The largest gap at which ours is not worse in either: none of this is timed.
    reaches = lambda found: all(own <= other * (1 + 1e-6) for own, other in zip(found, wanted, strict=True))
    gap = next(gap for gap in np.logspace(-2, -8, 25) if reaches(value(to(gap).fit(X, two))))
    own = to(gap)
    took = alternated({"ours": lambda: own.fit(X, two), "theirs": lambda: peer.fit(X, two)}, options.rounds)
    found = value(own)
    print(
        f"{len(X)} x 768 float32, 2 classes: calibrant to a gap of {gap:.1e} {took['ours']:.3f} s, objective {found[0]:.3f} ({found[1]:.3f} with the "
        f"intercept's penalty); scikit-learn {took['theirs']:.3f} s, {wanted[0]:.3f} ({wanted[1]:.3f}), {peer.n_iter_[0]} iterations; ratio "
        f"{took['theirs'] / took['ours']:.2f}",
        flush=True,
    )
    usual, many = calibrant.LogisticRegression(C=1.0, calibrator=None), LogisticRegression(C=1.0)
    took = alternated({"ours": lambda: usual.fit(X, ten), "theirs": lambda: many.fit(X, ten)}, 1)
    print(
        f"10 classes: calibrant {took['ours']:.3f} s (each class and the rest); scikit-learn {took['theirs']:.3f} s (multinomial), "
        f"{many.n_iter_[0]} iterations; ratio {took['theirs'] / took['ours']:.2f}"
    )


def part_calibrators(options):
    """A million scores."""
    calibrant.set_num_threads(0)
    rng = np.random.default_rng(0)
    truth = (rng.random(1_000_000) < 0.3).astype(int)
    scores = rng.normal(np.where(truth, 1.0, -1.0), 1.5)
    works = {
        "sigmoid": lambda: _SigmoidCalibration().fit(scores, truth),
        "isotonic": lambda: IsotonicRegression(out_of_bounds="clip").fit(scores, truth),
        **{f"calibrant {m}": lambda m=m: calibrant.Calibrator(m).fit(scores, truth) for m in ("platt", "isotonic", "auto")},
    }
    took = alternated(works, options.rounds)
    for method, peer in (("platt", "sigmoid"), ("isotonic", "isotonic"), ("auto", "sigmoid")):
        print(
            f"10^6 scores: calibrant {method} {took[f'calibrant {method}']:.3f} s, scikit-learn {peer} {took[peer]:.3f} s; "
            f"ratio {took[peer] / took[f'calibrant {method}']:.1f}"
        )


def part_one_text(options):
    """One text through Python, beside the library's own time: the same model, saved and opened by calibrant-bench."""
    train, test, y, _ = sampled(*read(options.data, "20newsgroups"), 5 * options.rows, 1)
    model = calibrant.TextClassifier(progress=False).fit(train, y)
    opened = model.model_
    short, middle = "the goalie stopped every shot in the third period", sorted(test, key=len)[len(test) // 2]
    for text in (short, middle):
        with tempfile.TemporaryDirectory() as folder:
            path, file = Path(folder) / "model.calibrant", Path(folder) / "text.txt"
            model.save(path)
            file.write_text(text, encoding="utf-8")
            command = [Path(options.release) / "calibrant-bench", "latency", path, file, file, "20000"]
            said = subprocess.run(command, check=True, capture_output=True, text=True)
        own = json.loads(said.stdout)["predict"]["median_us"]
        print(f"one text of {len(text)} characters, 20 classes, by the library: {own:.1f} microseconds")
        for what, work in (
            ("Model.probabilities", lambda text=text: opened.probabilities(text)),
            ("TextClassifier.predict_proba", lambda text=text: model.predict_proba([text])),
        ):
            repeats = 2000
            seconds = statistics.median(timed(lambda: [work() for _ in range(repeats)])[0] / repeats for _ in range(5))
            print(f"  by {what}: {1e6 * seconds:.1f} microseconds, {1e6 * seconds / own:.2f} times as long")
    seconds, _ = timed(lambda: model.predict_proba(test))
    print(f"{len(test)} texts at once: {1e6 * seconds / len(test):.1f} microseconds each")


MEMORY = """
import resource, sys, numpy as np
from scipy.sparse import csr_matrix
import calibrant
rows, width = {rows}, 100
rng = np.random.default_rng(0)
indices = rng.integers(0, 50_000, rows * width, dtype=np.int32)
data = rng.random(rows * width)
X = csr_matrix((data, indices, np.arange(0, rows * width + 1, width)), shape=(rows, 50_000), copy=False)
y = (np.asarray(X[:, :25_000].sum(axis=1)).ravel() > 25).astype(int)
small = X[:2000]
model = calibrant.LinearSVM({settings}).fit(small, y[:2000])
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
size = data.nbytes + indices.nbytes
# What was needed before is let go: the peak so far is not to hide what follows.
open("/proc/self/clear_refs", "w").write("5")
now = int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) * 1024
found = {what}
then = int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) * 1024
print(size, rows, then - now, getattr(found, "nbytes", 0))
"""


def part_memory(options):
    """What is added to a CSR matrix of about a gigabyte."""
    rows = options.memory_rows
    for name, settings, what in (
        ("predict_proba", "", "model.predict_proba(X)"),
        ("LinearSVM(calibrator=None).fit", "C=1.0, calibrator=None", "model.fit(X, y)"),
        ("LinearSVM().fit", "C=1.0", "model.fit(X, y)"),
    ):
        code = MEMORY.format(rows=rows, settings=settings, what=what)
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        if said.returncode:
            print(f"{name}: failed: {said.stderr.strip().splitlines()[-1]}")
            continue
        size, rows, added, result = map(int, said.stdout.split())
        print(
            f"{name} on a CSR of {size / 1e9:.2f} GB, {rows} rows: {added / 1e6:.0f} MB more, {(added - result) / size:.1%} of the matrix beside "
            f"the result, {(added - result) / rows:.0f} bytes per row"
        )


PARTS = {name.removeprefix("part_"): part for name, part in list(globals().items()) if name.startswith("part_")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--data", default=os.environ.get("CALIBRANT_DATA", "../shared/data"))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--corpora", default=",".join(ONE_LABEL), help="those of the random splits")
    parser.add_argument("--split-rows", type=int, default=10_000, help="texts to learn from at most, in the random splits")
    parser.add_argument("--rows", type=int, default=2000, help="texts to learn from, in the smaller parts")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dense-rows", type=int, default=100_000)
    parser.add_argument("--memory-rows", type=int, default=850_000)
    parser.add_argument("--release", default="target/release", help="the folder of calibrant-bench; the package is installed")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    for name in options.only.split(","):
        print(f"\n## {name}: {PARTS[name].__doc__}\n", flush=True)
        PARTS[name](options)


if __name__ == "__main__":
    main()
