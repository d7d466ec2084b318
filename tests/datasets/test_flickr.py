"""The dense text of Flickr, streamed into CSR."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from drgst.datasets.flickr import read_binary_rows, read_flickr
from drgst.errors import DataFileError, GraphError


def write(
    folder: Path, features: str = "0 1\n1 0\n0 0\n", edges: str = "0\t1\n1\t2\n", labels: str = "0\n1\n1\n"
) -> Path:
    with zipfile.ZipFile(folder / "flickr.zip", "w") as archive:
        archive.writestr("flickr/flickr.feature", features)
        archive.writestr("flickr/flickr.edge", edges)
        archive.writestr("flickr/flickr.label", labels)
    for part, nodes in (("train", "0\n1\n"), ("val", ""), ("test", "2\n2\n")):
        (folder / f"{part}20.txt").write_text(nodes)
    return folder


def test_a_small_zip(tmp_path: Path) -> None:
    graph = read_flickr(write(tmp_path))
    assert graph.features.toarray().tolist() == [[0, 1], [1, 0], [0, 0]]
    assert graph.num_edges == 2
    assert graph.split is not None
    assert (graph.split.name, graph.split.test.tolist()) == ("public", [2])  # listed twice, counted once


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"0 1\n0 1 0\n", "line 2: 3 values, but 2 on the lines before"),
        (b"0 1\n0 2\n", "line 2: only 0 and 1"),
        (b"0 1\n0;1\n", "line 2: only 0 and 1"),
        (b"0 1\nnan 1\n", "line 2: only 0 and 1"),
        (b"", "is empty"),
    ],
)
def test_other_rows_are_refused_with_their_line(text: bytes, message: str) -> None:
    with pytest.raises(DataFileError, match=f"x.txt.*{message}"):
        read_binary_rows(io.BytesIO(text), "x.txt")


def test_parts_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="edge leads to node 9"):
        read_flickr(write(tmp_path, edges="0\t9\n"))
    with pytest.raises(DataFileError, match=r"flickr.edge must hold 2 whole numbers"):
        read_flickr(write(tmp_path, edges="0\t1\n2\n"))
    with pytest.raises(GraphError, match="features have shape"):
        read_flickr(write(tmp_path, features="0 1\n"))


def test_a_zip_without_the_file_or_cut_short_is_named(tmp_path: Path) -> None:
    path = write(tmp_path) / "flickr.zip"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataFileError, match=r"flickr.zip is damaged or not a complete zip archive"):
        read_flickr(tmp_path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("flickr/other", "")
    with pytest.raises(DataFileError, match=r"flickr.zip is damaged or not .*: There is no item named"):
        read_flickr(tmp_path)


@pytest.mark.data
def test_the_real_zip_takes_little_memory(data_root: Path) -> None:
    """Under 1 GB, in a process of its own; benchmarks/limits.py has the time."""
    program = (  # ru_maxrss counts the peak of the process that started it too, where /proc knows better
        "import sys, resource; from pathlib import Path; from drgst.datasets.flickr import read_flickr\n"
        "read_flickr(Path(sys.argv[1])); status = Path('/proc/self/status')\n"
        "lines = status.read_text().splitlines() if status.exists() else []\n"
        "peak = [line.split()[1] for line in lines if line.startswith('VmHWM')]\n"
        "print(peak[0] if peak else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(data_root / "Flickr")], capture_output=True, text=True, check=True
    )
    kilobytes = float(done.stdout)
    assert kilobytes * (1024 if sys.platform == "linux" else 1) < 1e9
