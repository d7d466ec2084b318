"""Tuning: Optuna searches the settings of highest mean validation accuracy over draws."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

from drgst.errors import RunError, SettingError, unknown
from drgst.extras import import_extra
from drgst.lab.grid.execute import Expander
from drgst.lab.grid.executors import Executor
from drgst.lab.grid.grid import Cell, Grid, Task
from drgst.lab.store import Store
from drgst.lab.store.schema import canonical
from drgst.recipes.registry import resolve

WARM = 2  # draws that every trial gets before it may be pruned
STARTUP = 5  # trials before any is pruned
SPACES = ("paper", "wide")
BETAS = (4 / 3, 1.0, 2 / 3, 1 / 2, 1 / 3, 1 / 4)
RATES = (0.1, 0.2, 0.3, 0.4, 0.5)
THRESHOLDS = {  # appendix of the paper
    "cora": tuple(round(0.40 + 0.05 * i, 2) for i in range(8)),
    "citeseer": tuple(round(0.40 + 0.05 * i, 2) for i in range(8)),
    "pubmed": tuple(round(0.60 + 0.05 * i, 2) for i in range(7)),
    "corafull": tuple(round(0.60 + 0.05 * i, 2) for i in range(7)),
    "flickr": tuple(round(0.75 + 0.03 * i, 2) for i in range(8)),
}
OTHERS = tuple(round(0.40 + 0.05 * i, 2) for i in range(11))  # a graph that is not in the paper


Space = dict[str, Any]  # setting -> Optuna's distribution


def space_of(name: str, dataset: str, read: Collection[str], requires: Collection[str]) -> Space:
    """The space ``paper`` or ``wide`` for a recipe: the settings that it reads, the drop rate only where it uses gain.

    ``paper``: τ, β and drop rate as in the appendix, τ by data set. ``wide``: the same as ranges, and the settings of
    the network.
    """
    if name not in SPACES:
        raise SettingError(unknown("space", name, SPACES))
    space = _paper(dataset) if name == "paper" else _wide()
    unused = set() if "gain" in requires else {"drop_rate"}
    found = {key: value for key, value in space.items() if key in read and key not in unused}
    if not found:
        raise SettingError("the paper's grid has nothing for a recipe without threshold or gain; take --space wide")
    return found


def _paper(dataset: str) -> Space:
    from optuna.distributions import CategoricalDistribution as Choice

    return {"threshold": Choice(THRESHOLDS.get(dataset, OTHERS)), "beta": Choice(BETAS), "drop_rate": Choice(RATES)}


def _wide() -> Space:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    return {
        "threshold": FloatDistribution(0.2, 0.98),
        "beta": FloatDistribution(0.1, 4.0, log=True),
        "drop_rate": FloatDistribution(0.05, 0.7),
        "stages": IntDistribution(1, 10),
        "lr": FloatDistribution(1e-3, 0.1, log=True),
        "weight_decay": FloatDistribution(1e-6, 1e-2, log=True),
        "dropout": FloatDistribution(0.0, 0.9),
        "hidden": CategoricalDistribution((16, 32, 64, 128)),
    }


@dataclass(frozen=True)
class Tuned:
    """The best ``settings``, their mean validation accuracy, and that of the recipe's own settings."""

    study: str
    settings: dict[str, Any]
    value: float
    default_value: float | None
    trials: int
    pruned: int


@dataclass
class _Trial:
    """A trial: one draw after another, so that it may be pruned between them."""

    trial: Any
    tasks: list[Task]
    values: list[float] = field(default_factory=list)

    def record(self, row: dict[str, Any]) -> str | None:
        """Record the row of a draw. Return the state in which the trial ends, or None if it continues."""
        if row["error"] is not None:
            self.trial.set_user_attr("error", row["error"])
            return "FAIL"
        self.values.append(row["val_accuracy"])
        self.trial.report(_mean(self.values), len(self.values))
        if len(self.values) == len(self.tasks):
            return "COMPLETE"
        return "PRUNED" if self.trial.should_prune() else None


OnTrial = Callable[[int, str, float | None, dict[str, Any]], None]  # number, state, value, settings


