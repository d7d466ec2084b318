"""Schemas from outside are checked field by field; node ids and labels as text, numbers and missing values."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import drgst
from drgst.errors import DataFileError, GraphError
from drgst.tables.naming import as_integer, as_text, clean_ids, encode_labels, relabel


@pytest.fixture
def document(tmp_path: Path) -> dict[str, Any]:
    nodes = pd.DataFrame({"id": [1, 2, 3, 4], "y": ["a", "b", "a", "b"], "x": [1.5, 2.5, 2.5, 9.0], "c": list("ppqq")})
    edges = pd.DataFrame({"source": [1, 2], "target": [2, 4], "amount": [1.0, 2.0]})
    schema = drgst.from_tables(nodes, edges, label="y").schema
    schema.save(tmp_path / "s.json")
    return json.loads((tmp_path / "s.json").read_text())


def test_the_file_is_plain_json(document: dict[str, Any]) -> None:
    assert document["format"] == "drgst-table-schema"
    assert [column["kind"] for column in document["columns"]] == ["number", "category"]
    assert document["class_names"] == ["a", "b"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="other"), "format"),
        (lambda d: d.update(version=2), "version"),
        (lambda d: d.update(extra=1), "extra"),
        (lambda d: d.pop("columns"), "columns"),
        (lambda d: d.update(aggregate="mean"), "aggregate"),
        (lambda d: d["columns"][0].update(kind="magic"), "columns"),
        (lambda d: d["columns"][0].update(column=3), "column"),
        (lambda d: d["columns"][0]["scale"].update(fill="1e999"), "fill"),
        (lambda d: d["columns"][0]["scale"].update(knots=[2.0, 1.0, 3.0]), "knots must increase"),
        (lambda d: d["columns"][0]["scale"].update(knots=[1.0]), "same length"),
        (lambda d: d["columns"][0]["scale"].update(knots=[]), "knots"),
        (lambda d: d["columns"][1].update(categories=["x"] * 1000), "categories"),
        (lambda d: d["columns"][1].update(column="x"), "a column occurs twice"),
        (lambda d: d["relations"].append(d["relations"][0]), "a relation occurs twice"),
        (lambda d: d["relations"][0].update(unit=0), "unit"),
    ],
)
def test_changed_files_are_refused(
    document: dict[str, Any], tmp_path: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    change(document)
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(document))
    with pytest.raises(DataFileError, match=f"bad.json is damaged or not a schema of tables: .*{message}"):
        drgst.TableSchema.load(path)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"format": "drgst-table-schema"}', "[" * 100_000, '"\\ud800"'])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(DataFileError):
        drgst.TableSchema.load(tmp_path / "s.json")


def test_nothing_is_written_or_read_half(tmp_path: Path, document: dict[str, Any]) -> None:
    with pytest.raises(DataFileError, match="can't read"):
        drgst.TableSchema.load(tmp_path / "none.json")
    (tmp_path / "s.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataFileError):
        drgst.TableSchema.load(tmp_path / "s.json")


@pytest.mark.parametrize(
    ("value", "text"),
    [(" a ", "a"), (3, "3"), (3.0, "3"), (np.float32(2), "2"), (2.5, "2.5"), (None, ""), (float("nan"), "")],
)
def test_cells_as_text(value: Any, text: str) -> None:
    assert as_text(value) == text


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), ("-7", -7), ("007", None), ("-0", None), ("1e3", None), ("", None), ("²", None), (str(2**63), None)],
)
def test_only_canonical_integers_are_numbers(text: str, number: int | None) -> None:
    assert as_integer(text) == number


def test_ids_are_numbers_if_all_are() -> None:
    assert clean_ids([3, "1", 2.0]).tolist() == [3, 1, 2]
    assert clean_ids([3, "x"]).tolist() == ["3", "x"]


@pytest.mark.parametrize(
    ("ids", "message"),
    [(["a", None], "node 2 has no id"), (["a" * 256], "256 characters; 255 are allowed"), ([4, -3], "-3 is negative")],
)
def test_bad_ids(ids: list[Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        clean_ids(ids)


@pytest.mark.parametrize(
    ("values", "labels", "names"),
    [
        ([10, 2, -1, None], [1, 0, -1, -1], ("2", "10")),
        (["10.0", "2", ""], [1, 0, -1], ("2", "10")),
        (["b", "10", "-1", float("nan")], [2, 1, 0, -1], ("-1", "10", "b")),
        ([None, ""], [-1, -1], ()),
    ],
)
def test_labels(values: list[Any], labels: list[int], names: tuple[str, ...]) -> None:
    y, classes = encode_labels(values)
    assert (y.tolist(), classes) == (labels, names)


def test_labels_by_the_classes_of_a_model() -> None:
    assert relabel(np.array([0, 1, 2, -1]), ("a", "b", "c"), ("c", "a")).tolist() == [1, -1, 0, -1]
