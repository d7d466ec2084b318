"""Labels, queue and refits; the model is that of ``drgst run`` with the same labels file."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import numpy as np
import pytest

import drgst
from drgst.datasets.load import open_graph
from drgst.errors import RunError
from drgst.graph.core import Graph
from drgst.report.serve.app import Workbench
from drgst.report.serve.source import Given
from drgst.runs.config import RunConfig
from drgst.runs.folder import RunFolder
from drgst.runs.run import Run, load_result

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


def test_undo_takes_back_the_last_label(person: Client) -> None:
    first, second = (row["node"] for row in person.rest()["queue"][:2])
    person.post("label", {"node": first, "label": "red"})
    person.post("label", {"node": second, "label": "blue"})
    after = person.post("undo", {}).json()
    assert after["labelled"] == [[first, 0]]
    assert second in [row["node"] for row in after["queue"]]
    person.post("undo", {})
    refused = person.post("undo", {})
    assert (refused.status_code, refused.json()) == (400, {"error": "there is no label to take back"})


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
        ok = person.get("page?run=deep/two")
        assert ok.json()["title"] == graph.name
        for name in ("../../etc", "/etc", "three", "deep"):
            refused = person.get(f"page?run={name}")
            assert (refused.status_code, refused.json()) == (400, {"error": f"there is no run {name!r} here"})
