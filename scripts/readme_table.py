"""Fills the tables of results in README.md and results/README.md from the exported runs.

drgst bench export --csv results/runs.csv --store runs/results.db && python scripts/readme_table.py

A table stands between ``<!-- table NAME -->`` and ``<!-- end -->``; all that is outside is written by hand. Runs with
default settings and of a recipe's latest version only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from drgst.files import replacing
from drgst.report.paper import dataset_order, main_table, recipe_order

HOME = Path(__file__).parents[1]
RUNS = HOME / "results" / "runs.csv"
PAGES = (HOME / "README.md", HOME / "results" / "README.md")
PLACE = re.compile(r"(<!-- table (\S+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
LABELS = (3, 5, 10, 20)
MODES = {"none": "no validation labels", "public": "500 validation labels"}
LESSER = re.compile(r"drgst-d[oe]-..|self-training|co-training|union|intersection")  # left out of the short table


def accuracy(runs: pd.DataFrame) -> str:
    """``81.5 ± 0.3``, or nothing where fewer than two draws were run."""
    ours = 100 * runs["test_accuracy"]
    return f"{ours.mean():.1f} ± {ours.std():.1f}" if len(ours) > 1 else ""


def heading(first: str, columns: tuple[str, ...]) -> list[str]:
    """The two first lines of a table in Markdown."""
    return [f"| {first} | " + " | ".join(columns) + " |", "|:--|" + "--:|" * len(columns)]


def plus_table(runs: pd.DataFrame) -> list[str]:
    """drgst-plus, both modes, beside the best figure that the paper has for the cell."""
    lines = heading("`drgst-plus`", tuple(f"{k} labels a class" for k in LABELS))
    plus = own(runs)
    for dataset in datasets(plus):
        for mode, words in MODES.items():
            here = plus[(plus.dataset == dataset) & (plus.validation == mode)]
            cells = [accuracy(here[here.per_class == k]) for k in LABELS]
            lines.append(f"| {dataset.capitalize()}, {words} | " + " | ".join(cells) + " |")
        best = [max(v for (d, n, _), v in main_table().items() if d == dataset and n == k) for k in LABELS]
        lines.append("| *the paper's best* | " + " | ".join(f"*{b:.1f}*" for b in best) + " |")
    return lines


def facts_table(runs: pd.DataFrame) -> list[str]:
    """drgst-plus: macro-F1, ECE, seconds and memory in both modes, and the number of draws."""
    columns = ("labels", "macro-F1, none / 500", "ECE, none / 500", "median s, none / 500", "most MB", "draws")
    lines = heading("", columns)
    plus = own(runs)
    for dataset in datasets(plus):
        for k in LABELS:
            cell = plus[(plus.dataset == dataset) & (plus.per_class == k)]
            modes = [cell[cell.validation == mode] for mode in MODES]
            shares = [" / ".join(f"{100 * m[c].mean():.1f}" for m in modes) for c in ("macro_f1", "ece")]
            seconds = " / ".join(f"{m['seconds'].median():.1f}" for m in modes)
            draws = " / ".join(str(len(m)) for m in modes)
            most = f"{cell['peak_memory_mb'].max():.0f}"
            row = (dataset.capitalize(), str(k), *shares, seconds, most, draws)
            lines.append("| " + " | ".join(row) + " |")
    return lines


def dataset_table(runs: pd.DataFrame, dataset: str) -> list[str]:
    """One row a recipe: ours, the paper's figure in brackets, and the number of draws."""
    lines = heading(dataset.capitalize(), (*(str(k) for k in LABELS), "draws"))
    runs = usual(runs)[usual(runs).dataset == dataset]
    for recipe in sorted(set(runs["recipe"]), key=recipe_order):
        mine = runs[runs.recipe == recipe]
        cells = []
        for k in LABELS:
            ours, paper = accuracy(mine[mine.per_class == k]), main_table().get((dataset, k, recipe))
            cells.append(ours if paper is None or not ours else f"{ours} ({paper:.1f})")
        if any(cells):
            counts = mine.groupby("per_class").size()
            draws = f"{counts.min()} to {counts.max()}" if counts.min() < counts.max() else f"{counts.max()}"
            lines.append(f"| `{recipe}` | " + " | ".join(cells) + f" | {draws} |")
    return lines


def short_table(runs: pd.DataFrame) -> list[str]:
    """Cora without ablations and single self-trainings."""
    return dataset_table(runs[~runs["recipe"].str.fullmatch(LESSER)], "cora")


def dataset_tables(runs: pd.DataFrame) -> list[str]:
    """One a data set, an empty line between."""
    tables = [dataset_table(runs, dataset) for dataset in datasets(usual(runs))]
    return "\n\n".join("\n".join(lines) for lines in tables).split("\n")


def usual(runs: pd.DataFrame) -> pd.DataFrame:
    """Those under the paper's protocol."""
    return runs[runs["pool"].eq("unlabelled") & runs["validation"].eq("public")]


def own(runs: pd.DataFrame) -> pd.DataFrame:
    """Those of drgst-plus with test nodes in the pool."""
    return runs[runs["recipe"].eq("drgst-plus") & runs["pool"].eq("all-but-validation")]


def datasets(runs: pd.DataFrame) -> list[str]:
    """In the paper's order."""
    return sorted(set(runs["dataset"]), key=dataset_order)


CELL = ["dataset", "per_class", "recipe"]
TABLES: dict[str, Callable[[pd.DataFrame], list[str]]] = {
    "plus": plus_table,
    "plus-facts": facts_table,
    "cora": short_table,
    "datasets": dataset_tables,
}


def filled(page: str, runs: pd.DataFrame) -> str:
    """The page with every table made anew."""
    return PLACE.sub(lambda m: m[1] + "\n" + "\n".join(TABLES[m[2]](runs)) + "\n\n" + m[3], page)


def main() -> None:
    """Write both pages."""
    runs = pd.read_csv(RUNS, low_memory=False)
    runs = runs[runs["variant"].fillna("").eq("") & runs["error"].isna()]
    cells = runs.groupby([*CELL, "pool", "validation"])
    runs = runs[runs["algorithm"] == cells["algorithm"].transform("max")]  # a revision may spare some cells
    for page in PAGES:
        text = filled(page.read_text(encoding="utf-8"), runs)
        with replacing(page) as temporary:
            temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
