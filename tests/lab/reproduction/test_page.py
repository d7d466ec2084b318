"""The page: nothing is markup, nothing is fetched."""

from __future__ import annotations

import re
from pathlib import Path

from drgst.lab.claims.effect import Claim, measure
from drgst.lab.reproduction.page import Picture, Reproduction, render
from drgst.lab.reproduction.scale import QUICK
from drgst.lab.tables.table import Column, Entry, Table

HOSTILE = "<script>alert(1)</script>"


def test_nothing_on_the_page_is_markup_and_nothing_is_fetched() -> None:
    claims = [
        Claim(HOSTILE, HOSTILE, HOSTILE, measure(HOSTILE, [-0.02, -0.021, -0.022]), [HOSTILE]),
        Claim("without runs", "", "", []),
    ]
    table = Table(HOSTILE, [Column(HOSTILE)], [[Entry(HOSTILE, 1)]], 0, [HOSTILE])
    picture = Picture(HOSTILE, HOSTILE, b"png")
    page = render(Reproduction(Path("x"), claims, {"t": table}, [picture], 5, 0, [HOSTILE]), QUICK)
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 12
    assert "default-src 'none'" in page
    assert not re.search(r"(?:src|href)=\"(?!data:|#)", page)
    assert "0 of 2 claims held" in page
    assert '<span class="mark bad">refuted</span>' in page
    assert '<span class="mark none">not run</span>' in page
