"""scikit-learn from file to calibrated model: scikit_fit.py CORPUS FOLDER MODEL [JOBS]"""

import sys

import joblib
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

from corpora import BY_NAME, TEN_TOPICS

name, folder, path = sys.argv[1:4]
jobs = int(sys.argv[4]) if len(sys.argv) > 4 else None
one_label = not name.startswith("reuters")
_, texts, labels = BY_NAME[name].read(folder, "train")
classifier = CalibratedClassifierCV(
    LinearSVC(), method="sigmoid", cv=5, ensemble=False, n_jobs=jobs if one_label else None
)
if one_label:
    classes = None
else:
    classes = TEN_TOPICS if name == "reuters" else sorted({topic for row in labels for topic in row})
    known = [[topic for topic in row if topic in classes] for row in labels]
    labels = MultiLabelBinarizer(classes=classes).fit_transform(known)
    classifier = OneVsRestClassifier(classifier, n_jobs=jobs)
pipeline = make_pipeline(TfidfVectorizer(sublinear_tf=True), classifier)
try:
    pipeline.fit(texts, labels)
except ValueError as error:
    sys.exit(f"{type(error).__name__}: {error}")
joblib.dump({"pipeline": pipeline, "classes": classes or pipeline.classes_.tolist()}, path)
