"""CSV and Parquet files as Arrow tables."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

import drgst
from drgst import memory
from drgst.errors import DataFileError, MemoryLimitError
from drgst.tables.files import read_table, write_table


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_is_written_and_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    write_table(pa.table({"id": ["a,b", 'c"d'], "x": [1.5, 2.0]}), path, suffix)
    table = read_table(path, ("id",), lambda name: name == "x")
    assert table.to_pydict() == {"id": ["a,b", 'c"d'], "x": [1.5, 2.0]}


def test_a_missing_file_and_a_missing_column_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"can't read .*absent.csv: No such file"):
        read_table(tmp_path / "absent.csv", ("id",), bool)
    (tmp_path / "t.csv").write_text("id,x\na,1\n")
    with pytest.raises(DataFileError, match=r"t.csv: the column 'label' is missing \(found: id, x\)"):
        read_table(tmp_path / "t.csv", ("id", "label"), bool)


def test_two_splits_and_a_byte_order_mark(tmp_path: Path) -> None:
    nodes = "\ufeffid , label,split,split:other,f\na,0,train,test,1\nb,1,test,train,2\n"
    (tmp_path / "nodes.csv").write_text(nodes, encoding="utf-8")
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    graph = drgst.read_tables(tmp_path)
    assert [split.name for split in graph.splits] == ["split", "other"]
    assert graph.splits[1].train.tolist() == [1]


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_another_separator_is_named(tmp_path: Path, mark: str) -> None:
    (tmp_path / "nodes.csv").write_text(f"id{mark}label\n1{mark}a\n")
    with pytest.raises(DataFileError, match=f"the column 'id' is missing .*separated by {re.escape(repr(mark))}"):
        read_table(tmp_path / "nodes.csv", ("id",), bool)


def test_a_parquet_file_that_unpacks_to_more_than_the_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run-length encoding makes millions of equal numbers a few bytes."""
    write_table(pa.table({"id": pa.nulls(1 << 20, pa.int64())}), tmp_path / "nodes.parquet", "parquet")
    assert (tmp_path / "nodes.parquet").stat().st_size < 10**5
    monkeypatch.setattr(memory, "available_memory", lambda: 1 << 20)
    with pytest.raises(MemoryLimitError, match=r"nodes.parquet, unpacked, would need 8.0 MB of memory"):
        read_table(tmp_path / "nodes.parquet", ("id",), bool)
