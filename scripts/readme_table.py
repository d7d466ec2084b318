"""The README's table of results, from the exported runs: ours, the paper's in brackets.

drgst bench export --csv results/runs.csv --store runs/results.db && python scripts/readme_table.py
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from drgst.report.paper import dataset_order, main_table, recipe_order

RUNS = Path(__file__).parents[1] / "results" / "runs.csv"


def cell(runs: pd.DataFrame, dataset: str, per_class: int, recipe: str) -> str:
    """``81.5 ± 0.3 (81.6)``, or nothing where fewer than two draws were run."""
    here = (runs.recipe == recipe) & (runs.dataset == dataset) & (runs.per_class == per_class)
    ours = 100 * runs.loc[here, "test_accuracy"]
    if len(ours) < 2:
        return ""
    paper = main_table().get((dataset, per_class, recipe))
    return f"{ours.mean():.1f} ± {ours.std():.1f}" + ("" if paper is None else f" ({paper:.1f})")


def main() -> None:
    """Print the table in Markdown: runs with default settings only."""
    runs = pd.read_csv(RUNS)
    runs = runs[runs["variant"].fillna("").eq("") & runs["error"].isna()]
    places = sorted({*zip(runs.dataset, runs.per_class, strict=True)}, key=lambda p: (dataset_order(p[0]), p[1]))
    lines = [
        "| recipe | " + " | ".join(f"{d.capitalize()}, {k}" for d, k in places) + " |",
        "|:--|" + "--:|" * len(places),
    ]
    lines += [
        f"| `{recipe}` | " + " | ".join(cell(runs, d, k, recipe) for d, k in places) + " |"
        for recipe in sorted(set(runs["recipe"]), key=recipe_order)
    ]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
