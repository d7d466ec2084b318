"""Readers of downloaded files: archives, and integers in text files."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from drgst.datasets.raw_files import extract, open_archive, read_integers
from drgst.errors import DataFileError


def test_a_valid_entry_is_written(tmp_path: Path) -> None:
    """Where it is told, whatever the entry is called."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("../evil", "x" * 3_000_000)
    with open_archive(tmp_path / "a.zip") as archive:
        extract(archive, "../evil", tmp_path / "out" / "file")
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["a.zip", "file"]
    assert (tmp_path / "out" / "file").read_text() == "x" * 3_000_000


def test_an_entry_with_a_wrong_checksum_leaves_nothing(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a", "recognisable")
    data = (tmp_path / "a.zip").read_bytes()
    (tmp_path / "a.zip").write_bytes(data.replace(b"recognisable", b"recognizable"))
    with pytest.raises(DataFileError, match=r"a.zip is damaged"), open_archive(tmp_path / "a.zip") as archive:
        extract(archive, "a", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_integers(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("3\n\n 1 \n")
    assert read_integers(tmp_path / "one").tolist() == [3, 1]
    assert read_integers(io.BytesIO(b"0\t1\n2 3\n"), columns=2, name="edges").tolist() == [[0, 1], [2, 3]]
    assert read_integers(io.BytesIO(b""), columns=2, name="edges").shape == (0, 2)


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        (b"1 2\n3\n", 2, "x must hold 2 whole numbers on each line"),
        (b"1 2\n3 4\n", 1, "x must hold 1 whole numbers on each line"),
        (b"1.5\n", 1, "x must hold 1 whole numbers"),
        (b"99999999999999999999\n", 1, "x must hold 1 whole numbers"),
        (b"1\n-2\n", 1, "x holds the negative number -2"),
    ],
)
def test_other_text_is_refused(text: bytes, columns: int, message: str) -> None:
    with pytest.raises(DataFileError, match=message):
        read_integers(io.BytesIO(text), columns, "x")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"can't read .*absent"):
        read_integers(tmp_path / "absent")
