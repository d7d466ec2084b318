"""Text that is made of the code while the site is built: ``:::{made} NAME WORDS`` in a page.

A function of :data:`MAKERS` takes the words and returns Markdown.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

HOME = Path(__file__).parents[2]
EXAMPLES = HOME / "docs" / "reference" / "examples.txt"
MARK = re.compile(r"^:::\{made\} (\S+) ?(.*)\n:::$", flags=re.MULTILINE)
METHOD = re.compile(r"``[^`]*``|:[\w:]+:`[^`]*`")

API = {  # page of reference/api -> the public names on it
    "graphs": """drgst.Graph drgst.make_graph drgst.Split drgst.per_class_split drgst.random_split drgst.public_split
        drgst.fold_splits drgst.Relation drgst.statistics drgst.load drgst.open_graph drgst.known_datasets
        drgst.block_model drgst.gaussian_circles drgst.from_pyg drgst.to_pyg drgst.from_networkx drgst.to_networkx
        drgst.from_scipy drgst.load_graph drgst.save_graph drgst.load_split drgst.save_split""",
    "tables": """drgst.from_tables drgst.check_tables drgst.read_tables drgst.write_tables drgst.Link drgst.TableGraph
        drgst.TableSchema drgst.TableError drgst.fraud_tables drgst.datasets.FraudTables""",
    "estimators": """drgst.SelfTraining drgst.DRGST drgst.load_model drgst.cross_validate drgst.PseudoLabel
        drgst.Callback drgst.progress.loggers.CSVLog drgst.progress.loggers.TensorBoard
        drgst.progress.loggers.MLflow""",
    "parts": "drgst.Recipe drgst.recipe",  # and every part
    "lab": "drgst.lab.bench drgst.lab.Results drgst.lab.label_curve drgst.lab.LabelCurves",
    "errors": "drgst.DrgstError",  # and every other error
}
SLOTS = {
    "learner": "What is trained",
    "select": "Which unlabelled nodes get a pseudo-label",
    "weigh": "How much each pseudo-label counts",
    "correct": "What is done about wrong pseudo-labels",
    "calibrate": "Calibrated probabilities",
    "stop": "When to end, and why",
    "postprocess": "What is done to the predictions of the result",
}


def load(path: Path) -> ModuleType:
    """A file of the repository that belongs to no package, as a module."""
    name = f"drgst_{path.stem}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def expanded(text: str) -> str:
    """``text`` with everything that is made."""
    return MARK.sub(lambda m: MAKERS[m[1]](*m[2].split()), text)


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, [":--"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# --- the Python API ---------------------------------------------------------------------------------------------------


@cache
def examples() -> dict[str, str]:
    """Public name -> its example, a doctest."""
    found: dict[str, str] = {}
    for section in EXAMPLES.read_text(encoding="utf-8").split("\n# ")[1:]:
        names, _, text = section.partition("\n")
        found |= dict.fromkeys(names.split(), text.strip())
    return found


def parts() -> dict[str, list[str]]:
    """Slot -> the names of its parts."""
    slots = importlib.import_module("drgst.selftrain.parts").SLOTS
    return {slot: [f"drgst.selftrain.parts.{part.__name__}" for part in slots[slot]] for slot in SLOTS}


def errors() -> list[str]:
    """The names of all errors and warnings, the bases first."""
    module = importlib.import_module("drgst.errors")
    own = [v for v in vars(module).values() if inspect.isclass(v) and v.__module__ == module.__name__]
    return [f"{module.__name__}.{v.__name__}" for v in own if v.__name__ != "DrgstError"]


def public() -> Iterator[tuple[str, list[str]]]:
    """Page of reference/api -> its names."""
    for page, names in API.items():
        more = {"parts": list(chain(*parts().values())), "errors": errors()}.get(page, [])
        yield page, [*names.split(), *more]


def find(name: str) -> Any:
    """The object of a dotted name."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def entry(name: str, level: int = 2) -> str:
    """Heading, signature, docstring and example of one public name."""
    found = find(name)
    kind = "class" if inspect.isclass(found) else "function"
    kind = "exception" if kind == "class" and issubclass(found, Exception) else kind
    members = inspect.isclass(found) and name.startswith(
        ("drgst.Graph", "drgst.S", "drgst.DRGST", "drgst.T", "drgst.Ca")
    )
    members |= name in ("drgst.lab.Results", "drgst.lab.LabelCurves", "drgst.Relation")
    lines = [f".. auto{kind}:: {name}"] + ["   :members:"] * (members and kind == "class")
    hidden = [m for m in dir(found) if re.fullmatch(r"model_config|set_\w+_request", m)]
    lines += [f"   :exclude-members: {', '.join(hidden)}"] * bool(hidden)
    text = (
        f"{'#' * level} {name.removeprefix('drgst.selftrain.parts.')}\n\n```{{eval-rst}}\n"
        + "\n".join(lines)
        + "\n```\n"
    )
    return text + (f"\n```pycon\n{examples()[name]}\n```\n" if name in examples() else "")


