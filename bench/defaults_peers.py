"""What scikit-learn's pipelines state in every cell of the experiment `defaults`.

    OMP_NUM_THREADS=1 python bench/defaults_peers.py [--corpora NAME,…] [--sizes 300,all] [--draws N] [--copies no|yes|both] [--peers NAME,…]

Cells lie in target/defaults/peers/CORPUS/CELL/: for each pipeline the stated probabilities (PEER.f64: rows × classes, little
endian) and a line of JSON (PEER.json: classes, seconds, or why there is no answer). A cell that is there is not done again.
They are measured by `calibrant-experiments defaults`, with the same code as calibrant's.
"""

import argparse
import hashlib
import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import ComplementNB
from sklearn.svm import LinearSVC

from defaults_splits import DRAWS, SIZES, Corpus, cell_name

FOLDS = 5


class SharedSvc(LinearSVC):
    """LinearSVC, except that a fit that was made before in this cell is not made again; its time is charged again.

    Six of the pipelines calibrate the same five or six support vector machines.
    """

    made = {}
    charged = 0.0

    def fit(self, X, y, sample_weight=None):
        key = hashlib.blake2b(np.asarray(y).astype("U").tobytes(), digest_size=16)
        for part in (X.data, X.indices, X.indptr):
            key.update(part.tobytes())
        key = key.digest()
        if key in SharedSvc.made:
            fitted, seconds = SharedSvc.made[key]
            SharedSvc.charged += seconds
        else:
            start = time.process_time()
            super().fit(X, y, sample_weight)
            fitted = {name: value for name, value in vars(self).items() if name.endswith("_")}
            SharedSvc.made[key] = (fitted, time.process_time() - start)
        vars(self).update(fitted)
        return self

    @classmethod
    def forget(cls):
        cls.made, cls.charged = {}, 0.0


def calibrated(method, ensemble):
    def make(labels):
        cv = FOLDS
        if np.unique(labels, return_counts=True)[1].min() < FOLDS:
            # With a class of fewer examples than folds a number is refused; folds that are given are not.
            cv = list(StratifiedKFold(FOLDS).split(np.zeros(len(labels)), labels))
        return CalibratedClassifierCV(SharedSvc(random_state=0), method=method, cv=cv, ensemble=ensemble)

    return make


PEERS = {
    "svc_sigmoid": calibrated("sigmoid", False),
    "svc_sigmoid_ensemble": calibrated("sigmoid", True),
    "svc_isotonic": calibrated("isotonic", False),
    "svc_isotonic_ensemble": calibrated("isotonic", True),
    "svc_temperature": calibrated("temperature", False),
    "svc_temperature_ensemble": calibrated("temperature", True),
    "logistic": lambda labels: LogisticRegression(max_iter=1000),
    "complement_nb": lambda labels: ComplementNB(),
}


def one_label(make, training, labels, test):
    """Probabilities of exclusive classes."""
    model = make(labels).fit(training, labels)
    stated = model.predict_proba(test)
    return list(model.classes_), stated


def several_labels(make, training, labels, test):
    """Each label against the rest, as OneVsRestClassifier does; one too rare for its folds by logistic regression."""
    names = sorted({name for row in labels for name in row})
    stated = np.empty((test.shape[0], len(names)))
    for column, name in enumerate(names):
        yes = np.array([name in row for row in labels])
        few = min(yes.sum(), (~yes).sum()) < FOLDS
        if yes.all():
            stated[:, column] = 1.0
            continue
        model = (PEERS["logistic"] if few else make)(yes).fit(training, yes)
        stated[:, column] = model.predict_proba(test)[:, 1]
    return names, stated


def run_cell(corpus, size, draw, copies, names, folder):
    wanted = [name for name in names if not (folder / f"{name}.json").exists()]
    if not wanted:
        return
    folder.mkdir(parents=True, exist_ok=True)
    training_rows, test_rows = corpus.split(size, draw, copies)
    labels = [corpus.labels[row] for row in training_rows]
    matrices = {}
    ways = several_labels if corpus.several else one_label
    SharedSvc.forget()
    for name in wanted:
        base, _, variant = name.partition(":")
        min_df = 2 if variant == "min_df_2" else 1
        if min_df not in matrices:
            SharedSvc.forget()
            start = time.process_time()
            vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=min_df)
            training = vectorizer.fit_transform([corpus.texts[row] for row in training_rows])
            test = vectorizer.transform([corpus.texts[row] for row in test_rows])
            matrices[min_df] = training, test, time.process_time() - start
        training, test, seconds = matrices[min_df]
        SharedSvc.charged = 0.0
        start, clock = time.process_time(), time.perf_counter()
        line = {"peer": name, "training": len(training_rows), "test": len(test_rows)}
        try:
            classes, stated = ways(PEERS[base], training, np.array(labels) if not corpus.several else labels, test)
            path = folder / f"{name}.f64"
            stated.astype("<f8").tofile(f"{path}.unfinished")
            os.replace(f"{path}.unfinished", path)
            line["classes"] = [str(each) for each in classes]
        except ValueError as error:
            line["refused"] = str(error).strip().split("\n")[0]
        spent = seconds + SharedSvc.charged
        line["cpu"] = round(time.process_time() - start + spent, 4)
        line["wall"] = round(time.perf_counter() - clock + spent, 4)
        (folder / f"{name}.json.unfinished").write_text(json.dumps(line) + "\n")
        os.replace(folder / f"{name}.json.unfinished", folder / f"{name}.json")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--prepared", default="target/corpora", type=Path)
    arguments.add_argument("--results", default="target/defaults", type=Path)
    arguments.add_argument("--corpora", default="", help="names, separated by commas")
    arguments.add_argument("--sizes", default="300,1000,3000,10000,all")
    arguments.add_argument("--draws", default=DRAWS, type=int)
    arguments.add_argument("--copies", default="both", choices=["no", "yes", "both"])
    arguments.add_argument("--peers", default=",".join(PEERS), help="names, `:min_df_2` behind one for terms of two texts or more")
    options = arguments.parse_args()
    warnings.filterwarnings("ignore")
    there = sorted(path.name.removesuffix(".about.json") for path in options.prepared.glob("*.about.json"))
    names = list(filter(None, options.corpora.split(","))) or there
    for unknown in [name for name in names if name not in there]:
        sys.exit(f"error: no corpus `{unknown}` in {options.prepared}; there are {', '.join(there) or 'none'}")
    sizes = [each if each == "all" else int(each) for each in options.sizes.split(",")]
    for unknown in [each for each in sizes if each not in SIZES + ["all"]]:
        sys.exit(f"error: no size {unknown}; there are {SIZES} and all")
    copies = {"no": [False], "yes": [True], "both": [False, True]}[options.copies]
    corpora = {name: Corpus(options.prepared, name) for name in names}
    # The smallest first, so that a run that is broken off has whole rows of the table.
    for size in sizes:
        for repeated in copies:
            for draw in range(options.draws):
                for name, corpus in corpora.items():
                    by_date = corpus.half == "beside"
                    if size not in corpus.sizes() or (by_date and (draw > 0 or repeated)):
                        continue
                    clock = time.perf_counter()
                    cell = cell_name(size, draw, repeated)
                    run_cell(corpus, size, draw, repeated, options.peers.split(","), options.results / "peers" / name / cell)
                    print(f"{name} {cell}: {time.perf_counter() - clock:.1f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
