"""``drgst recipes``: the list, one recipe in full, typos, and a recipe file."""

from __future__ import annotations

import json
from typing import Any

NETWORKS = {"gcn", "gat", "appnp", "ppnp", "sgc", "sage", "gin", "cheb", "dagnn"} | {
    *("label-propagation", "logistic", "logistic-ppr")
}
LOOPS = {"self-training", "co-training", "union", "intersection", "sts", "m3s", "abn", "cagcn-st", "margin-st"}


def test_the_list_for_people(ok: Any) -> None:
    out, _ = ok("recipes")
    names = [line.split()[0] for line in out.splitlines() if line and not line.startswith(" ")]
    assert set(names) >= NETWORKS | LOOPS
    assert "ClusterChecked(inner=TopPerClass(share=4))" in out


def test_one_in_full(ok: Any) -> None:
    out, _ = ok("recipes", "show", "m3s")
    for word in (
        "Sun, Lin, Zhu",
        "ClusterChecked",
        "argmin_k",
        "* stages",
        "clusters of the pool",
        "(allowed: from 0 to below 1)",
    ):
        assert word in out
    out, _ = ok("recipes", "show", "m3s", "--json")
    shown = json.loads(out.splitlines()[-1])
    assert shown["own_settings"] == {"stages": 4, "keep": "best-student"}
    assert shown["settings"]["stages"] == 4
    assert not {"walk_epsilon", "threshold", "beta"} & shown["settings"].keys()
    assert shown["version"] == 2
    assert "AAAI 2020" in shown["paper"]


def test_a_typo_is_one_line_and_code_2(refused: Any) -> None:
    assert "did you mean 'm3s'?" in refused("recipes", "show", "m3")
