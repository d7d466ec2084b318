"""``drgst recipes``: the methods, and what each is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from drgst.cli.console import emit, get_console
from drgst.cli.options import JsonOption, own_recipe

if TYPE_CHECKING:
    from drgst.recipes import RecipeSpec

app = typer.Typer(help="List the methods and show what each is made of.", add_completion=False)

PLAIN = {"calibrate": "Identity()", "postprocess": "none", "weigh": "Uniform()", "correct": "NoCorrection()"}


@app.callback(invoke_without_command=True)
def recipes(context: typer.Context) -> None:
    """List every recipe with one line and its parts."""
    if context.invoked_subcommand is not None:
        return
    from drgst.recipes import find_recipe, recipe_names

    console = get_console()
    for row in (_row(find_recipe(name)) for name in recipe_names()):
        console.print(f"{row['name']:<18} {row['summary']}", soft_wrap=True)
        console.print(f"{'':<18} {_one_line(row['parts'])}", soft_wrap=True, style="dim")


@app.command()
def show(
    name: Annotated[str, typer.Argument(parser=own_recipe, metavar="NAME", help="A recipe, or module:function.")],
    json: JsonOption = False,
) -> None:
    """Show one recipe: its parts, settings, paper, equations and choices."""
    from drgst.recipes import find_recipe
    from drgst.selftrain.settings import Settings, allowed

    spec = find_recipe(name)
    row = {**_row(spec), "version": spec.version, "paper": spec.paper, "doc": spec.doc}
    row |= {"settings": spec.settings().as_dict(), "own_settings": dict(spec.defaults)}
    console = get_console(json)
    console.print(f"{spec.name}: {spec.summary}", soft_wrap=True)
    for text in (spec.paper, spec.doc):
        console.print(f"\n{text}" if text else "", soft_wrap=True)
    console.print("\nparts")
    for slot, part in row["parts"].items():
        console.print(f"  {slot:<11} {part}", soft_wrap=True)
    console.print("\nsettings (* differs from the general default; a known data set may have its own)")
    for key, value in row["settings"].items():
        limits = "" if allowed(key) == "text" else f" (allowed: {allowed(key)})"
        text = f"{Settings.model_fields[key].description}{limits}"
        shown = "none" if value is None else str(value)
        console.print(f"{'*' if key in spec.defaults else ' '} {key:<16} {shown:<13} {text}", soft_wrap=True)
    if json:
        emit(row)


def _row(spec: RecipeSpec) -> dict[str, Any]:
    recipe = spec.make(spec.settings())
    return {"name": spec.name, "summary": spec.summary, "parts": recipe.parts()}


def _one_line(parts: dict[str, str]) -> str:
    """The parts in one line, without those that do nothing."""
    return "; ".join(f"{slot} {part}" for slot, part in parts.items() if PLAIN.get(slot) != part)
