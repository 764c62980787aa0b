"""calibrant beside scikit-learn: one table of Markdown, and target/bench/results.json.

Run by bench/run. In every row a ratio above 1 speaks for calibrant.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import measure
import quality
from corpora import NEWSGROUPS, REUTERS, TEN_TOPICS
from machine import facts
from measure import say
from report import Report

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
# What scikit-learn does by default where calibrant does something else.
THEIR_SETTINGS = ["--c", "1", "--min-df", "1", "--min-word-length", "2", "--calibrator", "platt"]


class Bench:
    """Where everything is, and how each side is called."""

    def __init__(self, release, data, output, rounds):
        self.release, self.data, self.output, self.rounds = release, data, output, rounds

    def file(self, name):
        return str(self.output / name)

    def fit(self, corpus, model, *more):
        where = corpus.arguments(self.data, "train")
        options = ["--label", corpus.label, "--classifier", "svm", "-o", self.file(model)]
        return [str(self.release / "calibrant"), "fit", *where, *options, *more]

    def predict(self, corpus, model, output, *more):
        where = corpus.arguments(self.data, "test")
        program = str(self.release / "calibrant")
        return [program, "predict", self.file(model), *where, "-o", self.file(output), *more]

    def scikit(self, script, *arguments):
        return [sys.executable, str(HERE / script), *map(str, arguments)]

    def timed(self, name, *arguments):
        return [str(self.release / "calibrant-bench"), name, *map(str, arguments)]


def fitting(bench, report):
    """From file to calibrated model with five folds."""
    theirs = bench.scikit("scikit_fit.py", "newsgroups", bench.data, bench.file("newsgroups.joblib"))
    costs = measure.alternate(
        {
            "calibrant": bench.fit(NEWSGROUPS, "newsgroups.calibrant"),
            "scikit-learn": theirs,
            "calibrant, 1 thread": bench.fit(NEWSGROUPS, "one.calibrant", "--threads", "1"),
            "scikit-learn, n_jobs=2": [*theirs, "2"],
            "calibrant, their settings": bench.fit(NEWSGROUPS, "alike.calibrant", *THEIR_SETTINGS),
        },
        bench.rounds,
    )
    report.section("Fit: 20 Newsgroups, from file to calibrated model, 5 folds")
    for ours, their in [
        ("calibrant", "scikit-learn"),
        ("calibrant", "scikit-learn, n_jobs=2"),
        ("calibrant, 1 thread", "scikit-learn"),
        ("calibrant, their settings", "scikit-learn"),
        ("calibrant, their settings", "scikit-learn, n_jobs=2"),
    ]:
        report.costs(ours, costs[ours], their, costs[their])


def predicting(bench, report):
    """From file to written probabilities."""
    corpus, model = "newsgroups", bench.file("newsgroups.joblib")
    theirs = bench.scikit("scikit_predict.py", corpus, bench.data, model, bench.file("theirs.csv"))
    ours = bench.predict(NEWSGROUPS, "newsgroups.calibrant", "ours.csv", "--top", "1")
    costs = measure.alternate(
        {"calibrant": ours, "scikit-learn": theirs, "calibrant, 1 thread": [*ours, "--threads", "1"]},
        bench.rounds,
    )
    report.section("Predict: 20 Newsgroups' test split, from file to written probabilities")
    for name in ["calibrant", "calibrant, 1 thread"]:
        report.costs(name, costs[name], "scikit-learn", costs["scikit-learn"])
    count = len(NEWSGROUPS.read(bench.data, "test")[0])
    speeds = {name: count / cost["wall"] for name, cost in costs.items()}
    what = "documents per second, from file to file"
    report.speed(what, speeds["calibrant"], "scikit-learn", speeds["scikit-learn"])


def judging(bench, report):
    """Both sides' written probabilities, measured by the same code."""
    ids, _, labels = NEWSGROUPS.read(bench.data, "test")
    measure.run(bench.predict(NEWSGROUPS, "newsgroups.calibrant", "ours.jsonl"))
    measure.run(bench.predict(NEWSGROUPS, "alike.calibrant", "alike.jsonl"))
    arguments = ["newsgroups", bench.data, bench.file("newsgroups.joblib"), bench.file("theirs.jsonl")]
    measure.run(bench.scikit("scikit_predict.py", *arguments))
    theirs = quality.one_label(bench.file("theirs.jsonl"), ids, labels)
    report.section("Quality: 20 Newsgroups' test split (nats per document; Brier 0 to 2; ECE of the top class)")
    for name, file in [("calibrant", "ours.jsonl"), ("calibrant, their settings", "alike.jsonl")]:
        report.quality(name, quality.one_label(bench.file(file), ids, labels), "scikit-learn", theirs)


