"""From what was asked for to what will be done: data opened, split pseudo, settings resolved, all of it checked."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from drgst.errors import RunError, SettingError, unknown
from drgst.files import sha256
from drgst.graph.core import Graph
from drgst.graph.datasets.registry import DATASETS
from drgst.graph.default_split import default_split, draw_split
from drgst.graph.io.open import open_graph
from drgst.graph.io.split_files import load_split
from drgst.graph.split import Pool, Split
from drgst.nn.inputs import open_device
from drgst.recipes import find_recipe
from drgst.recipes.resolve import resolve
from drgst.runs.config import RunConfig, absolute
from drgst.runs.config_file import versions
from drgst.runs.fingerprint import data_fingerprint, known_fingerprint
from drgst.selftrain.learners.network import Problem
from drgst.selftrain.recipe import Recipe

DATA, RECIPE, PER_CLASS, SEED = "cora", "drgst-de", 3, 0  # what a run without a word is
VALIDATION = ("public", "none")  # the split's own, or no such labels at all
SMALL = 2_000_000  # entries of A and X below which a second thread costs more than it brings


@dataclass(frozen=True, eq=False)
class Plan:
    """A run, ready to start: ``config`` says all of it."""

    config: RunConfig
    graph: Graph  # with all labels: for the verdict after the run, never for the run
    problem: Problem  # what the run may know
    recipe: Recipe

    @property
    def split(self) -> Split:
        """Training, validation, test and pool nodes."""
        return self.problem.split


def with_defaults(asked: RunConfig) -> RunConfig:
    """``asked`` with its gaps filled: Cora, drgst-de, seed 0, and 3 labels a class on a data set of the paper."""
    data = absolute(asked.data or DATA)
    seed = SEED if asked.seed is None else asked.seed
    if seed < 0:
        raise SettingError(f"seed is {seed}, but must be 0 or above")
    if asked.validation not in (None, *VALIDATION):
        raise SettingError(unknown("validation", asked.validation, VALIDATION))
    drawn = asked.per_class
    if drawn is None and asked.split is None and data in DATASETS:
        drawn = PER_CLASS
    recipe = find_recipe(asked.recipe or RECIPE).name
    pool = asked.pool or ("unlabelled" if drawn is not None else None)
    validation = asked.validation or VALIDATION[0]
    return replace(asked, data=data, recipe=recipe, seed=seed, per_class=drawn, pool=pool, validation=validation)


def run_name(config: RunConfig) -> str:
    """A folder name for a run: ``cora-drgst-de-3-seed0``; a split of one's own has no label count.

    ``cora-drgst-plus-3-no-validation-seed0`` where validation labels are left out.
    """
    data, recipe = Path(str(config.data)).stem, str(config.recipe)
    method = Path(recipe).stem if recipe.endswith(".toml") else recipe
    blind = "no-validation" if config.validation == "none" else None
    return "-".join(str(p) for p in (data, method, config.per_class, blind, f"seed{config.seed}") if p is not None)


def make_plan(asked: RunConfig, opener: Callable[[str], Graph] = open_graph) -> Plan:
    """Open the data, choose the split, resolve the settings; refuse data or labels that an old config did not have."""
    asked = with_defaults(asked)
    own_recipe = _file_hash(str(asked.recipe))
    if asked.recipe_sha256 not in (None, own_recipe):
        raise RunError(f"the recipe file {asked.recipe} has changed since the config was written")
    graph = opener(str(asked.data))
    found = data_fingerprint(graph)
    if asked.data_sha256 not in (None, found):
        raise RunError(f"{asked.data} is not the graph that the config was written for: its contents have changed")
    split = _split(graph, asked)
    settings, recipe = resolve(str(asked.recipe), graph, split, asked.settings)
    open_device(settings.device)  # refuse one that is not there before a folder is made
    problem = Problem.of(graph, split, settings, int(asked.seed or 0))
    known = known_fingerprint(problem)
    if asked.known_sha256 not in (None, known):
        raise RunError(f"the labels or the split of {asked.data} are not those that the config was written for")
    config = replace(
        asked,
        threads=asked.threads or _threads(graph),
        recipe_sha256=own_recipe,
        data_sha256=found,
        known_sha256=known,
        settings=settings.model_dump(),
        versions=versions(),
    )
    return Plan(config, graph, problem, recipe)


def _file_hash(recipe: str) -> str | None:
    """Of a recipe that is a file; None for one that is part of drgst."""
    return sha256(recipe) if recipe.endswith(".toml") else None


def _split(graph: Graph, asked: RunConfig) -> Split:
    split = _whole_split(graph, asked)
    return split.without_validation() if asked.validation == "none" else split


def _whole_split(graph: Graph, asked: RunConfig) -> Split:
    pool = cast(Pool, asked.pool)
    if asked.per_class is not None:
        return draw_split(graph, asked.per_class, int(asked.seed or 0), pool)
    split = load_split(asked.split, graph) if asked.split else default_split(graph)
    return split if pool is None else split.with_pool(pool, graph.num_nodes)


def _threads(graph: Graph) -> int | None:
    """OMP_NUM_THREADS; else 1 for a small graph; else as many as torch likes (None)."""
    said = os.environ.get("OMP_NUM_THREADS", "")
    if said.isdigit() and int(said) > 0:
        return int(said)
    entries = graph.adjacency.nnz + (graph.features.nnz if hasattr(graph.features, "nnz") else graph.features.size)
    return 1 if entries < SMALL else None
