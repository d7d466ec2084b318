"""What a page is made from: a run that has ended, read from its folder or handed over by an estimator."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from drgst.errors import RunError
from drgst.graph.core import Graph
from drgst.graph.io.open import open_graph
from drgst.runs.config import RunConfig
from drgst.runs.config_file import versions
from drgst.runs.folder import CONFIG, RunFolder, finished_run
from drgst.runs.plan import Plan, make_plan
from drgst.runs.result import Outcome
from drgst.runs.suggest import Suggested, suggest_nodes
from drgst.selftrain.engine import finish
from drgst.selftrain.history import History, Stage
from drgst.selftrain.learners.network import Problem
from drgst.selftrain.recipe import Recipe

SUGGESTED = 20  # nodes to label next that a page shows


@dataclass(frozen=True, eq=False)
class Told:
    """A run with the command that makes it again, and where its files are ("" for a run without a folder)."""

    outcome: Outcome
    again: str
    where: str = ""
    memory_mb: float | None = None

    @property
    def graph(self) -> Graph:
        """With all labels that are known: the run is over."""
        return self.outcome.plan.graph

    @property
    def history(self) -> History:
        """The stages."""
        return self.outcome.history

    @cached_property
    def result(self) -> Stage:
        """The stage whose network is the result."""
        return self.outcome.result

    @cached_property
    def suggested(self) -> Suggested:
        """What to label next; nothing where every node has a label."""
        candidates = self.outcome.arrays()["candidates"]
        if not candidates.size:
            return Suggested(candidates, np.empty(0), np.empty(0, np.int64), "information gain")
        p, seed = self.result.probabilities, int(self.outcome.plan.config.seed or 0)
        return suggest_nodes(self.result.embedding, self.result.all_gain, p, candidates, SUGGESTED, seed)


def run_told(path: str | Path, root: str | None = None, data: str | None = None) -> Told:
    """The finished run in the folder ``path``; ``data`` says where its graph is now, if it has moved."""
    folder = finished_run(path)
    summary, config = folder.summary(), folder.config()
    asked = config if data is None else replace(config, data=data)
    plan = make_plan(asked, lambda source: open_graph(source, root))
    plan = replace(plan, config=replace(plan.config, versions=config.versions))
    history = _history(folder, folder.history(plan.problem), summary)
    outcome = Outcome(plan, finish(plan.problem, plan.recipe, history))
    again = f"drgst run --config {shlex.quote(str(folder / CONFIG))} --out ANOTHER-FOLDER"
    return Told(outcome, again, str(folder), summary.get("peak_memory_mb"))


def fitted_told(problem: Problem, graph: Graph, recipe: Recipe, name: str, history: History, again: str) -> Told:
    """A run that was made in Python; ``graph`` has all labels, ``again`` is the expression that makes it again."""
    settings = problem.settings.model_dump()
    config = RunConfig(data=graph.name, recipe=name, seed=problem.seed, settings=settings, versions=versions())
    return Told(Outcome(Plan(config, graph, problem, recipe), history), again)


def _history(folder: RunFolder, history: History, summary: dict[str, Any]) -> History:
    """The whole history; a page of half a run would mislead."""
    if len(history) != summary.get("stages", -1) + 1:
        raise RunError(
            f"stage {len(history)} of the run in {folder} is missing or damaged; "
            f"make the run again with: drgst run --config {folder / CONFIG} --out ANOTHER-FOLDER"
        )
    return history.ended(str(summary.get("stop_reason", "")))
