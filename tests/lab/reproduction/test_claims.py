"""The claims are decided from rows and a few networks; a store and its export give the same verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from drgst.lab.experiments import DRGST, ablations
from drgst.lab.figures.request import Request
from drgst.lab.figures.toy_run import Toy
from drgst.lab.reproduction.claims import decide_claims, write_claims
from drgst.lab.store import Store
from drgst.lab.store.export import to_csv

CHANGES = {"epochs": 4, "samples": 4}


def test_a_store_and_its_export_give_the_same_verdicts(
    tiny: Path, tmp_path: Path, make_row: Callable[..., dict[str, Any]]
) -> None:
    stages = json.dumps([{"seconds": 1.0, "epochs": 9}, {"seconds": 2.0, "epochs": 5}])
    with Store(tmp_path / "runs.db", create=True) as store:
        for place, recipe in enumerate(("gcn", *(r for whole in DRGST for r in ablations(whole)))):
            for draw in range(3):
                more = {"recipe": recipe, "draw": draw, "test_accuracy": 0.6 - place / 50 + draw / 1000 * (place + 1)}
                store.add(make_row(f"{recipe}{draw}", dataset="tiny", stage_rows=stages, **more))
        to_csv(store.all_rows(), tmp_path / "runs.csv")
        rows = store.all_rows()
    toy = Toy(*[np.zeros((0, 2))] * 4, np.zeros(0), float("nan"))
    verdicts = []
    for path in (tmp_path / "runs.db", tmp_path / "runs.csv"):
        request = Request(path, dataset=str(tiny), per_class=5, changes=CHANGES)
        found = request.rows if path.suffix == ".csv" else rows
        claims = decide_claims(found, request, toy, networks=2)
        write_claims(claims, tmp_path / "claims.json")
        written = json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))
        verdicts.append({claim["title"]: claim["verdict"] for claim in written})
    assert verdicts[0] == verdicts[1]
    assert len(verdicts[0]) == 9
    assert verdicts[0]["Both parts help, information gain more"] == "held"
    assert verdicts[0]["DR-GST outperforms every baseline"] == "refuted"  # gcn is best in these rows
    assert verdicts[0]["A lower β is better"] == "not run"
