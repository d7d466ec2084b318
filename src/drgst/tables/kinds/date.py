"""Columns of dates and times."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, field_validator

from drgst.tables.cells import Cells
from drgst.tables.kinds.base import LEAST_SHARE, Column, Detected, Text
from drgst.tables.kinds.number import Scores

ISO = "ISO 8601"
_DAYS = (  # an ambiguous column is read in the first format that fits
    *("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%d %b %Y", "%b %d, %Y", "%d %B %Y"),
    *("%B %d, %Y", "%d/%m/%y", "%m/%d/%y", "%d.%m.%y"),
)
_TIMES = ("", " %H:%M:%S", " %H:%M", "T%H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
FORMATS = (ISO, *(day + time for day in _DAYS for time in _TIMES))
_FIELDS = {"%Y": r"\d{4}", "%b": "[[:alpha:]]{3}", "%B": "[[:alpha:]]+", "%p": "[AaPp][Mm]", " ": r"\s+", ".": r"\."}
_PATTERNS = (
    {  # what a text in the format must look like: much faster to test than the text is to parse
        form: "^"
        + re.sub(r"%?.", lambda part: _FIELDS.get(part[0], r"\d{1,2}" if part[0][0] == "%" else part[0]), form)
        + "$"
        for form in FORMATS[1:]
    }
    | {ISO: r"^\d{4}-?(\d{2}-?\d{2}|W\d{2}(-?\d)?)([^\d-].*)?$"}
)
_ANY = r"^(\d{1,2}[-/. ]|\d{4}|[[:alpha:]]{3,9}\s+\d)"  # how a date of any format begins
_SAMPLE = 300  # texts by which the format of dates is found
_EPOCH, _EPOCH_UTC, _DAY = datetime(1970, 1, 1), datetime(1970, 1, 1, tzinfo=UTC), timedelta(days=1)
ROUNDING = 0.01  # days that a date may lose as the float32 score of its day
Cycle = Literal["week", "year", "day"]
_PERIODS: dict[Cycle, float] = {"week": 7.0, "year": 365.2425, "day": 1.0}  # in days


class DateColumn(Column):
    """The normal score of the day, and sine and cosine of the time of week, year and day where it varies."""

    wanted = "a date"

    kind: Literal["date"] = "date"
    form: Text
    scale: Scores
    cycles: tuple[Cycle, ...] = Field(max_length=3)

    @field_validator("form")
    @classmethod
    def _check(cls, form: str) -> str:
        if form not in FORMATS:
            raise ValueError("the format of dates is unknown")
        return form

    @classmethod
    def detect(cls, name: str, cells: Cells) -> Detected | None:
        """At least 95 % of a sample of the texts are dates in one format."""
        formats = date_formats(cells, LEAST_SHARE)
        return Detected(note=_ambiguous(formats)) if formats else None

    @classmethod
    def fit(cls, column: str, cells: Cells) -> DateColumn:
        form = (date_formats(cells, 0.5) or [ISO])[0]
        x = cells.spread(dates(cells, form), np.nan)
        known = x[np.isfinite(x)]
        span = np.ptp(known) if known.size else 0.0
        varies = {"week": span > 1, "year": span > 60, "day": bool((known % 1 != 0).any())}
        cycles = tuple(cycle for cycle in _PERIODS if varies[cycle])
        return cls(column=column, flag=bool(np.isnan(x).any()), form=form, scale=Scores.fit(x), cycles=cycles)

    @classmethod
    def bad(cls, cells: Cells, name: str = "") -> np.ndarray:
        formats = date_formats(cells, 0.5)
        return np.isnan(dates(cells, formats[0])) if formats else np.ones(len(cells.values), dtype=bool)

    def names(self) -> list[str]:
        parts = [f"{self.column}: time of {cycle}, {wave}" for cycle in self.cycles for wave in ("sine", "cosine")]
        return [f"{self.column}: day", *parts]

    def block(self, cells: Cells) -> tuple[Any, np.ndarray, list[str]]:
        found = dates(cells, self.form)
        x = cells.spread(found, np.nan)
        missing = np.isnan(x)
        columns = [self.scale.transform(x)]
        for cycle in self.cycles:
            turn = 2 * np.pi * np.where(missing, 0.0, x) / _PERIODS[cycle]
            columns += [np.where(missing, 0.0, np.sin(turn)), np.where(missing, 0.0, np.cos(turn))]
        return np.column_stack(columns).astype(np.float32), missing, self.unread(cells, np.isnan(found))

    def show(self, x: np.ndarray, usual: np.ndarray) -> str:
        days = (self.scale.inverse(z) + ROUNDING for z in (x[0], usual[0]))
        day, typical = (date(1970, 1, 1) + timedelta(days=value) for value in days)
        return f"{day} (class average {typical})"


def dates(cells: Cells, form: str) -> np.ndarray:
    """The distinct texts as days since 1970 (UTC), (V,); NaN where a text is not a date in the format ``form``."""
    return cells.parsed(("date", form), lambda values: _parse(values, form))


def date_formats(cells: Cells, least: float) -> list[str]:
    """The formats in which at least the share ``least`` of a sample of the texts are dates, best first."""
    shares = cells.parsed("date formats", _shares)
    if shares.get(ISO, 0) >= least:
        return [ISO]
    return sorted((form for form in shares if shares[form] >= least), key=lambda form: -shares[form])


def _shares(values: Any) -> dict[str, float]:
    """Format -> the share of a sample of the texts that are dates in it."""
    if not len(values):
        return {}
    sample = values.take(pa.array(np.unique(np.linspace(0, len(values) - 1, _SAMPLE, dtype=np.int64))))
    likely = sample.filter(pc.match_substring_regex(sample, _ANY))
    if 2 * len(likely) < len(sample):
        return {}
    texts = {form: likely.filter(pc.match_substring_regex(likely, pattern)) for form, pattern in _PATTERNS.items()}
    found = {form: np.isfinite(_parse(some, form)).sum() / len(sample) for form, some in texts.items() if len(some)}
    return {form: float(found[form]) for form in FORMATS if found.get(form)}


def _parse(values: Any, form: str) -> np.ndarray:
    fits = pc.match_substring_regex(values, _PATTERNS[form]).to_numpy(zero_copy_only=False)
    read = datetime.fromisoformat if form == ISO else lambda text: datetime.strptime(text, form)
    found = np.full(len(values), np.nan)
    for k, text in zip(np.flatnonzero(fits).tolist(), values.filter(pa.array(fits)).to_pylist(), strict=True):
        try:
            moment = read(text)
        except (ValueError, OverflowError):
            continue
        start = _EPOCH if moment.tzinfo is None else _EPOCH_UTC
        found[k] = (moment - start) / _DAY
    return found


def _ambiguous(formats: list[str]) -> str:
    swapped = {form.replace("%m", "%x").replace("%d", "%m").replace("%x", "%d") for form in formats}
    other = [form for form in formats[1:] if form in swapped and "%d" in form and "%m" in form]
    return f"its dates fit {formats[0]} and {other[0]}; the first was taken" if other else ""
