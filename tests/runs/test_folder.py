"""The folder of a run: what is refused, swept and read."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import pytest

from drgst.errors import RunError
from drgst.runs.folder import RunFolder, finished_run
from drgst.runs.result import Result


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> RunFolder:
    """A copy of the finished run."""
    return RunFolder(shutil.copytree(folder, tmp_path / "copy"))


def test_temporary_files_are_swept(copy: RunFolder) -> None:
    """Those of our writes and of safetensors; other hidden files stay."""
    left = [copy / ".summary.json.x1.tmp", copy / "stages" / ".001.safetensors.y2.tmp", copy / "stages" / ".tmpAb3dEf"]
    for path in (*left, copy / ".gitignore"):
        path.write_text("x")
    copy.sweep()
    assert not any(path.exists() for path in left)
    assert (copy / ".gitignore").exists()


def test_stages_up_to_the_first_that_does_not_fit(
    copy: RunFolder, result: Result, caplog: pytest.LogCaptureFixture
) -> None:
    """A stage of another graph and all after it are not used, and the log names it."""
    nodes, classes = result.probabilities.shape
    assert len(copy.history((nodes, classes))) == 3
    with caplog.at_level(logging.WARNING, "drgst"):
        assert len(copy.history((nodes + 1, classes))) == 0
    assert "000.safetensors: its array logits has shape" in caplog.text
    copy.stage_path(1).write_bytes(b"x")
    assert len(copy.history((nodes, classes))) == 1


def test_a_run_is_finished_when_it_has_its_summary(copy: RunFolder, tmp_path: Path) -> None:
    assert finished_run(copy.path).finished
    (copy / "summary.json").unlink()
    with pytest.raises(RunError, match=r"is not finished; continue it with: drgst run --out .* --resume"):
        finished_run(copy.path)
    with pytest.raises(RunError, match="is not the folder of a run"):
        finished_run(tmp_path)


def test_damaged_files_are_named(copy: RunFolder) -> None:
    (copy / "summary.json").write_text("[")
    with pytest.raises(RunError, match=r"summary\.json is damaged"):
        copy.summary()
    (copy / "history.jsonl").unlink()
    with pytest.raises(RunError, match="can't read"):
        copy.rows()


def test_what_a_run_killed_before_its_config_leaves_is_free(tmp_path: Path) -> None:
    """A lock, the split and temporary files; without the lock they are somebody's own."""
    folder = RunFolder(tmp_path)
    for name in (".lock", "split.json", ".config.toml.ab12.tmp"):
        (tmp_path / name).write_text("x")
    folder.check_free(resume=False, force=False)
    (tmp_path / ".lock").unlink()
    with pytest.raises(RunError, match="holds no run of drgst"):
        folder.check_free(resume=False, force=False)


def test_deleted_files_are_named(copy: RunFolder) -> None:
    copy.check_intact(3)
    (copy / "split.json").unlink()
    copy.stage_path(1).unlink()
    with pytest.raises(RunError, match=r"split.json, stages/001.safetensors in .*copy were deleted while the run"):
        copy.check_intact(3)
