"""How fast scikit-learn turns text into counts, in MB/s: scikit_count.py DOCUMENTS"""

import json
import os
import statistics
import sys
import time

from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

from measure import read_documents

documents = read_documents(sys.argv[1])
megabytes = os.path.getsize(sys.argv[1]) / 1e6
speeds = {}
for name, make in [
    ("words", CountVectorizer),
    ("words, hashed", lambda: HashingVectorizer(n_features=2**18, norm=None, alternate_sign=False)),
]:
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        make().fit_transform(documents)
        seconds.append(time.perf_counter() - start)
    speeds[name] = megabytes / statistics.median(seconds)
print(json.dumps(speeds))
