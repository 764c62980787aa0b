"""How long a scikit-learn model takes to load and to predict: scikit_latency.py MODEL TEXT DOCUMENTS TIMES"""

import json
import math
import statistics
import sys
import time

import joblib

from measure import read_documents


def microseconds(times, run):
    """Median and 99th percentile of many runs, after one that does not count."""
    run()
    each = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        each.append(1e6 * (time.perf_counter() - start))
    each.sort()
    at = lambda share: each[math.ceil((len(each) - 1) * share)]
    return {"median_us": at(0.5), "p99_us": at(0.99), "times": times}


path, text_file, documents_file, times = sys.argv[1:5]
text = open(text_file, encoding="utf-8", newline="").read()
documents = read_documents(documents_file)
opened = microseconds(max(int(times) // 20, 10), lambda: joblib.load(path))
pipeline = joblib.load(path)["pipeline"]
predict = microseconds(int(times), lambda: pipeline.predict_proba([text]))
seconds = []
for _ in range(3):
    start = time.perf_counter()
    pipeline.predict_proba(documents)
    seconds.append(time.perf_counter() - start)
speed = len(documents) / statistics.median(seconds)
print(json.dumps({"open": opened, "predict": predict, "documents_per_second": {"one_thread": speed}}))
