"""The command line: ``drgst COMMAND``. A command is imported when it is called, so that help stays quick."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from drgst import __version__
from drgst.errors import DrgstError

UsageError: type[Any] = typer.BadParameter.__mro__[1]  # the errors of the parser: typer exports this one alone
LONGEST = 2000  # characters of an error that are printed
# command -> the module whose ``app`` it is, its line of help, the task it belongs to
COMMANDS = {
    "run": ("drgst.cli.run", "Run a recipe on a graph.", "Predict"),
    "classify": ("drgst.cli.classify", "Classify the rows of a table, with edges in other tables.", "Predict"),
    "predict": ("drgst.cli.predict", "Predict with the model of a run.", "Predict"),
    "evaluate": ("drgst.cli.evaluate", "Evaluate a run on labels it was not given; choose a threshold.", "Decide"),
    "explain": ("drgst.cli.explain", "Explain why a node was predicted as it was.", "Decide"),
    "review": ("drgst.cli.review", "Review given labels that look wrong.", "Decide"),
    "suggest": ("drgst.cli.suggest", "Suggest which nodes to label next.", "Decide"),
    "serve": ("drgst.cli.serve", "Label, look and decide in the browser while the model is refitted.", "Decide"),
    "report": ("drgst.cli.report", "Make the page that shows what a run did.", "Decide"),
    "data": ("drgst.cli.data", "List, get, show, check and split graphs.", "Look up"),
    "recipes": ("drgst.cli.recipes", "List the methods and show the parts of each.", "Look up"),
    "lab": ("drgst.lab.cli", "Measure methods and reproduce the paper.", "Laboratory"),
}


class LazyCommand(TyperCommand):
    """A name and a line of help; the real command takes over when arguments are to be parsed."""

    def __init__(self, name: str, module: str, summary: str, group: str = "Commands") -> None:
        super().__init__(name=name, help=summary)
        self.module, self.group = module, group

    def load(self) -> Any:
        """The real command, with help in plain text."""
        app = importlib.import_module(self.module).app
        app.rich_markup_mode = None
        return typer.main.get_command(app)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the real command, which is what gets invoked."""
        return self.load().make_context(info_name, args, parent=parent, **extra)


class LazyGroup(TyperGroup):
    """Commands of a table like :data:`COMMANDS`, listed under the task they belong to."""

    table: ClassVar[dict[str, Any]] = {}

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, entry in self.table.items():
            self.add_command(LazyCommand(name, *entry))

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """One section per task."""
        width = max(map(len, self.commands))
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            groups.setdefault(getattr(command, "group", "Commands"), []).append((name.ljust(width), command.help or ""))
        for group, rows in groups.items():
            with formatter.section(group):
                formatter.write_dl(rows)


class Commands(LazyGroup):
    """The commands of ``drgst``."""

    table = COMMANDS


app = typer.Typer(
    name="drgst",
    cls=Commands,
    help="Self-training on graphs with few labels.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
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
    import_: Annotated[
        list[str] | None, typer.Option("--import", metavar="MODULE", help="Import a module of yours that a run names.")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    del version  # its callback has stopped already
    from drgst.cli.console import set_up_log

    set_up_log(verbose)
    try:
        os.getcwd()
    except OSError:  # torch can't be imported then
        raise DrgstError("the working folder was deleted: change to another folder") from None
    if import_:
        from drgst.extras import import_typed

        for module in import_:
            import_typed(f"{module}:__name__", "module")


def main(args: list[str] | None = None) -> None:
    """Run the command line: bad input ends with one line on standard error and exit code 2, Ctrl-C with 130."""
    from drgst.cli.console import open_streams

    open_streams()
    code, unwritten = _run(args), _flush()
    sys.exit(code or unwritten)


def _run(args: list[str] | None) -> int:
    """The exit code of a command."""
    try:
        return typer.main.get_command(app).main(args, prog_name="drgst", standalone_mode=False) or 0
    except UsageError as error:
        return _refuse_usage(error, sys.argv[1:] if args is None else args)
    except DrgstError as error:
        return _refuse(str(error))
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except BrokenPipeError:
        return 1
    except MemoryError as error:
        return _refuse(f"there is not enough memory: {error}" if str(error) else "there is not enough memory")
    except OSError as error:
        return _refuse(f"{error.filename or 'standard output'}: {error.strerror or error}")


def _refuse_usage(error: Any, args: list[str]) -> int:
    """One line for what the parser refuses, with the command whose help to read; the help where nothing was given."""
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.ctx.get_help())
        return 0
    path = error.ctx.command_path if error.ctx is not None else "drgst"
    words = error.format_message().replace("Value error, ", "").rstrip(".")
    return _refuse(_setting(error, args) or f"{words} (see {path} --help)")


def _setting(error: Any, args: list[str]) -> str:
    """How a setting is written, where ``--set NAME VALUE`` or ``--NAME VALUE`` was; else ""."""
    from drgst.cli.classify import TABLE_SETTINGS
    from drgst.selftrain.settings import Settings

    name = str(getattr(error, "option_name", "")).lstrip("-").replace("-", "_")
    if name in Settings.model_fields or name in TABLE_SETTINGS:
        return f"{error.option_name} is a setting, not an option: write --set {name}=VALUE"
    for flag, word, value in zip(args, args[1:], args[2:], strict=False):
        if flag == "--set" and word in Settings.model_fields:
            return f"--set takes key=value: write --set {word}={value}"
    return ""


def _refuse(message: str) -> int:
    from drgst.files import printable

    words = " ".join(message.split())
    if len(words) > LONGEST:  # a text from outside, which the message repeats
        words = f"{words[: LONGEST // 2]} ... {words[-LONGEST // 2 :]}"
    sys.stderr.write(f"error: {printable(words)}\n")
    return 2


def _flush() -> int:
    """Flush now: what goes wrong would otherwise be reported while Python shuts down.

    A reader that has gone (``drgst … | head``) is not an error, a full disk is one.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1 if isinstance(error, BrokenPipeError) else _refuse(f"standard output: {error.strerror}")
    return 0
