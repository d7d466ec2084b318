"""``drgst evaluate`` and ``drgst review`` on a run of tables."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drgst
from drgst.cli import main
from drgst.report.summary import cards
from drgst.runs.metrics import wilson
from drgst.runs.run import load_result

TABLES = drgst.fraud_tables(3, accounts=300, positive_rate=0.2, labelled=15)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder, beside the truth."""
    folder = tmp_path_factory.mktemp("run")
    TABLES.write(folder)
    files = [str(folder / name) for name in ("accounts.csv", "transactions.csv")]
    options = ["--recipe", "logistic-ppr", "--set", "calibrate=crossfit", "--prior", "fraud=0.2"]
    with pytest.raises(SystemExit) as end:
        main(["classify", files[0], "--edges", files[1], "--label", "label", *options, "--out", str(folder / "run")])
    assert not end.value.code
    return folder / "run"


def test_figures_with_intervals_as_table_json_and_picture(ok: Any, run: Path, tmp_path: Path) -> None:
    truth = run.parent / "truth.csv"
    out, _ = ok("evaluate", run, "--truth", truth, "--positive", "fraud", "--out", tmp_path / "e", "--json")
    document = json.loads(out.splitlines()[-1])
    assert document["nodes"] == 270
    for name in ("accuracy", "macro_f1", "roc_auc", "average_precision", "precision_at_100", "ece", "brier"):
        figure = document["figures"][name]
        assert figure["low"] <= figure["value"] <= figure["high"] or name == "ece"
    assert sum(map(sum, document["confusion"])) == 270
    assert len(document["thresholds"]) == 11
    assert json.loads((tmp_path / "e" / "evaluation.json").read_text()) == document
    assert (tmp_path / "e" / "evaluation.png").read_bytes().startswith(b"\x89PNG")
    out, _ = ok("evaluate", run, "--truth", truth, "--positive", "fraud")
    assert "average precision of fraud" in out
    assert "ECE of the class" in out
    with (tmp_path / "e" / "calibration.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["class"] for row in rows] == ["fraud", "ok"]
    assert [float(row["ece"]) for row in rows] == [one["ece"]["value"] for one in document["calibration"]]
    assert [one["predicted"] for one in document["calibration"]] == np.sum(document["confusion"], axis=0).tolist()
    assert "p(fraud) ≥" in out


def test_without_matplotlib_only_the_figure_is_missing(
    ok: Any, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    truth = run.parent / "truth.csv"
    out, _ = ok("evaluate", run, "--truth", truth, "--positive", "fraud", "--out", tmp_path / "e")
    assert "without evaluation.png: a figure needs matplotlib" in out
    assert {path.name for path in (tmp_path / "e").iterdir()} == {"evaluation.json", "calibration.csv"}


def test_a_threshold_needs_no_truth(ok: Any, run: Path, tmp_path: Path) -> None:
    out, _ = ok("evaluate", run, "--positive", "fraud", "--top", 20, "--out", tmp_path / "e")
    assert "fraud: 20 nodes have a probability of at least" in out
    assert "30 out-of-fold labels" in out
    assert len((tmp_path / "e" / "flagged.csv").read_text().splitlines()) == 21
    out, _ = ok("evaluate", run, "--positive", "fraud", "--target", "recall=0.5", "--json")
    decision = json.loads(out.splitlines()[-1])["decision"]
    assert decision["recall"]["low"] <= decision["recall"]["expected"] <= decision["recall"]["high"]
    assert 0 <= decision["sure"] <= 1
    words, _ = ok("evaluate", run, "--positive", "fraud", "--target", "recall=0.5")
    assert f"; --top {decision['safe']} meets it with 95%" in words


def test_the_class_to_flag_is_the_rarer_one_by_the_predictions_where_labels_are_balanced(run: Path, call: Any) -> None:
    code, out, _ = call("evaluate", run, "--target", "recall=50%", "--json")
    assert code == 0
    same = call("evaluate", run, "--positive", "fraud", "--target", "recall=0.5", "--json")[1]
    assert out.splitlines()[-1] == same.splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--positive", "frod"), "did you mean 'fraud'"),
        (("--top", 5, "--target", "recall=0.5"), "give one of them"),
        (("--target", "precision=1.5"), "must lie between 0 and 1"),
        (("--target", "accuracy=0.9"), "--target takes precision=SHARE or recall=SHARE"),
        (("--target", "recall=80 %%"), "as 0.9 or 90%"),
        (("--target", "precision=150%"), "must lie between 0 and 1"),
        (("--column", "x=weight"), "--column takes NAME=id or NAME=label"),
        ((), "nothing can be evaluated; name a table of others (--truth) or choose a threshold without"),
        (("--truth", "gone.csv"), "gone.csv"),
    ],
)
def test_bad_input_is_one_sentence(run: Path, call: Any, options: tuple[object, ...], words: str) -> None:
    code, out, err = call("evaluate", run, *options)
    assert code == 2
    assert words in out + err


def test_review_lists_contradicted_labels(ok: Any, run: Path, tmp_path: Path) -> None:
    out, _ = ok("review", run, "--out", tmp_path / "r.csv", "--json")
    document = json.loads(out.splitlines()[-1])
    assert document["labels"] == 30
    assert len(document["rows"]) == document["contradicted"] == len((tmp_path / "r.csv").read_text().splitlines()) - 1
    assert all(row["given"] != row["suggested"] for row in document["rows"])


