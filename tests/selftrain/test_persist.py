"""A stage as a file: the round trip is exact, damage is named."""

import json
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from drgst.errors import RunError
from drgst.selftrain import persist
from drgst.selftrain.history import History
from drgst.selftrain.persist import load_stage, save_stage


def test_round_trip_in_every_bit(history, same, tmp_path) -> None:
    """Every stage, the teacher without T and with empty arrays included, seconds as well."""
    loaded = []
    for stage in history.stages:
        save_stage(stage, tmp_path / f"{stage.number}.safetensors")
        loaded.append(load_stage(tmp_path / f"{stage.number}.safetensors"))
    same(History(tuple(loaded), history.stop_reason), history)
    assert [s.seconds for s in loaded] == [s.seconds for s in history.stages]
    for one, two in zip(loaded, history.stages, strict=True):
        for name in ("weights", "gain", "confidence", "logits", "all_gain", "embedding"):
            assert getattr(one, name).dtype == getattr(two, name).dtype, name


def test_memory_that_is_shared_or_read_only(history, tmp_path) -> None:
    """A learner may give one array twice, and arrays that are mapped from a file."""
    table = np.arange(12.0).reshape(3, 4)
    table.flags.writeable = False
    tensor = np.arange(6.0)
    stage = replace(history[0], embedding=table, logits=table, state={"a": tensor, "b": tensor[2:], "c": tensor})
    save_stage(stage, tmp_path / "s")
    loaded = load_stage(tmp_path / "s")
    np.testing.assert_array_equal(loaded.embedding, table)
    np.testing.assert_array_equal(loaded.logits, table)
    for name, value in stage.state.items():
        np.testing.assert_array_equal(loaded.state[name], value)


def test_large_tensors_of_the_stage_before_are_written_once(history, tmp_path, monkeypatch) -> None:
    """They are read from the stage before; without it the file is refused."""
    monkeypatch.setattr(persist, "SHARED_BYTES", 50)
    table, vectors = np.arange(60.0).reshape(15, 4), np.arange(40.0)
    first = replace(history[0], embedding=table, state={"v": vectors, "w": np.ones(20)})
    second = replace(history[1], embedding=table, state={"v": vectors, "w": np.ones(20)})
    save_stage(first, tmp_path / "0")
    save_stage(second, tmp_path / "1", first)
    assert {"embedding", "state.v"}.isdisjoint(load_file(tmp_path / "1"))
    assert "state.w" in load_file(tmp_path / "1")
    loaded = load_stage(tmp_path / "1", load_stage(tmp_path / "0"))
    np.testing.assert_array_equal(loaded.embedding, table)
    np.testing.assert_array_equal(loaded.state["v"], vectors)
    with pytest.raises(RunError, match="is damaged"):
        load_stage(tmp_path / "1")


def test_stage_without_validation_keeps_its_nan(worlds, same, tmp_path) -> None:
    world = worlds()
    run = type(world)(world.graph, world.split.without_validation()).run(stages=1, fixed_epochs=5)
    save_stage(run[1], tmp_path / "s")
    loaded = load_stage(tmp_path / "s")
    assert np.isnan(loaded.val_loss)
    same(History((loaded,)), History((run[1],)))


def test_truncated_file_is_refused_by_name(history, tmp_path) -> None:
    path = tmp_path / "stage-1.safetensors"
    save_stage(history[1], path)
    whole = path.read_bytes()
    for size in (0, 4, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(RunError, match=r"stage-1\.safetensors is damaged"):
            load_stage(path)


def test_missing_file_is_refused(tmp_path) -> None:
    with pytest.raises(RunError, match="nowhere"):
        load_stage(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "facts", ["{}", "[]", '"text"', "null", "7", "{", json.dumps({"trainings": [1]}), json.dumps({"trainings": []})]
)
def test_strange_header_is_refused(history, tmp_path, facts: str) -> None:
    """A safetensors file that somebody else wrote, or a header edited by hand."""
    path = tmp_path / "s"
    save_stage(history[1], path)
    tensors = load_file(path)
    save_file(tensors, path, metadata={"stage": facts})
    with pytest.raises(RunError, match="damaged or was not written by drgst"):
        load_stage(path)


def test_missing_array_or_header_is_refused(history, tmp_path) -> None:
    path = tmp_path / "s"
    save_file({"x": np.zeros(2)}, path)
    with pytest.raises(RunError):
        load_stage(path)
