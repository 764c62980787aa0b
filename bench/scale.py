"""Many classes and many documents: Markdown, and target/bench/scale.json.

Run by bench/run scale. In every row a ratio above 1 speaks for calibrant.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import measure
from corpora import INTENTS, MILLION, NEWSGROUPS, THOUSAND, THOUSAND_TENTH
from machine import facts
from measure import say
from report import Report

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
LEARNING_ALONE = ["--calibrator", "none", "--multiclass", "one_vs_rest"]
# Nothing is normalised and nothing calibrated.
SCORES_ALONE = ["--calibrator", "none", "--labels", "several"]


class Bench:
    """Where everything is, and how each side is called."""

    def __init__(self, arguments, data, output):
        self.program, self.before = arguments.release.resolve() / "calibrant", arguments.before
        self.latency = arguments.release.resolve() / "calibrant-bench"
        self.data, self.output, self.rounds = data, output, arguments.rounds

    def folder(self, corpus):
        return self.data if corpus is NEWSGROUPS else self.output

    def fit(self, corpus, *more, program=None):
        where = corpus.arguments(self.folder(corpus), "train")
        model = str(self.output / "scale.calibrant")
        options = ["--label", corpus.label, "--classifier", "svm", "-o", model]
        return [str(program or self.program), "fit", *where, *options, *more]

    def one_text(self, corpus, *more):
        """Median microseconds for the text of median length, with a model of these options."""
        measure.alternate({"model": self.fit(corpus, *more)}, 1)
        texts = sorted(corpus.read(self.output, "train")[1], key=len)
        measure.write_documents(self.output / "one.txt", [texts[len(texts) // 2]])
        arguments = [self.output / "scale.calibrant", self.output / "one.txt", self.output / "one.txt", 20_000]
        found = subprocess.run([self.latency, "latency", *map(str, arguments)], check=True, stdout=subprocess.PIPE)
        return json.loads(found.stdout)["predict"]["median_us"]

    def scikit(self, name, corpus):
        script, model = str(HERE / "scikit_fit.py"), str(self.output / "scale.joblib")
        return [sys.executable, script, name, str(self.folder(corpus)), model]


def classes(bench, report):
    """150 classes on 15,000 short texts."""
    INTENTS.write(bench.output)
    costs = measure.alternate(
        {
            "calibrant": bench.fit(INTENTS),
            "scikit-learn": bench.scikit("intents", INTENTS),
            "learning alone": bench.fit(INTENTS, *LEARNING_ALONE),
        },
        bench.rounds,
    )
    report.section("150 classes on 15,000 short texts, from file to calibrated model, 5 folds")
    report.costs("calibrant", costs["calibrant"], "scikit-learn", costs["scikit-learn"])
    learning = costs["learning alone"]["cpu"]
    calibration = costs["calibrant"]["cpu"] - learning
    shares = {"learning, CPU s": learning, "calibration, CPU s": calibration}
    report.alone("calibrant", {**shares, "calibration / learning, CPU": calibration / learning})
    one = bench.one_text(INTENTS)
    others = {"scores alone": SCORES_ALONE, "as stated by each class": LEARNING_ALONE}
    report.alone("calibrant", {"one text, µs": one})
    for name, options in others.items():
        microseconds = bench.one_text(INTENTS, *options)
        report.alone("calibrant", {f"{name}, µs": microseconds, f"one text / {name}": one / microseconds})


def thousand(bench, report):
    """1,000 classes on 100,000 documents; the peer on a tenth."""
    THOUSAND.write(bench.output)
    THOUSAND_TENTH.write(bench.output)
    ours = measure.alternate({"calibrant": bench.fit(THOUSAND)}, 1)["calibrant"]
    tenth = measure.alternate(
        {
            "calibrant": bench.fit(THOUSAND_TENTH),
            "scikit-learn": bench.scikit("thousand-tenth", THOUSAND_TENTH),
        },
        1,
    )
    report.section("1,000 classes on 100,000 generated documents; scikit-learn on a tenth of the same kind, less classes of under five, which it refuses (one run)")
    names = {"wall": "wall s", "cpu": "CPU s"}
    for what, name in names.items():
        theirs = tenth["scikit-learn"][what]
        of_all, of_tenth = (corpus.count(bench.output) / 1_000 for corpus in (THOUSAND, THOUSAND_TENTH))
        report.cost(f"{name} per 1,000 documents", ours[what] / of_all, theirs / of_tenth)
        report.cost(f"{name}, the tenth", tenth["calibrant"][what], theirs)
    report.alone("calibrant", {"wall s": ours["wall"], "CPU s": ours["cpu"], "peak memory, MB": ours["memory"] / 1e6})


def newsgroups(bench, report):
    """20 Newsgroups with the defaults."""
    ours, theirs = bench.fit(NEWSGROUPS), bench.scikit("newsgroups", NEWSGROUPS)
    costs = measure.alternate({"calibrant": ours, "scikit-learn": theirs}, bench.rounds)
    report.section("20 Newsgroups, from file to calibrated model, 5 folds")
    report.costs("calibrant", costs["calibrant"], "scikit-learn", costs["scikit-learn"])


def million(bench, report):
    """10^6 short documents on one thread."""
    MILLION.write(bench.output)
    commands = {"calibrant": bench.fit(MILLION, "--threads", "1")}
    if bench.before:
        commands["before"] = bench.fit(MILLION, "--threads", "1", program=bench.before)
    costs = measure.alternate(commands, 1)
    report.section("1,000,000 generated documents of 14 words, 4 classes, one thread (one run)")
    ours = costs["calibrant"]
    if bench.before:
        report.costs("calibrant", ours, "before", costs["before"])
    else:
        report.alone("calibrant", {"wall s": ours["wall"], "CPU s": ours["cpu"], "peak memory, MB": ours["memory"] / 1e6})
    report.alone("calibrant", {"bytes per document": ours["memory"] / MILLION.documents})


PARTS = {part.__name__: part for part in [classes, thousand, newsgroups, million]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", type=Path, default=ROOT / "target/release", help="where the programs are")
    parser.add_argument("--rounds", type=int, default=3, help="how often each program is run")
    parser.add_argument("--only", default=",".join(PARTS), help="the parts that are run")
    parser.add_argument("--before", type=Path, help="another build of calibrant, to stand beside at 10^6 documents")
    arguments = parser.parse_args()
    data = Path(os.environ.get("CALIBRANT_DATA", ROOT / "../shared/data")).resolve()
    output = ROOT / "target/bench"
    output.mkdir(parents=True, exist_ok=True)
    bench = Bench(arguments, data, output)
    report = Report(facts(bench.program), arguments.rounds)
    for name in arguments.only.split(","):
        say(f"== {PARTS[name].__doc__}")
        PARTS[name](bench, report)
    print(report.markdown())
    (output / "scale.json").write_text(json.dumps(report.values(), indent=2) + "\n", encoding="utf-8")
    say(f"wrote {output / 'scale.json'}")


if __name__ == "__main__":
    main()
