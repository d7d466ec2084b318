"""From what the user asks for to a finished run in a folder: a new one, or an interrupted one that is resumed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from drgst.errors import RunError, SplitError, located
from drgst.runs.config import RunConfig
from drgst.runs.config_file import read_config
from drgst.runs.folder import GRAPH, RunFolder
from drgst.runs.result import Result
from drgst.runs.run import Opener, Run, load_result
from drgst.selftrain.callbacks import Callback

if TYPE_CHECKING:
    from drgst.runs.cluster import Cluster
    from drgst.tables.build import TableGraph

Announce = Callable[[Run, RunFolder], Callback | None]  # called before training; gives the callback of the run
_log = logging.getLogger("drgst")


@dataclass(frozen=True)
class RunRequest:
    """A run as the user asks for it: values that are given, a config file, a folder, and what to do with an old run."""

    given: RunConfig
    file: Path | None = None
    out: Path | None = None  # default: runs/NAME
    resume: bool = False
    force: bool = False
    cluster: Cluster | None = None
    tables: TableGraph | None = None  # the graph of these, which the folder keeps with their schema

    def execute(self, opener: Opener, announce: Announce) -> Result:
        """Make the run, or resume it; nothing is trained where it is finished already."""
        if self.given.split is not None and not Path(self.given.split).is_file():
            raise SplitError(f"there is no split file {self.given.split}")
        with self._located():
            wanted = self.given if self.file is None else read_config(self.file).updated(self.given)
            folder = RunFolder(self.out or Path("runs") / wanted.with_defaults().run_name())
        folder.check_free(self.resume, self.force)
        if self.resume and folder.exists:
            wanted = resumed(folder, wanted if self.file else self.given)
            if folder.finished:
                return load_result(folder.path, opener)
        elif self.resume:
            self._warn_of_new_run(folder)
        with folder.locked():
            folder.check_free(self.resume, self.force)  # another run may have begun here since the first check
            run = self._run(wanted, folder, opener)
            callback = announce(run, folder)
            if self.cluster is None:
                return run.execute(callback, folder, self.resume)
            self.cluster.execute(run, folder, self.resume)
            return load_result(folder.path, opener)

    def _run(self, config: RunConfig, folder: RunFolder, opener: Opener) -> Run:
        if self.tables is not None:
            graph, data = self.tables.graph, str((folder / GRAPH).absolute())
            return replace(Run.from_config(replace(config, data=data), lambda _: graph), tables=self.tables)
        with self._located():
            return Run.from_config(config, opener)

    def _located(self) -> AbstractContextManager[None]:
        return located(self.file) if self.file else nullcontext()

    def _warn_of_new_run(self, folder: RunFolder) -> None:
        """Nothing can be resumed. Refused where no graph is named, since the default graph is not what was meant."""
        if self.given.data is None and self.file is None:
            raise RunError(
                f"there is no run in {folder} to resume; name its folder with --out, or a graph to start a run"
            )
        _log.warning("there is no run in %s to resume: a new one is started", folder)


def resumed(folder: RunFolder, given: RunConfig) -> RunConfig:
    """The config of the interrupted run in ``folder``; values of ``given`` that contradict it are refused."""
    config = folder.config()
    conflict = config.conflict(given)
    if conflict is not None:
        raise RunError(f"the run in {folder} has {conflict}; resume it without that option, or use another --out")
    if given.threads not in (None, config.threads):
        _log.warning(
            "the run in %s was started with %s threads and continues with them, so that its result is the same; "
            "--threads %s is not used",
            *(folder, config.threads, given.threads),
        )
    split = given.split if given.split != config.split else None
    return replace(config, split=split or config.split, per_class=None if split else config.per_class)
