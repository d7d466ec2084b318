"""Labels from a table after the run: columns are found, faults are named with file, line and column."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from drgst.decide.truth import TruthColumns, read_truth
from drgst.tables.faults import TableError

IDS, CLASSES = ["a", "b", "c", "d"], ("fraud", "ok")
ANY = TruthColumns()


def test_columns_are_found_by_content() -> None:
    table = pd.DataFrame({"week": [1, 2, 1], "who": ["c", "a", "z"], "what": ["ok", "fraud", "ok"]})
    found = read_truth(table, IDS, CLASSES, ANY)
    assert found.labels.tolist() == [0, -1, 1, -1]
    assert found.notes == ("truth: 1 row with ids that are not nodes of the run ignored",)


def test_true_and_false_stand_for_two_classes() -> None:
    table = pd.DataFrame({"id": IDS, "fraud": [True, False, True, None], "vip": [True, True, False, False]})
    found = read_truth(table, IDS, CLASSES, TruthColumns(positive="fraud"))
    assert found.labels.tolist() == [0, 1, 0, -1]
    assert "true counts as 'fraud', false as 'ok'" in found.notes[0]


@pytest.mark.parametrize(
    ("text", "columns", "words"),
    [
        ("id,label\na,ok\nb,frod\n", TruthColumns(label="label"), "line 3, column 'label': 'frod' is not a class"),
        ("id,label\na,ok\na,ok\n", ANY, "line 3, column 'id': the id 'a' occurs more than once"),
        ("x,label\nq,ok\nr,ok\n", ANY, "no column holds the ids"),
        ("id,label\na,1.5\n", ANY, "no column holds classes"),
        ("id,l,m\na,ok,ok\n", ANY, "the columns 'l', 'm' hold classes"),
        ("id,label\na,ok\n", TruthColumns(label="lable"), "did you mean 'label'"),
        ("id,label\na,ok\n", TruthColumns(id="key"), "unknown column 'key'"),
    ],
)
def test_faults_name_file_and_place(text: str, columns: TruthColumns, words: str, tmp_path: Path) -> None:
    path = tmp_path / "truth.csv"
    path.write_text(text)
    with pytest.raises(TableError) as error:
        read_truth(path, IDS, CLASSES, columns)
    assert words in str(error.value)
    assert str(error.value).startswith("truth.csv")
