"""Compare the predictions of two checkouts bit by bit: ``python scripts/compare_checkouts.py BEFORE AFTER``.

Each case is one ``drgst run`` with seed 0 and 3 labels per class, in a process of its own that imports drgst from the
``src`` folder of the checkout. Two runs are bit-identical if the probabilities and the information gain of every node
have the same bytes. Finished runs are kept under ``--out`` and are not run again.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from pathlib import Path

from safetensors import safe_open

CORA = [
    "gcn",
    "appnp",
    "gat",
    "drgst-do",
    "drgst-de",
    "drgst-de-lc",
    "as-released-de",
    "sts",
    "m3s",
    "abn",
    "cagcn-st",
    "margin-st",
    "label-propagation",
    "logistic-ppr",
    "drgst-plus",
]
CASES = [
    *(("cora", recipe, "public") for recipe in CORA),
    ("cora", "drgst-plus", "none"),
    *(
        (data, recipe, validation)
        for data in ("citeseer", "pubmed", "flickr")
        for recipe, validation in (("drgst-plus", "public"), ("drgst-plus", "none"), ("drgst-de", "public"))
    ),
]


def run(checkout: Path, case: tuple[str, str, str], out: Path) -> str:
    """SHA-256 of what the run of ``case`` predicts, in short; runs it where that was not done before."""
    data, recipe, validation = case
    folder = out / f"{data}-{recipe}-{validation}"
    if not (folder / "summary.json").is_file():
        options = ["run", data, "--recipe", recipe, "--per-class", "3", "--seed", "0", "--validation", validation]
        command = [sys.executable, "-m", "drgst", *options, "--threads", "1", "--force", "--out", str(folder)]
        env = {**os.environ, "PYTHONPATH": str(checkout.resolve() / "src"), "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"exit {done.returncode}: {done.stderr.strip().splitlines()[-1:]}"
    total = hashlib.sha256()
    with safe_open(folder / "model.safetensors", framework="np") as file:
        for name in ("fitted.probabilities", "fitted.gain"):
            total.update(file.get_tensor(name).tobytes())
    return total.hexdigest()[:16]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", nargs="+", type=Path, help="one or two checkouts")
    parser.add_argument("--out", type=Path, default=Path("runs/compare"))
    parser.add_argument("--only", default="", help="cases whose name contains this")
    arguments = parser.parse_args()
    different = 0
    print("| data | recipe | validation labels | before | after | |\n|---|---|---|---|---|---|", flush=True)
    for case in CASES:
        if arguments.only not in "-".join(case):
            continue
        found = [run(path, case, arguments.out / path.resolve().name) for path in arguments.checkouts]
        same = len(set(found)) == 1 and not found[0].startswith("exit")
        different += not same
        print(f"| {' | '.join((*case, *found))} | {'identical' if same else 'DIFFERENT'} |", flush=True)
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
