"""The space that tuning searches."""

from __future__ import annotations

import pytest

from drgst.errors import SettingError
from drgst.lab.tuning.space import THRESHOLDS, Choice, Space, space_of
from drgst.recipes import find_recipe


def space(name: str, recipe: str) -> Space:
    """The space of a recipe on Cora."""
    spec = find_recipe(recipe)
    settings = spec.settings()
    return space_of(name, "cora", settings.names, spec.make(settings).requires)


def test_the_papers_grid() -> None:
    assert space("paper", "drgst-de")["threshold"] == Choice((0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75))
    assert THRESHOLDS["flickr"][0] == 0.75
    assert THRESHOLDS["flickr"][-1] == 0.96
    assert THRESHOLDS["pubmed"][-1] == 0.9


def test_only_settings_that_the_recipe_reads_are_searched() -> None:
    """The drop rate only where gain decides."""
    assert set(space("paper", "drgst-de")) == {"threshold", "beta", "drop_rate"}
    assert set(space("paper", "drgst-de-wo")) == {"threshold"}
    assert set(space("wide", "gcn")) == {"lr", "weight_decay", "dropout", "hidden"}
    assert set(space("wide", "drgst-plus")) == {"stages"}


@pytest.mark.parametrize(("name", "message"), [("papre", "did you mean 'paper'"), ("paper", "take --space wide")])
def test_an_unknown_or_empty_space_is_refused(name: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        space(name, "gcn")
