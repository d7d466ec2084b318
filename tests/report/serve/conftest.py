"""A small graph in a folder of tables, and a workbench on it."""

from __future__ import annotations

import csv
import json
import queue
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from drgst.datasets.synthetic import block_model
from drgst.graph.core import Graph
from drgst.io.write_tables import write_tables
from drgst.report.serve.app import Workbench, serve
from drgst.report.serve.session import Session
from drgst.report.serve.source import Given

CLASSES = ("red", "green", "blue")


@pytest.fixture(scope="module")
def truth() -> Graph:
    """90 nodes of three classes, which edges and features tell apart."""
    graph = block_model(90, 260, seed=1, classes=3, features=20, homophily=0.9, signal=0.6)
    return graph.with_(class_names=CLASSES, splits=())


@pytest.fixture
def unlabelled(truth: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same graph as a folder of tables without a label; the working folder is empty."""
    monkeypatch.chdir(tmp_path)
    write_tables(truth, tmp_path / "village")
    nodes = tmp_path / "village" / "nodes.csv"
    rows = list(csv.reader(nodes.open()))
    place = rows[0].index("label")
    with nodes.open("w", newline="") as file:
        csv.writer(file).writerows([rows[0], *([*row[:place], "", *row[place + 1 :]] for row in rows[1:])])
    return tmp_path / "village"


class Client:
    """A person at the page: requests with the token."""

    def __init__(self, address: str, workbench: Workbench) -> None:
        self.base, _, self.token = address.partition("/?token=")
        self.workbench = workbench

    @property
    def session(self) -> Session:
        return self.workbench.sessions[""]

    def ask(self, method: str, path: str, **more: Any) -> requests.Response:
        """A request without a token, unless it is given."""
        return requests.request(method, f"{self.base}{path}", timeout=120, **more)

    def get(self, path: str, **headers: str) -> requests.Response:
        return self.ask("GET", f"/api/{path}", headers={"x-drgst-token": self.token, **headers})

    def post(self, path: str, body: Any, method: str = "POST") -> requests.Response:
        content = body if isinstance(body, bytes) else json.dumps(body)
        return self.ask(method, f"/api/{path}", data=content, headers={"x-drgst-token": self.token})

    def state(self) -> dict[str, Any]:
        return dict(self.get("state").json())

    def rest(self) -> dict[str, Any]:
        """The state once every label has been fitted."""
        for _ in range(1200):
            state = self.state()
            if state["fitted"] or state["error"]:
                return state
            time.sleep(0.05)
        raise AssertionError("the model is not fitted")


@pytest.fixture
def person(unlabelled: Path) -> Iterator[Client]:
    """A person at the page of the graph without labels."""
    with opened(str(unlabelled), Given(classes=CLASSES)) as client:
        yield client


@contextmanager
def opened(source: str, more: Given) -> Iterator[Client]:
    """A person at the page of ``source``, on a real server in a thread."""
    workbench = Workbench(source, more)
    found: queue.Queue[tuple[str, Any]] = queue.Queue()
    thread = threading.Thread(target=serve, args=(workbench, 0, lambda *opened: found.put(opened)))
    thread.start()
    address, server = found.get(timeout=30)
    while not server.started:
        time.sleep(0.01)
    try:
        yield Client(address, workbench)
    finally:
        server.should_exit = True
        thread.join(30)
