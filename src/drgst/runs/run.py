"""A plan carried out in its folder: begun, gone on with, and kept."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from drgst.files import write_text
from drgst.runs.folder import HISTORY, PREDICTIONS, SUMMARY, RunFolder
from drgst.runs.model import save_model_files
from drgst.runs.plan import Plan
from drgst.runs.result import Outcome
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.engine import self_train
from drgst.selftrain.history import History

_log = logging.getLogger("drgst")


class Checkpointer(Callback):
    """Writes each stage to the run folder when it ends, then tells ``inner``."""

    def __init__(self, folder: RunFolder, plan: Plan, inner: Callback) -> None:
        self.folder, self.plan, self.inner = folder, plan, inner
        self.training, self.epoch = inner.training, inner.epoch  # type: ignore[method-assign]

    def stage(self, history: History) -> None:
        """The stage itself, and the history so far for a person who looks in."""
        self.folder.save_stage(history)
        write_history(self.folder, Outcome(self.plan, history))
        self.inner.stage(history)


def execute_run(plan: Plan, folder: RunFolder, resume: bool = False, callback: Callback | None = None) -> Outcome:
    """Run ``plan`` and leave everything in ``folder``.

    With ``resume``, stages that are there are read instead of run, and the result has the same bits as that of an
    unbroken run. An interrupt leaves the folder so that it can be gone on with.
    """
    watcher = callback or Callback()
    history = History()
    if resume and folder.exists:
        folder.sweep()
        history = folder.history(plan.problem)
        _tell_versions(folder, plan)
    else:
        folder.start(plan)
    with threads(plan.config.threads):
        history = self_train(plan.problem, plan.recipe, Checkpointer(folder, plan, watcher), history)
    outcome = Outcome(plan, history)
    keep(folder, outcome)
    return outcome


def keep(folder: RunFolder, outcome: Outcome) -> None:
    """Write the results, the summary last."""
    write_history(folder, outcome)
    write_text(folder / PREDICTIONS, outcome.predictions_csv())
    seed, reason = int(outcome.plan.config.seed or 0), outcome.history.stop_reason
    save_model_files(folder.path, outcome.model(), outcome.arrays(), seed, reason)
    write_text(folder / SUMMARY, json.dumps(outcome.summary(), indent=2, allow_nan=False) + "\n")


def write_history(folder: RunFolder, outcome: Outcome) -> None:
    """``history.jsonl``: a line a stage."""
    write_text(folder / HISTORY, "".join(json.dumps(row, allow_nan=False) + "\n" for row in outcome.rows()))


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Let torch use ``count`` threads inside (None: as many as it likes), and as many as before afterwards."""
    before = torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _tell_versions(folder: RunFolder, plan: Plan) -> None:
    old, new = folder.config().versions, plan.config.versions
    other = [f"{name} {old.get(name)} is now {new[name]}" for name in new if old.get(name) != new[name]]
    if other:
        _log.warning("the run was begun with other versions (%s): its last bits may differ", "; ".join(other))
