"""The config of a run: values that replace each other, defaults, splits; ``config.toml`` written, read, refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drgst.errors import DrgstError, SettingError
from drgst.graph.core import Graph
from drgst.graph.split import draw_split
from drgst.runs.config import RunConfig
from drgst.runs.config_file import parse_changes, read_config, to_toml


def test_an_update_drops_what_no_longer_applies() -> None:
    """Another draw makes the fingerprint of the labels void, other data both; a number of threads neither."""
    old = RunConfig(data="cora", per_class=3, seed=0, data_sha256="d", known_sha256="k", settings={"beta": 0.5})
    new = old.updated(RunConfig(seed=1, settings={"stages": 1}))
    assert (new.seed, new.data_sha256, new.known_sha256) == (1, "d", None)
    assert new.settings == {"beta": 0.5, "stages": 1}
    assert old.updated(RunConfig(data="flickr")).data_sha256 is None
    assert old.updated(RunConfig(threads=2)) == RunConfig(**{**vars(old), "threads": 2})
    assert old.updated(RunConfig(split="own.json")).per_class is None
    assert RunConfig(split="own.json").updated(RunConfig(per_class=5)).split is None


def test_a_complete_config_keeps_its_recipe() -> None:
    """Its settings are all of one recipe."""
    complete = RunConfig(recipe="gcn", versions={"drgst": "0.1.0"})
    with pytest.raises(SettingError, match="which 'appnp' would inherit"):
        complete.updated(RunConfig(recipe="appnp"))
    assert complete.updated(RunConfig(recipe="gcn")).recipe == "gcn"


def test_values_that_exclude_each_other() -> None:
    with pytest.raises(SettingError, match="per_class and split are both given"):
        RunConfig(per_class=3, split="own.json")
    with pytest.raises(SettingError, match="unknown validation 'nun'; did you mean 'none'"):
        RunConfig(validation="nun")
    with pytest.raises(SettingError, match="but the split is given"):
        RunConfig(validation="30", split="own.json")


def test_conflict_names_the_first_difference() -> None:
    """Settings are compared as values: 1/2 and 0.5 are the same."""
    mine = RunConfig(recipe="drgst-de", seed=1, settings={"beta": 0.5, "stages": 2})
    assert mine.conflict(RunConfig(seed=1, validation="public", settings={"beta": "1/2"})) is None
    assert mine.conflict(RunConfig(seed=2)) == "seed = 1, not 2"
    assert mine.conflict(RunConfig(validation="none")) == "validation = 'public', not 'none'"
    assert mine.conflict(RunConfig(settings={"stages": 3})) == "stages = 2, not 3"


def test_defaults_and_folder_names() -> None:
    """A data set of the paper gets 3 labels per class; a graph of one's own keeps its split."""
    full = RunConfig().with_defaults()
    assert (full.data, full.recipe, full.per_class, full.seed, full.pool) == ("cora", "drgst-de", 3, 0, "unlabelled")
    assert full.run_name() == "cora-drgst-de-3-seed0"
    assert RunConfig(validation="30").with_defaults().run_name() == "cora-drgst-de-3-30-validation-seed0"
    own = RunConfig(data="graphs/town.npz", recipe="gcn", validation="none", seed=2).with_defaults()
    assert (own.per_class, own.pool) == (None, None)
    assert own.run_name() == "town-gcn-no-validation-seed2"
    with pytest.raises(SettingError, match="seed is -1"):
        RunConfig(seed=-1).with_defaults()


def test_split_of_a_config(town: Graph) -> None:
    """Drawn by number and seed; else the one of the graph; without validation its nodes are in the pool."""
    drawn = RunConfig(per_class=2, seed=5).make_split(town)
    np.testing.assert_array_equal(drawn.train, draw_split(town, 2, 5).train)
    assert np.bincount(town.labels[drawn.train]).tolist() == [2, 2, 2]
    own = RunConfig(pool="all-but-validation").make_split(town)
    np.testing.assert_array_equal(own.train, town.split.train)
    assert np.isin(town.split.test, own.pool).all()
    blind = RunConfig(per_class=2, seed=5, validation="none").make_split(town)
    assert blind.val.size == 0
    assert np.isin(drawn.val, blind.pool).all()


@pytest.mark.parametrize("threads", [0, -1, 99_999_999_999])
def test_threads_are_few(threads: int) -> None:
    with pytest.raises(SettingError, match=rf"threads is {threads} \(allowed: whole numbers from 1 to 1,024\)"):
        RunConfig(threads=threads)


@pytest.mark.parametrize("key", ["data", "recipe", "split", "pool"])
def test_an_empty_text_is_not_the_default(key: str) -> None:
    with pytest.raises(SettingError, match=f"{key} is empty"):
        RunConfig(**{key: ""})


def test_round_trip(tmp_path: Path) -> None:
    """Texts with quotes and control characters, None in a setting, fingerprints with their remarks."""
    hostile = 'a "graph"\\\x7f\n[settings]'
    config = RunConfig(
        data=hostile,
        recipe="gcn",
        seed=2,
        split="split.json",
        data_sha256="abc",
        settings={"fixed_epochs": None, "lr": 0.01, "normalise": "none", "epochs": 30},
        versions={"drgst": "0.1.0"},
    )
    (tmp_path / "config.toml").write_text(to_toml(config), encoding="utf-8")
    read = read_config(tmp_path / "config.toml")
    assert read == replace(config, split=str(tmp_path / "split.json"))
    assert 'data_sha256 = "abc"  # of features' in to_toml(config)


def test_changes() -> None:
    """One or several per word; "none" where the setting may be None."""
    found = parse_changes(["epochs=30,beta=1/3", "fixed_epochs=none normalise=none"])
    assert found == {"epochs": "30", "beta": "1/3", "fixed_epochs": None, "normalise": "none"}
    for word in ("epochs", "=3", "epochs=", "", " ", ","):
        with pytest.raises(SettingError, match="--set takes key=value"):
            parse_changes(["epochs=30", word])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[run]\nthreads = -1\n", "threads is -1"),
        ("[run]\nrecipe = ''\n", "recipe is empty"),
        ("x = " + "[" * 5000, "is not TOML"),
        ("[run]\nvalidation = 'x'\n", "unknown validation"),
        ("[run]\nper_class = 3\nsplit = 'a'\n", "both given"),
    ],
)
def test_every_refusal_names_the_file(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "run.toml").write_text(text)
    with pytest.raises(DrgstError, match=message) as caught:
        read_config(tmp_path / "run.toml")
    assert "run.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("word", "message"), [("threshold", "write --set threshold=VALUE"), ("threshold=50%", "as a number, 0.5")]
)
def test_a_setting_in_another_form_gets_the_right_one(word: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        parse_changes([word])
