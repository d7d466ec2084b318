"""The run behind the page, and the page's data."""

from __future__ import annotations

from typing import Any

import pytest

from drgst.estimator import SelfTraining
from drgst.report.explorer.data import page_data
from drgst.report.explorer.source import Told, fitted_told
from drgst.selftrain.learners.network import Problem


@pytest.fixture(scope="session")
def told(hostile: SelfTraining) -> Told:
    """The hostile run as a page sees it."""
    settings, recipe = hostile._resolve(hostile.graph_, hostile.split_)
    problem = Problem.of(hostile.graph_, hostile.split_, settings, hostile.seed)
    return fitted_told(problem, hostile.graph_, recipe, "drgst-do", hostile.history_, "again")


@pytest.fixture(scope="session")
def data(told: Told) -> dict[str, Any]:
    """The dict of its page."""
    return page_data(told)
