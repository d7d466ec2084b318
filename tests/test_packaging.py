"""The package metadata: one version, a typed package, and no optional dependency in a plain run."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import drgst

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "drgst"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = """IPython alembic faiss ipykernel matplotlib mlflow networkx openTSNE pandas pymetis ray
sqlalchemy starlette tensorboard torch_geometric uvicorn"""
OPTIONAL = set(EXTRAS.split())  # import names
NAMES = {"faiss-cpu": "faiss", "ipython": "IPython", "mlflow-skinny": "mlflow"}  # project name -> import name
NAMES |= {"scikit-learn": "sklearn", "torch-geometric": "torch_geometric"}

WITHOUT_EXTRAS = f"""
import sys
for name in {sorted(OPTIONAL - {"pandas"})!r}:
    sys.modules[name] = None  # import then raises ImportError
import builtins
original = builtins.__import__
def without_pandas(name, *others, **more):  # pyarrow, which is no Python code, may import it
    if name.split(".")[0] == "pandas":
        raise ImportError(name)
    return original(name, *others, **more)
builtins.__import__ = without_pandas
"""


def projects(requirements: list[str]) -> set[str]:
    """The import names of a list of requirements."""
    names = {requirement.split(">=")[0].split("[")[0] for requirement in requirements}
    return {NAMES.get(name, name) for name in names}


def imported() -> set[str]:
    """The top-level names of all absolute imports of the package, outside ``if TYPE_CHECKING``."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.split(".")[0])
    return found - set(sys.stdlib_module_names) - {"drgst"}


def test_the_version_is_written_once() -> None:
    assert "version" in PROJECT["project"]["dynamic"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/drgst/__init__.py"
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"version: {drgst.__version__}" in citation


def test_the_package_is_typed() -> None:
    assert (SOURCE / "py.typed").is_file()


def test_every_import_is_a_declared_dependency() -> None:
    core = projects(PROJECT["project"]["dependencies"])
    groups = PROJECT["project"]["optional-dependencies"]
    extras = projects([r for name, rs in groups.items() if name not in ("dev", "docs") for r in rs])
    assert extras == OPTIONAL
    assert imported() - core <= extras
    assert core <= imported()


def test_a_run_and_its_page_need_no_extra(tmp_path: Path) -> None:
    """``drgst run`` on tables of a user, with a network and with drgst-plus, and ``drgst report``."""
    code = f"""{WITHOUT_EXTRAS}
from drgst.cli import main
sys.argv = ["drgst", *sys.argv[1:]]
main()
"""

    def run(*words: str) -> str:
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stderr

    tables = str(tmp_path / "tables")
    drgst.write_tables(drgst.block_model(200, 600, seed=0, classes=3, features=60), tables)
    for recipe in ("gcn", "drgst-plus"):
        run("run", tables, "--recipe", recipe, "--per-class", "3", "--out", str(tmp_path / recipe))
    words = " ".join(run("report", str(tmp_path / "gcn")).split())
    assert "the map shows the first two principal components: t-SNE needs openTSNE, which is not installed" in words
    assert (tmp_path / "gcn" / "report.html").is_file()


def test_every_module_of_the_library_imports_without_the_extras() -> None:
    """All modules but the laboratory, and the workbench server, whose extras they are."""
    modules = sorted(
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in SOURCE.rglob("*.py")
        if not {"lab", "serve"} & set(path.relative_to(SOURCE).parts) and path.name != "__main__.py"
    )
    code = f"{WITHOUT_EXTRAS}\nimport importlib\nfor name in {modules!r}:\n    importlib.import_module(name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_wheel_works_in_a_new_environment(tmp_path: Path) -> None:
    """Builds the wheel, installs it without the repository, and makes the first run, tables and a page with it."""

    def run(*words: object) -> str:
        done = subprocess.run(
            [str(word) for word in words], cwd=tmp_path, env=plain, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run(sys.executable, "-m", "build", "--outdir", tmp_path / "dist", ROOT)
    run(sys.executable, "-m", "twine", "check", "--strict", *(tmp_path / "dist").iterdir())
    wheel = next((tmp_path / "dist").glob("*.whl"))
    assert wheel.stat().st_size < 1.5e6
    run(sys.executable, "-m", "venv", "fresh")
    command = tmp_path / "fresh" / "bin"
    run(command / "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel)
    run(command / "drgst", "run", "--out", "first", "--set", "epochs=30")
    run(command / "drgst", "report", "first")
    assert (tmp_path / "first" / "report.html").is_file()
    tables = "import drgst, pyarrow.csv as c; t = drgst.fraud_tables(0)"
    tables += "; c.write_csv(t.accounts, 'accounts.csv'); c.write_csv(t.transactions, 'transactions.csv')"
    run(command / "python", "-c", tables)
    shown = run(command / "drgst", "classify", "accounts.csv", "--edges", "transactions.csv", "--label", "label")
    assert "predicted for" in shown
