"""Jobs that the golden cases do not reach: decisions, promises, labels, policies, and rankings in tables."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import calibrant
import pandas as pd
import polars as pl
import pytest
from conftest import PARITY as DATA


def test_costs_are_taken_in_every_way(model: calibrant.Model, new_tickets: list[dict[str, Any]], tmp_path: Path) -> None:
    text = "billing,praise,5;*,ask,0.1"
    file = tmp_path / "costs.csv"
    file.write_text("truth,decision,cost\nbilling,praise,5\n*,ask,0.1\n")
    rows = [("billing", "praise", 5), ("*", "ask", 0.1)]
    ways = [
        text,
        file,
        str(file),
        rows,
        {(truth, decision): cost for truth, decision, cost in rows},
        pd.DataFrame(rows, columns=["truth", "decision", "cost"]),
        [{"truth": t, "decision": d, "cost": c} for t, d, c in rows],
    ]
    found = [calibrant.predict(model, new_tickets, costs=way) for way in ways]
    assert all(one == found[0] for one in found)
    assert {"ask"} < {row["decision"] for row in found[0]}
    with_costs = calibrant.evaluate(model, new_tickets, costs=text, bootstrap=0)
    assert "costs" in with_costs or "cost" in with_costs


def test_decisions_and_promises(model: calibrant.Model, new_tickets: list[dict[str, Any]]) -> None:
    asked = calibrant.predict(model, new_tickets, ask=3)
    assert sum(row["decision"] == "ask" for row in asked) == 3
    least = sorted(asked, key=lambda row: row["probability"])[:3]
    assert all(row["decision"] == "ask" for row in least), "without costs the least sure are asked about"
    assert calibrant.predict(model, new_tickets, ask=0.25) == calibrant.predict(model, new_tickets, ask="25%") == asked
    _, summary = calibrant.predict(model, new_tickets, sets=0.8, max_error=0.3, return_summary=True)
    assert summary.promises.sets.asked.coverage == 0.8
    assert summary.promises.answers.documents == len(new_tickets)
    seen = calibrant.evaluate(model, new_tickets, sets=0.8, max_error=0.3, bootstrap=0)
    assert seen.promises.sets.mean_size >= 0


def test_several_labels_have_decisions_as_lists() -> None:
    model = calibrant.fit(DATA / "several.jsonl", label="labels")
    found = calibrant.predict(model, DATA / "several-new.jsonl", f_beta=1.0, frame="dicts")
    assert all(isinstance(row["decision"], list) for row in found)
    assert any(row["decision"] for row in found)


def test_predictions_go_to_files(model: calibrant.Model, tmp_path: Path) -> None:
    source = DATA / "tickets-new.jsonl"
    assert calibrant.predict(model, source, output=tmp_path / "long.csv") is None
    long = pd.read_csv(tmp_path / "long.csv")
    assert len(long) == 12 * len(model.class_names)
    calibrant.predict(model, source, output=tmp_path / "wide.parquet", keep=True, wide=True)
    wide = pl.read_parquet(tmp_path / "wide.parquet")
    assert wide["calibrant_label"].to_list() == calibrant.predict(model, source, keep=True, frame="polars")["calibrant_label"].to_list()
    # What was written can be measured as a table of probabilities.
    as_table = calibrant.evaluate(tmp_path / "long.csv", source, bootstrap=0)
    assert as_table.log_loss == pytest.approx(calibrant.evaluate(model, source, bootstrap=0).log_loss, rel=1e-12)


def test_a_table_of_probabilities_is_a_system(model: calibrant.Model, new_tickets: list[dict[str, Any]]) -> None:
    stated = calibrant.predict(model, new_tickets, wide=True, frame="pandas")[model.class_names]
    alone = calibrant.evaluate(stated, new_tickets, bootstrap=0)
    of_model = calibrant.evaluate(model, new_tickets, bootstrap=0)
    assert alone.log_loss == pytest.approx(of_model.log_loss, rel=1e-12)
    compared = calibrant.compare(new_tickets, {"model": model, "table": stated}, bootstrap=0)
    assert [one.name for one in compared.systems] == ["model", "table"]
    assert compared.pairs[0].errors.difference == 0


def test_pages_are_made(model: calibrant.Model, new_tickets: list[dict[str, Any]], tmp_path: Path) -> None:
    pages = [
        calibrant.evaluate(model, new_tickets, bootstrap=0, html=tmp_path / "page.html").html,
        calibrant.expect(model, new_tickets, html=True).html,
        calibrant.compare(new_tickets, {"a": model, "b": model}, bootstrap=0, html=True).html,
        calibrant.calibrate(DATA / "scores.csv", "score", html=True).report.html,
        calibrant.calibrate(DATA / "scores.csv", "score", test=DATA / "scores.csv", html=True).report.html,
        calibrant.suspects(DATA / "tickets.jsonl").html,
    ]
    for page in pages:
        assert page.startswith("<!DOCTYPE html>")
        assert "</html>" in page
    assert (tmp_path / "page.html").read_text() == pages[0]
    wrong = next(row for row in calibrant.predict(model, new_tickets) if row["label"] != row["calibrant_label"])
    assert wrong["text"][:20] in pages[0], "mistakes are told with their texts"
    confidential = calibrant.evaluate(model, new_tickets, bootstrap=0, html=True, no_texts=True).html
    assert wrong["text"][:20] not in confidential
    assert "srcdoc" in pages[0]._repr_html_()
    with pytest.raises(AttributeError, match="html=True"):
        _ = calibrant.evaluate(model, new_tickets, bootstrap=0).html


def test_suspects_are_listed_sampled_and_reread(tickets: list[dict[str, Any]], tmp_path: Path) -> None:
    wrong = [dict(row) for row in tickets]
    wrong[10]["label"] = next(row["label"] for row in tickets if row["label"] != wrong[10]["label"])
    found = calibrant.suspects(pd.DataFrame(wrong))
    assert wrong[10]["id"] in [one.id for one in found.suspects]
    assert isinstance(found.table(), pd.DataFrame)
    found.save(tmp_path / "suspects.csv")
    assert len(pd.read_csv(tmp_path / "suspects.csv")) == len(found.suspects)
    sample = found.sample(4)
    sample["correct"] = sample["likely"]
    reread = found.reread(sample)
    assert (reread.read, reread.wrong) == (4, 4)
    assert found.model.class_names == ["billing", "delivery", "outage", "praise"]


def test_a_planned_sample_gives_intervals(tickets: list[dict[str, Any]]) -> None:
    model = calibrant.fit(tickets[:50])
    pool = pl.DataFrame(tickets[50:])
    sample, plan = calibrant.plan_sample(model, pool, 0.5)
    assert isinstance(sample, pl.DataFrame)
    assert len(sample) == plan.plan.labels
    truth = {row["id"]: row["label"] for row in tickets}
    labelled = sample.with_columns(label=pl.col("id").replace_strict(truth))
    found = calibrant.prevalence(model, pool, labelled)
    assert found.labelled == len(sample)
    for one in found.classes:
        assert one.interval.low <= one.share <= one.interval.high


def test_a_cascade_is_built_and_followed(tickets: list[dict[str, Any]], new_tickets: list[dict[str, Any]], tmp_path: Path) -> None:
    model = calibrant.fit(tickets[:40])
    truth = pd.DataFrame(tickets[40:])
    other = truth[["id", "label"]].assign(probability=0.9)
    policy = calibrant.cascade(
        truth,
        {"model": model, "llm": other},
        {"model": 0.001, "llm": 0.02},
        person=1.0,
        max_error=0.2,
        output=tmp_path / "p",
    )
    assert policy.sources == ["model", "llm", "person"]
    assert calibrant.open(tmp_path / "p").to_bytes() == policy.to_bytes()
    found = calibrant.predict(model, new_tickets, policy=tmp_path / "p")
    open_ones = [row["id"] for row in found if row["decision"].startswith("ask ")]
    answers = [{"id": row["id"], "label": row["label"], "probability": 0.99} for row in new_tickets]
    after = calibrant.predict(model, new_tickets, policy=policy, answers={"llm": answers})
    assert 0 < len(open_ones) < len(new_tickets)
    assert not [row for row in after if row["decision"].startswith("ask llm")]
    other_model = calibrant.fit(tickets)
    with pytest.raises(calibrant.CalibrantError, match="policy"):
        calibrant.predict(other_model, new_tickets, policy=policy)


@pytest.mark.parametrize("kind", [list, pd.DataFrame, pl.DataFrame])
def test_a_table_is_divided_as_its_file(kind: Any, tickets: list[dict[str, Any]], tmp_path: Path) -> None:
    train, test, report = calibrant.split(kind(tickets), group="customer", test=0.3)
    assert type(train) is type(kind(tickets))
    assert (len(train), len(test)) == (report.train.rows, report.test.rows)
    of_file = calibrant.split(
        DATA / "tickets.jsonl",
        group="customer",
        test=0.3,
        train_out=tmp_path / "a.jsonl",
        test_out=tmp_path / "b.jsonl",
    )
    assert of_file.train.labels == report.train.labels
    rows = pl.read_ndjson(tmp_path / "b.jsonl")["id"].to_list()
    assert rows == (test["id"].to_list() if kind is not list else [row["id"] for row in test])


def test_new_labels_recalibrate(new_tickets: list[dict[str, Any]], model: calibrant.Model, tmp_path: Path) -> None:
    now = calibrant.recalibrate(model, new_tickets, output=tmp_path / "m.calibrant")
    assert now.report is not None
    assert now.report.documents == len(new_tickets)
    assert calibrant.open(tmp_path / "m.calibrant").to_bytes() == now.to_bytes()


def test_scores_in_a_table_are_calibrated() -> None:
    scores = pd.read_csv(DATA / "scores.csv")
    of_file = calibrant.calibrate(DATA / "scores.csv", "score", method="platt")
    of_table = calibrant.calibrate(scores, "score", method="platt")
    assert of_file.report is not None
    assert of_table.report is not None
    assert of_table.report.log_loss == of_file.report.log_loss
    found = of_table.apply(scores, wide=True)
    assert isinstance(found, pd.DataFrame)
    assert list(found.columns)[: len(scores.columns)] == list(scores.columns)
    expected = [one.probability for one in of_file.apply(DATA / "scores.csv", frame="json")]
    assert found["yes"].tolist() == expected


def test_tables_of_rankings_give_what_files_give(tmp_path: Path) -> None:
    names = ["query", "q0", "document", "rank", "score", "name"]
    types = {"query": str, "document": str}
    run = pd.read_csv(DATA / "first.run", sep=r"\s+", names=names, dtype=types, comment="#")
    qrels = pd.read_csv(DATA / "qrels.txt", sep=r"\s+", names=["query", "q0", "document", "grade"], dtype=types)
    expected = calibrant.evaluate_rankings(DATA / "qrels.txt", DATA / "first.run").runs[0].measures
    for kind in (lambda table: table, pl.from_pandas, lambda table: table.to_dict("records")):
        assert calibrant.evaluate_rankings(kind(qrels), kind(run)).runs[0].measures == expected
    several = calibrant.evaluate_rankings(qrels, {"a": run, "b": run.assign(score=-run.score).drop(columns="name")})
    assert [one.name for one in several.runs] == [run.name[0], "b"]


def test_an_index_is_built_searched_and_learned_from(tmp_path: Path) -> None:
    articles = pl.read_ndjson(DATA / "articles.jsonl")
    index = calibrant.SearchIndex.build(articles, tmp_path / "index", text=["title", "text"])
    assert len(index) == len(articles)
    queries = pd.read_csv(DATA / "queries.tsv", sep="\t", names=["id", "text"], dtype=str)
    assert index.search_many(queries)[0].hits == index.search(queries.text[0]).hits
    run = index.run(queries)
    assert isinstance(run, pd.DataFrame)
    index.run(DATA / "queries.tsv", output=tmp_path / "bm25.run")
    of_file = calibrant.evaluate_rankings(DATA / "articles.qrels", tmp_path / "bm25.run").runs[0].measures
    assert calibrant.evaluate_rankings(DATA / "articles.qrels", run).runs[0].measures == of_file
    features = index.features(queries, qrels=DATA / "articles.qrels")
    index.features(queries, qrels=DATA / "articles.qrels", output=tmp_path / "f.letor")
    of_table = calibrant.RankModel.fit(features, bins=0, grades="one", c=1.0)
    of_letor = calibrant.RankModel.fit(tmp_path / "f.letor", bins=0, grades="one", c=1.0)
    assert of_table.to_bytes() == of_letor.to_bytes()
    ranked = of_table.predict(features.sample(frac=1, random_state=1))
    assert ranked.sort_values(["query", "rank"]).groupby("query")["score"].is_monotonic_decreasing.all()
    assert index.search(queries.text[0], model=of_table).hits
    assert repr(pickle.loads(pickle.dumps(index))) == repr(index)


def test_explanations_add_up(model: calibrant.Model) -> None:
    [why] = calibrant.explain(model, "The server is down again", classes="outage")
    parts = sum(term.log_odds for term in why.terms)
    assert why.base_log_odds + parts == pytest.approx(why.calibrated_log_odds, abs=1e-9)
    assert "<span" in why._repr_html_()
    assert model.explain("The server is down again")[0].label == "outage"


def test_a_search_is_kept_to_its_learner(tickets: list[dict[str, Any]]) -> None:
    model = calibrant.fit(tickets, search=True, classifier="naive-bayes", time_budget=1e6)
    assert model.report is not None
    assert len(model.report.search) > 1


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys, calibrant; calibrant.fit; calibrant.SearchIndex; calibrant.RankModel; calibrant.calibrate;"
        "heavy = ('sklearn', 'scipy', 'pandas', 'polars', 'pyarrow', 'matplotlib');"
        "print([name for name in heavy if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_a_model_is_fitted_like_another(tickets: list[dict[str, Any]]) -> None:
    first = calibrant.fit(tickets, classifier="naive-bayes", alpha=0.5, text=["subject", "text"], folds=4, seed=7)
    again = calibrant.fit(tickets, like=first)
    assert again.to_bytes() == first.to_bytes()
    other = calibrant.fit(tickets, like=first, alpha=2.0, folds=3)
    assert (
        other.to_bytes()
        == calibrant.fit(tickets, classifier="naive-bayes", alpha=2.0, text=["subject", "text"], folds=3, seed=7).to_bytes()
    )
    with pytest.raises(ValueError, match="exclude each other"):
        calibrant.fit(tickets, like=first, search=True)


def test_a_ledger_is_kept_beside_a_file_that_is_measured(model: calibrant.Model, tmp_path: Path) -> None:
    model.save(tmp_path / "m.calibrant")
    new = DATA / "tickets-new.jsonl"
    assert calibrant.evaluate(tmp_path / "m.calibrant", new, bootstrap=0).ledger is None
    assert list(tmp_path.iterdir()) == [tmp_path / "m.calibrant"]
    looks = [calibrant.evaluate(tmp_path / "m.calibrant", new, bootstrap=0, ledger=True).ledger for _ in range(2)]
    assert looks[0] != looks[1]
    assert len(list(tmp_path.iterdir())) == 2


def test_what_the_program_says_is_a_warning(model: calibrant.Model, tickets: list[dict[str, Any]], tmp_path: Path) -> None:
    with pytest.warns(calibrant.CalibrantWarning, match="has learned from about") as found:
        calibrant.evaluate(model, tickets, bootstrap=0)
    assert found[0].filename == __file__
    with pytest.warns(calibrant.CalibrantWarning, match=r"`news` \(1\)"):
        calibrant.evaluate(model, [{"label": "news", "text": "a"}, {"label": "outage", "text": "down"}], bootstrap=0)
    file = tmp_path / "a.jsonl"
    file.write_text((DATA / "tickets.jsonl").read_text() + '{"label":\n')
    with pytest.warns(calibrant.CalibrantWarning, match="1 malformed row was skipped"):
        calibrant.fit(file, skip_bad_rows=True)
    with pytest.warns(calibrant.CalibrantWarning, match="1 row without a label was left out"):
        calibrant.fit([*tickets, {"label": None, "text": "a"}])


def test_a_fitted_classifier_is_a_model(tickets: list[dict[str, Any]], new_tickets: list[dict[str, Any]]) -> None:
    texts, labels = [row["text"] for row in tickets], [row["label"] for row in tickets]
    classifier = calibrant.TextClassifier().fit(texts, labels)
    found = calibrant.evaluate(classifier, new_tickets, bootstrap=0)
    assert found.log_loss == calibrant.evaluate(calibrant.fit(tickets), new_tickets, bootstrap=0).log_loss
    compared = calibrant.compare(new_tickets, {"a": classifier, "b": calibrant.fit(tickets)}, bootstrap=0)
    assert compared.pairs[0].log_loss.difference == 0