class Tuner:
    """One cell of a grid, one space, one study in the file of the store; the same tuner continues its study."""

    def __init__(self, grid: Grid, space: str, store: Store, seed: int = 0) -> None:
        self.optuna = import_extra("optuna", "lab", "tuning")
        self.grid, self.seed = grid, seed
        (self.cell,) = tuple(grid.cells())
        self.expander = Expander(grid)
        self.expander.check()
        self.tasks = self.expander.tasks(self.cell)
        self.space = self._space(space)
        self.name = study_name(self.cell, space, self.tasks)
        self.study = self._open(store)

    def run(self, trials: int, executor: Executor, on_trial: OnTrial | None = None) -> Tuned:
        """Continue until ``trials`` trials have ended, pruned ones included."""
        active: dict[str, _Trial] = {}
        while active or self._ended() < trials:
            while len(active) < executor.slots and self._ended() + len(active) < trials:
                begun = self._begin()
                active[begun.tasks[0].variant] = begun
                executor.submit(begun.tasks[0])
            for task, row in executor.wait(0.5):
                here = active[task.variant]
                state = here.record(row)
                if state is None:
                    executor.submit(here.tasks[len(here.values)])
                    continue
                del active[task.variant]
                value = _mean(here.values) if here.values else None
                ended = self.optuna.trial.TrialState[state]
                self.study.tell(here.trial, value if state == "COMPLETE" else None, state=ended)
                if on_trial:
                    on_trial(here.trial.number, state.lower(), value, dict(here.trial.params))
        return self._result()

    def _begin(self) -> _Trial:
        trial = self.study.ask(self.space)
        changes = {**self.grid.changes, **trial.params}
        tasks = [replace(t, settings=self._settings(t, changes), variant=f"trial {trial.number}") for t in self.tasks]
        return _Trial(trial, tasks)

    def _settings(self, task: Task, changes: dict[str, Any]) -> dict[str, Any]:
        split, _ = self.expander.split(self.cell.source, self.cell.per_class, task.draw)
        settings, _ = resolve(self.cell.recipe, self.expander.graph(self.cell.source), split, changes)
        return settings.as_dict()

    def _space(self, name: str) -> Space:
        graph = self.expander.graph(self.cell.source)
        split, _ = self.expander.split(self.cell.source, self.cell.per_class, 0)
        if not split.val.size:
            raise SettingError("tuning needs validation nodes, and the split has none")
        settings, recipe = resolve(self.cell.recipe, graph, split, self.grid.changes)
        space = space_of(name, graph.name, settings.names, recipe.requires)
        return {key: value for key, value in space.items() if key not in self.grid.changes}

    def _open(self, store: Store) -> Any:
        optuna = self.optuna
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        store.make_file()  # first, so that Optuna's tables are added to a store
        url = f"sqlite:///{store.path.absolute()}"
        storage = optuna.storages.RDBStorage(url, engine_kwargs={"connect_args": {"timeout": 60}})
        pruner = optuna.pruners.MedianPruner(n_startup_trials=STARTUP, n_warmup_steps=WARM)
        study = optuna.create_study(
            storage=storage, pruner=pruner, study_name=self.name, direction="maximize", load_if_exists=True
        )
        # other numbers after a pause than before it, else the sampler would begin with the same trials
        study.sampler = optuna.samplers.TPESampler(seed=self.seed + len(study.trials), n_startup_trials=10)
        if not any(trial.state.is_finished() for trial in study.trials):
            # the recipe's own settings first, so that the result is never worse by validation
            own = self.tasks[0].settings
            study.enqueue_trial({name: _nearest(own[name], allowed) for name, allowed in self.space.items()})
        return study

    def _ended(self) -> int:
        return len(self._trials())

    def _trials(self) -> list[Any]:
        """The trials that have ended; one that a killed tuning has left never does."""
        return [t for t in self.study.get_trials(deepcopy=False) if t.state.is_finished()]

    def _result(self) -> Tuned:
        trials = self._trials()
        complete = [t for t in trials if t.state.name == "COMPLETE"]
        if not complete:
            errors = [t.user_attrs["error"] for t in trials if "error" in t.user_attrs]
            raise RunError(f"no trial was completed: {errors[0] if errors else 'none was run'}")
        best = max(complete, key=lambda t: (t.value, -t.number))
        pruned = sum(t.state.name == "PRUNED" for t in trials)
        default = complete[0].value if complete[0].number == 0 else None
        return Tuned(self.name, {**self.grid.changes, **best.params}, best.value, default, len(trials), pruned)


def study_name(cell: Cell, space: str, tasks: list[Task]) -> str:
    """``cora-3-drgst-de-paper-1f2e…``: the same search has the same name."""
    content = canonical([space, [task.key for task in tasks]])
    short = hashlib.sha256(content.encode()).hexdigest()[:8]
    return f"{tasks[0].dataset}-{cell.per_class}-{cell.recipe}-{space}-{short}"


def _nearest(value: Any, allowed: Any) -> Any:
    """The allowed value that is nearest to ``value``."""
    if hasattr(allowed, "choices"):
        return min(allowed.choices, key=lambda v: abs(v - value))
    return min(max(value, allowed.low), allowed.high)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
