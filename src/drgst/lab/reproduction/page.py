"""The page of a reproduction: one HTML file without external resources."""

from __future__ import annotations

import base64
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from drgst import __version__
from drgst.lab.claims.effect import Claim
from drgst.lab.tables.layout import ResultTable, to_html
from drgst.report.html import policy, stylesheet

MARKS = {"held": "good", "refuted": "bad", "too small to tell": "none", "not run": "none"}


@dataclass(frozen=True)
class Picture:
    """A figure as PNG."""

    name: str
    summary: str
    png: bytes


@dataclass
class Reproduction:
    """The claims, tables and figures of a reproduction, and the path of its page."""

    page: Path
    claims: list[Claim] = field(default_factory=list)
    tables: dict[str, ResultTable] = field(default_factory=dict)
    pictures: list[Picture] = field(default_factory=list)
    runs: int = 0
    failed: int = 0
    notes: list[str] = field(default_factory=list)


def page(made: Reproduction, scale: str, datasets: Sequence[str]) -> str:
    """The page. Its content security policy allows its own style and embedded pictures, and nothing else."""
    style = stylesheet(Path(__file__).with_name("page.css").read_text(encoding="utf-8"))
    held = sum(claim.verdict == "held" for claim in made.claims)
    parts = [
        f"<h1>Confidence May Cheat: {held} of {len(made.claims)} claims held</h1>",
        f"<p>{escape(_introduction(scale, datasets, made.runs))}</p>",
        _overview(made.claims),
        "<h2>Claims</h2>",
        *(_claim(number, claim) for number, claim in enumerate(made.claims, 1)),
        "<h2>Figures</h2>",
        '<div class="figures">',
        *(_picture(picture) for picture in made.pictures),
        "</div><h2>Tables</h2>",
        *(f"<details><summary>{escape(t.title)}</summary>{to_html(t)}</details>" for t in made.tables.values()),
        f"<h2>What is missing</h2>{_list(made.notes)}" if made.notes else "",
    ]
    return _document(style, "".join(parts))


def _introduction(scale: str, datasets: Sequence[str], runs: int) -> str:
    return (
        f"Made by drgst {__version__} (Python {platform.python_version()}) with drgst lab reproduce --{scale}: "
        f"{runs:,} runs on {', '.join(datasets)}. All recipes share the same draws, and differences are taken "
        "draw by draw. The runs are in runs.csv, tables and figures in the folders of those names."
    )


def _document(style: str, body: str) -> str:
    text = (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(style, "")}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Claims of the paper</title><style>{style}</style></head><body><main>{body}</main></body></html>\n"
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
    effects = _list([str(effect) for effect in claim.effects]) if claim.effects else "<p>No runs.</p>"
    return (
        f'<section id="claim-{number}"><h3>{escape(claim.title)} {_mark(claim)}</h3>'
        f"<p><b>Paper:</b> {escape(claim.paper)}</p><p><b>Measured:</b></p>{effects}{_list(claim.remarks)}"
        f'<p class="soft"><b>Held when:</b> {escape(claim.rule)}</p></section>'
    )


def _list(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>" if lines else ""


def _picture(picture: Picture) -> str:
    data, summary = base64.b64encode(picture.png).decode("ascii"), escape(picture.summary)
    return (
        f'<figure><img alt="{summary}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(picture.name)}: {summary}</figcaption></figure>"
    )
