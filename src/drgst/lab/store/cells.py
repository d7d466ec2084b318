"""From rows of a store to the draws that tables and figures show: one set of settings per cell."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from drgst.errors import SettingError, StoreError, unknown
from drgst.lab.store.export import readable_rows
from drgst.lab.store.schema import COLUMNS, Row, canonical
from drgst.lab.store.store import Store

CellName = tuple[str, int, str]  # data set, labels per class, recipe
CURVE, TRIAL = "label-curve", "trial"  # first words of the variants of rows that are not runs of a cell
READ = tuple(name for name in COLUMNS if name not in ("stage_rows", "versions"))


@dataclass(frozen=True)
class RunFilter:
    """Which runs a table is about.

    ``variant``: "default" for the recipe's own settings, "validation" for those of highest mean validation
    accuracy, or changed settings (``epochs=20,threshold=0.4``). A recipe that does not read one of the settings is
    shown with the others.
    """

    variant: str = "default"
    pool: str = "unlabelled"
    validation: str = "public"

    def __str__(self) -> str:
        return f"{self.variant or 'default'} / {self.pool} / {self.validation}"


def mean_and_std(values: Iterable[float | None]) -> tuple[float | None, float | None]:
    """m = Σ x / n and s = √(Σ (x - m)² / (n - 1)); None where there is no value, or only one for s."""
    known = [v for v in values if v is not None]
    n = len(known)
    if not n:
        return None, None
    mean = math.fsum(known) / n
    return mean, math.sqrt(math.fsum((x - mean) ** 2 for x in known) / (n - 1)) if n > 1 else None


@dataclass(frozen=True)
class Runs:
    """The draws of one cell, all with the same settings."""

    rows: tuple[Row, ...]

    @cached_property
    def newest(self) -> str:
        """When the last of them was made."""
        return max(row["created"] for row in self.rows)

    @property
    def one_split(self) -> bool:
        """Whether all draws have the same split, as those of the public split, and differ in the seed only."""
        return len({row["split_sha256"] for row in self.rows}) == 1 < len(self.rows)

    @property
    def trains_on_validation(self) -> bool:
        """Whether validation labels are training labels, too."""
        row = self.rows[0]
        return row["validation"] != "none" and _settings(row["settings"]).get("val_labels") == "train"

    def figure(self, name: str) -> dict[int, float]:
        """Draw -> figure, without draws that lack it."""
        return {row["draw"]: row[name] for row in self.rows if row[name] is not None}

    def mean(self, name: str) -> tuple[float | None, float | None]:
        """Mean and standard deviation of a figure over draws."""
        return mean_and_std(self.figure(name).values())


Cells = Mapping[CellName, Runs]


def stored_rows(path: Path, columns: Sequence[str] = READ) -> list[Row]:
    """All rows of a store, or of its export (.csv)."""
    if path.suffix == ".csv":
        return readable_rows(path)
    with Store(path) as store:
        return store.all_rows(columns)


def read_runs(path: Path) -> list[Row]:
    """The runs that did not fail of a store, or of its export (.csv)."""
    rows = stored_rows(path)
    if not rows:
        raise StoreError(f"{path} holds no runs yet; drgst lab bench --store {path} makes some")
    return [row for row in rows if row["error"] is None]


def grouped(rows: Iterable[Row]) -> dict[CellName, Runs]:
    """(data set, labels per class, recipe) -> its runs."""
    groups: dict[CellName, list[Row]] = {}
    for row in rows:
        groups.setdefault((row["dataset"], row["per_class"], row["recipe"]), []).append(row)
    return {cell: Runs(tuple(members)) for cell, members in groups.items()}


def runs_by_cell(rows: Iterable[Row], wanted: RunFilter) -> dict[CellName, Runs]:
    """(data set, labels per class, recipe) -> its runs that pass the filter; cells without one are left out."""
    rows = [row for row in rows if not row["variant"].startswith((CURVE, TRIAL))]
    known = frozenset(name for text in {row["settings"] for row in rows} for name in _settings(text))
    under = [row for row in rows if (row["pool"], row["validation"]) == (wanted.pool, wanted.validation)]
    found = {cell: _pick(_same_settings(runs.rows), wanted, known) for cell, runs in grouped(under).items()}
    return {cell: runs for cell, runs in found.items() if runs is not None}


def on_common_draws(cells: Mapping[CellName, Runs]) -> dict[CellName, Runs]:
    """The cells with those draws only that all recipes of a data set and number of labels have; none where none is."""
    draws: dict[tuple[str, int], set[int]] = {}
    for (dataset, per_class, _), runs in cells.items():
        own = {row["draw"] for row in runs.rows}
        draws[dataset, per_class] = draws.get((dataset, per_class), own) & own
    found = {
        cell: Runs(tuple(row for row in runs.rows if row["draw"] in draws[cell[:2]])) for cell, runs in cells.items()
    }
    return {cell: runs for cell, runs in found.items() if runs.rows}


def _same_settings(rows: Iterable[Row]) -> list[Runs]:
    """The runs of a cell, one group per set of settings, version of the recipe and version of the data."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        group = (row["variant"], row["recipe_version"], row["data_sha256"], canonical(_settings(row["settings"])))
        groups.setdefault(group, []).append(row)
    return [Runs(tuple(group)) for group in groups.values()]


def _pick(groups: list[Runs], wanted: RunFilter, known: frozenset[str]) -> Runs | None:
    """One of the groups that fit: by validation accuracy among those with most draws, else the newest."""
    if wanted.variant == "validation":
        most = max(len(runs.rows) for runs in groups)
        return max((g for g in groups if len(g.rows) == most), key=lambda g: (g.mean("val_accuracy")[0] or 0, g.newest))
    text = "" if wanted.variant == "default" else wanted.variant
    fitting = [runs for runs in groups if _has_variant(runs.rows[0], text, known)]
    return max(fitting, key=lambda runs: runs.newest, default=None)


def _has_variant(row: Row, text: str, known: frozenset[str]) -> bool:
    """Whether a run has the settings of ``text``, except those of ``known`` that its recipe does not read."""
    unread = known - _settings(row["settings"]).keys()
    return row["variant"] in (text, ",".join(part for part in text.split(",") if part.partition("=")[0] not in unread))


@cache  # few distinct texts occur in many rows
def _settings(text: str) -> dict[str, object]:
    return dict(json.loads(text))


def check_recipe(name: str, cells: Iterable[CellName], where: str = "in the store") -> None:
    """Refuse a recipe to compare with that has no run."""
    known = {recipe for _, _, recipe in cells}
    if name not in known:
        raise SettingError(unknown(f"recipe {where}", name, known))


def check_any(cells: Cells, rows: Iterable[Row], wanted: RunFilter) -> None:
    """Refuse a filter that no run passes, with what the store has."""
    if cells:
        return
    there = sorted({str(RunFilter(row["variant"], row["pool"], row["validation"])) for row in rows})
    more = f" and {len(there) - 5} more" if len(there) > 5 else ""
    raise StoreError(
        f"no run has these settings / pool / validation: {wanted}; the store has {'; '.join(there[:5]) or 'none'}{more}"
    )
