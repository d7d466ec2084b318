"""The workbench in the browser: a person labels by keyboard, the model follows, nothing is lost by a kill."""

from __future__ import annotations

import csv
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drgst.datasets.load import load
from drgst.datasets.synthetic import block_model
from drgst.graph.core import Graph
from drgst.io.write_tables import write_tables
from drgst.runs.added_labels import read_added
from drgst.runs.config import RunConfig
from drgst.runs.run import Run

LAYOUT_PROBLEMS, CONTRAST_PROBLEMS = (
    (Path(__file__).parent / name).read_text(encoding="utf-8")
    for name in ("layout_problems.js", "contrast_problems.js")
)
DRGST = Path(sys.executable).parent / "drgst"
Start = Callable[..., tuple[subprocess.Popen[str], str]]


def write_unlabelled(graph: Graph, folder: Path) -> None:
    """The graph as a folder of tables whose column of labels is empty."""
    write_tables(graph.with_(splits=()), folder)
    nodes = folder / "nodes.csv"
    with nodes.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with nodes.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "label": ""} for row in rows)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """``start(*arguments)`` runs ``drgst serve`` in the folder of the test; the process and its address."""
    processes = []

    def started(*arguments: str) -> tuple[subprocess.Popen[str], str]:
        command = [str(DRGST), "serve", *arguments, "--no-open"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path)
        processes.append(process)
        assert process.stdout is not None
        for line in process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line):
                return process, found[0]
        raise AssertionError("the server did not start")

    yield started
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait()


class Person:
    """Labels what is asked, by keyboard."""

    def __init__(self, page: Any, graph: Graph) -> None:
        self.page = page
        self.truth = {str(name): graph.class_names[c] for name, c in zip(graph.node_ids, graph.labels, strict=True)}
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.errors.append(message.text) if message.type != "log" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, address: str) -> None:
        self.page.goto(f"{address}#label")
        self.page.wait_for_selector("html[data-ready=yes]", timeout=120_000)
        self.page.wait_for_selector("#asked-name", timeout=120_000)

    def label(self, count: int) -> list[str]:
        """The ids of ``count`` labelled nodes."""
        names = self.page.locator("#class-buttons .name").all_text_contents()
        done = []
        for _ in range(count):
            self.page.wait_for_selector("#asked-name", timeout=120_000)
            done.append(str(self.page.text_content("#asked-name")))
            self.page.keyboard.press(str(names.index(self.truth[done[-1]]) + 1))
            changed = "name => document.getElementById('asked-name')?.textContent !== name"
            self.page.wait_for_function(changed, arg=done[-1], timeout=60_000)
        return done

    def rest(self) -> None:
        """Wait until the model knows every label."""
        done = "() => document.getElementById('status').textContent.includes('up to date')"
        self.page.wait_for_function(done, timeout=240_000)


def test_label_undo_skip_and_kill(chromium: Any, start: Start, tmp_path: Path) -> None:
    """Every label is in the file after SIGKILL; the next server goes on; the model is that of the labels file."""
    graph = block_model(80, 240, seed=3, classes=3, features=12, homophily=0.9, signal=0.7)
    graph = graph.with_(class_names=("<b>red</b>", "green", "blue"))
    write_unlabelled(graph, tmp_path / "village")
    arguments = ("village", "--classes", ",".join(graph.class_names))
    process, address = start(*arguments)
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    person = Person(context.new_page(), graph)
    person.open(address)
    assert person.page.locator("#class-buttons .name").first.text_content() == "<b>red</b>"
    person.page.wait_for_selector("#status:has-text('no model yet: it needs labels of two classes')")
    done = person.label(6)
    skipped = person.page.text_content("#asked-name")
    person.page.keyboard.press(" ")
    person.page.wait_for_function("name => document.getElementById('asked-name').textContent !== name", arg=skipped)
    done += person.label(2)
    person.page.keyboard.press("u")
    person.page.wait_for_function("name => document.getElementById('asked-name').textContent === name", arg=done.pop())
    process.send_signal(signal.SIGKILL)
    process.wait()
    file = tmp_path / "runs" / "village-workbench" / "labels.csv"
    assert [label.id for label in read_added([file])] == done
    person.page.wait_for_function("() => document.getElementById('status').textContent.includes('not answer')")
    assert all(url.startswith(address.partition("?")[0]) for url in person.requests)
    unanswered = [error for error in person.errors if "ERR_CONNECTION" not in error and "ERR_INCOMPLETE" not in error]
    assert unanswered == []

    process, address = start(*arguments)
    again = Person(context.new_page(), graph)
    again.open(address)
    done += again.label(4)
    again.rest()
    for view in ("label", "map", "decide", "review", "run"):
        again.page.click(f"nav a[data-view={view}]")
        again.page.wait_for_timeout(60)
        assert again.page.evaluate(LAYOUT_PROBLEMS) == [], view
        assert again.page.evaluate(CONTRAST_PROBLEMS) == [], view
    stated = shares(again.page, graph)
    again.page.click("nav a[data-view=label]")
    again.page.click("text=Save the run")
    again.page.wait_for_selector("text=Saved in", timeout=120_000)
    again.page.click("nav a[data-view=run]")
    again.page.select_option("#compare", f"after-{len(done)}-labels")
    again.page.wait_for_selector("#differing", timeout=120_000)
    assert "another class for 0 of the 80 nodes" in again.page.text_content("#differing")
    assert again.page.evaluate(LAYOUT_PROBLEMS) == []
    again.page.hover("#comparison th .term, #summary dt .term")
    assert again.page.is_visible("#tooltip")
    assert again.errors == []
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    assert process.stdout is not None
    assert process.stdout.read().splitlines() == [
        "Ctrl-C stops it; labels are saved",
        f"{file.relative_to(tmp_path)}: {len(done)} labels",
    ]
    context.close()
    config = RunConfig(data=str(tmp_path / "village"), recipe="drgst-plus", add_labels=str(file))
    fresh = Run.from_config(config).execute()
    order = [fresh.model.class_names.index(name) for name in stated[0]]
    np.testing.assert_allclose(stated[1], fresh.probabilities[:, order], atol=2e-5)


