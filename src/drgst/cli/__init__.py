"""The command line: ``drgst COMMAND``. A command is imported when it is called, so that help stays quick."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from drgst import __version__
from drgst.errors import DrgstError

# command -> the module whose ``app`` it is (made with add_completion=False), its line of help, the task it belongs to
COMMANDS = {
    "run": ("drgst.cli.run", "Run a recipe on a graph.", "Predict"),
    "classify": ("drgst.cli.classify", "Classify the rows of a table, with edges in other tables.", "Predict"),
    "predict": ("drgst.cli.predict", "Predict with the model of a run.", "Predict"),
    "evaluate": ("drgst.cli.evaluate", "Evaluate a run on labels that it was not given; choose a threshold.", "Decide"),
    "explain": ("drgst.cli.explain", "Explain why a node was predicted as it was.", "Decide"),
    "review": ("drgst.cli.review", "Review given labels that look wrong.", "Decide"),
    "suggest": ("drgst.cli.suggest", "Suggest which nodes to label next.", "Decide"),
    "report": ("drgst.cli.report", "Make the page that shows what a run did.", "Decide"),
    "data": ("drgst.cli.data", "List, get, show, check and split graphs.", "Look up"),
    "recipes": ("drgst.cli.recipes", "List the methods and show the parts of each.", "Look up"),
    "lab": ("drgst.lab.cli", "Measure methods and reproduce the paper.", "Laboratory"),
}


class LazyCommand(TyperCommand):
    """A name and a line of help; the real command takes over when arguments are to be parsed."""

    def __init__(self, name: str, module: str, summary: str, panel: str | None = None) -> None:
        super().__init__(name=name, help=summary, rich_help_panel=panel)
        self.module = module

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the real command, which is what gets invoked."""
        command = typer.main.get_command(importlib.import_module(self.module).app)
        return command.make_context(info_name, args, parent=parent, **extra)


class Commands(TyperGroup):
    """The table above as a group of commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, entry in COMMANDS.items():
            self.add_command(LazyCommand(name, *entry))


app = typer.Typer(
    name="drgst",
    cls=Commands,
    help="Self-training on graphs with few labels.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"drgst {__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Report each step on standard error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    del version  # its callback has stopped already
    from drgst.cli.console import set_up_log

    set_up_log(verbose)


def main(args: list[str] | None = None) -> None:
    """Run the command line: bad input ends with one line on standard error and exit code 2, Ctrl-C with 130."""
    from drgst.cli.console import open_streams

    open_streams()
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # for recipes and backbones of one's own, module:name
    code, unwritten = _run(args), _flush()
    sys.exit(code or unwritten)


def _run(args: list[str] | None) -> int | str | None:
    """The exit code of a command."""
    try:
        typer.main.get_command(app).main(args, prog_name="drgst")
    except SystemExit as end:
        return end.code
    except DrgstError as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 1
    except MemoryError as error:
        return _refuse(f"there is not enough memory: {error}" if str(error) else "there is not enough memory")
    except OSError as error:
        return _refuse(f"{error.filename or 'standard output'}: {error.strerror or error}")
    return 0


def _refuse(message: str) -> int:
    from drgst.cli.console import printable

    sys.stderr.write(f"error: {printable(' '.join(message.split()))}\n")
    return 2


def _flush() -> int:
    """Flush now: what goes wrong would else be reported while Python shuts down.

    A reader that has gone (``drgst … | head``) is no error, a full disk is one.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1 if isinstance(error, BrokenPipeError) else _refuse(f"standard output: {error.strerror}")
    return 0