def api(page: str) -> str:
    """The entries of one page of the API."""
    if page == "parts":
        first = [entry(name) for name in API[page].split()]
        slots = [
            "\n".join([f"## {words}: `{slot}`\n", *(entry(name, 3) for name in parts()[slot])])
            for slot, words in SLOTS.items()
        ]
        return "\n".join(first + slots)
    return "\n".join(entry(name) for name in dict(public())[page])


def names() -> str:
    """All public names with the first sentence of each, by page."""
    lines = []
    for page, members in public():
        lines += [f"\n## [{PAGES[page]}](api/{page}.md)\n"]
        rows = []
        for name in members:
            first = plain((inspect.getdoc(find(name)) or "").partition("\n")[0])
            short = name.removeprefix("drgst.selftrain.parts.").removeprefix("drgst.errors.")
            rows.append([f"[`{short}`](api/{page}.md#{anchor(name)})", first])
        lines.append(table(["name", "what it is"], rows))
    return "\n".join(lines)


def plain(text: str) -> str:
    """A sentence of a docstring as Markdown."""
    return re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text.replace("``", "`")).replace("*", "\\*")


def anchor(name: str) -> str:
    """The anchor of the heading of an entry."""
    return re.sub(r"[^\w\-]", "", name.removeprefix("drgst.selftrain.parts.").lower())


PAGES = {
    "graphs": "Graphs, splits and data sets",
    "tables": "Tables",
    "estimators": "Estimators, callbacks and loggers",
    "parts": "Recipes and their parts",
    "lab": "Laboratory",
    "errors": "Errors",
}


