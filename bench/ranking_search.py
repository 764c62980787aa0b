"""Indexing and searching beside bm25s and tantivy-py, on the documents of 20 Newsgroups: BM25 over plain words, the top
10 for 500 queries. Prints Markdown, writes target/bench/ranking_search.json.

Run by bench/run ranking_search.
"""

import argparse
import gzip
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import bm25s
import tantivy

from machine import facts
from measure import say
from report import Report

ROOT = Path(__file__).resolve().parent.parent
QUERIES = 500
TOP = 10


def documents(data):
    """Identifiers and texts."""
    with gzip.open(data / "20newsgroups.jsonl.gz", "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    return [str(number) for number in range(len(rows))], [row["subject"] + "\n" + row["text"] for row in rows]


def subjects(data):
    """The subject lines of some documents, as queries."""
    with gzip.open(data / "20newsgroups.jsonl.gz", "rt", encoding="utf-8") as stream:
        found = {json.loads(line)["subject"].strip() for line in stream}
    found = sorted(re.sub(r"\s+", " ", subject) for subject in found if re.search(r"\w", subject))
    return found[:: max(1, len(found) // QUERIES)][:QUERIES]


def ours(release, output, docs, queries, threads):
    """Seconds of `calibrant index` and of `calibrant search` for all queries, processes and files included."""
    index = output / "ranking_search.index"
    run = lambda *command: subprocess.run(
        [str(release / "calibrant"), *map(str, command), "--threads", str(threads)],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    start = time.perf_counter()
    run("index", docs, "-o", index)
    indexed = time.perf_counter()
    run(
        *("search", index, "--queries", queries, "--run", output / "ranking_search.run"),
        *("--function", "bm25.plain", "--top", TOP, "--no-verify"),
    )
    return {"index": indexed - start, "search": time.perf_counter() - indexed}


def with_bm25s(ids, texts, queries):
    """bm25s with its own tokenizer; it indexes one analysis, where calibrant indexes three."""
    start = time.perf_counter()
    model = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    model.index(bm25s.tokenize(texts, stopwords=None, show_progress=False), show_progress=False)
    indexed = time.perf_counter()
    tokens = bm25s.tokenize(queries, stopwords=None, show_progress=False)
    model.retrieve(tokens, k=TOP, show_progress=False)
    return {"index": indexed - start, "search": time.perf_counter() - indexed}


def with_tantivy(ids, texts, queries, folder):
    """tantivy through its Python binding, one analysis, with its own BM25 and block-max pruning."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    start = time.perf_counter()
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("id", stored=True, tokenizer_name="raw")
    schema.add_text_field("text", stored=True)
    index = tantivy.Index(schema.build(), path=str(folder))
    writer = index.writer(256 << 20, num_threads=0)
    for name, text in zip(ids, texts):
        writer.add_document(tantivy.Document(id=name, text=text))
    writer.commit()
    writer.wait_merging_threads()
    indexed = time.perf_counter()
    index.reload()
    searcher = index.searcher()
    for query in queries:
        words = " ".join(re.findall(r"\w+", query.lower()))
        found = searcher.search(index.parse_query(words, ["text"]), TOP)
        [searcher.doc(address)["id"] for _, address in found.hits]
    return {"index": indexed - start, "search": time.perf_counter() - indexed}


def median(runs, what):
    return statistics.median(run[what] for run in runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", type=Path, default=ROOT / "target/release", help="where the programs are")
    parser.add_argument("--rounds", type=int, default=3, help="how often each side runs, in turn")
    arguments = parser.parse_args()
    data = Path(os.environ.get("CALIBRANT_DATA", ROOT / "../shared/data")).resolve()
    if not (data / "20newsgroups.jsonl.gz").is_file():
        sys.exit(f"{data} lacks 20newsgroups.jsonl.gz (set CALIBRANT_DATA)")
    output = ROOT / "target/bench"
    output.mkdir(parents=True, exist_ok=True)
    release = arguments.release.resolve()

    ids, texts = documents(data)
    queries = subjects(data)
    docs, query_file = output / "ranking_search.jsonl", output / "ranking_search.tsv"
    with open(docs, "w", encoding="utf-8") as stream:
        for name, text in zip(ids, texts):
            stream.write(json.dumps({"id": name, "text": text}) + "\n")
    with open(query_file, "w", encoding="utf-8") as stream:
        for number, query in enumerate(queries):
            stream.write(f"{number}\t{query}\n")
    runs = {"calibrant": [], "calibrant, 1 thread": [], "bm25s": [], "tantivy-py": []}
    for number in range(arguments.rounds):
        say(f"round {number + 1} of {arguments.rounds}")
        runs["calibrant"].append(ours(release, output, docs, query_file, os.cpu_count()))
        runs["calibrant, 1 thread"].append(ours(release, output, docs, query_file, 1))
        runs["bm25s"].append(with_bm25s(ids, texts, queries))
        runs["tantivy-py"].append(with_tantivy(ids, texts, queries, output / "ranking_search.tantivy"))

    report = Report(facts(release / "calibrant", ["bm25s", "tantivy"]), arguments.rounds)
    report.section(f"{len(ids)} documents of 20 Newsgroups, {len(queries)} queries, top {TOP}")
    for our_name in ["calibrant", "calibrant, 1 thread"]:
        for their_name in ["bm25s", "tantivy-py"]:
            for what, title in [("index", "index, s"), ("search", "search all queries, s")]:
                us, them = median(runs[our_name], what), median(runs[their_name], what)
                report.cost(title, us, them, our_name, their_name)
    print(report.markdown())
    (output / "ranking_search.json").write_text(json.dumps(report.values(), indent=2) + "\n", encoding="utf-8")
    say(f"wrote {output / 'ranking_search.json'}")


if __name__ == "__main__":
    main()
