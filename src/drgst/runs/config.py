"""What a run was asked for: one object behind the flags, the config file and the run folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from drgst.errors import SettingError
from drgst.runs.sources import absolute
from drgst.selftrain.settings import Settings


@dataclass(frozen=True)
class RunConfig:
    """One field a key of ``[run]``; None is "not said". A finished config says everything that applies."""

    data: str | None = None  # a data set's name, or the path of a graph
    recipe: str | None = None
    per_class: int | None = None  # draw so many training labels a class …
    split: str | None = None  # … or take the split in this file
    seed: int | None = None  # of the draw and of the training
    pool: str | None = None  # who may be pseudo-labelled
    validation: str | None = None  # "none": the split's validation labels are not shown to the run
    threads: int | None = None  # of torch; sums in another order have other last bits
    recipe_sha256: str | None = None  # of a recipe that is a file
    data_sha256: str | None = None
    known_sha256: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def overlaid(self, said: RunConfig) -> RunConfig:
        """This config with everything that ``said`` says; fingerprints that no longer hold are dropped."""
        if self.versions and said.recipe not in (None, self.recipe):
            raise SettingError(
                f"the config holds every setting of recipe {self.recipe!r}, which {said.recipe!r} would take over; "
                "run the other recipe without --config"
            )
        new = {k: v for k, v in said.keys().items() if v is not None}
        if said.recipe is not None:
            new |= {"recipe_sha256": None}
        if said.per_class is not None:
            new |= {"split": None}
        if said.split is not None:
            new |= {"per_class": None}
        if said.data is not None:
            new |= {"data_sha256": None, "known_sha256": None}
        if {"per_class", "split", "seed", "pool", "validation"} & new.keys():
            new |= {"known_sha256": None}
        return replace(self, **new, settings={**self.settings, **said.settings})

    def conflict(self, said: RunConfig) -> str | None:
        """The first thing that ``said`` says otherwise, in words, or None; a split file is compared elsewhere."""
        for key, value in said.keys().items():
            own = getattr(self, key)
            if key == "validation" and own is None:
                own = "public"  # older folders do not say it
            if key not in ("split", "threads") and value is not None and value != own:
                return f"{key} = {own!r}, not {value!r}"
        mine = Settings().updated(self.settings)
        wanted = mine.updated(said.settings)
        for key in said.settings:
            if getattr(mine, key) != getattr(wanted, key):
                return f"{key} = {getattr(mine, key)!r}, not {getattr(wanted, key)!r}"
        return None

    def keys(self) -> dict[str, Any]:
        """The values of ``[run]``."""
        return {k: getattr(self, k) for k in RUN_KEYS}


RUN_KEYS = tuple(f.name for f in fields(RunConfig) if f.name not in ("settings", "versions"))

__all__ = ["RUN_KEYS", "RunConfig", "absolute"]
