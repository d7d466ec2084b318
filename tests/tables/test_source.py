"""Tables from files of any kind and from memory, and their cells as texts."""

import gzip
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from drgst.tables.cells import CellError, read_cells
from drgst.tables.faults import TableError
from drgst.tables.read import from_tables
from drgst.tables.source import Table, open_table

TEXT = 'id,name,note\n1,Ann,"a, b"\n2,Jörg,"two\nlines"\n\n3,,c\n'


def opened(given: object) -> Table:
    return open_table(given, "nodes").checked()


def faults(given: object) -> list[str]:
    with pytest.raises(TableError) as caught:
        opened(given)
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("zipped", [False, True])
def test_delimiter_encoding_and_gzip_are_detected(tmp_path: Path, delimiter: str, encoding: str, zipped: bool) -> None:
    text = TEXT.replace(",", delimiter).replace(f"a{delimiter} b", f"a{delimiter} b").encode(encoding)
    path = tmp_path / "people.csv"
    path.write_bytes(gzip.compress(text) if zipped else text)
    table = opened(path)
    assert table.data.to_pydict() == {
        "id": ["1", "2", "3"],
        "name": ["Ann", "Jörg", ""],
        "note": [f"a{delimiter} b", "two\nlines", "c"],
    }
    assert [table.place(row) for row in range(3)] == [2, 3, 6]  # a cell of two lines, and a blank line


def test_decimal_commas_do_not_hide_the_semicolon(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id;x;y\n1;1,5;2,5\n2;3,5;4,5\n")
    assert opened(tmp_path / "a.csv").columns == ["id", "x", "y"]


def test_frames_arrow_and_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [1, 2], "mixed": ["a", 1.5], "kind": pd.Categorical(["x", None])})
    assert opened(frame).data.to_pydict() == {"id": [1, 2], "mixed": ["a", "1.5"], "kind": ["x", None]}
    assert opened(frame.set_index("id")).columns == ["id", "mixed", "kind"]
    assert opened(frame.iloc[1:]).columns == opened(frame[frame["id"] > 1]).columns == ["id", "mixed", "kind"]
    assert opened(frame.set_index(pd.Index(["a", "b"]))).columns == ["index", "id", "mixed", "kind"]
    arrow = pa.table({" id ": [1, 2]})
    assert opened(arrow).columns == ["id"]
    pq.write_table(arrow, tmp_path / "t.bin")  # the format is found by content
    assert opened(tmp_path / "t.bin").place(0) == 1


def test_rows_of_another_width_are_one_fault_with_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id,note\n1,"x\ny"\n2,a,b\n3,c\n4\n5,d\n')
    table = open_table(path, "nodes")
    (fault,) = table.faults
    assert (fault.file, fault.row) == ("a.csv", 4)
    assert "has 3 cells, but the header has 2 (2 rows like this): a cell with commas needs quotes" in str(fault)
    assert table.data.column("id").to_pylist() == ["1", "3", "5"]
    assert [table.place(row) for row in range(3)] == [2, 5, 7]  # later faults still have their line


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a.csv: is empty"),
        (b"\n\n", "a.csv: is empty"),
        (b"id,x\n1,\0\n", "zero bytes"),
        (b'id,x\n1,a\n2,"b\n3,c\n', "a.csv, line 3: a quoted cell starts here and never ends"),
        (b"id,id\n1,2\n", "a.csv, line 1, column 'id': 2 columns have this name"),
        (b"1,2\n3,4\n", "a.csv, line 1: the first line holds '1', '2': a header line with column names is missing"),
        (b"PK\x03\x04", "save it as CSV or Parquet"),
        (b"PAR1 and no more", "a.csv: can't be read"),
        (gzip.compress(b"id,x\n1,2\n", mtime=0)[:-6], "a.csv: can't be read"),
    ],
)
def test_broken_files_are_one_sentence(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    (fault,) = faults(tmp_path / "a.csv")
    assert message in fault


def test_other_objects_and_missing_files(tmp_path: Path) -> None:
    assert faults(3) == ["nodes: a path, a data frame or an Arrow table is needed, not int"]
    assert "there is no file" in faults(tmp_path / "no.csv")[0]
    assert "can't be read" in faults(tmp_path)[0]
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    assert faults(twice) == ["nodes, column 'a': 2 columns have this name: names must differ"]


def test_one_column_and_names_that_are_blank(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id\n1\n2\n")
    assert opened(tmp_path / "a.csv").data.num_rows == 2
    (tmp_path / "b.csv").write_text(",id\n0,a\n1,b\n")  # as data frames write their row numbers
    assert opened(tmp_path / "b.csv").columns == ["column 1", "id"]


@pytest.mark.parametrize("header", ["source,{long}", "{long},target"])
def test_a_long_name_of_an_end_of_edges_is_a_fault(tmp_path: Path, header: str) -> None:
    (tmp_path / "nodes.csv").write_text("id,label\na,x\nb,y\n")
    (tmp_path / "edges.csv").write_text(header.format(long="target " + "A" * 3000) + "\na,b\n")
    with pytest.raises(TableError, match="a column name has 3007 characters; 1000 are allowed"):
        from_tables(tmp_path / "nodes.csv", tmp_path / "edges.csv", label="label")


def column(values: list[object], kind: pa.DataType | None = None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values, kind)])


