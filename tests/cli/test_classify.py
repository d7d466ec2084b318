"""``drgst classify`` on raw tables, and ``drgst predict --nodes`` on those of the week after."""

import csv
import functools
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drgst
from drgst.runs.run import load_result

TABLES = drgst.fraud_tables(3, accounts=300, positive_rate=0.2, labelled=15)
QUICK = ("--recipe", "gcn", "--set", "epochs=5")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder with the tables of both weeks."""
    monkeypatch.chdir(tmp_path)
    TABLES.week(1).write("one")
    TABLES.week(2).write("two")
    return tmp_path


@pytest.fixture
def classify(call: Any) -> Any:
    return functools.partial(
        call, "classify", "one/accounts.csv", "--edges", "one/transactions.csv", "--label", "label"
    )


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_one_command_from_raw_tables_to_predictions(classify: Any, folder: Path) -> None:
    code, out, _ = classify(*QUICK, "--prior", "fraud=0.2")
    assert code == 0
    assert "note                        text" in out
    assert "iban                        dropped   its texts are all different, like ids" in out
    assert "predicted for 210 rows without label:" in out
    run = folder / "runs" / "accounts-gcn-seed0"
    rows = rows_of((run / "predictions.csv").read_text())
    assert len(rows) == 240
    free = [float(row["p:fraud"]) for row in rows if not row["given"]]
    assert np.mean(free) == pytest.approx(0.2, abs=1e-4)
    schema = drgst.TableSchema.load(run / "tables.json")
    assert schema.class_names == ("fraud", "ok")
    config = (run / "config.toml").read_text()
    assert 'data = "graph.npz"' in config
    assert 'prior = "fraud=0.2"' in config


def test_labels_of_a_table_are_not_asked_for_again_and_stay(folder: Path, ok: Any) -> None:
    out, _ = ok("suggest", "one/accounts.csv", "--edges", "one/transactions.csv", "--n", 40, "--out", "ask.csv")
    assert "The 30 labels of the graph are not used" in out
    assert "--label label --out RUN && drgst run --config RUN/config.toml --add-labels ask.csv" in out
    known = {row["account_id"] for row in rows_of(Path("one/accounts.csv").read_text()) if row["label"]}
    assert len(known) == 30
    assert not known & {row["id"] for row in rows_of(Path("ask.csv").read_text())}


def test_columns_of_edges_are_named_like_others(classify: Any, ok: Any) -> None:
    named = ("--column", "from_account=source", "--column", "to_account=target", "--check")
    code, out, _ = classify(*named)
    assert code == 0
    assert "transactions: from_account  source    edges" in out


def test_the_run_is_complete_without_its_tables(classify: Any, ok: Any, folder: Path) -> None:
    """It can be moved, resumed, reported and run again."""
    classify(*QUICK, "--out", "a")
    (folder / "one").rename(folder / "gone")
    (folder / "a").rename(folder / "b")
    result = load_result("b")
    assert result.graph.num_nodes == 240
    (folder / "b" / "summary.json").unlink()
    ok("run", "--out", "b", "--resume")
    ok("run", "--config", "b/config.toml", "--out", "c")
    assert Path("b/predictions.csv").read_text() == Path("c/predictions.csv").read_text()
    ok("predict", "c", "--nodes", "two/accounts.csv", "--edges", "two/transactions.csv")


def test_check_shows_the_columns_and_writes_nothing(classify: Any) -> None:
    code, out, _ = classify("--check", "--json")
    assert code == 0
    assert json.loads(out.splitlines()[-1])["schema"]["id"] == "account_id"
    assert not Path("runs").exists()
    code, out, _ = classify("--check", "--column", "note=drop", "--column", "logins=category")
    assert "note                        dropped   dropped by option" in out
    assert "accounts has no faults: 240 nodes" in out


def test_columns_are_shown_before_any_label_is_known(call: Any) -> None:
    code, out, _ = call("classify", "one/accounts.csv", "--edges", "one/transactions.csv", "--check")
    assert code == 0
    assert "logins                      number" in out
    assert out.splitlines()[-1].endswith(" 0 labels")


@pytest.mark.parametrize("extra", [(), ("--check",)])
def test_all_faults_are_listed_and_nothing_is_written(classify: Any, extra: tuple[str, ...]) -> None:
    lines = Path("one/accounts.csv").read_text().splitlines()
    Path("one/accounts.csv").write_text("\n".join([*lines, lines[5]]))
    with open("one/transactions.csv", "a", encoding="utf-8") as handle:
        handle.write('"T9","A0000000","nobody",1.0,"2026-03-02 00:00:00","card"\n')
    code, out, _ = classify(*extra)
    assert code == 2
    assert "accounts.csv, line 242, column 'account_id': the id" in out
    assert "'nobody'" in out
    assert "3 faults found" in out
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--prior", "frod=0.1"), "did you mean 'fraud'"),
        (("--prior", "fraud"), "not a list of CLASS=SHARE"),
        (("--set", "stags=3"), "did you mean"),
        (("--recipe", "drgst-pluss"), "did you mean 'drgst-plus'"),
        (("--out", "one"), "not empty and holds no run"),
    ],
)
def test_bad_options_are_one_sentence(classify: Any, options: tuple[str, ...], words: str) -> None:
    code, _, err = classify("--recipe", "gcn", *options)
    assert code == 2
    assert words in err
    assert err.count("\n") == 1
    assert not Path("runs").exists()


@pytest.mark.parametrize("recipe", ["gcn", "label-propagation", "logistic-ppr"])
def test_new_rows_join_the_graph_without_a_new_fit(classify: Any, ok: Any, recipe: str) -> None:
    quick = ("--set", "epochs=5") if recipe == "gcn" else ()
    classify("--recipe", recipe, *quick, "--prior", "fraud=0.2", "--out", "r")
    out, err = ok("predict", "r", "--nodes", "two/accounts.csv", "--edges", "two/transactions.csv")
    rows = rows_of(out)
    assert [row["id"] for row in rows] == TABLES.week(2).accounts.column("account_id").to_pylist()
    assert "60 nodes:" in err
    model, schema = drgst.load_model("r"), drgst.TableSchema.load("r/tables.json")
    tables = schema.apply("two/accounts.csv", "two/transactions.csv", base=load_result("r").graph)
    p = model.predict_proba(tables.graph)[tables.new]
    np.testing.assert_allclose(p[:, 0], [float(row["p:fraud"]) for row in rows], atol=1e-6)


def test_unknown_categories_and_other_columns_are_reported(classify: Any, ok: Any) -> None:
    classify(*QUICK, "--out", "r")
    accounts = TABLES.week(2).accounts.to_pandas().drop(columns=["income", "label"]).assign(extra=1, device="toaster")
    accounts.to_csv("new.csv", index=False)
    _, err = ok("predict", "r", "--nodes", "new.csv", "--out", "p.csv")
    assert "new.csv has no column 'income': all its cells count as missing" in err
    assert "column 'extra' not known from fitting and not used" in err
    assert "'toaster'" in err
    assert "no edges are given (--edges): the new rows have none, unlike the rows of the run" in err
    assert len(rows_of(Path("p.csv").read_text())) == 60


def test_new_rows_alone_make_a_graph_of_their_own(classify: Any, ok: Any, call: Any) -> None:
    classify(*QUICK, "--out", "r")
    out, _ = ok("predict", "r", "--nodes", "two/accounts.csv", "--alone")
    assert len(rows_of(out)) == 60
    edges = ("--edges", "two/transactions.csv")
    code, out, _ = call("predict", "r", "--nodes", "two/accounts.csv", *edges, "--alone")
    assert code == 2
    assert "fault" in out


def test_predict_refuses_what_does_not_fit(classify: Any, refused: Any, call: Any) -> None:
    classify(*QUICK, "--out", "r")
    assert "need --nodes" in refused("predict", "r", "--edges", "two/transactions.csv")
    assert "both given" in refused("predict", "r", "cora", "--nodes", "two/accounts.csv")
    Path("bare.csv").write_text("other\n1\n")
    code, out, _ = call("predict", "r", "--nodes", "bare.csv", "--out", "p.csv")
    assert (code, "bare.csv: the id column 'account_id' of fitting is missing" in out) == (2, True)
    assert not Path("p.csv").exists()
    code, _, err = call("predict", "r", "--nodes", "one/accounts.csv", "--out", "p.csv")
    assert (code, "0 nodes: every row is a node of the run; written to p.csv" in err) == (0, True)
    assert "0 cells" not in err
    call("run", "r/graph.npz", *QUICK, "--out", "q")
    Path("r/tables.json").unlink()
    assert "was not made of tables" in refused("predict", "q", "--nodes", "two/accounts.csv")


def test_links_from_tables_to_explanation_and_new_rows(call: Any, folder: Path) -> None:
    shared = drgst.fraud_tables(3, accounts=300, positive_rate=0.2, labelled=20, ring_devices=0.9)
    for week, name in ((1, "first"), (2, "second")):
        shared.week(week).write(folder / name)
    options = ("--label", "label", "--link", "device_id", "--link", "phone", "--out", "run")
    code, out, _ = call("classify", "first/accounts.csv", *options)
    assert code == 0
    assert "device_id      link" in out
    assert "stage 0: Relations: " in out
    users = shared.week(1).accounts.to_pandas()
    rings = shared.week(1).truth.to_pandas()["ring_device"]
    known = users[rings & users["label"].notna()]
    others = users[rings & users["label"].isna() & users["device_id"].isin(known["device_id"])]
    code, out, _ = call("explain", "run", others["account_id"].iloc[0])
    assert code == 0
    assert f"device_id {others['device_id'].iloc[0]}" in out
    assert "known fraud" in out
    code, out, _ = call("predict", "run", "--nodes", "second/accounts.csv")
    assert code == 0
    assert len(rows_of(out)) == 60


def test_a_bad_link_is_one_sentence(classify: Any) -> None:
    code, out, err = classify("--link", "account_id", "--check")
    assert code == 2
    assert "accounts.csv, column 'account_id'" in out + err
    code, out, err = classify("--link", "logins.csv:account", "--check")
    assert code == 2
    assert "--link takes FILE:SOURCE-TARGET, not 'logins.csv:account'" in out + err
