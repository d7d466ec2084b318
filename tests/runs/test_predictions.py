"""Files of predictions: CSV and Parquet, a piece at a time."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from drgst.errors import DataFileError
from drgst.runs import predictions as module
from drgst.runs.folder import RunFolder
from drgst.runs.predictions import Predictions, read_ids

CLASSES = ["a", "=b", "c"]


def arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    gain = rng.random(11)
    gain[5] = np.nan
    return {
        "probabilities": rng.dirichlet(np.ones(3), 11),
        "gain": gain,
        "labeled_stage": np.array([0, -1, 1, 0, 2, -1, -1, 1, 0, 0, 1]),
        "given": np.array([1, -1, -1, 2, -1, -1, -1, -1, 0, 0, -1]),
        "out_of_fold": rng.normal(size=(4, 3)),
    }


def text_of(predictions: Predictions) -> str:
    return "".join(predictions.csv_pieces())


def test_lines_do_not_depend_on_the_pieces_that_they_are_made_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """One header, every node once, out-of-fold probabilities at their nodes."""
    whole = text_of(Predictions(range(11), CLASSES, arrays()))
    monkeypatch.setattr(module, "PIECE", 4)
    pieces = list(Predictions(range(11), CLASSES, arrays()).csv_pieces())
    assert [piece.count("\n") for piece in pieces] == [5, 4, 3]
    assert "".join(pieces) == whole
    none = Predictions([], ["a", "b"], {"probabilities": np.empty((0, 2))})
    assert text_of(none).splitlines() == ["id,label,confidence,p:a,p:b"]


def test_parquet_holds_what_the_csv_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Typed columns, empty cells as missing values, whatever the number of pieces."""
    monkeypatch.setattr(module, "PIECE", 4)
    path = tmp_path / "x.parquet"
    Predictions(range(11), CLASSES, arrays()).write(path)
    found = pd.read_parquet(path)
    rows = list(csv.DictReader(io.StringIO(text_of(Predictions(range(11), CLASSES, arrays())))))
    assert list(found.columns) == [*list(rows[0])[:-2], "p:=b", "p:c"]
    assert found["id"].dtype == np.int64
    assert found["confidence"].dtype == np.float32
    assert found["label"].tolist() == csv_column_of(rows, "label")
    np.testing.assert_allclose(found["p:a"], [float(row["p:a"]) for row in rows], atol=1e-6)
    assert found["gain"].isna().tolist() == [row["gain"] == "" for row in rows]
    assert found["out_of_fold"].notna().tolist() == [row["out_of_fold"] != "" for row in rows]
    assert found["stage"].tolist() == arrays()["labeled_stage"].tolist()


def csv_column_of(rows: list[dict[str, str]], name: str) -> list[str]:
    return [row[name].removeprefix("'") for row in rows]


@pytest.mark.parametrize("ids", [[7, -12, 0], ["7", "012", "x"]])
def test_ids_keep_their_type_in_parquet(tmp_path: Path, ids: list[Any]) -> None:
    path = tmp_path / "x.parquet"
    Predictions(ids, CLASSES, {"probabilities": np.full((3, 3), 1 / 3)}).write(path)
    assert pd.read_parquet(path)["id"].tolist() == ids
    assert read_ids(path) == [str(name) for name in ids]


@pytest.mark.parametrize("name", ["predictions.csv", "predictions.parquet"])
def test_both_files_give_the_ids(tmp_path: Path, name: str) -> None:
    """Of a run folder, the one that is there is read."""
    given = ["n0", "=n1", "n\r2", *(f"n{k}" for k in range(3, 11))]
    Predictions(given, CLASSES, arrays()).write(tmp_path / name)
    assert RunFolder(tmp_path).predictions_path.name == name
    assert read_ids(tmp_path / name) == given


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.parquet", b"PAR1 is not all", "is damaged or not Parquet"),
        ("x.csv", b"label,id\na\n", "is damaged or not a file of predictions"),
        ("x.csv", b"node,label\n1,0\n", "is damaged or not a file of predictions: it has no column 'id'"),
        ("x.csv", b"id,class\na\rb,x\n", "new-line character"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataFileError, match=rf"{name} .*{words}"):
        read_ids(tmp_path / name)
