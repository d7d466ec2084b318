"""Atomic writes, and file errors that name the file."""

import csv
import io
import os
import stat
from pathlib import Path

import pytest

from drgst.errors import DataFileError, GraphError, MemoryLimitError
from drgst.files import (
    STANDARD_OUTPUT,
    csv_text,
    hold,
    original_cell,
    read_text,
    reading,
    replacing,
    sha256,
    write_pieces,
    write_text,
)


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


def test_what_a_killed_process_left_is_removed_by_the_next_write(tmp_path: Path) -> None:
    """Not what a process still writes, nor what has another name or is young."""
    names = {name: tmp_path / name for name in (".a.txt.00000001.tmp", ".a.txt.00000002.tmp", ".b.txt.00000003.tmp")}
    for path in names.values():
        path.touch()
        os.utime(path, (0, 0))
    held = hold(names[".a.txt.00000002.tmp"])
    (tmp_path / ".a.txt.00000004.tmp").touch()
    write_text(tmp_path / "a.txt", "new")
    os.close(held)
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == [".a.txt.00000002.tmp", ".a.txt.00000004.tmp", ".b.txt.00000003.tmp", "a.txt"]


def test_a_private_file_is_private_while_it_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "old")
    path.chmod(0o600)
    with replacing(path) as temporary:
        assert temporary.stat().st_mode & 0o777 == 0o600
    assert path.stat().st_mode & 0o777 == 0o600


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


def test_texts_and_paths_that_no_file_can_have_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"can't write .*a\.txt: '\\ud800' is not a character of UTF-8"):
        write_text(tmp_path / "a.txt", "\ud800")
    with pytest.raises(DataFileError, match=r"can't write .*null byte"):
        write_text(tmp_path / "a\0.txt", "a")
    assert not list(tmp_path.iterdir())


def test_other_errors_pass(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=r"^empty$"), reading(tmp_path, ValueError, kind="a graph"):
        raise GraphError("empty")
    with pytest.raises(KeyError), reading(tmp_path, TypeError, kind="a graph"):
        raise KeyError


def test_permissions_are_those_of_the_umask_or_of_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    before = os.umask(0o077)
    try:
        write_text(path, "private")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    write_text(path, "again")
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "a.txt").write_text("old")
    for name, target in (("link", "far/a.txt"), ("dangling", "far/new.txt")):
        link = tmp_path / name
        link.symlink_to(target)
        write_text(link, "new")
        assert link.is_symlink()
        assert (tmp_path / target).read_text() == "new"
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(DataFileError, match=r"can't write .*loop: Too many levels"):
        write_text(tmp_path / "loop", "new")
    assert (tmp_path / "loop").is_symlink()


def test_only_regular_files_that_fit_into_memory_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "sparse").touch()
    os.truncate(tmp_path / "sparse", 1 << 42)
    for name in ("pipe", "/dev/zero"):
        with pytest.raises(DataFileError, match=f"can't read .*{name}: it is not a regular file"):
            read_text(tmp_path / name)
    with pytest.raises(MemoryLimitError, match=r"sparse would need 4\.0 TB of memory"):
        read_text(tmp_path / "sparse")


def test_a_pipe_and_a_device_are_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    write_text(os.devnull, "gone")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    assert pipe.is_fifo()
    assert {item.name for item in tmp_path.iterdir()} == {"pipe"}


def test_standard_output_is_written_to_also_where_it_is_a_file(capfd: pytest.CaptureFixture[str]) -> None:
    print("before")
    write_text(STANDARD_OUTPUT, "content\n")
    print("after")
    assert capfd.readouterr().out == "before\ncontent\nafter\n"


def test_a_folder_and_a_name_that_is_too_long_are_refused_before_the_work(tmp_path: Path) -> None:
    for path, reason in ((tmp_path, "Is a directory"), (tmp_path / ("x" * 300), "File name too long")):
        with pytest.raises(DataFileError, match=reason), replacing(path):
            pytest.fail("the body must not be reached")
    longest = tmp_path / ("x" * 255)
    write_text(longest, "fits")
    assert longest.read_text() == "fits"


CELLS = ("=1+1", "+x", "-x", "@x", "\tx", "\rx", "'=x", "''@", "-1.5", "+2e3", "-1 to +2", "'x", "x", "", "a=b", "-")


def test_no_cell_is_a_formula_and_every_text_comes_back() -> None:
    text = csv_text([["c"], *([cell] for cell in CELLS)])
    raw = [row["c"] for row in csv.DictReader(io.StringIO(text, newline=""))]
    assert raw[:8] == [f"'{cell}" for cell in CELLS[:8]]
    assert tuple(raw[8:11]) == CELLS[8:11]  # numbers stay numbers
    assert [original_cell(cell) for cell in raw] == list(CELLS)


def test_pieces_are_written_one_after_the_other(tmp_path: Path) -> None:
    write_pieces(tmp_path / "a.txt", (text for text in ("é\n", "", "b")))
    assert read_text(tmp_path / "a.txt") == "é\nb"
