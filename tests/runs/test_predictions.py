"""Files of predictions: CSV and Parquet, a piece at a time."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from drgst.errors import DataFileError, RunError
from drgst.runs import predictions as module
from drgst.runs.folder import RunFolder
from drgst.runs.predictions import Predictions, csv_column, parquet_column

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


def test_lines_do_not_depend_on_the_pieces_that_they_are_made_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """One header, every node once, out-of-fold probabilities at their nodes."""
    whole = Predictions(np.arange(11), CLASSES, arrays()).text
    monkeypatch.setattr(module, "PIECE", 4)
    pieces = list(Predictions(np.arange(11), CLASSES, arrays()).csv_pieces())
    assert [piece.count("\n") for piece in pieces] == [5, 4, 3]
    assert "".join(pieces) == whole
    none = Predictions([], ["a", "b"], {"probabilities": np.empty((0, 2))})
    assert none.text.splitlines() == ["id,label,confidence,p:a,p:b"]


def test_parquet_holds_what_the_csv_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Typed columns, empty cells as missing values, whatever the number of pieces."""
    monkeypatch.setattr(module, "PIECE", 4)
    path = tmp_path / "x.parquet"
    Predictions(np.arange(11), CLASSES, arrays()).write(path)
    found = pd.read_parquet(path)
    rows = list(csv.DictReader(io.StringIO(Predictions(np.arange(11), CLASSES, arrays()).text)))
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


@pytest.mark.parametrize(
    ("ids", "kind"),
    [
        (["7", "-12", "0"], "int64"),
        (["7", "012", "3"], "str"),
        ([str(10**19), "1", "2"], "str"),
        (["x", "1", "2"], "str"),
    ],
)
def test_ids_are_numbers_where_that_loses_nothing(tmp_path: Path, ids: list[str], kind: str) -> None:
    path = tmp_path / "x.parquet"
    Predictions(ids, CLASSES, {"probabilities": np.full((3, 3), 1 / 3)}).write(path)
    assert str(pd.read_parquet(path)["id"].dtype) in (kind, "object" if kind == "str" else kind)
    assert parquet_column(path, "id") == ids


def test_both_files_give_the_same_columns(tmp_path: Path) -> None:
    """Of a run folder, the one that is there is read."""
    given = ["n0", "=n1", "n\r2", *(f"n{k}" for k in range(3, 11))]
    Predictions(given, CLASSES, arrays()).write(tmp_path / "predictions.csv")
    folder = RunFolder(tmp_path)
    from_csv = {name: folder.predictions(name) for name in ("id", "label", "given")}
    (tmp_path / "predictions.csv").unlink()
    Predictions(given, CLASSES, arrays()).write(tmp_path / "predictions.parquet")
    assert folder.predictions_path.name == "predictions.parquet"
    assert {name: folder.predictions(name) for name in ("id", "label", "given")} == from_csv
    assert from_csv["id"] == given
    with pytest.raises(RunError, match="has no column 'x'"):
        folder.predictions("x")


def test_a_damaged_parquet_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "predictions.parquet"
    path.write_bytes(b"PAR1 is not all")
    with pytest.raises(DataFileError, match=r"predictions\.parquet is damaged or not Parquet"):
        parquet_column(path, "id")
    with pytest.raises(DataFileError, match="damaged"):
        RunFolder(tmp_path).predictions("id")


def test_a_short_line_of_a_csv_file_is_a_missing_cell(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("label,id\na\n")
    with pytest.raises(LookupError):
        csv_column(tmp_path / "x.csv", "id")
