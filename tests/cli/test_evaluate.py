"""``drgst evaluate`` and ``drgst review`` on a run of tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import drgst
from drgst.cli import main

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


def test_figures_with_intervals_as_table_json_and_picture(run: Path, call: Any, tmp_path: Path) -> None:
    truth = run.parent / "truth.csv"
    code, out, _ = call("evaluate", run, "--truth", truth, "--positive", "fraud", "--out", tmp_path / "e", "--json")
    assert code == 0
    document = json.loads(out.splitlines()[-1])
    assert document["nodes"] == 270
    for name in ("accuracy", "macro_f1", "roc_auc", "average_precision", "precision_at_100", "ece", "brier"):
        figure = document["figures"][name]
        assert figure["low"] <= figure["value"] <= figure["high"] or name == "ece"
    assert sum(map(sum, document["confusion"])) == 270
    assert len(document["thresholds"]) == 11
    assert json.loads((tmp_path / "e" / "evaluation.json").read_text()) == document
    assert (tmp_path / "e" / "evaluation.png").read_bytes().startswith(b"\x89PNG")
    code, out, _ = call("evaluate", run, "--truth", truth, "--positive", "fraud")
    assert "average precision of fraud" in out
    assert "p(fraud) ≥" in out


def test_a_threshold_needs_no_truth(run: Path, call: Any, tmp_path: Path) -> None:
    code, out, _ = call("evaluate", run, "--positive", "fraud", "--top", 20, "--out", tmp_path / "e")
    assert code == 0
    assert "fraud: 20 nodes have a probability of at least" in out
    assert "30 out-of-fold labels" in out
    assert len((tmp_path / "e" / "flagged.csv").read_text().splitlines()) == 21
    code, out, _ = call("evaluate", run, "--positive", "fraud", "--target", "recall=0.5", "--json")
    decision = json.loads(out.splitlines()[-1])["decision"]
    assert decision["recall"]["low"] <= decision["recall"]["expected"] <= decision["recall"]["high"]
    assert 0 <= decision["sure"] <= 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--positive", "frod"), "did you mean 'fraud'"),
        (("--top", 5, "--target", "recall=0.5"), "give one of them"),
        (("--target", "precision=1.5"), "must lie between 0 and 1"),
        (("--target", "accuracy=0.9"), "--target takes precision=SHARE or recall=SHARE"),
        (("--column", "x=weight"), "--column takes NAME=id or NAME=label"),
        ((), "nothing can be evaluated"),
        (("--top", 5), "name it with --positive"),
        (("--truth", "gone.csv"), "gone.csv"),
    ],
)
def test_bad_input_is_one_sentence(run: Path, call: Any, options: tuple[object, ...], words: str) -> None:
    code, out, err = call("evaluate", run, *options)
    assert code == 2
    assert words in out + err


def test_review_lists_contradicted_labels(run: Path, call: Any, tmp_path: Path) -> None:
    code, out, _ = call("review", run, "--out", tmp_path / "r.csv", "--json")
    assert code == 0
    document = json.loads(out.splitlines()[-1])
    assert document["labels"] == 30
    assert len(document["rows"]) == document["contradicted"] == len((tmp_path / "r.csv").read_text().splitlines()) - 1
    assert all(row["given"] != row["suggested"] for row in document["rows"])


def test_explain_names_columns_of_the_table(run: Path, call: Any) -> None:
    node = TABLES.accounts.column("account_id")[7].as_py()
    code, out, _ = call("explain", run, node, "--json", "--top", 30)
    assert code == 0
    document = json.loads(out.splitlines()[-1])
    assert document["id"] == node
    names = [row["name"] for row in document["features"]]
    assert {"income", "country", "note", "opened"} <= set(names)
    details = {row["name"]: row["detail"] for row in document["features"]}
    age = TABLES.accounts.column("age")[7].as_py()
    assert details["age"].startswith(f"{age} (" if age is not None else "missing")
    pulls = [abs(row["pull"]) for row in document["features"]]
    assert pulls == sorted(pulls, reverse=True)
    code, out, _ = call("explain", run, node)
    assert "most similar labelled nodes:" in out
    code, _, err = call("explain", run, "A999")
    assert (code, "has no node 'A999'" in err) == (2, True)
