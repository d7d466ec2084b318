"""The notebook of the documentation, executed in a kernel of its own."""

import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "docs" / "guides" / "example.ipynb"


def outputs(notebook: Any, source: str) -> list[Any]:
    """The outputs of the cell that ends with ``source``."""
    return next(cell.outputs for cell in notebook.cells if cell.source.endswith(source))


def html(notebook: Any, source: str) -> str:
    found = [out.data["text/html"] for out in outputs(notebook, source) if "text/html" in out.get("data", {})]
    assert found, f"{source} shows no HTML"
    return "".join(found)


@pytest.mark.slow
def test_the_notebook_runs_and_shows_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat", reason="needs the extra drgst[dev]")
    nbclient = pytest.importorskip("nbclient", reason="needs the extra drgst[dev]")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    assert "2,708" in html(notebook, "graph")
    bar = html(notebook, ".fit(graph, split)")
    assert "done in" in bar
    assert "test accuracy" in bar
    card = html(notebook, "model")
    for words in ("test accuracy", "stages", "stopped", "predicted classes", "Neural_Networks"):
        assert words in card
    assert "pseudo_labelled" in html(notebook, "to_frame()")
    assert "confidence" in html(notebook, "predictions().head()")
    for figure in ("stages()", "calibration()", "map()"):
        assert any("image/png" in out.get("data", {}) for out in outputs(notebook, f"plot.{figure}"))
    assert "<iframe srcdoc=" in html(notebook, "model.report()")
