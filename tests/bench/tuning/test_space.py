"""The space that tuning searches."""

from __future__ import annotations

import pytest

from drgst.bench.tuning.space import THRESHOLDS, Choice, space_of
from drgst.errors import SettingError
from drgst.recipes import find_recipe
from drgst.selftrain.settings import Settings


def test_the_papers_grid() -> None:
    made = find_recipe("drgst-de").make(Settings())
    space = space_of("paper", "cora", made)
    assert space["threshold"] == Choice((0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75))
    assert THRESHOLDS["flickr"][0] == 0.75
    assert THRESHOLDS["flickr"][-1] == 0.96
    assert THRESHOLDS["pubmed"][-1] == 0.9


def test_only_settings_that_a_part_reads_are_searched() -> None:
    assert set(space_of("paper", "cora", find_recipe("drgst-de-wo").make(Settings()))) == {"threshold"}
    assert {"lr", "hidden"} <= set(space_of("wide", "cora", find_recipe("gcn").make(Settings())))


@pytest.mark.parametrize(("name", "message"), [("papre", "did you mean 'paper'"), ("paper", "take --space wide")])
def test_an_unknown_or_empty_space_is_refused(name: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        space_of(name, "cora", find_recipe("gcn").make(Settings()))
