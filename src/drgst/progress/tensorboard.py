"""The log of a run for TensorBoard."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from drgst.extras import import_extra
from drgst.progress.metrics import MetricsCallback


class TensorBoard(MetricsCallback):
    """Scalars ``epoch/NAME`` by epoch of the run, ``stage/NAME`` by stage, ``end/NAME``; settings as text."""

    def __init__(self, folder: str | Path) -> None:
        super().__init__()
        self.folder = Path(folder)
        self.writer: Any = None
        import_extra("tensorboard", "tensorboard", "the log for TensorBoard")

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Open the event file; those of an earlier run in the same folder are removed."""
        from torch.utils.tensorboard import SummaryWriter

        for old in self.folder.glob("events.out.tfevents.*"):
            old.unlink()
        self.writer = SummaryWriter(str(self.folder))
        lines = [f"    {name} = {value}" for name, value in facts["settings"].items()]
        title = f"{facts['recipe']} on {facts['dataset']}, seed {facts['seed']}"
        self.writer.add_text("run", "\n".join([title, "", *lines]))

    def log(self, kind: str, step: int, values: Mapping[str, float]) -> None:
        """A scalar for each of ``values``."""
        for name, value in values.items():
            self.writer.add_scalar(f"{kind}/{name}", value, step)

    def close(self) -> None:
        """Write and close the event file."""
        if self.writer is not None:
            self.writer.close()
