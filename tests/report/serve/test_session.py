"""Labels, queue and refits; the model is that of ``drgst run`` with the same labels file."""

from __future__ import annotations

import csv
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

import drgst
from drgst.datasets.load import open_graph
from drgst.errors import RunError, SettingError
from drgst.graph.core import Graph
from drgst.report.serve.app import Workbench
from drgst.report.serve.refit import preview
from drgst.report.serve.source import Given, open_source
from drgst.runs.added_labels import AddedLabel
from drgst.runs.config import RunConfig
from drgst.runs.folder import RunFolder
from drgst.runs.run import Run, load_result
from drgst.selftrain.problem import GraphCache

from .conftest import CLASSES, Client, opened


def label_some(person: Client, truth: Graph, count: int) -> None:
    """Label the first ``count`` nodes of the queue as they truly are."""
    for _ in range(count):
        queue = person.state()["queue"] or person.rest()["queue"]
        node = queue[0]["node"]
        answer = person.post("label", {"node": node, "label": truth.class_names[truth.labels[node]]})
        assert answer.status_code == 200


def test_from_nothing_to_the_model_of_the_same_labels_file(person: Client, truth: Graph, unlabelled: Path) -> None:
    assert person.get("page").json()["model"] is None
    label_some(person, truth, 12)
    state = person.rest()
    session = person.session
    assert (len(state["labelled"]), state["fitted"], state["error"]) == (12, True, "")
    assert state["curve"][-1]["labels"] == 12
    assert session.result is not None
    config = RunConfig(data=str(unlabelled), recipe="drgst-plus", add_labels=str(session.file.path))
    fresh = Run.from_config(config).execute()
    assert fresh.model.class_names == session.result.model.class_names
    np.testing.assert_array_equal(fresh.probabilities, session.result.probabilities)
    accuracy = (session.result.probabilities.argmax(axis=1) == [sorted(CLASSES).index(c) for c in names(truth)]).mean()
    assert accuracy > 0.8


def names(truth: Graph) -> list[str]:
    return [truth.class_names[c] for c in truth.labels]


def test_the_queue_skips_and_says_why(person: Client) -> None:
    queue = person.rest()["queue"]
    assert len(queue) == 20
    assert all(row["reason"] and row["chosen_by"] for row in queue)
    after = person.post("skip", {"node": queue[0]["node"]}).json()
    assert after["queue"] == queue[1:]
    assert after["labelled"] == []


def test_a_preview_comes_before_the_whole_fit(person: Client, truth: Graph) -> None:
    """It is near the whole fit and declared; the whole fit, which follows in a pause, replaces it."""
    label_some(person, truth, 12)
    person.rest()
    before = person.session.known()
    label_some(person, truth, 1)
    seen = set()
    for _ in range(2000):
        state = person.state()
        seen |= {key for key in ("previewed", "fitted") if state[key]}
        if state["fitted"]:
            break
        time.sleep(0.01)
    assert seen == {"previewed", "fitted"}
    assert person.session.known() is not before
    assert person.session.known().train.size == 13
    session = person.session
    run = session.source.run(list(session.file.labels.values()), session.file.path, session.cache)
    assert run is not None
    quick = preview(run, before)
    assert quick is not None
    assert quick.out_of_fold is None
    whole = session.known().probabilities
    assert (quick.probabilities.argmax(axis=1) == whole.argmax(axis=1)).mean() > 0.9
    assert preview(run, replace(before, model=replace(before.model, class_names=("a", "b", "c")))) is None


def test_undo_takes_back_the_last_label(person: Client) -> None:
    first, second = (row["node"] for row in person.rest()["queue"][:2])
    person.post("label", {"node": first, "label": "red"})
    person.post("label", {"node": second, "label": "blue"})
    after = person.post("undo", {}).json()
    assert after["labelled"] == [[first, 0]]
    assert second in [row["node"] for row in after["queue"]]
    person.post("undo", {})
    refused = person.post("undo", {})
    assert (refused.status_code, refused.json()) == (400, {"error": "there is no label to undo"})


