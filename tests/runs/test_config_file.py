"""``config.toml``: written, read, refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from drgst.errors import DrgstError, SettingError
from drgst.runs.config import RunConfig
from drgst.runs.config_file import parse_changes, read_config, to_toml


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
