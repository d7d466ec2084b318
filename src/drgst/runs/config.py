"""The description of a run: one object behind the command line, the config file and the run folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from drgst.datasets.registry import DATASETS, data_source
from drgst.errors import SettingError, unknown
from drgst.graph.core import Graph
from drgst.graph.split import Pool, Split, default_split, draw_split, validated_split
from drgst.io.split_files import load_split
from drgst.recipes import find_recipe
from drgst.runs.added_labels import AddedLabel, add_labels, read_added
from drgst.selftrain.settings import Settings

DATA, PER_CLASS = "cora", 3
PAPERS_RECIPE, OWN_RECIPE = "drgst-de", "drgst-plus"  # the defaults on the paper's data sets and on other graphs
VALIDATIONS = ("public", "none")  # or a number of labels per class
MOST_THREADS = 1024


@dataclass(frozen=True)
class RunConfig:
    """One field per key of ``[run]``; None means not given. The config of a started run is complete."""

    data: str | None = None  # name of a data set, or path of a graph
    recipe: str | None = None
    per_class: int | None = None  # training labels to draw per class …
    split: str | None = None  # … or a split file
    add_labels: str | None = None  # CSV files of further labels, one path per line
    seed: int | None = None  # of the draw and of the training
    pool: str | None = None  # the nodes that may be pseudo-labelled
    validation: str | None = None  # "none": hidden from the run; "30": drawn, 30 labels per class
    threads: int | None = None  # of torch; another number changes the last bits
    labels: str | None = None  # of a graph file: the path of a table, or a node attribute
    recipe_sha256: str | None = None  # of a recipe file
    data_sha256: str | None = None
    known_sha256: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.per_class is not None and self.split is not None:
            raise SettingError("per_class and split are both given; only one of them can define the training nodes")
        if self.threads is not None and not 1 <= self.threads <= MOST_THREADS:
            raise SettingError(f"threads is {self.threads} (allowed: whole numbers from 1 to {MOST_THREADS:,})")
        for key in ("data", "labels", "recipe", "split", "pool", "add_labels"):
            if getattr(self, key) == "":
                raise SettingError(f"{key} is empty; leave it out for the default")
        if self.validation not in (None, *VALIDATIONS) and not self.drawn_validation:
            raise SettingError(
                unknown("validation", str(self.validation), (*VALIDATIONS, "a number of labels per class"))
            )
        if self.drawn_validation and self.split is not None:
            raise SettingError("validation is a number of labels per class, but the split is given; use public or none")

    def updated(self, other: RunConfig) -> RunConfig:
        """This config with every value that ``other`` gives, without the values that no longer apply."""
        if self.versions and other.recipe not in (None, self.recipe):
            raise SettingError(
                f"the config holds every setting of recipe {self.recipe!r}, which {other.recipe!r} would inherit; "
                "run the other recipe without --config"
            )
        new = {k: v for k, v in other.keys().items() if v is not None}
        if self.add_labels and other.add_labels:
            new["add_labels"] = f"{self.add_labels}\n{other.add_labels}"  # the earlier labels stay
        new |= {old: None for key in new for old in OUTDATES.get(key, ())}
        return replace(self, **new, settings={**self.settings, **other.settings})

    def conflict(self, other: RunConfig) -> str | None:
        """The first value of ``other`` that differs, in words, or None; split files are compared by their content."""
        for key, value in other.keys().items():
            mine = getattr(self, key) or ("public" if key == "validation" else getattr(self, key))
            if key not in ("split", "add_labels", "threads") and value not in (None, mine):
                return f"{key} = {mine!r}, not {value!r}"
        settings = Settings().updated(self.settings)
        wanted = settings.updated(other.settings)
        for key in other.settings:
            if getattr(settings, key) != getattr(wanted, key):
                return f"{key} = {getattr(settings, key)!r}, not {getattr(wanted, key)!r}"
        return None

    def with_defaults(self) -> RunConfig:
        """Missing values filled in: Cora, its default recipe, seed 0, and 3 labels per class on the paper's data."""
        data = data_source(self.data or DATA)
        seed = self.seed or 0
        if seed < 0:
            raise SettingError(f"seed is {seed}, but must be 0 or above")
        drawn = self.per_class
        if drawn is None and self.split is None and data in DATASETS:
            drawn = PER_CLASS
        spec = find_recipe(self.recipe or default_recipe(data))
        spec.settings(self.settings)  # a setting that the recipe does not read is refused before the data is opened
        pool = self.pool or ("unlabelled" if drawn is not None else None)
        validation = self.validation or VALIDATIONS[0]
        return replace(self, data=data, recipe=spec.name, seed=seed, per_class=drawn, pool=pool, validation=validation)

    def make_split(self, graph: Graph) -> Split:
        """``per_class`` drawn training labels per class, the split file, or the split that came with ``graph``.

        The draw of the paper's protocol: on its data sets the training labels are drawn from the 20 public ones per
        class with ``seed``; validation and test nodes are the public ones. ``validation="none"`` moves the validation
        nodes to the pool and hides their labels. With a number as ``validation``, so many validation labels per class
        are drawn with the training labels from all labelled nodes, and all others are test nodes.
        """
        pool = cast(Pool, self.pool)
        if self.drawn_validation:
            if self.per_class is None:
                raise SettingError("validation is a number of labels per class; give per_class, too")
            return validated_split(graph, self.per_class, self.drawn_validation, self.seed or 0, pool or "unlabelled")
        if self.per_class is not None:
            split = draw_split(graph, self.per_class, self.seed or 0, pool or "unlabelled")
        else:
            # a node or class of the file may get its first label from ``add_labels``: the run checks the split later
            split = load_split(self.split, graph, not self.add_labels) if self.split else default_split(graph)
            split = split if pool is None else split.with_pool(pool, graph.num_nodes)
        return split.without_validation() if self.validation == "none" else split

    @property
    def drawn_validation(self) -> int:
        """The validation labels per class that are drawn; 0 where the data set's are used, or none."""
        text = self.validation or ""
        return int(text) if text.isascii() and text.isdigit() else 0

    def labelled(self, graph: Graph, split: Split | None = None) -> tuple[Graph, Split, np.ndarray | None]:
        """``graph`` with the added labels, the split with their nodes as training nodes, and which are a sample, (N,).

        The last is None where all labels are a sample. ``split`` is used instead of :meth:`make_split`.
        """
        split = self.make_split(graph) if split is None else split
        return add_labels(graph, split, self.added()) if self.add_labels else (graph, split, None)

    def added(self) -> list[AddedLabel]:
        """The labels of ``add_labels``."""
        return read_added(self.add_labels.splitlines()) if self.add_labels else []

    def added_classes(self) -> tuple[str, ...] | None:
        """The classes of the added labels, sorted; None without such labels."""
        return tuple(sorted({added.label for added in self.added()})) or None

    def run_name(self) -> str:
        """A folder name: ``cora-drgst-de-3-seed0``, or ``cora-drgst-plus-3-no-validation-seed0`` without validation.

        The name of a run on a given split has no number of labels.
        """
        data, recipe = Path(str(self.data)).stem, str(self.recipe)
        method = recipe.replace(":", "-")
        hidden = "no-validation" if self.validation == "none" else None
        if self.drawn_validation:
            hidden = f"{self.drawn_validation}-validation"
        return "-".join(str(p) for p in (data, method, self.per_class, hidden, f"seed{self.seed}") if p is not None)

    def keys(self) -> dict[str, Any]:
        """The values of ``[run]``."""
        return {k: getattr(self, k) for k in RUN_KEYS}


def default_recipe(data: str) -> str:
    """``drgst-de`` for a data set of the paper, ``drgst-plus`` for any other graph."""
    return PAPERS_RECIPE if data in DATASETS else OWN_RECIPE


def labels_source(labels: str, folder: Path | None = None) -> str:
    """The absolute path of a table with labels, or the name of a node attribute."""
    path = (folder or Path()) / labels
    return str(path.absolute()) if path.is_file() else labels


# key -> the keys whose values no longer apply when it changes
OUTDATES = {
    "recipe": ("recipe_sha256",),
    **dict.fromkeys(("data", "labels"), ("data_sha256", "known_sha256")),
    "per_class": ("split", "known_sha256"),
    "split": ("per_class", "known_sha256"),
    "add_labels": ("data_sha256", "known_sha256"),  # the classes of a graph without labels are those of the added ones
    **dict.fromkeys(("seed", "pool", "validation"), ("known_sha256",)),
}
RUN_KEYS = tuple(f.name for f in fields(RunConfig) if f.name not in ("settings", "versions"))
