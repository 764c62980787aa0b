"""BM25 scores of bm25s for every document, from terms that calibrant found."""

import json
import sys

import bm25s

question = json.load(sys.stdin)
answers = {}
for method in ["lucene", "robertson"]:
    model = bm25s.BM25(method=method, k1=question["k1"], b=question["b"], dtype="float64")
    model.index(question["documents"], show_progress=False)
    answers[method] = [model.get_scores(query).tolist() for query in question["queries"]]
json.dump(answers, sys.stdout)
