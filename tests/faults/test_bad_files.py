"""Folders without permission and full disks: one sentence, and no incomplete file."""

import errno
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import drgst
from drgst.errors import DataFileError
from drgst.graph.core import Graph, make_graph

Writer = Callable[[Graph, Path], None]
WRITERS: dict[str, Writer] = {
    "npz": lambda graph, folder: drgst.save_graph(graph, folder / "g.npz"),
    "csv": lambda graph, folder: drgst.write_tables(graph, folder, "csv"),
    "parquet": lambda graph, folder: drgst.write_tables(graph, folder, "parquet"),
}


def big() -> Graph:
    """A graph whose files do not fit into a few kilobytes, however they are packed."""
    rng = np.random.default_rng(0)
    return make_graph(rng.normal(size=(2000, 3)), np.zeros((2000, 2000)), rng.integers(0, 3, 2000))


def listing(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@contextmanager
def without_privileges() -> Iterator[None]:
    """Run as user nobody if the tests run as root, who has all permissions."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Path]:
    """A folder with a graph and without permissions."""
    folder = tmp_path / "locked"
    folder.mkdir()
    drgst.save_graph(big(), folder / "g.npz")
    drgst.write_tables(big(), folder)
    folder.chmod(0)
    yield folder
    folder.chmod(0o700)


@pytest.mark.parametrize("name", ["", "g.npz", "nodes.csv"])
def test_a_folder_without_permission_is_not_read(locked: Path, name: str) -> None:
    drgst.read_tables, drgst.load_graph  # noqa: B018 - imported while files can still be opened
    with without_privileges(), pytest.raises(DataFileError, match=r"locked") as caught:
        drgst.open_graph(locked / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", WRITERS)
def test_a_folder_without_permission_is_not_written(locked: Path, kind: str) -> None:
    graph = big()
    drgst.save_graph, drgst.write_tables  # noqa: B018 - imported while files can still be opened
    with without_privileges(), pytest.raises(DataFileError, match=r"locked.*[Pp]ermission denied"):
        WRITERS[kind](graph, locked)


@pytest.mark.parametrize("kind", WRITERS)
def test_a_path_below_a_file_is_refused(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataFileError, match=r"can't write .*file"):
        WRITERS[kind](big(), tmp_path / "file" / "sub")


@contextmanager
def disk_space(size: int) -> Iterator[None]:
    """Let the system refuse to write files longer than ``size``."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("size", [0, 5000])
def test_no_room_leaves_the_old_file_and_nothing_else(tmp_path: Path, kind: str, size: int) -> None:
    small = make_graph(None, np.zeros((2, 2)), [0, 1])
    WRITERS[kind](small, tmp_path)
    before = listing(tmp_path)
    graph = big()
    with disk_space(size), pytest.raises(DataFileError, match="can't write") as caught:
        WRITERS[kind](graph, tmp_path)
    assert "\n" not in str(caught.value)
    assert listing(tmp_path) == before


@pytest.mark.parametrize("kind", WRITERS)
def test_a_full_disk_at_the_last_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(DataFileError, match=r"can't write .*No space left on device"):
        WRITERS[kind](big(), tmp_path)
    assert listing(tmp_path) == {}


@pytest.mark.data
def test_a_cache_that_can_not_be_written_costs_time_only(
    data_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert drgst.load("flickr", data_root).num_nodes == 7575
    assert "the converted copy is not kept: can't write" in caplog.text


def test_a_data_folder_without_permission_is_named(locked: Path, fresh_cache: Path) -> None:
    drgst.load  # noqa: B018 - imported while files can still be opened
    with without_privileges(), pytest.raises(DataFileError, match=r"can't read .*locked.*: Permission denied"):
        drgst.load("citeseer", locked)
