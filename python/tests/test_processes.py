"""Threads, forks, workers and Ctrl-C."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import calibrant
import cloudpickle
import numpy as np
import pytest


def _fit_in_child(texts, labels):
    return calibrant.TextClassifier().fit(texts, labels).predict_proba(texts[:5]).tolist()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_child_process_can_fit_after_its_parent_has(mail, method):
    texts, labels = mail
    expected = calibrant.TextClassifier().fit(texts, labels).predict_proba(texts[:5]).tolist()
    with multiprocessing.get_context(method).Pool(2) as pool:
        found = pool.apply_async(_fit_in_child, (texts, labels)).get(timeout=60)
    assert found == expected


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib_runs_fits_side_by_side(mail, backend):
    from joblib import Parallel, delayed

    texts, labels = mail
    with Parallel(n_jobs=2, backend=backend) as parallel:
        found = parallel(delayed(_fit_in_child)(texts, labels) for _ in range(3))
    assert found[0] == found[1] == found[2]


def _predict_in_child(sent, texts):
    return pickle.loads(sent).predict_proba(texts).tolist()


def test_a_fitted_estimator_travels_to_workers_as_dask_sends_it(mail):
    texts, labels = mail
    model = calibrant.TextClassifier().fit(texts, labels)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply_async(_predict_in_child, (cloudpickle.dumps(model), texts)).get(timeout=60)
    assert found == model.predict_proba(texts).tolist()


def test_the_interpreter_is_released_while_rust_works(newsgroups):
    texts, labels = newsgroups
    ticks, ended = [], threading.Event()

    def tick():
        while not ended.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    clock = threading.Thread(target=tick)
    clock.start()
    try:
        calibrant.TextClassifier(classifier="logistic").fit(texts, labels)
    finally:
        ended.set()
        clock.join()
    assert len(ticks) > 10


def test_models_are_shared_between_threads(mail):
    texts, labels = mail
    model = calibrant.TextClassifier().fit(texts, labels)
    expected = model.predict_proba(texts)
    wrong = []

    def ask():
        for _ in range(20):
            if not np.array_equal(model.predict_proba(texts), expected):
                wrong.append(1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_control_c_ends_a_fit(newsgroups):
    texts, labels = newsgroups
    thread = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    thread.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        calibrant.TextClassifier("logistic", tol=1e-15, max_iter=10**9).fit(texts, labels)
    assert time.monotonic() - begun < 60


def test_progress_is_told_and_may_end_the_work(newsgroups):
    texts, labels = newsgroups
    stages = []
    calibrant.TextClassifier("adaboost", rounds=60, progress=lambda *told: stages.append(told)).fit(texts, labels)
    assert any(stage for stage, _, _ in stages)
    assert all(total is None or done <= total for _, done, total in stages)

    def refuse(stage, done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        calibrant.TextClassifier("logistic", tol=1e-15, max_iter=10**9, progress=refuse).fit(texts, labels)


def test_import_is_light():
    heavy = ["sklearn", "scipy", "pandas", "polars", "pyarrow", "matplotlib", "tqdm", "joblib"]
    code = f"import sys, calibrant; print([name for name in {heavy!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_every_public_name_is_there():
    for name in calibrant.__all__:
        assert getattr(calibrant, name) is not None
    assert set(calibrant.__all__) <= set(dir(calibrant))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        calibrant.nothing  # noqa: B018
