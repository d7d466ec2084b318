"""Commands that are listed by a table and imported when they are called."""

from __future__ import annotations

import importlib
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup


class LazyCommand(TyperCommand):
    """A name and a line of help; the real command takes over as soon as it is to parse its arguments."""

    def __init__(self, name: str, module: str, summary: str) -> None:
        super().__init__(name=name, help=summary)
        self.module = module

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the real command, which is what gets invoked."""
        command = typer.main.get_command(importlib.import_module(self.module).app)
        return command.make_context(info_name, args, parent=parent, **extra)


class LazyGroup(TyperGroup):
    """A group whose commands are the rows of ``table``: name -> (module with an ``app``, line of help)."""

    table: ClassVar[dict[str, tuple[str, str]]] = {}

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, (module, summary) in self.table.items():
            self.add_command(LazyCommand(name, module, summary))
