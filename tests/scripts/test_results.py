"""scripts/results.py: it writes what the store has the runs for and gives a reason for the rest."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from drgst.lab.figures.registry import Request
from drgst.lab.paper import ablations
from drgst.lab.store.export import to_csv

Row = Callable[..., dict[str, Any]]


def export(path: Path, make_row: Row, recipes: tuple[str, ...]) -> Path:
    """Two draws of each recipe, one of the last."""
    places = [(recipe, draw) for recipe in recipes for draw in range(2)][:-1]
    to_csv([make_row(f"{r}{d}", recipe=r, draw=d, test_accuracy=0.6 + d / 50) for r, d in places], path)
    return path


def test_what_can_be_made_is_made(script: ModuleType, tmp_path: Path, make_row: Row) -> None:
    store = export(tmp_path / "runs.csv", make_row, ("gcn", *ablations("drgst-de")))
    written, refused = script.make_all(Request(store), tmp_path)
    assert {str(path.relative_to(tmp_path)) for path in written} == {
        *(f"tables/{name}.md" for name in ("main", "ablation", "time", "calibration")),
        *(f"figures/{name}.png" for name in ("labels", "ablation-de")),
    }
    assert all(path.stat().st_size > 300 for path in written)
    ablation = (tmp_path / "tables/ablation.md").read_text(encoding="utf-8")
    assert "| cora | 3 | drgst-de-ig | **61.00 ± 1.41** |" in ablation
    own = {f"figure {name}" for name in ("confidence-gain", "embedding-gain", "toy", "stages")}
    others = {"figure ablation-do", "figure threshold", "figure beta", "claims", "picture of the claims"}
    assert own | others == set(refused)
    assert "holds no runs for the figure beta" in refused["figure beta"]
    assert "needs a run of its own" in refused["figure toy"]
    assert "two claims need runs of their own" in refused["claims"]


def test_the_picture_of_the_claims_is_that_of_the_stored_ones(script: ModuleType) -> None:
    documents = json.loads((script.RESULTS / "claims.json").read_text(encoding="utf-8"))
    panels = script.claims_picture([script.Claim.of(document) for document in documents]).axes
    for panel, unit in zip(panels, ("points", "ρ", "times"), strict=True):
        effects = [e for document in documents for e in document["effects"] if e["unit"] == unit]
        means = {line.get_xdata()[0] for line in panel.lines if line.get_marker() == "o"}
        assert means == {e["mean"] for e in effects}
        left, right = panel.get_xlim()
        room = 0.05 * (right - left)  # so that no axis cuts a point or an interval
        assert all(left + room < e["low"] and e["high"] < right - room for e in effects)


def test_without_parts_there_is_no_ablation(script: ModuleType, tmp_path: Path, make_row: Row) -> None:
    store = export(tmp_path / "runs.csv", make_row, ("gcn", "drgst-de"))
    written, refused = script.make_all(Request(store), tmp_path)
    assert refused["table ablation"].startswith("the store holds no run of an ablation")
    assert not (tmp_path / "tables/ablation.md").exists()
    assert tmp_path / "tables/main.md" in written
