"""Optional dependencies."""

from __future__ import annotations

import json

import pytest

from drgst.errors import SettingError
from drgst.extras import import_extra


def test_an_installed_module_is_returned() -> None:
    assert import_extra("json", "none") is json


def test_a_missing_module_names_its_extra() -> None:
    with pytest.raises(SettingError, match=r"^this needs no_such_one, .*: pip install 'drgst\[tables\]'$"):
        import_extra("no_such_one.part", "tables")
    with pytest.raises(SettingError, match=r"^a figure needs no_such_one, which is not installed"):
        import_extra("no_such_one", "figures", "a figure")
