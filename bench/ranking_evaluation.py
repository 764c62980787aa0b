"""calibrant's measures of rankings beside pytrec_eval: 1,000 queries with 1,000 documents each, made by chance from a
fixed seed. Prints Markdown, writes target/bench/ranking_evaluation.json.

Run by bench/run ranking_evaluation.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytrec_eval

from machine import facts
from measure import alternate, say
from report import Report

ROOT = Path(__file__).resolve().parent.parent
SEED = 7
# How far values of one query may be apart; both sides compute with 64 bits.
TOLERANCE = 1e-9
# The peer's version rounds recalls in another way, and its names of these carry no value for single queries.
LEFT_OUT = ("iprec_at_recall", "11pt_avg")
TASKS = {"map and ndcg_cut.10": ["map", "ndcg_cut.10"], "all measures": ["all_trec"]}


def make_up(folder, queries, documents):
    """Writes judgements and a run: one document in ten is judged, three grades, scores with a few ties."""
    generator = np.random.default_rng(SEED)
    qrels, run = folder / "ranking.qrels", folder / "ranking.run"
    with open(qrels, "w", encoding="ascii") as judged, open(run, "w", encoding="ascii") as listed:
        for query in range(queries):
            names = generator.permutation(20 * documents)[:documents]
            # Sixteenths are held exactly by 32 bits, which is what the peer compares.
            scores = np.sort(np.round(generator.normal(20, 5, documents) * 16) / 16)[::-1]
            for rank, (name, score) in enumerate(zip(names, scores), 1):
                listed.write(f"{query + 1} Q0 doc-{name:07d} {rank} {score} made-up\n")
            for name in np.unique(np.concatenate([names[:: 10], generator.integers(0, 20 * documents, 20)])):
                judged.write(f"{query + 1} 0 doc-{name:07d} {generator.integers(0, 4)}\n")
    return qrels, run


def ours(program, qrels, run, threads, measures):
    say(f"calibrant, {threads or 'all'} threads, {' '.join(measures)}")
    command = [program, "ranking", qrels, run, str(threads), *measures]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def theirs(qrels, run, measures):
    say(f"pytrec_eval, {' '.join(measures)}")
    start = time.perf_counter()
    with open(qrels, encoding="ascii") as lines:
        judged = pytrec_eval.parse_qrel(lines)
    with open(run, encoding="ascii") as lines:
        listed = pytrec_eval.parse_run(lines)
    read = time.perf_counter() - start
    names = pytrec_eval.supported_measures if measures == ["all_trec"] else [name.replace(".", "_") for name in measures]
    start = time.perf_counter()
    values = pytrec_eval.RelevanceEvaluator(judged, set(names)).evaluate(listed)
    return {"read": read, "evaluate": time.perf_counter() - start, "values": values}


def check(found, expected):
    """The values of both sides must be the same; how many there were."""
    compared = 0
    if set(found) != set(expected):
        sys.exit("the queries differ")
    for query, values in found.items():
        for name, value in values.items():
            if name in expected[query] and not name.startswith(LEFT_OUT):
                if abs(value - expected[query][name]) > TOLERANCE:
                    sys.exit(f"{name} of query {query}: ours {value}, theirs {expected[query][name]}")
                compared += 1
    return compared


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", type=Path, default=ROOT / "target/release", help="where the programs are")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is run")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--documents", type=int, default=1000, help="documents per query")
    arguments = parser.parse_args()
    output = ROOT / "target/bench"
    output.mkdir(parents=True, exist_ok=True)
    release = arguments.release.resolve()
    qrels, run = make_up(output, arguments.queries, arguments.documents)
    report = Report(facts(release / "calibrant", ["pytrec_eval-terrier"]), arguments.rounds)
    for title, measures in TASKS.items():
        costs = {}
        for _ in range(arguments.rounds):
            found = {
                "calibrant, one thread": ours(release / "calibrant-bench", qrels, run, 1, measures),
                "calibrant": ours(release / "calibrant-bench", qrels, run, 0, measures),
                "pytrec_eval": theirs(qrels, run, measures),
            }
            for name, seconds in found.items():
                costs.setdefault(name, []).append(seconds)
        compared = check(found["calibrant"]["values"], found["pytrec_eval"]["values"])
        report.section(f"{arguments.queries:,} queries of {arguments.documents:,} documents: {title}")
        for name in ["calibrant, one thread", "calibrant"]:
            for what, parts in [("read", ["read"]), ("measure", ["evaluate"]), ("both", ["read", "evaluate"])]:
                median = lambda side: statistics.median(sum(run[part] for part in parts) for run in costs[side])
                report.cost(f"{what}, s", median(name), median("pytrec_eval"), name, "pytrec_eval")
        report.note(f"{compared:,} values of single queries are equal to {TOLERANCE:g}.")
    report.section("The program, from start to end")
    peer = [sys.executable, "-c", PEER, qrels, run]
    commands = {"calibrant": [release / "calibrant", "rank", "evaluate", "-m", "map", qrels, run], "pytrec_eval": peer}
    cost = alternate(commands, arguments.rounds)
    report.costs("calibrant rank evaluate", cost["calibrant"], "pytrec_eval", cost["pytrec_eval"])
    print(report.markdown())
    (output / "ranking_evaluation.json").write_text(json.dumps(report.values(), indent=2) + "\n", encoding="utf-8")
    say(f"wrote {output / 'ranking_evaluation.json'}")


PEER = """
import sys, pytrec_eval
judged, listed = pytrec_eval.parse_qrel(open(sys.argv[1])), pytrec_eval.parse_run(open(sys.argv[2]))
found = pytrec_eval.RelevanceEvaluator(judged, {"map"}).evaluate(listed)
print(sum(values["map"] for values in found.values()) / len(found))
"""


if __name__ == "__main__":
    main()
