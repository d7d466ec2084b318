"""The rules of the layout: imports point one way, and no directory has too many modules.

Each entry of ``ORDERS`` lists the modules and subpackages of one package in layers, ``lowest | … | highest``. A module
may import those of its own layer and of the layers before, never one of a later layer.
"""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "drgst"
MOST_MODULES = 14

ORDERS = {
    "": (
        "errors | files extras memory shards threads | graph | transforms | tables | io | datasets | nn | "
        "uncertainty | selftrain | recipes | runs | decide | report | progress | estimator | cli | lab"
    ),
    "graph": "html invariants relation | core split stats",
    "tables": (
        "faults naming options | cells | kinds text_file | source | relations | columns labels | links | "
        "inspection | build | schema | read"
    ),
    "io": "convert graph_files npz pyg split_files write_tables | folder",
    "transforms": (
        "edges products rank_normalise softmax | divided | incidence | features propagate | approximate structure | knn"
    ),
    "nn": "random records | ops | networks pyg_module | inputs losses | training registry | minibatch",
    "uncertainty": "dropedge | calibration class_prior | gain cagcn",
    "nn/ops": "sparse | adjacency attention layers",
    "selftrain": (
        "beliefs settings | history problem | callbacks persist | learners | views | slots | recipe parts | "
        "checks | trainer | engine | best_of"
    ),
    "selftrain/learners": "base objectives | network without_network",
    "selftrain/slots": "calibrate correct select stop weigh | postprocess walks",
    "selftrain/views": (
        "prior regression shared | base stacking | features hops knn neighbours relations structure topology | "
        "graph_views | ensemble"
    ),
    "recipes": "presets | registry | baselines drgst plus | others sts",
    "runs": (
        "added_labels fingerprint lock metrics predictions | model | config | config_file | folder | result | "
        "run | cluster | start"
    ),
    "decide": "contributions reasons truth | evaluate explain review threshold | labels",
    "decide/labels": "state forecast | choosers | registry | suggest",
    "report": "html nodes style tsne | compare figure stages summary | page | serve",
    "report/serve": "label_file refit source | asking | session | app",
    "estimator": "inputs display plot | base | crossval drgst pseudo_label",
    "lab": (
        "paper statistics | store | grid | tables | effect figures | claims | progress simulate | "
        "label_curves results tuning | reproduction | cli"
    ),
    "lab/store": "schema | export store | cells",
    "lab/grid": "grid | execute | executors | run_grid",
    "lab/tables": "layout | ranks | runs",
    "lab/figures": "registry | ablation confidence_gain labels stages | embedding_gain sweep toy",
    "lab/cli": "bench | figure label_curve reproduce table tune",
    "cli": (
        "console options | output | run | classify data evaluate explain predict recipes report review serve suggest"
    ),
    "progress": "live | display loggers",
}


def layers(package: str) -> dict[str, int]:
    """Module or subpackage -> number of its layer."""
    return {name: number for number, names in enumerate(ORDERS[package].split("|")) for name in names.split()}


def imports(path: Path) -> list[tuple[int, str]]:
    """(line, imported module below ``drgst``) of every drgst import of a file, also of those inside functions."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found += [(node.lineno, name.removeprefix("drgst.")) for name in names if name.startswith("drgst.")]
    return found


def in_type_checking(path: Path) -> set[int]:
    """The lines under ``if TYPE_CHECKING:``, which import nothing at run time."""
    blocks = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.If)]
    typing = [node for node in blocks if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"]
    return {line for node in typing for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


@pytest.mark.parametrize("package", ORDERS)
def test_imports_point_to_lower_layers(package: str) -> None:
    """Fails on an import of a higher layer, on a module without a layer and on a layer without a module."""
    folder, order, prefix = SOURCE / package, layers(package), f"{package.replace('/', '.')}." if package else ""
    children = {path.name for path in folder.iterdir() if (path / "__init__.py").is_file()}
    children |= {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}
    assert children == order.keys()
    wrong = []
    for path in sorted(folder.rglob("*.py")):
        child = path.relative_to(folder).parts[0].removesuffix(".py")
        if child not in order:
            continue
        ignored = in_type_checking(path) if package else set()
        for line, name in imports(path):
            other = name.removeprefix(prefix).split(".")[0] if name.startswith(prefix) else ""
            if order.get(other, -1) > order[child] and line not in ignored:
                wrong.append(f"{path.relative_to(SOURCE)}:{line} imports drgst.{name}")
    assert not wrong, "\n".join(wrong)


def test_no_package_has_a_cycle() -> None:
    """Of every package: there is an order of its modules and subpackages in which imports point one way."""
    folders = {path.parent for path in SOURCE.rglob("*.py")}
    assert not [folder.relative_to(SOURCE).as_posix() for folder in folders if not is_ordered(folder)]


def is_ordered(folder: Path) -> bool:
    prefix = "".join(f"{part}." for part in folder.relative_to(SOURCE).parts)
    needs: dict[str, set[str]] = {}
    for path in folder.rglob("*.py"):
        child, ignored = path.relative_to(folder).parts[0].removesuffix(".py"), in_type_checking(path)
        names = [name for line, name in imports(path) if line not in ignored and name.startswith(prefix)]
        needs.setdefault(child, set()).update(name.removeprefix(prefix).split(".")[0] for name in names)
    known = {child: others & needs.keys() - {child} for child, others in needs.items() if child != "__init__"}
    try:
        TopologicalSorter(known).prepare()
    except CycleError:
        return False
    return True


def test_relative_imports_are_not_used() -> None:
    """The rule above reads absolute imports only."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path}:{node.lineno}"


def test_no_directory_has_too_many_modules() -> None:
    folders = [SOURCE, *(path for path in SOURCE.rglob("*") if path.is_dir())]
    counts = {folder: len([path for path in folder.glob("*.py") if path.name != "__init__.py"]) for folder in folders}
    large = {folder.relative_to(SOURCE).as_posix() for folder, count in counts.items() if count > MOST_MODULES}
    assert large == set()
