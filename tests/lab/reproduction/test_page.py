"""The page: nothing is markup, nothing is fetched."""

from __future__ import annotations

import re
from pathlib import Path

from drgst.lab.claims.effect import Claim, measure
from drgst.lab.reproduction import Picture, Reproduction, page
from drgst.lab.tables.layout import Column, Entry, ResultTable

HOSTILE = "<script>alert(1)</script>"


def test_nothing_on_the_page_is_markup_and_nothing_is_fetched() -> None:
    claims = [
        Claim(HOSTILE, HOSTILE, HOSTILE, measure(HOSTILE, [-0.02, -0.021, -0.022]), [HOSTILE]),
        Claim("without runs", "", "", []),
    ]
    table = ResultTable(HOSTILE, [Column(HOSTILE)], [[Entry(HOSTILE, 1)]], 0, [HOSTILE])
    picture = Picture(HOSTILE, HOSTILE, b"png")
    text = page(Reproduction(Path("x"), claims, {"t": table}, [picture], 5, 0, [HOSTILE]), "quick", [HOSTILE])
    assert "<script" not in text
    assert text.count("&lt;script&gt;") >= 12
    assert "default-src 'none'" in text
    assert not re.search(r"(?:src|href)=\"(?!data:|#)", text)
    assert "0 of 2 claims held" in text
    assert '<span class="mark bad">refuted</span>' in text
    assert '<span class="mark none">not run</span>' in text
