"""Keys: what is part of them and what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

import drgst
from drgst.bench.task import NEUTRAL, REVISED, UNMOVED, Task, variant
from drgst.runs.fingerprint import data_fingerprint
from drgst.selftrain.settings import Settings


def task(**settings: object) -> Task:
    told = {**Settings().model_dump(), **settings}
    return Task("cora", None, "cora", 3, "gcn", "", "unlabelled", "public", 0, told, "data", "split")


def test_a_key_depends_on_every_ingredient() -> None:
    plain = task()
    others = [
        replace(plain, recipe="gat"),
        replace(plain, draw=1),
        replace(plain, data_sha256="other"),
        replace(plain, split_sha256="other"),
        replace(plain, recipe_sha256="other"),
        task(lr=0.02),
    ]
    assert len({plain.key, *(other.key for other in others)}) == len(others) + 1


def test_a_key_does_not_depend_on_where_data_are_or_what_they_cost() -> None:
    assert task().key == replace(task(), root="/elsewhere", cost=7.0, variant="x").key


def test_a_new_setting_at_its_neutral_value_keeps_the_key() -> None:
    older = {k: v for k, v in task().settings.items() if k != "smooth"}
    assert replace(task(), settings=older).key == task().key


def test_a_setting_that_is_not_entered_is_part_of_the_key() -> None:
    assert task(never_heard_of=1).key != task().key


def test_every_setting_is_entered_with_the_default_it_has() -> None:
    """A new setting: enter it in NEUTRAL with the value that changes nothing. A new default: leave NEUTRAL alone."""
    assert set(Settings.model_fields) <= set(NEUTRAL), "enter the new setting in drgst.bench.task.NEUTRAL"


def test_variant_names_what_differs() -> None:
    assert variant({"beta": 1.0, "lr": 0.1}, {"beta": 0.5, "lr": 0.1}) == "beta=1.0"
    assert variant({"beta": 0.5}, {"beta": 0.5}) == ""


def test_a_revised_recipe_has_new_keys_and_leaves_the_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    mine, other = replace(task(), recipe="gcn"), replace(task(), recipe="drgst-de")
    before = mine.key, other.key
    monkeypatch.setitem(REVISED, "gcn", 5)
    assert mine.algorithm == other.algorithm + 5
    assert mine.key != before[0]
    assert other.key == before[1]


def test_a_revision_that_left_a_graph_as_it_was_keeps_its_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    same, moved = (replace(task(), recipe="gcn", data_sha256=c * 64) for c in "ab")
    before = same.key, moved.key
    monkeypatch.setitem(REVISED, "gcn", 1)
    monkeypatch.setitem(UNMOVED, ("gcn", 1), lambda task: task.data_sha256 == "a" * 64)
    assert same.key == before[0]
    assert moved.key != before[1]
    monkeypatch.setitem(REVISED, "gcn", 2)
    assert same.key != before[0], "the next revision moves it"


def test_what_the_revisions_of_drgst_plus_left_alone() -> None:
    """The fourth the named data sets, the fifth what has no validation labels, the sixth named ones that have."""
    plus = replace(task(), recipe="drgst-plus", validation="none")
    known = replace(plus, data_sha256=data_fingerprint(drgst.load("cora")))
    asked = [known, plus, replace(known, validation="public"), replace(plus, validation="public")]
    assert [t.algorithm for t in asked] == [7, 7, 6, 7]


def test_a_recipe_in_a_file_may_hold_any_revised_part(monkeypatch: pytest.MonkeyPatch) -> None:
    own = replace(task(), recipe="own.toml", recipe_sha256="0" * 64)
    before = own.key
    monkeypatch.setitem(REVISED, "gcn", 5)
    assert own.key != before
