"""The labels file of the workbench: one row per label, on disk before the next one is asked for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from drgst.errors import DataFileError
from drgst.files import csv_text, read_bytes, reading, replacing
from drgst.runs.added_labels import COLUMNS, AddedLabel, read_added

HEAD = (*COLUMNS, "time")


@dataclass(frozen=True)
class TimedLabel(AddedLabel):
    """A label and when it was given, in UTC."""

    time: str = ""

    @property
    def row(self) -> tuple[str, ...]:
        """The cells of the file."""
        probability = "" if self.probability is None else repr(self.probability)
        return self.id, self.label, self.chosen_by, probability, self.time


class LabelFile:
    """A CSV file that ``drgst run --add-labels`` reads; a label is appended and flushed to the disk at once."""

    def __init__(self, path: Path, earlier: list[AddedLabel]) -> None:
        """Open ``path``; a new file starts with the ``earlier`` labels."""
        self.path = path
        self.labels: dict[str, TimedLabel] = {}  # by node id, in the order given
        if path.exists():
            self._repair()
            self.labels = {label.id: label for label in _read(path)}
            if not _can_be_continued(path):
                self._rewrite()
        else:
            self.labels = {label.id: TimedLabel(**vars(label)) for label in earlier}
            self._rewrite()

    def _repair(self) -> None:
        """Remove a last line without an end: the process was killed while it was written."""
        with reading(self.path):
            content = read_bytes(self.path)
            if content and not content.endswith(b"\n"):
                with replacing(self.path) as temporary:
                    temporary.write_bytes(content[: content.rfind(b"\n") + 1])

    def gives(self, labels: list[AddedLabel]) -> bool:
        """Whether the file holds these labels and no others."""
        return {name: each.label for name, each in self.labels.items()} == {each.id: each.label for each in labels}

    def give(self, label: AddedLabel) -> None:
        """Add a label. One that replaces another of the same node rewrites the file, any other is appended."""
        timed = TimedLabel(**{**vars(label), "time": datetime.now(UTC).isoformat(timespec="seconds")})
        known = label.id in self.labels
        if not known:
            self._append(timed)
        self.labels[label.id] = timed
        if known:
            self._rewrite()

    def take_back(self) -> TimedLabel | None:
        """Remove the last label and return it."""
        if not self.labels:
            return None
        _, last = self.labels.popitem()
        self._rewrite()
        return last

    def _append(self, label: TimedLabel) -> None:
        line = csv_text([HEAD, label.row]).partition("\n")[2]
        try:
            with open(self.path, "a", encoding="utf-8", newline="") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise DataFileError(f"can't write {self.path}: {error.strerror or error}") from error

    def _rewrite(self) -> None:
        with replacing(self.path) as temporary:
            temporary.write_text(csv_text([HEAD, *(label.row for label in self.labels.values())]), encoding="utf-8")
            descriptor = os.open(temporary, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)


def _read(path: Path) -> list[TimedLabel]:
    from drgst.tables.source import open_table  # pyarrow is slow to import

    if read_bytes(path).count(b"\n") < 2:  # the header alone
        return []
    texts = open_table(path, "labels").checked().texts
    rows = range(texts["id"].rows) if {"id", "time"} <= texts.keys() else ()
    times = {texts["id"].text(row): texts["time"].text(row) for row in rows}
    return [TimedLabel(**vars(label), time=times.get(label.id, "")) for label in read_added([path])]


def _can_be_continued(path: Path) -> bool:
    """Whether a line may be appended: the file has our columns, separated by commas, in UTF-8."""
    try:
        return read_bytes(path).decode().startswith(csv_text([HEAD]))
    except UnicodeDecodeError:
        return False
