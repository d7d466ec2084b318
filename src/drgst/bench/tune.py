"""Tuning: Optuna searches the settings of highest mean validation accuracy over draws."""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from drgst.bench.executors import Engine
from drgst.bench.expand import Expander
from drgst.bench.grid import Cell, Grid
from drgst.bench.space import Choice, Space, space_of
from drgst.bench.store import Store
from drgst.bench.task import ALGORITHM, Task, canonical
from drgst.errors import RunError, SettingError
from drgst.recipes.resolve import resolve

WARM = 2  # draws that every trial gets before it may be pruned
STARTUP = 5  # trials before any is pruned


@dataclass(frozen=True)
class Tuned:
    """What came out: ``settings`` over the recipe's own, with their mean validation accuracy and that of its own."""

    study: str
    settings: dict[str, Any]
    value: float
    usual: float | None
    trials: int
    pruned: int


@dataclass
class _Trial:
    """A trial at work: one draw after the other, so that it may be pruned between them."""

    trial: Any
    tasks: list[Task]
    values: list[float]


OnTrial = Callable[[int, str, float | None, dict[str, Any]], None]  # number, state, value, settings


class Tuner:
    """One cell of a grid, one space, one study in the store's file; asked again, it goes on."""

    def __init__(self, grid: Grid, space: str, store: Store, seed: int = 0) -> None:
        self.grid, self.seed = grid, seed
        (self.cell,) = tuple(grid.cells())
        self.expander = Expander(grid)
        self.expander.check()
        self.tasks = self.expander.tasks(self.cell)
        self.space = self._space(space)
        self.name = study_name(self.cell, space, self.tasks)
        self.study = self._open(store)

    def run(self, trials: int, engine: Engine, told: OnTrial | None = None) -> Tuned:
        """Go on until ``trials`` trials have ended, pruned ones included."""
        active: dict[str, _Trial] = {}
        try:
            while active or self._ended() < trials:
                while len(active) < engine.slots and self._ended() + len(active) < trials:
                    self._begin(engine, active)
                for task, row in engine.wait(0.5):
                    self._step(engine, active, task, row, told)
        finally:
            engine.close()
        return self._result()

    def _begin(self, engine: Engine, active: dict[str, _Trial]) -> None:
        trial = self.study.ask()
        trial.set_user_attr("owner", f"{socket.gethostname()} {os.getpid()}")
        changes = {**self.grid.changes, **{name: _suggest(trial, name, s) for name, s in self.space.items()}}
        tasks = [replace(t, settings=self._settings(t, changes), variant=f"trial {trial.number}") for t in self.tasks]
        active[tasks[0].variant] = _Trial(trial, tasks, [])
        engine.submit(tasks[0])

    def _step(
        self, engine: Engine, active: dict[str, _Trial], task: Task, row: dict[str, Any], told: OnTrial | None
    ) -> None:
        """A draw of a trial has ended: next draw, or the end of the trial."""
        from optuna.trial import TrialState

        here = active[task.variant]
        state = None
        if row["error"] is not None:
            here.trial.set_user_attr("error", row["error"])
            state = TrialState.FAIL
        else:
            here.values.append(row["val_accuracy"])
            here.trial.report(_mean(here.values), len(here.values))
            if len(here.values) == len(here.tasks):
                state = TrialState.COMPLETE
            elif here.trial.should_prune():
                state = TrialState.PRUNED
        if state is None:
            engine.submit(here.tasks[len(here.values)])
            return
        value = _mean(here.values) if here.values else None
        self.study.tell(here.trial, value if state == TrialState.COMPLETE else None, state=state)
        del active[task.variant]
        if told:
            told(here.trial.number, state.name.lower(), value, dict(here.trial.params))

    def _settings(self, task: Task, changes: dict[str, Any]) -> dict[str, Any]:
        split, _ = self.expander.split(self.cell.source, self.cell.per_class, task.draw)
        settings, _ = resolve(self.cell.recipe, self.expander.graph(self.cell.source), split, changes)
        return settings.model_dump()

    def _space(self, name: str) -> Space:
        graph = self.expander.graph(self.cell.source)
        split, _ = self.expander.split(self.cell.source, self.cell.per_class, 0)
        if not split.val.size:
            raise SettingError("tuning looks at validation nodes, and the split has none")
        _, recipe = resolve(self.cell.recipe, graph, split, self.grid.changes)
        space = space_of(name, graph.name, recipe)
        return {key: value for key, value in space.items() if key not in self.grid.changes}

    def _open(self, store: Store) -> Any:
        optuna = import_optuna()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        url = f"sqlite:///{store.path.absolute()}"
        storage = optuna.storages.RDBStorage(url, engine_kwargs={"connect_args": {"timeout": 60}})
        pruner = optuna.pruners.MedianPruner(n_startup_trials=STARTUP, n_warmup_steps=WARM)
        study = optuna.create_study(
            storage=storage, pruner=pruner, study_name=self.name, direction="maximize", load_if_exists=True
        )
        # other numbers after a pause than before it, else the sampler would begin with the same trials
        study.sampler = optuna.samplers.TPESampler(seed=self.seed + len(study.trials), n_startup_trials=10)
        if not study.trials:
            study.enqueue_trial(self._usual())
        _reap(study)
        return study

    def _usual(self) -> dict[str, Any]:
        """The recipe's own settings as the first trial, so that the result is never worse by validation."""
        own = self.tasks[0].settings
        inside = {k: _nearest(own[k], s.values) if isinstance(s, Choice) else own[k] for k, s in self.space.items()}
        return {
            k: v if isinstance(s := self.space[k], Choice) else min(max(v, s.low), s.high) for k, v in inside.items()
        }

    def _ended(self) -> int:
        from optuna.trial import TrialState

        return sum(t.state in (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL) for t in self._trials())

    def _trials(self) -> list[Any]:
        """All but those that a killed tuning has left."""
        return [t for t in self.study.get_trials(deepcopy=False) if "reaped" not in t.user_attrs]

    def _result(self) -> Tuned:
        from optuna.trial import TrialState

        trials = self._trials()
        complete = [t for t in trials if t.state == TrialState.COMPLETE]
        if not complete:
            errors = [t.user_attrs["error"] for t in trials if "error" in t.user_attrs]
            raise RunError(f"no trial came to its end: {errors[0] if errors else 'none was run'}")
        best = max(complete, key=lambda t: (t.value, -t.number))
        pruned = sum(t.state == TrialState.PRUNED for t in trials)
        usual = complete[0].value if complete[0].number == 0 else None
        return Tuned(self.name, {**self.grid.changes, **best.params}, best.value, usual, len(trials), pruned)


