"""The labels file: complete after every label, readable by ``drgst run --add-labels``."""

from __future__ import annotations

from pathlib import Path

import pytest

from drgst.errors import DataFileError
from drgst.report.serve.label_file import LabelFile
from drgst.runs.added_labels import AddedLabel, read_added


def test_every_label_is_in_the_file_at_once(tmp_path: Path) -> None:
    file = LabelFile(tmp_path / "labels.csv", [])
    for k in range(3):
        file.give(AddedLabel(f"n{k}", "x", "typical-first"))
        assert [label.id for label in read_added([file.path])] == [f"n{j}" for j in range(k + 1)]
    file.give(AddedLabel("=1+1", "y", "random", 0.25))
    again = LabelFile(file.path, [])
    assert list(again.labels.values()) == list(file.labels.values())
    assert again.labels["=1+1"].probability == 0.25
    assert all(label.time.endswith("+00:00") for label in again.labels.values())


def test_undo_and_change(tmp_path: Path) -> None:
    file = LabelFile(tmp_path / "labels.csv", [AddedLabel("a", "x")])
    file.give(AddedLabel("b", "x"))
    file.give(AddedLabel("a", "y"))
    assert [(label.id, label.label) for label in read_added([file.path])] == [("a", "y"), ("b", "x")]
    assert file.take_back() is not None
    assert [label.id for label in read_added([file.path])] == ["a"]
    file.take_back()
    assert file.take_back() is None
    assert LabelFile(file.path, [AddedLabel("c", "x")]).labels == {}


def test_a_half_written_line_of_a_killed_process_is_removed(tmp_path: Path) -> None:
    file = LabelFile(tmp_path / "labels.csv", [])
    file.give(AddedLabel("a", "x"))
    with file.path.open("a") as handle:
        handle.write("b,gre")
    assert list(LabelFile(file.path, []).labels) == ["a"]
    assert file.path.read_text().endswith("\n")


def test_a_folder_that_is_gone_is_an_error_in_one_sentence(tmp_path: Path) -> None:
    file = LabelFile(tmp_path / "deep" / "labels.csv", [])
    file.path.unlink()
    file.path.parent.rmdir()
    with pytest.raises(DataFileError, match=r"can't write .*labels.csv: No such file"):
        file.give(AddedLabel("a", "x"))
    assert file.labels == {}


@pytest.mark.parametrize("content", [b"id;label\na;x\n", "id,label\na,\xfc\n".encode("latin1"), b"label,id\r\nx,a\r\n"])
def test_a_file_of_another_form_is_rewritten_before_it_is_continued(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "labels.csv").write_bytes(content)
    LabelFile(tmp_path / "labels.csv", []).give(AddedLabel("b", "y"))
    first, second = read_added([tmp_path / "labels.csv"])
    assert (first.id, first.label, second.id, second.label) == ("a", "\xfc" if b"\xfc" in content else "x", "b", "y")