def test_explain_names_columns_of_the_table(refused: Any, ok: Any, run: Path) -> None:
    node = TABLES.accounts.column("account_id")[7].as_py()
    out, _ = ok("explain", run, node, "--json", "--top", 30)
    document = json.loads(out.splitlines()[-1])
    assert document["id"] == node
    names = [row["name"] for row in document["features"]]
    assert {"income", "country", "note", "opened"} <= set(names)
    details = {row["name"]: row["detail"] for row in document["features"]}
    age = TABLES.accounts.column("age")[7].as_py()
    assert details["age"].startswith(f"{age} (" if age is not None else "missing")
    pulls = [abs(row["pull"]) for row in document["features"]]
    assert pulls == sorted(pulls, reverse=True)
    out, _ = ok("explain", run, node)
    assert "most similar labelled nodes:" in out
    assert "has no node 'A999'" in refused("explain", run, "A999")


@pytest.fixture(scope="module")
def rare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on a graph with one label of a rare class, which is therefore never held out."""
    folder = tmp_path_factory.mktemp("rare")
    graph = drgst.block_model(240, 960, seed=1, classes=3, features=40, homophily=0.85, signal=0.5)
    shown = drgst.random_split(graph, per_class=8, val=0, test=0, seed=0).train
    others = shown[(graph.labels[shown] == 2)][1:]  # all labels of the class but one
    labels = np.full(graph.num_nodes, -1)
    labels[np.setdiff1d(shown, others)] = graph.labels[np.setdiff1d(shown, others)]
    drgst.save_graph(graph.with_(labels=labels, class_names=("a", "b", "fraud"), splits=()), folder / "g.npz")
    with pytest.raises(SystemExit) as end:
        main(["run", str(folder / "g.npz"), "--recipe", "drgst-plus", "--out", str(folder / "run")])
    assert not end.value.code
    return folder / "run"


def test_a_label_that_is_never_held_out_is_unknown_and_counted(ok: Any, rare: Path, tmp_path: Path) -> None:
    phrase = "1 label, the only one of its class, was never held out"
    result = load_result(rare)
    assert result.train.size == 17
    assert result.held_out.sum() == 16
    note = result.stage.note
    assert phrase in note
    right = int(note.split("Out-of-fold accuracy")[1].split("(")[1].split(" of 16 labels")[0])
    summary = json.loads((rare / "summary.json").read_text())
    assert summary["oof_accuracy"] == right / 16
    assert summary["oof_labels"] == 16
    for options in (("--top", 20), ("--target", "recall=0.5")):
        out, _ = ok("evaluate", rare, "--positive", "fraud", *options)
        assert f"the intervals are from 16 out-of-fold labels and chance; {phrase}" in " ".join(out.split())
    out, _ = ok("review", rare)
    assert f"{16 - right} of 16 given labels are contradicted by predictions without them; {phrase}" in out
    out, _ = ok("review", rare, "--json")
    document = json.loads(out.splitlines()[-1])
    assert (document["labels"], document["never_held_out"], document["contradicted"]) == (16, 1, 16 - right)
    table = list(csv.DictReader((rare / "predictions.csv").open()))
    assert sum(row["out_of_fold"] != "" for row in table) == 16
    assert not any(row["out_of_fold"] == "nan" for row in table)
    shown = {title: (value, remark) for title, value, remark in cards(result)}
    low, high = wilson(right, 16)
    interval = f"{low:.0%} to {high:.0%}"
    assert shown["3-fold out-of-fold accuracy"] == (f"{right / 16:.1%}", f"{interval}, from 16 labels; {phrase}")
    assert "Average precision of fraud" not in shown
    out, _ = ok("suggest", rare, "--budget")
    assert phrase in " ".join(out.split())


def test_figures_per_month_and_per_value(ok: Any, refused: Any, run: Path, tmp_path: Path) -> None:
    truth = run.parent / "truth.csv"
    words = ("evaluate", run, "--truth", truth, "--positive", "fraud", "--json")
    document = json.loads(ok(*words, "--by", "month")[0].splitlines()[-1])
    months = [row["group"] for row in document["groups"]]
    opened = [str(day)[:7] for day in TABLES.accounts.column("opened").to_pylist() if day is not None]
    assert {month for month in months if month != "(none)"} <= set(opened)
    assert months == sorted(months)
    assert sum(row["nodes"] for row in document["groups"]) == document["nodes"]
    right = sum(row["nodes"] * row["figures"]["accuracy"]["value"] for row in document["groups"])
    assert right / document["nodes"] == pytest.approx(document["figures"]["accuracy"]["value"])
    by_country = json.loads(ok(*words, "--by", "country")[0].splitlines()[-1])["groups"]
    assert len(by_country) > 2
    assert (
        "avg. precision (95%)" in ok("evaluate", run, "--truth", truth, "--positive", "fraud", "--by", "opened=year")[0]
    )
    for by, message in (
        ("opened=moon", "unknown period 'moon'; did you mean 'month'?"),
        ("height", "unknown column 'height'"),
        ("country=week", "column 'country' of nodes.parquet does not hold dates"),
        ("account_id", "has more than 200 values"),
    ):
        assert message in refused(*words[:-1], "--by", by)