def test_how_a_node_was_chosen_is_in_the_file(person: Client) -> None:
    queue = person.rest()["queue"]
    suggested = [row["node"] for row in queue]
    other = next(node for node in range(90) if node not in suggested)
    for node in (suggested[0], other):
        person.post("label", {"node": node, "label": "red"})
    with person.session.file.path.open() as file:
        rows = list(csv.DictReader(file))
    assert [row["chosen_by"] for row in rows] == [queue[0]["chosen_by"], "hand"]


def test_a_new_class_is_added_by_name(person: Client, truth: Graph) -> None:
    assert person.post("class", {"name": "violet"}).json()["classes"] == [*CLASSES, "violet"]
    for name in ("violet", "Violet", " ", "a\nb", "x" * 300):
        assert person.post("class", {"name": name}).status_code == 400
    label_some(person, truth, 8)
    free = person.rest()["queue"][0]["node"]
    person.post("label", {"node": free, "label": "violet"})
    person.rest()
    assert "violet" in person.get("model").json()["model"]["classes"]


def test_a_run_is_opened_with_its_model_and_saved_again(unlabelled: Path, truth: Graph, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    ask = tmp_path / "ask.csv"
    rows = [f"{truth.node_ids[k]},{truth.class_names[truth.labels[k]]}" for k in range(15)]
    ask.write_text("\n".join(["id,label", *rows]) + "\n")
    config = RunConfig(data=str(unlabelled), recipe="drgst-plus", add_labels=str(ask))
    made = Run.from_config(config).execute(folder=folder)
    with opened(str(folder.path), Given()) as person:
        page = person.get("page").json()
        session = person.session
        assert session.result is session.source.result  # nothing was fitted again
        assert len(page["state"]["labelled"]) == 15
        assert page["model"]["nodes"]["truth"] is None
        label_some(person, truth, 1)
        person.rest()
        assert session.result.train.size == 16
        saved = person.post("save", {}).json()["folder"]
        for _ in range(400):
            if RunFolder(saved).finished:
                break
            time.sleep(0.05)
        np.testing.assert_array_equal(load_result(saved).probabilities, session.result.probabilities)
    assert made.train.size == 15


def test_tables_with_labels_and_their_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    drgst.fraud_tables(3, accounts=300, positive_rate=0.2, labelled=15).write(tmp_path)
    more = Given(("transactions.csv",), "label")
    with opened("accounts.csv", more) as person:
        page = person.get("page").json()
        columns = {column["name"]: column for column in page["columns"]}
        assert "values" in columns["age"]
        assert "texts" in columns["country"]
        assert not {"label", "account_id"} & columns.keys()
        assert page["model"]["classes"] == ["fraud", "ok"]
        why = person.get("why/0").json()
        assert why["label"] in ("fraud", "ok")
        assert why["rows"]
        review = page["model"]["review"]["rows"]
        given = person.session.source.graph.labels
        node = review[0]["node"] if review else int(np.flatnonzero(given >= 0)[0])
        changed = person.post("label", {"node": node, "label": ("ok", "fraud")[given[node]]})
        assert changed.status_code == 200
        assert person.rest()["error"] == ""
        assert person.session.file.path == Path("runs/accounts-workbench/labels.csv")


def test_a_folder_of_tables_without_a_label_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its columns may be of any kind, as in ``drgst classify``; links and kinds of columns can be given."""
    monkeypatch.chdir(tmp_path)
    tables = drgst.fraud_tables(3, accounts=120, positive_rate=0.2, labelled=15)
    tables.write(tmp_path / "bank")
    (tmp_path / "bank" / "truth.csv").unlink()
    (tmp_path / "bank" / "transactions.csv").rename(tmp_path / "bank" / "edges.csv")
    rows = list(csv.reader((tmp_path / "bank" / "accounts.csv").open()))
    with (tmp_path / "bank" / "nodes.csv").open("w", newline="") as file:
        csv.writer(file).writerows(row[:-1] for row in rows)
    more = Given(classes=("fraud", "ok"), options={"links": ["device"], "drop": ["iban"]}, words=("--link", "device"))
    source = open_source("bank", more)
    assert source.name == "bank"
    assert source.classes == ("fraud", "ok")
    assert [relation.name for relation in source.graph.relations] == ["device"]
    assert source.command == "drgst classify bank/nodes.csv --edges bank/edges.csv --link device --labels"
    source = open_source("bank", Given())
    assert (source.classes, source.is_labelled, source.graph.relations) == ((), False, ())
    empty = open_source("bank/nodes.csv", Given(("bank/edges.csv",), "phone_changed", options={"links": ["branch"]}))
    assert set(empty.classes) == {"false", "true"}
    with (tmp_path / "bank" / "accounts.csv").open("w", newline="") as file:
        csv.writer(file).writerows([rows[0], *([*row[:-1], ""] for row in rows[1:])])
    source = open_source("bank/accounts.csv", Given(("bank/edges.csv",), "label", ("fraud", "ok")))
    assert (source.is_labelled, source.classes) == (False, ("fraud", "ok"))
    assert source.command.endswith("--column label=drop --labels")


def test_stated_shares_are_those_of_every_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of tables and graphs; the command that repeats the fit names them. A run keeps its own."""
    monkeypatch.chdir(tmp_path)
    drgst.fraud_tables(3, accounts=120, positive_rate=0.2, labelled=15).write(tmp_path)
    stated: dict[str, Any] = {"prior": ["fraud=0.05"], "words": ["--prior", "fraud=0.05"]}
    source = open_source("accounts.csv", Given(("transactions.csv",), "label", **stated))
    run = source.run([], tmp_path / "labels.csv", GraphCache())
    assert run is not None
    assert run.config.settings["prior"] == "fraud=0.05"
    assert "--label label --prior" not in source.command
    assert "--prior fraud=0.05 --label label" in source.command
    none = open_source("accounts.csv", Given(("transactions.csv",), **stated))
    other = [AddedLabel(none.graph.node_ids[k], label) for k, label in enumerate(("ok", "odd"))]
    assert none.run(other, tmp_path / "labels.csv", GraphCache()) is None, "no label of fraud yet"
    with pytest.raises(SettingError, match="did you mean 'fraud'"):
        open_source("accounts.csv", Given(("transactions.csv",), "label", prior=["fruad=0.05"]))
    graph = Given(prior=["Theory=0.2"], words=["--prior", "Theory=0.2"])
    assert open_source("cora", graph).command.endswith("--recipe drgst-plus --prior Theory=0.2 --add-labels")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.toml").touch()
    with pytest.raises(SettingError, match=r"drgst run --config run/config.toml --prior fraud=0.05 --out run-next"):
        open_source("run", Given(**stated))


def test_a_second_server_on_the_same_labels_is_refused(person: Client, unlabelled: Path) -> None:
    with pytest.raises(RunError, match="in use by process"):
        Workbench(str(unlabelled), Given(classes=CLASSES))


def test_a_folder_lists_its_runs(unlabelled: Path, truth: Graph, tmp_path: Path) -> None:
    graph = open_graph(unlabelled, classes=CLASSES).with_(labels=np.where(np.arange(90) < 30, truth.labels, -1))
    for name in ("one", "deep/two"):
        result = Run.of(graph, RunConfig(recipe="label-propagation", seed=0))
        folder = RunFolder(tmp_path / "all" / name)
        drgst.save_graph(graph, tmp_path / "graph.npz")
        config = RunConfig(data=str(tmp_path / "graph.npz"), recipe=result.config.recipe)
        Run.from_config(config).execute(folder=folder)
    with opened(str(tmp_path / "all"), Given()) as person:
        assert [run["name"] for run in person.workbench.runs()] == ["deep/two", "one"]
        with ThreadPoolExecutor() as pool:  # a page asks for several things at once
            at_once = list(pool.map(person.get, ["page?run=deep/two", "state?run=deep/two", "runs?run=deep/two"]))
        assert [answer.status_code for answer in at_once] == [200, 200, 200]
        assert at_once[0].json()["title"] == graph.name
        beside = person.get("compare/one?run=deep/two").json()
        assert (beside["common"], beside["settings"]) == (90, [])
        for name in ("../../etc", "/etc", "three", "deep"):
            for path in (f"page?run={name}", f"events?run={name}", f"compare/{quote(name, safe='')}?run=one"):
                refused = person.get(path)
                assert (refused.status_code, refused.json()) == (400, {"error": f"there is no run {name!r} here"})
