"""Tables by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from drgst.errors import SettingError
from drgst.lab.tables.registry import TABLES, make_table


def test_every_table_is_made(cells: Callable[..., Any]) -> None:
    found = cells({("cora", 3, recipe): [0.6, 0.7] for recipe in ("gcn", "drgst-de", "drgst-de-wo")})
    titles = {make_table(name, found).title for name in TABLES}
    assert len(titles) == len(TABLES)
    with pytest.raises(SettingError, match="did you mean 'main'"):
        make_table("mian", found)
