"""The text that ends ``drgst run``."""

from __future__ import annotations

from typing import Any

import pytest

from drgst.cli.output import conclusions, stage_table

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
