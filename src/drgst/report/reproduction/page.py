"""The page of a reproduction: one HTML file that fetches nothing."""

from __future__ import annotations

import base64
import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from drgst import __version__
from drgst.report.claims.base import Claim
from drgst.report.explorer.html import stylesheet
from drgst.report.reproduction.scale import Scale
from drgst.report.table import Table

MARKS = {"held": "good", "not confirmed": "bad", "not is_numeric": "none"}


@dataclass(frozen=True)
class Picture:
    """A figure as PNG."""

    name: str
    summary: str
    png: bytes


def render(
    scale: Scale,
    claims: Sequence[Claim],
    tables: Mapping[str, Table],
    pictures: Sequence[Picture],
    runs: int,
    notes: Sequence[str],
) -> str:
    """The page. Its content security policy allows its own style and embedded pictures, and nothing else."""
    style = stylesheet("reproduction/page.css")
    held = sum(claim.verdict == "held" for claim in claims)
    parts = [
        f"<h1>Confidence May Cheat: {held} of {len(claims)} claims held</h1>",
        f"<p>{escape(_what(scale, runs))}</p>",
        _overview(claims),
        "<h2>Claims</h2>",
        *(_claim(number, claim) for number, claim in enumerate(claims, 1)),
        "<h2>Figures</h2>",
        '<div class="figures">',
        *(_picture(picture) for picture in pictures),
        "</div><h2>Tables</h2>",
        *(_table(table) for table in tables.values()),
        _notes(notes),
    ]
    return _document(style, "".join(parts))


def _what(scale: Scale, runs: int) -> str:
    few = " Few draws tell only large differences from chance." if scale.draws < 10 else ""
    return (
        f"Made by drgst {__version__} (Python {platform.python_version()}) with drgst reproduce --{scale.name}: "
        f"{runs:,} runs on {', '.join(scale.datasets)}, {scale.draws} draws a cell or more.{few} Every recipe sees the "
        "same draws, and differences are taken draw by draw. Runs are in runs.csv, tables and figures in the folders "
        "of those names."
    )


def _document(style: str, body: str) -> str:
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    text = (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>What held of the paper</title><style>{style}</style></head><body><main>{body}</main></body></html>\n"
    )
    return text.encode("utf-8", "replace").decode("utf-8")


def _overview(claims: Sequence[Claim]) -> str:
    rows = "".join(
        f'<tr><td><a href="#claim-{number}">{escape(claim.title)}</a></td><td>{_mark(claim)}</td></tr>'
        for number, claim in enumerate(claims, 1)
    )
    return (
        f'<table class="overview"><thead><tr><th>claim</th><th>verdict</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _mark(claim: Claim) -> str:
    return f'<span class="mark {MARKS[claim.verdict]}">{escape(claim.verdict)}</span>'


def _claim(number: int, claim: Claim) -> str:
    is_numeric = "".join(f"<li>{escape(words)}</li>" for words in claim.is_numeric)
    shown = f"<ul>{is_numeric}</ul>" if is_numeric else "<p>No runs for it.</p>"
    return (
        f'<section id="claim-{number}"><h3>{escape(claim.title)} {_mark(claim)}</h3>'
        f"<p><b>The paper:</b> {escape(claim.paper)}</p><p><b>Measured:</b></p>{shown}"
        f'<p class="soft"><b>Held when:</b> {escape(claim.rule)}</p></section>'
    )


def _picture(picture: Picture) -> str:
    data = base64.b64encode(picture.png).decode("ascii")
    words = escape(picture.summary)
    return (
        f'<figure><img alt="{words}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(picture.name)}: {words}</figcaption></figure>"
    )


def _table(table: Table) -> str:
    kinds = ["" if column.words else ' class="number"' for column in table.columns]
    head = "".join(f"<th{kind}>{escape(c.title)}</th>" for kind, c in zip(kinds, table.columns, strict=True))
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{kind}>{'<b>' if e.best else ''}{escape(e.text)}{'</b>' if e.best else ''}</td>"
            for kind, e in zip(kinds, row, strict=True)
        )
        + "</tr>"
        for row in table.rows
    )
    notes = "".join(f'<p class="soft">{escape(note)}</p>' for note in table.notes)
    return (
        f"<details><summary>{escape(table.title)}</summary>"
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{notes}</details>'
    )


def _notes(notes: Sequence[str]) -> str:
    if not notes:
        return ""
    return "<h2>What is missing</h2><ul>" + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>"
