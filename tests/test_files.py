"""Atomic writes, and file errors that name the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from drgst.errors import DataFileError, GraphError
from drgst.files import read_text, reading, replacing, sha256, write_text


def test_text_is_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"
    write_text(path, "é\n")
    assert read_text(path) == "é\n"
    assert path.stat().st_mode & 0o777 == 0o644
    assert sha256(path) == "edd3a863872a04239eb29ad4bc12fc892b3d4ae57cc7e786a3697816f8e141c2"


def test_a_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def fail() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]
    assert path.read_text() == "old"


def test_errors_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"^can't read .*absent: No such file or directory$"):
        read_text(tmp_path / "absent")
    (tmp_path / "latin").write_bytes(b"\xe4")
    with pytest.raises(DataFileError, match="latin is damaged or not a text file: "):
        read_text(tmp_path / "latin")
    with (
        pytest.raises(DataFileError, match=r"^x is damaged or not a graph: 'a' is missing$"),
        reading("x", KeyError, kind="a graph"),
    ):
        raise KeyError("'a' is missing")


def test_other_errors_pass(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=r"^empty$"), reading(tmp_path, ValueError, kind="a graph"):
        raise GraphError("empty")
    with pytest.raises(KeyError), reading(tmp_path, TypeError, kind="a graph"):
        raise KeyError
