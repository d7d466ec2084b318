"""The README's tables of results, from the exported runs: drgst-plus in both modes, then every recipe by data set.

drgst bench export --csv results/runs.csv --store runs/results.db && python scripts/readme_table.py
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from drgst.report.paper import dataset_order, main_table, recipe_order

RUNS = Path(__file__).parents[1] / "results" / "runs.csv"
LABELS = (3, 5, 10, 20)
MODES = {"none": "no validation labels", "public": "500 validation labels"}


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
    for dataset in sorted(set(runs["dataset"]), key=dataset_order):
        for mode, words in MODES.items():
            here = runs[(runs.dataset == dataset) & (runs.validation == mode)]
            cells = [accuracy(here[here.per_class == k]) for k in LABELS]
            lines.append(f"| {dataset.capitalize()}, {words} | " + " | ".join(cells) + " |")
        best = [max(v for (d, n, _), v in main_table().items() if d == dataset and n == k) for k in LABELS]
        lines.append("| *the paper's best* | " + " | ".join(f"*{b:.1f}*" for b in best) + " |")
    return lines


def dataset_table(runs: pd.DataFrame, dataset: str) -> list[str]:
    """One row a recipe: ours, the paper's figure in brackets, and the number of draws."""
    lines = heading(dataset.capitalize(), (*(str(k) for k in LABELS), "draws"))
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


def main() -> None:
    """Print the tables in Markdown: runs with default settings and of a recipe's latest version only."""
    runs = pd.read_csv(RUNS)
    runs = runs[runs["variant"].fillna("").eq("") & runs["error"].isna()]
    runs = runs[runs["algorithm"] == runs.groupby("recipe")["algorithm"].transform("max")]
    usual = runs[runs["pool"].eq("unlabelled") & runs["validation"].eq("public")]
    tables = [plus_table(runs[runs["recipe"].eq("drgst-plus") & runs["pool"].eq("all-but-validation")])]
    tables += [dataset_table(usual[usual.dataset == d], d) for d in sorted(set(usual["dataset"]), key=dataset_order)]
    print("\n\n".join("\n".join(lines) for lines in tables))


if __name__ == "__main__":
    main()