def judging_topics(bench, report):
    """Reuters-21578: ten topics on both sides, then all topics."""
    ids, _, labels = REUTERS.read(bench.data, "test")
    fit_ours = bench.fit(REUTERS, "ten.calibrant", "--classes", ",".join(TEN_TOPICS))
    model = bench.file("ten.joblib")
    fit_theirs = bench.scikit("scikit_fit.py", "reuters", bench.data, model)
    costs = measure.alternate({"calibrant": fit_ours, "scikit-learn": fit_theirs}, bench.rounds)
    measure.run(bench.predict(REUTERS, "ten.calibrant", "ten.jsonl"))
    predict = bench.scikit("scikit_predict.py", "reuters", bench.data, model, bench.file("theirs_ten.jsonl"))
    measure.run(predict)
    report.section("Reuters-21578, ten topics: fit, and quality on the test split (log loss in nats per decision)")
    report.costs("calibrant", costs["calibrant"], "scikit-learn", costs["scikit-learn"])
    ours = quality.several_labels(bench.file("ten.jsonl"), ids, labels)
    theirs = quality.several_labels(bench.file("theirs_ten.jsonl"), ids, labels)
    report.quality("calibrant", ours, "scikit-learn", theirs)

    report.section("Reuters-21578, all topics of the training split")
    cost = measure.run(bench.fit(REUTERS, "all.calibrant"))
    measure.run(bench.predict(REUTERS, "all.calibrant", "all.jsonl"))
    measures = quality.several_labels(bench.file("all.jsonl"), ids, labels)
    report.alone("calibrant", {"fit, wall s": cost.wall, "fit, CPU s": cost.cpu, **measures})
    try:
        measure.run(bench.scikit("scikit_fit.py", "reuters-all", bench.data, bench.file("all.joblib")))
        report.note("scikit-learn fitted all topics too.")
    except measure.Failed as failure:
        report.note(f"scikit-learn refuses: {failure}")


def model_file(bench, report):
    """Size, loading, one text, and many texts in one process."""
    _, texts, _ = NEWSGROUPS.read(bench.data, "test")
    measure.write_documents(bench.file("test.txt"), texts)
    middle = sorted(texts, key=len)[len(texts) // 2]
    measure.write_documents(bench.file("one.txt"), [middle])
    arguments = [bench.file("one.txt"), bench.file("test.txt")]
    ours = answer(bench.timed("latency", bench.file("newsgroups.calibrant"), *arguments, 4000))
    theirs = answer(bench.scikit("scikit_latency.py", bench.file("newsgroups.joblib"), *arguments, 400))
    sizes = [os.path.getsize(bench.file(f"newsgroups.{ending}")) for ending in ["calibrant", "joblib"]]
    report.section(f"Model: 20 Newsgroups (one text: the test document of median length, {len(middle)} characters)")
    report.cost("file size, MB", sizes[0] / 1e6, sizes[1] / 1e6)
    for what, name in [("open", "open the file, ms"), ("predict", "one text, ms")]:
        for at, ending in [("median_us", "median"), ("p99_us", "99th percentile")]:
            report.cost(f"{name}, {ending}", ours[what][at] / 1e3, theirs[what][at] / 1e3)
    speed = theirs["documents_per_second"]["one_thread"]
    for threads in ["one_thread", "all_threads"]:
        name = f"documents per second in one process, {threads.replace('_', ' ')}"
        report.speed(name, ours["documents_per_second"][threads], "scikit-learn", speed)


def counting(bench, report):
    """Text to counts, beside a program that only counts words."""
    _, train, _ = NEWSGROUPS.read(bench.data, "train")
    _, test, _ = NEWSGROUPS.read(bench.data, "test")
    path = bench.file("newsgroups.txt")
    measure.write_documents(path, train + test)
    size = os.path.getsize(path) / 1e6
    words = measure.alternate({"wc -w": ["env", "LC_ALL=C", "wc", "-w", path]}, 5)["wc -w"]
    ours = answer(bench.timed("count", path))
    theirs = answer(bench.scikit("scikit_count.py", path))
    report.section(f"Words to counts: all of 20 Newsgroups, {size:.1f} MB (MB/s)")
    for threads in ["one_thread", "all_threads"]:
        for what, peer in [("words", "CountVectorizer"), ("words, hashed", "HashingVectorizer")]:
            name = f"count {what}, {threads.replace('_', ' ')}"
            report.speed(name, ours["count"][what][threads], peer, theirs[what])
    one = ours["count"]["words"]["one_thread"]
    report.speed("count words, one thread", one, "wc -w (C locale), only a total", size / words["wall"])
    report.speed("find words, one thread", ours["find_words"], "wc -w (C locale)", size / words["wall"])


def answer(command):
    """What a program prints, as JSON."""
    say(f"running {Path(command[0]).name} {Path(command[1]).name}")
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", type=Path, default=ROOT / "target/release", help="where the programs are")
    parser.add_argument("--rounds", type=int, default=3, help="how often each program is run")
    arguments = parser.parse_args()
    data = Path(os.environ.get("CALIBRANT_DATA", ROOT / "../shared/data")).resolve()
    missing = [corpus.file for corpus in [NEWSGROUPS, REUTERS] if not (data / corpus.file).is_file()]
    if missing:
        sys.exit(f"{data} lacks {', '.join(missing)} (set CALIBRANT_DATA)")
    output = ROOT / "target/bench"
    output.mkdir(parents=True, exist_ok=True)
    bench = Bench(arguments.release.resolve(), data, output, arguments.rounds)
    report = Report(facts(bench.release / "calibrant"), arguments.rounds)
    for part in [fitting, predicting, judging, judging_topics, model_file, counting]:
        say(f"== {part.__doc__}")
        part(bench, report)
    print(report.markdown())
    (output / "results.json").write_text(json.dumps(report.values(), indent=2) + "\n", encoding="utf-8")
    say(f"wrote {output / 'results.json'}")


if __name__ == "__main__":
    main()
