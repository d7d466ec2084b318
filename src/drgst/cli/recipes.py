"""``drgst recipes``: the methods, and what each is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from drgst.cli.console import emit, get_console
from drgst.cli.options import JsonOption

if TYPE_CHECKING:
    from drgst.recipes import RecipeSpec

app = typer.Typer(help="List the methods and show what each is made of.", add_completion=False)

PLAIN = {"calibrate": "Identity()", "finish": "none", "weigh": "Uniform()", "correct": "NoCorrection()"}


@app.callback(invoke_without_command=True)
def recipes(context: typer.Context, json: JsonOption = False) -> None:
    """List every recipe with one line and its parts."""
    if context.invoked_subcommand is not None:
        return
    from drgst.recipes import find_recipe, recipe_names

    rows = [_row(find_recipe(name)) for name in recipe_names()]
    console = get_console(json)
    for row in rows:
        console.print(f"{row['name']:<18} {row['summary']}", soft_wrap=True)
        console.print(f"{'':<18} {_told(row['parts'])}", soft_wrap=True, style="dim")
    if json:
        emit(rows)


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE", help="A recipe, or a recipe file that ends in .toml.")],
    json: JsonOption = False,
) -> None:
    """Show one recipe: its parts, settings, paper, equations and choices."""
    from drgst.recipes import find_recipe

    spec = find_recipe(name)
    row = {**_row(spec), "paper": spec.paper, "settings": spec.settings().model_dump(), "doc": spec.doc}
    row["own_settings"] = dict(spec.defaults)
    console = get_console(json)
    console.print(f"{spec.name}: {spec.summary}", soft_wrap=True)
    for text in (spec.paper, spec.doc):
        console.print(f"\n{text}" if text else "", soft_wrap=True)
    console.print("\nparts")
    for slot, part in row["parts"].items():
        console.print(f"  {slot:<10} {part}", soft_wrap=True)
    console.print("\nsettings (* differs from the general default; a known data set may bring its own)")
    for key, value in row["settings"].items():
        console.print(f"{'*' if key in spec.defaults else ' '} {key:<16} {value}", soft_wrap=True)
    if json:
        emit(row)


def _row(spec: RecipeSpec) -> dict[str, Any]:
    recipe = spec.make(spec.settings())
    flags = [flag for flag in ("carry", "same_start", "calibrate_last", "alternatives") if getattr(recipe, flag)]
    return {"name": spec.name, "summary": spec.summary, "parts": recipe.parts(), "flags": flags}


def _told(parts: dict[str, str]) -> str:
    """The parts in one line, without those that do nothing."""
    return "; ".join(f"{slot} {part}" for slot, part in parts.items() if PLAIN.get(slot) != part)
