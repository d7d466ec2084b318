"""Whole runs of the authors' algorithm against what their program would cost for the same trainings on one thread.

python benchmarks/as_released.py [--data cora,citeseer,pubmed,flickr] [--gains dropout,dropedge]

Each run is a ``drgst run`` with 20 labels per class in a process of its own, so that its CPU seconds are those from the
start of Python to the last file. Those of the program are the epochs of that run times its cost per epoch, and,
with dropedge, 100 adjacencies per stage: figures that were measured on one thread of a machine of the same kind.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile

EPOCH = {"cora": 0.041, "citeseer": 0.098, "pubmed": 0.151, "flickr": 0.980}  # CPU seconds of the authors' program
ADJACENCIES = {"cora": 6.0, "citeseer": 9.0, "pubmed": 288.0, "flickr": 65.0}  # 100 adjacencies through dense matrices
RECIPES = {"dropout": "as-released-do", "dropedge": "as-released-de"}


def measured(data: str, recipe: str) -> tuple[dict[str, float], float]:
    """The summary of a run, and its CPU seconds."""
    options = ["--recipe", recipe, "--per-class", "20", "--threads", "1", "--json"]
    with tempfile.TemporaryDirectory() as folder, open(f"{folder}/messages", "w+") as messages:
        command = [sys.executable, "-m", "drgst", "run", data, *options, "--out", f"{folder}/run"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=messages, text=True) as run:
            assert run.stdout is not None
            output = run.stdout.read()
            _, status, usage = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
        if run.returncode:
            messages.seek(0)
            raise SystemExit(messages.read())
    return json.loads(output.splitlines()[-1]), usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print a row per run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=",".join(EPOCH))
    parser.add_argument("--gains", default="dropout")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    print("| data | recipe | epochs | stages | CPU s | authors' program | ratio | test accuracy |")
    print("|:--|:--|--:|--:|--:|--:|--:|--:|", flush=True)
    for data in options.data.split(","):
        for gain in options.gains.split(","):
            found, seconds = measured(data, RECIPES[gain])
            theirs = found["epochs"] * EPOCH[data] + (gain == "dropedge") * found["stages"] * ADJACENCIES[data]
            counts = f"{found['epochs']:,} | {found['stages']}"
            costs = f"{seconds:.1f} | {theirs:.0f} | {theirs / seconds:.1f}"
            print(f"| {data} | {RECIPES[gain]} | {counts} | {costs} | {100 * found['test_accuracy']:.1f} |", flush=True)


if __name__ == "__main__":
    main()
