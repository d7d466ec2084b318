"""Tables as dicts."""

import csv
import io
from collections.abc import Callable

import pytest

from drgst.lab.tables.layout import ResultTable, render


@pytest.fixture
def as_dicts() -> Callable[[ResultTable], list[dict[str, str]]]:
    """The rows of a table as dicts by column title."""
    return lambda table: list(csv.DictReader(io.StringIO(render(table, "csv"))))