def shares(page: Any, graph: Graph) -> tuple[list[str], np.ndarray]:
    """Classes, and the probabilities of all nodes as the page downloads them."""
    page.click("nav a[data-view=decide]")
    with page.expect_download() as waiting:
        page.click("#decide-csv")
    head, *rows = (line.split(",") for line in Path(waiting.value.path()).read_text().splitlines())
    places = [k for k, name in enumerate(head) if name.startswith("p:")]
    by_id = {row[0]: [float(row[k]) for k in places] for row in rows}
    return [head[k][2:] for k in places], np.array([by_id[str(name)] for name in graph.node_ids])


@pytest.mark.slow
def test_sixty_labels_of_cora(chromium: Any, start: Start, tmp_path: Path) -> None:
    """From nothing, with refits in between and a kill in the middle."""
    graph = load("cora")
    write_unlabelled(graph, tmp_path / "cora")
    arguments = ("./cora", "--classes", ",".join(graph.class_names))
    page = chromium.new_context(viewport={"width": 1440, "height": 900}).new_page()
    done: list[str] = []
    for part in range(2):
        process, address = start(*arguments)
        person = Person(page, graph)
        person.open(address)
        for _ in range(3):
            done += person.label(10)
            person.rest()
        if part == 0:
            process.send_signal(signal.SIGKILL)
            process.wait()
    file = tmp_path / "runs" / "cora-workbench" / "labels.csv"
    assert [label.id for label in read_added([file])] == done
    names, stated = shares(page, graph)
    process.send_signal(signal.SIGINT)
    process.wait(60)
    fresh = Run.from_config(RunConfig(data=str(tmp_path / "cora"), recipe="drgst-plus", add_labels=str(file))).execute()
    order = [fresh.model.class_names.index(name) for name in names]
    np.testing.assert_allclose(stated, fresh.probabilities[:, order], atol=2e-5)
    truth = np.array([names.index(graph.class_names[c]) for c in graph.labels])
    with (Path(__file__).parents[2] / "results" / "label_curves.csv").open(newline="") as rows:
        variant = "label-curve by=suggest,budget=60,batch=10,judge=test"
        wanted = ("cora", "0", variant)
        curve = [r for r in csv.DictReader(rows) if (r["dataset"], r["per_class"], r["variant"]) == wanted]
    assert len(curve) == 10
    mean = np.mean([float(row["test_accuracy"]) for row in curve])
    assert (stated.argmax(axis=1) == truth).mean() > mean - 0.01


def test_nothing_is_heard_from_outside(start: Start, tmp_path: Path) -> None:
    """The socket is bound to this machine alone."""
    graph = block_model(40, 90, seed=3, classes=2, features=6)
    write_unlabelled(graph, tmp_path / "village")
    process, address = start("village")
    port = int(re.findall(r":(\d+)/", address)[0])
    time.sleep(1.0)
    listening = [
        line.split()[1]
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/{process.pid}/net/{name}").read_text().splitlines()[1:]
        if line.split()[3] == "0A" and line.split()[1].endswith(f":{port:04X}")
    ]
    assert listening == [f"0100007F:{port:04X}"]
    assert os.path.exists(tmp_path / "runs" / "village-workbench" / "labels.csv")
