"""Settings: each out-of-range value is refused with its name, its value and what is allowed."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from drgst.errors import SettingError
from drgst.selftrain.settings import Settings

WRONG = [
    ("threshold", 1.0, "less than 1"),
    ("threshold", -0.1, "greater than or equal to 0"),
    ("beta", 0, "greater than 0"),
    ("beta", -1, "greater than 0"),
    ("beta", "1/0", "valid number"),
    ("drop_rate", 1, "less than 1"),
    ("drop_rate", -0.5, "greater than or equal to 0"),
    ("dropout", 1.5, "less than 1"),
    ("dropout", -1, "greater than or equal to 0"),
    ("stages", -1, "greater than or equal to 0"),
    ("stages", 2.5, "valid integer"),
    ("hidden", 0, "greater than or equal to 1"),
    ("hidden", 10**9, "less than or equal to"),
    ("hidden", "wide", "valid integer"),
    ("lr", 0, "greater than 0"),
    ("lr", float("inf"), "less than or equal to"),
    ("weight_decay", -1e-4, "greater than or equal to 0"),
    ("epochs", 0, "greater than or equal to 1"),
    ("patience", 0, "greater than or equal to 1"),
    ("fixed_epochs", 0, "greater than or equal to 1"),
    ("samples", 0, "greater than or equal to 1"),
    ("agreement", 0, "greater than 0"),
    ("agreement", 1.1, "less than or equal to 1"),
    ("retries", -1, "greater than or equal to 0"),
    ("gain", "edges", "'dropout', 'dropedge' or 'both'"),
    ("estimator", "exact", "'sampled' or 'closed'"),
    ("keep", "first", "'last'"),
    ("on_collapse", "panic", "'retry' or 'stop'"),
    ("start", "zeros", "'glorot' or 'uniform'"),
    ("normalise", "l3", "'auto', 'l1', 'l2' or 'none'"),
]


@pytest.mark.parametrize(("name", "value", "allowed"), WRONG)
def test_out_of_range(name: str, value: object, allowed: str) -> None:
    with pytest.raises(SettingError) as caught:
        Settings().updated({name: value})
    message = str(caught.value)
    assert message.startswith(f"setting {name} is {value!r}: ")
    assert allowed in message
    assert "\n" not in message


@pytest.mark.parametrize("name", ["threshold", "beta", "drop_rate", "dropout", "lr", "weight_decay", "agreement"])
def test_not_a_number_is_no_number(name: str) -> None:
    with pytest.raises(SettingError, match=f"setting {name} is nan"):
        Settings().updated({name: float("nan")})


def test_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(SettingError, match="unknown setting 'treshold'; did you mean 'threshold'"):
        Settings().updated({"treshold": 0.5})


def test_fractions_and_text_are_read() -> None:
    changed = Settings().updated({"beta": "1/3", "threshold": "0.4", "stages": "5", "fixed_epochs": None})
    assert changed.beta == pytest.approx(1 / 3)
    assert (changed.threshold, changed.stages) == (0.4, 5)


def test_settings_are_frozen_and_updates_are_copies() -> None:
    settings = Settings()
    with pytest.raises(ValidationError):
        settings.beta = 3.0
    assert settings.updated({"beta": 3}).beta == 3
    assert settings.beta == 0.5


def test_defaults_are_the_papers() -> None:
    """Appendix: Adam 0.01, L2 5e-4, window 200, dropout 0.5, T = 100, two layers of GCN."""
    s = Settings()
    assert (s.lr, s.weight_decay, s.patience, s.dropout, s.samples, s.backbone) == (0.01, 5e-4, 200, 0.5, 100, "gcn")


def test_parts_of_the_settings() -> None:
    s = Settings().updated({"lr": 0.2, "epochs": 7, "drop_rate": 0.1, "estimator": "closed", "gain": "both"})
    assert (s.schedule().lr, s.schedule().epochs) == (0.2, 7)
    asked = s.gain_settings()
    assert (asked.kind, asked.rate, asked.estimator) == ("both", 0.1, "closed")
