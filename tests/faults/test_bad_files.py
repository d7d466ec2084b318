"""Hostile archives, folders without permission, full disks: one sentence, and nothing half-written."""

from __future__ import annotations

import errno
import os
import resource
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import drgst
from drgst.errors import DataFileError
from drgst.graph.core import Graph, make_graph
from drgst.graph.datasets.archive import extract, open_archive

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


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/evil", "..\\evil", "C:\\evil", "C:evil", "\\evil"])
def test_an_archive_entry_that_escapes_is_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "deep" / "er"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        archive.writestr("good", "x")
        archive.writestr(name, "evil")
    with (
        pytest.raises(DataFileError, match=r"a.zip is refused: its entry .*evil' leaves the folder"),
        open_archive(folder / "a.zip") as archive,
    ):
        extract(archive, "good", folder / "good")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["a.zip"]


def test_an_archive_with_a_link_is_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(DataFileError, match="entry 'link' is a symbolic link"), open_archive(tmp_path / "a.zip"):
        pytest.fail("the archive was opened")


def test_an_honest_entry_is_written_whole(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a/b..c", "x" * 3_000_000)
    with open_archive(tmp_path / "a.zip") as archive:
        extract(archive, "a/b..c", tmp_path / "out" / "file")
    assert (tmp_path / "out" / "file").read_text() == "x" * 3_000_000


def test_an_entry_with_a_wrong_checksum_leaves_nothing(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a", "recognisable")
    data = (tmp_path / "a.zip").read_bytes()
    (tmp_path / "a.zip").write_bytes(data.replace(b"recognisable", b"recognizable"))
    with pytest.raises(DataFileError, match=r"a.zip is damaged"), open_archive(tmp_path / "a.zip") as archive:
        extract(archive, "a", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@contextmanager
def without_privileges() -> Iterator[None]:
    """Run as nobody where the tests run as root, for whom no permission is ever missing."""
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
    """A folder with a graph that nobody may enter."""
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
def room_for(size: int) -> Iterator[None]:
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
    with room_for(size), pytest.raises(DataFileError, match="can't write") as caught:
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
