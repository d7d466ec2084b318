"""What the server refuses: strangers, large and malformed requests."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from drgst.cli import main

from .conftest import Client


@pytest.mark.parametrize("path", ["/", "/api/state", "/api/page", "/api/events", "/api/why/1"])
def test_a_request_without_the_token_is_refused(person: Client, path: str) -> None:
    for address in (path, f"{path}?token=wrong", f"{path}?token="):
        assert person.ask("GET", address).status_code == 403


def test_foreign_hosts_and_origins_are_refused(person: Client) -> None:
    assert person.get("state", host="evil.example:8000").status_code == 403
    assert person.get("state", host="127.0.0.1:9").status_code == 403
    port = person.base.rpartition(":")[2]
    assert person.get("state", origin="http://evil.example").status_code == 403
    assert person.get("state", origin="null").status_code == 403
    assert person.get("state", origin=person.base).status_code == 200
    assert person.get("state", host=f"localhost:{port}").status_code == 200


def test_answers_carry_headers_that_keep_them_here(person: Client) -> None:
    page = person.ask("GET", f"/?token={person.token}")
    assert page.status_code == 200
    assert "connect-src 'self'" in page.text
    for answer in (page, person.get("state"), person.ask("GET", "/")):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    ("path", "body", "word"),
    [
        ("label", {"node": 0, "label": "purple"}, "unknown class 'purple'"),
        ("label", {"node": 90, "label": "red"}, "no node 90"),
        ("label", {"node": -1, "label": "red"}, "no node -1"),
        ("label", {"node": True, "label": "red"}, "has the wrong type"),
        ("label", {"node": 0}, "needs the fields node, label"),
        ("label", {"node": 0, "label": "red", "more": 1}, "needs the fields node, label"),
        ("label", [], "needs the fields"),
        ("label", b"\xff", "not JSON"),
        ("skip", {"node": "0"}, "has the wrong type"),
        ("undo", {"node": 0}, "needs the fields (none)"),
        ("undo", {}, "there is no label"),
    ],
)
def test_a_bad_request_is_one_sentence(person: Client, path: str, body: object, word: str) -> None:
    answer = person.post(path, body)
    assert answer.status_code == 400
    assert word in answer.json()["error"]
    assert person.state()["labelled"] == []


def test_ten_megabytes_are_refused(person: Client) -> None:
    answer = person.post("label", b'{"node": 0, "label": "' + b"x" * 10_000_000 + b'"}')
    assert answer.status_code == 413
    assert person.post("label", b"[" * 4000).status_code == 400


def test_random_bodies_change_nothing(person: Client) -> None:
    """500 requests of random bytes and random JSON: an answer below 500 each, and no label."""
    rng = random.Random(0)
    words = [None, True, -1, 1e400, "red", "node", [], {}, 3, "\ud800"]
    paths = ["label", "skip", "undo", "class", "page", "model", "nothing", "why/0", "events/x"]
    for _ in range(500):
        body: bytes = rng.randbytes(rng.randrange(60))
        if rng.random() < 0.5:
            keys = rng.sample(["node", "label", "name", "x"], rng.randrange(4))
            body = json.dumps({key: rng.choice([w for w in words if w != 3]) for key in keys}).encode()
        method = rng.choice(["POST", "PUT", "DELETE", "PATCH"])
        answer = person.post(rng.choice(paths), body, method)
        assert answer.status_code < 500
    assert person.state()["labelled"] == []
    assert person.state()["version"] == 0


def test_a_missing_source_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main(["serve", "nowhere", "--no-open"])
    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith("error: unknown data set or path 'nowhere'")
