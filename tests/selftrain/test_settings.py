"""Settings: each out-of-range value is refused with its name, its value and what is allowed."""

import pytest
from pydantic import ValidationError

from drgst.errors import SettingError
from drgst.selftrain.settings import Settings

WRONG = [
    ("threshold", (1.0, -0.1), "from 0 to below 1"),
    ("beta", (0, -1, 101, "1/0"), "above 0, up to 100"),
    ("drop_rate", (1, -0.5), "from 0 to below 1"),
    ("dropout", (1.5, -1), "from 0 to below 1"),
    ("stages", (-1, 2.5, 1001), "whole numbers from 0 to 1,000"),
    ("hidden", (0, 10**9, "wide"), "whole numbers from 1 to 65,536"),
    ("lr", (0, float("inf")), "above 0, up to 10"),
    ("weight_decay", (-1e-4,), "from 0 to 10"),
    ("epochs", (0,), "whole numbers from 1"),
    ("patience", (0,), "whole numbers from 1"),
    ("fixed_epochs", (0, "many"), "whole numbers from 1, or none"),
    ("samples", (0,), "whole numbers from 1"),
    ("agreement", (0, 1.1), "above 0, up to 1"),
    ("retries", (-1,), "whole numbers from 0 to 100"),
    ("alpha", (0, 1), "above 0, below 1"),
    ("inverse_l2", (0,), "above 0"),
    ("gain", ("edges",), "dropout, dropedge, both"),
    ("estimator", ("exact",), "sampled, closed"),
    ("keep", ("first",), "last, best, best-student"),
    ("teacher_scale", ("beta",), "1, 1/beta"),
    ("floor", (3,), "none, top"),
    ("on_collapse", ("panic",), "retry, stop"),
    ("start", ("zeros",), "glorot, uniform"),
    ("normalise", ("l3",), "auto, l1, l2, none"),
    ("device", (3,), "text"),
]


@pytest.mark.parametrize(("name", "value", "allowed"), [(n, v, a) for n, values, a in WRONG for v in values])
def test_out_of_range(name: str, value: object, allowed: str) -> None:
    """The sentence has the name, the value and the whole range."""
    with pytest.raises(SettingError) as caught:
        Settings().updated({name: value})
    assert str(caught.value) == f"setting {name} is {value} (allowed: {allowed})"


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


def test_restricted_settings_show_and_accept_what_is_read() -> None:
    settings = Settings().restricted("recipe mine", ("lr", "stages"))
    assert settings.names == ("lr", "stages")
    assert settings.updated({"lr": 0.2}).as_dict() == {"lr": 0.2, "stages": 3}
    with pytest.raises(
        SettingError, match=r"^recipe mine does not read the setting 'epochs' \(it reads: lr, stages\)$"
    ):
        settings.updated({"epochs": 5})
    with pytest.raises(SettingError, match="does not read the setting 'agreement'"):
        settings.updated({"lr": 0.1}).check_names(["agreement"])
    with pytest.raises(SettingError, match="unknown setting 'stagess'; did you mean 'stages'"):
        settings.updated({"stagess": 5})
    assert len(Settings().as_dict()) == len(Settings.model_fields)


def test_every_setting_is_described() -> None:
    assert all(field.description for field in Settings.model_fields.values())


def test_a_truth_value_is_no_number() -> None:
    with pytest.raises(SettingError, match=r"setting hidden is true \(allowed: whole numbers from 1"):
        Settings().updated({"hidden": True})
