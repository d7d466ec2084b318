"""The script that a test module is named after."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def script(request: pytest.FixtureRequest) -> ModuleType:
    """``scripts/NAME.py`` for ``test_NAME.py``, as a module."""
    name = request.path.stem.removeprefix("test_")
    path = Path(__file__).parents[2] / "scripts" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{name}_script", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
