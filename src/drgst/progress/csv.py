"""The log of a run as CSV."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from drgst.errors import DataFileError
from drgst.progress.metrics import MetricsCallback


class CSVLog(MetricsCallback):
    """One line per number: ``kind`` (epoch, stage or end), ``step``, ``name``, ``value``.

    The file is written line by line, so an interrupted run leaves what it did.
    """

    def __init__(self, path: str | Path) -> None:
        super().__init__()
        self.path = Path(path)
        self.file: TextIOWrapper | None = None
        self.writer: Any = None

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Open the file; the log of an earlier run is replaced."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.file = self.path.open("w", encoding="utf-8", newline="")
        except OSError as error:
            raise DataFileError(f"can't write {self.path}: {error.strerror or error}") from error
        self.writer = csv.writer(self.file, lineterminator="\n")
        self.writer.writerow(["kind", "step", "name", "value"])
        for name in ("dataset", "recipe", "seed"):
            self.writer.writerow(["run", 0, name, facts[name]])

    def log(self, kind: str, step: int, values: Mapping[str, float]) -> None:
        """One line for each of ``values``."""
        self.writer.writerows([kind, step, name, f"{value:.9g}"] for name, value in values.items())
        if kind != "epoch" and self.file is not None:
            self.file.flush()

    def close(self) -> None:
        """Close the file."""
        if self.file is not None:
            self.file.close()
