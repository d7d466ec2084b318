"""Loggers by name, and the display that fits where the process runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from drgst.errors import SettingError, unknown
from drgst.progress.jupyter import in_notebook
from drgst.progress.notebook import NotebookBar
from drgst.selftrain.callbacks import Callback, Callbacks

LOGGERS: tuple[str, ...] = ("csv", "tensorboard", "mlflow")


def check_loggers(names: Sequence[str]) -> None:
    """Refuse an unknown name before a run starts."""
    for name in names:
        if name not in LOGGERS:
            raise SettingError(unknown("log", name, LOGGERS))


def make_logger(name: str, folder: Path) -> Callback:
    """The logger ``name``: ``log.csv`` or ``tensorboard/`` in ``folder``, or MLflow's own store."""
    if name == "csv":
        from drgst.progress.csv import CSVLog

        return CSVLog(folder / "log.csv")
    if name == "tensorboard":
        from drgst.progress.tensorboard import TensorBoard

        return TensorBoard(folder / "tensorboard")
    check_loggers([name])
    from drgst.progress.mlflow import MLflow

    return MLflow()


def default_display() -> Callback | None:
    """A bar in a notebook, a live line on a terminal, nothing elsewhere."""
    if in_notebook():
        return NotebookBar()
    if not sys.stderr.isatty():
        return None
    return terminal_display()


def terminal_display() -> Callback:
    """A live line on standard error."""
    from rich.console import Console

    from drgst.progress.terminal import Progress

    return Progress(Console(stderr=True, markup=False, highlight=False, emoji=False))


def display(wanted: bool | None) -> Callback | None:
    """No display (False), one in any case (True), or the one that fits (None)."""
    if wanted is False:
        return None
    return default_display() or (terminal_display() if wanted else None)


def joined(*given: Callback | Sequence[Callback] | None) -> Callback | None:
    """One callback that calls all of ``given``; None where there is none."""
    each: list[Callback] = []
    for one in given:
        each += [one] if isinstance(one, Callback) else [] if one is None else list(one)
    return Callbacks(each) if each else None