def test_cells_of_every_type_are_texts() -> None:
    for values, texts in (
        ([1, None, 2], ["1", "2"]),
        ([1.0, 2.5, float("nan")], ["1", "2.5"]),
        ([True, False, None], ["true", "false"]),
        ([date(2024, 1, 2), None, None], ["2024-01-02"]),
        ([datetime(2024, 1, 2, 3), None, None], ["2024-01-02 03:00:00.000000"]),
        ([Decimal("1.50"), None, None], ["1.50"]),
        ([" a ", "N/A", ""], ["a"]),
        ([None, None, None], []),
    ):
        cells = read_cells(column(values))
        assert cells.known.texts == texts
        assert cells.rows == 3
    assert read_cells(column([[1], [2]])) is None
    assert read_cells(column([b"x"])) is None


def test_several_chunks_and_dictionaries() -> None:
    chunks = pa.chunked_array([pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", "a"]).dictionary_encode()])
    cells = read_cells(chunks)
    assert [cells.texts[code] for code in cells.codes] == ["a", "b", "c", "a"]
    assert cells.counts.tolist() == [2, 1, 1]
    assert cells.first_row(np.array([False, False, True])) == 2


def test_words_for_missing_are_kept_in_ids() -> None:
    cells = read_cells(column(["na", "", "x"]))
    assert cells.texts == ["na", "x"]
    assert cells.missing.tolist() == [False, True, False]
    assert cells.known.texts == ["x"]
    assert cells.known.missing.tolist() == [True, True, False]


def test_the_apostrophe_of_inert_cells_is_removed_in_text_files() -> None:
    given = column(["'=1+1", "=1+1", "'@x", "'quoted'", "''-a"])
    cells = read_cells(given, from_text_file=True)
    assert [cells.texts[code] for code in cells.codes] == ["=1+1", "=1+1", "@x", "'quoted'", "'-a"]
    plain = read_cells(given)
    assert plain.texts == given.to_pylist()


@pytest.mark.parametrize(
    ("values", "kind", "row"), [(["a", "b\0", "c"], pa.string(), 1), ([0, 1], pa.timestamp("us", "No/Such_Zone"), None)]
)
def test_cells_that_can_not_be_read_are_one_sentence(values: list[object], kind: pa.DataType, row: int | None) -> None:
    with pytest.raises(CellError) as caught:
        read_cells(column(values, kind))
    assert caught.value.row == row
    assert "\n" not in str(caught.value)


def test_text_that_is_not_utf8_has_its_row() -> None:
    damaged = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"), pa.py_buffer(b"a\xff")]
    )
    with pytest.raises(CellError) as caught:
        read_cells(pa.chunked_array([damaged]))
    assert caught.value.row == 1