def plain_docstring(_app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Docstrings are prose with formulas: nothing in them is markup but literals, roles and indented formulas."""

    def escaped(text: str) -> str:
        text = re.sub(r"([|*\\])", r"\\\1", text)
        return re.sub(r"(?<=[\w)])_(?=\W|$)", r"\\_", text)

    done = []
    for line in lines:
        spans = METHOD.findall(line)
        pieces = METHOD.split(line)
        done.append("".join(escaped(p) + (spans[i] if i < len(spans) else "") for i, p in enumerate(pieces)))
    lines[:] = [re.sub(r"^(\s*)([A-Za-z])\.(?=\s|$)", r"\1\2\\.", line) for line in done]  # "N." is no list


# --- the command line -------------------------------------------------------------------------------------------------


def commands() -> str:
    """Every command with its words, arguments and options."""
    import typer

    cli = importlib.import_module("drgst.cli")
    return "\n".join(_command(typer.main.get_command(cli.app), "drgst", 2))


def _command(command: Any, path: str, level: int) -> Iterator[str]:
    command = command.load() if hasattr(command, "load") else command
    subcommands = getattr(command, "commands", {})
    if path != "drgst":  # its own words are those of the page
        yield f"{'#' * level} {path}\n"
        words = [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
        usage = " ".join(
            [path, "[OPTIONS]", *(_argument(p) for p in command.params if p.param_type_name == "argument")]
        )
        yield "\n\n".join(_literal(part) for part in words) + f"\n\n```\n{usage}\n```\n"
    rows = [_option(p) for p in command.params if not getattr(p, "hidden", False)]
    if rows:
        yield table(["argument or option", "meaning"], rows) + "\n"
    for name, sub in subcommands.items():
        yield from _command(sub, f"{path} {name}", level + (path != "drgst"))


def _argument(parameter: Any) -> str:
    name = parameter.metavar or parameter.name.upper()
    return name if parameter.required else f"[{name}]"


def _option(parameter: Any) -> list[str]:
    flag = getattr(parameter, "is_flag", False)
    if parameter.param_type_name == "argument":
        left = f"`{parameter.metavar or parameter.name.upper()}`"
    else:
        left = f"`{', '.join(parameter.opts)}{'' if flag else f' {parameter.metavar}'}`"
    shown = getattr(parameter, "show_default", None)
    default = shown if isinstance(shown, str) else None if flag or callable(parameter.default) else parameter.default
    said = f" Default: {str(default).strip('()')}." if default not in (None, "", ()) else ""
    return [left, _literal(parameter.help or "") + said]


def _literal(text: str) -> str:
    """Help text with its options, file names and words in capitals as code."""
    return re.sub(r"(?<![\w`])(--[a-z][\w-]*(?: [A-Z]\w*)?)", r"`\1`", text).replace("*", "\\*").replace("<", "&lt;")


# --- recipes and settings ---------------------------------------------------------------------------------------------


def recipes() -> str:
    """Every recipe by its parts, with its paper and equations."""
    registry = importlib.import_module("drgst.recipes")
    lines = []
    for name in registry.recipe_names():
        spec = registry.find_recipe(name)
        shown = spec.make(spec.settings()).parts()
        body = [f"## {name}\n", f"{spec.summary[:1].upper()}{spec.summary[1:]}.\n"]
        body += [f"*{spec.paper}*\n"] if spec.paper else []
        body += ["```{eval-rst}\n" + _rst(spec.doc) + "\n```\n"] if spec.doc else []
        plain = {"Identity()", "none", "Uniform()", "NoCorrection()", "Nothing()"}
        body.append(table(["slot", "part"], [[f"`{s}`", f"`{p}`"] for s, p in shown.items() if p not in plain]) + "\n")
        own = ", ".join(f"`{k}={v}`" for k, v in spec.defaults.items())
        body += [f"Version {spec.version}." + (f" Own defaults: {own}." if own else "") + "\n"]
        lines += body
    return "\n".join(lines)


def _rst(text: str) -> str:
    lines = text.splitlines()
    plain_docstring(None, "", "", None, None, lines)
    return "\n".join(lines)


def settings() -> str:
    """Every setting: its default, what is allowed, its meaning, and the recipes that read it."""
    registry = importlib.import_module("drgst.recipes")
    module = importlib.import_module("drgst.selftrain.settings")
    specs = [registry.find_recipe(name) for name in registry.recipe_names()]
    read = {spec.name: set(spec.settings().names) for spec in specs}
    networks = [recipe for recipe, names in read.items() if "hidden" in names]
    rows = []
    for name, field in module.Settings.model_fields.items():
        users = [recipe for recipe, names in read.items() if name in names]
        who = "all" if len(users) == len(specs) or not users else _short(users, networks)
        default = "none" if field.default is None else f"{field.default}"
        rows.append([f"`{name}`", f"`{default}`", module.allowed(name), field.description or "", who])
    return table(["setting", "default", "allowed", "meaning", "read by"], rows)


def _short(users: list[str], networks: list[str]) -> str:
    if users == networks:
        return "all with a network"
    return ", ".join(f"`{u}`" for u in users) if len(users) <= 4 else f"{len(users)} recipes"


# --- measured results -------------------------------------------------------------------------------------------------


@cache
def runs() -> Any:
    """The runs of results/runs.csv under the paper's protocol, with the latest version of each recipe."""
    module = load(HOME / "scripts" / "readme_table.py")
    return module.read_runs(module.RUNS)


def measured(*recipes: str) -> str:
    """Accuracy of some recipes beside the GCN, at 3 and 20 labels per class, from results/runs.csv."""
    script = load(HOME / "scripts" / "readme_table.py")
    found = script.protocol_runs(runs())
    places = [(d, k) for d in script.GRAPHS for k in (3, 20)]
    rows = []
    for recipe in dict.fromkeys(["gcn", *recipes]):
        mine = found[found["recipe"] == recipe]
        cells = []
        for dataset, k in places:
            cell = mine[(mine["dataset"] == dataset) & (mine["per_class"] == k)]["test_accuracy"]
            cells.append(f"{100 * cell.mean():.1f} ({len(cell)})" if len(cell) else "–")
        rows.append([f"`{recipe}`", *cells])
    head = ["", *(f"{d.capitalize()}, {k}" for d, k in places)]
    words = (
        "Mean test accuracy in percent and, in brackets, the number of draws, at 3 and 20 labels per class under the\n"
        "paper's protocol (`results/runs.csv`, the latest version of each recipe). "
        "[Every cell](../paper/tables/main.md)."
    )
    return f"{words}\n\n{table(head, rows)}"


def plus() -> str:
    """Accuracy of drgst-plus in both modes, and the best figures of the paper."""
    return str(load(HOME / "scripts" / "readme_table.py").plus_table(runs()))


# --- the packages -----------------------------------------------------------------------------------------------------


def packages() -> str:
    """The layers of the packages with the first sentence of each."""
    rows = []
    for number, layer in enumerate(layers(), 1):
        for name in layer:
            path = HOME / "src" / "drgst" / name
            path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            words = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]
            rows.append([str(number), f"`{name}`", plain(words)])
    return table(["layer", "module or package", "what it holds"], rows)


def layers() -> list[list[str]]:
    """The modules and packages of drgst, the lowest layer first, from the test of the layout."""
    tree = ast.parse((HOME / "tests" / "test_layers.py").read_text(encoding="utf-8"))
    values = [n.value for n in tree.body if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "ORDERS"]
    return [layer.split() for layer in ast.literal_eval(values[0])[""].split("|")]


def architecture() -> str:
    """The picture of the packages."""
    source, found = HOME / "src" / "drgst", {}
    for name in chain(*layers()):
        files = (source / name).rglob("*.py") if (source / name).is_dir() else [source / f"{name}.py"]
        found[name] = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    return load(HOME / "docs" / "_ext" / "pictures.py").layers(layers(), found)


def chosen(*recipes: str) -> str:
    """The picture of what recipes pseudo-label."""
    return load(HOME / "docs" / "_ext" / "pictures.py").chosen(*recipes)


MAKERS: dict[str, Callable[..., str]] = {
    "api": api,
    "architecture": architecture,
    "chosen": chosen,
    "commands": commands,
    "measured": measured,
    "names": names,
    "packages": packages,
    "plus": plus,
    "recipes": recipes,
    "settings": settings,
}
