"""The run behind the page, and the data of the page."""

from typing import Any

import pytest

from drgst.estimator import SelfTraining
from drgst.report.page import page_data
from drgst.runs.result import Result


@pytest.fixture(scope="session")
def result(hostile: SelfTraining) -> Result:
    """The result of the hostile run."""
    return hostile.result_


@pytest.fixture(scope="session")
def data(result: Result) -> dict[str, Any]:
    """The dict of its page."""
    return page_data(result, "command")
