"""The README's table of results, from the exported runs: ours, the paper's in brackets, draws.

drgst bench export --csv results/runs.csv --store runs/results.db && python scripts/readme_table.py
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

HERE = Path(__file__).parents[1]
NETWORKS = ("gcn", "gat", "appnp", "sgc", "sage", "gin", "cheb", "dagnn")  # first, DR-GST last
PAPER_NAMES = {
    "gcn": "GCN",
    "gat": "GAT",
    "appnp": "APPNP",
    "sts": "STs",
    "m3s": "M3S",
    "abn": "ABN",
    "drgst-do": "DR-GST_do",
    "drgst-de": "DR-GST_de",
}


def main() -> None:
    """Print the table in Markdown."""
    runs = pd.read_csv(HERE / "results" / "runs.csv")
    runs = runs[runs["variant"].fillna("").eq("") & runs["error"].isna()]
    paper = pd.read_csv(HERE / "src" / "drgst" / "report" / "data" / "table_main.csv")
    known = {
        (row.method, row.dataset.lower(), row.labels_per_class): row.accuracy_percent for row in paper.itertuples()
    }
    cells = sorted({(d, k) for d, k in zip(runs["dataset"], runs["per_class"], strict=True)})
    print("| recipe | " + " | ".join(f"{d.capitalize()}, {k}" for d, k in cells) + " |")
    print("|:--|" + "--:|" * len(cells))
    for recipe in sorted(set(runs["recipe"]), key=lambda name: (name.startswith("drgst"), name not in NETWORKS, name)):
        row = []
        for dataset, count in cells:
            ours = runs[(runs.recipe == recipe) & (runs.dataset == dataset) & (runs.per_class == count)][
                "test_accuracy"
            ]
            theirs = known.get((PAPER_NAMES.get(recipe, ""), dataset, count))
            told = f"{100 * ours.mean():.1f} ± {100 * ours.std():.1f}" if len(ours) > 1 else ""
            told += f" ({theirs:.1f})" if told and theirs is not None else ""
            row.append(told)
        print(f"| `{recipe}` | " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
