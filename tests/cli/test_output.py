"""``drgst recipes``, the text that ends ``drgst run``, and bars of statistics and downloads."""

import io
import json
from typing import Any

import pytest
from rich.console import Console

from drgst.cli.output import conclusions, progress_bar, stage_table

NETWORKS = {"gcn", "gat", "appnp", "label-propagation", "logistic", "logistic-ppr"}
LOOPS = {"self-training", "co-training", "union", "intersection", "sts", "m3s", "abn", "cagcn-st", "margin-st"}


def test_the_list_for_people(ok: Any) -> None:
    out, _ = ok("recipes")
    names = [line.split()[0] for line in out.splitlines() if line and not line.startswith(" ")]
    assert set(names) >= NETWORKS | LOOPS
    assert "ClusterChecked(inner=TopPerClass(share=4))" in out


def test_one_in_full(ok: Any) -> None:
    out, _ = ok("recipes", "show", "m3s")
    for word in (
        "Sun, Lin, Zhu",
        "ClusterChecked",
        "argmin_k",
        "* stages",
        "clusters of the pool",
        "(allowed: from 0 to below 1)",
    ):
        assert word in out
    out, _ = ok("recipes", "show", "m3s", "--json")
    shown = json.loads(out.splitlines()[-1])
    assert shown["own_settings"] == {"stages": 4, "keep": "best-student"}
    assert shown["settings"]["stages"] == 4
    assert not {"walk_epsilon", "threshold", "beta"} & shown["settings"].keys()
    assert shown["version"] == 2
    assert "AAAI 2020" in shown["paper"]


def test_a_typo_is_one_line_and_code_2(refused: Any) -> None:
    assert "did you mean 'm3s'?" in refused("recipes", "show", "m3")


ROW: dict[str, Any] = {
    **{"stage": 0, "accepted": True, "note": "", "pseudo_labelled": 0, "precision": None, "val_accuracy": None},
    **{"test_accuracy": 0.7, "mean_gain": None},
}
SUMMARY: dict[str, Any] = {
    **{"result_stage": 1, "stop_reason": "1 stage is done", "seconds": 2.04, "peak_memory_mb": 300.0},
    **{"teacher_test_accuracy": 0.7, "test_accuracy": 0.75, "teacher_val_accuracy": None, "val_accuracy": None},
}


@pytest.mark.parametrize(("epochs", "words"), [(1200, "took 2.0 s, 1,200 epochs, peak"), (0, "took 2.0 s, peak")])
def test_epochs_are_shown_where_a_network_was_trained(epochs: int, words: str) -> None:
    table = stage_table([{**ROW, "epochs": epochs}], 0)
    assert ("epochs" in [column.header for column in table.columns]) == (epochs > 0)
    lines = conclusions({**SUMMARY, "epochs": epochs})
    assert lines[0] == "test accuracy: teacher 70.0%, student 75.0% (+5.0 points)"
    assert lines[-1].startswith(words)


def test_the_progress_bar_follows_the_download() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with progress_bar(console, "flickr") as show:
        show("flickr.zip", 500, 2000)
        show("flickr.zip", 2000, 2000)
    drawn = console.file.getvalue()  # type: ignore[attr-defined]
    assert "flickr flickr.zip" in drawn
    assert "2.0/2.0 kB" in drawn