def study_name(cell: Cell, space: str, tasks: list[Task]) -> str:
    """``cora-3-drgst-de-paper-1f2e…``: the same question has the same name."""
    told = [ALGORITHM, space, [task.key for task in tasks]]
    return f"{tasks[0].dataset}-{cell.per_class}-{cell.recipe}-{space}-{_short(canonical(told))}"


def import_optuna() -> Any:
    """Optuna, or a word on how to get it."""
    try:
        import optuna
    except ImportError:
        raise SettingError("tuning needs Optuna, which is not installed: pip install 'drgst[tune]'") from None
    return optuna


def _suggest(trial: Any, name: str, what: Any) -> Any:
    if isinstance(what, Choice):
        return trial.suggest_categorical(name, list(what.values))
    if what.whole:
        return trial.suggest_int(name, int(what.low), int(what.high), log=what.log)
    return trial.suggest_float(name, what.low, what.high, log=what.log)


def _reap(study: Any) -> None:
    """Trials of a tuning on this machine that is no more are closed, and tried again."""
    from optuna.trial import TrialState

    for trial in study.get_trials(states=(TrialState.RUNNING,)):
        host, _, pid = str(trial.user_attrs.get("owner", "")).partition(" ")
        if host == socket.gethostname() and pid.isdigit() and not _lives(int(pid)):
            study._storage.set_trial_user_attr(trial._trial_id, "reaped", True)
            study.tell(trial.number, state=TrialState.FAIL)
            study.enqueue_trial(trial.params)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _nearest(value: Any, values: Any) -> Any:
    return min(values, key=lambda v: abs(v - value))


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
