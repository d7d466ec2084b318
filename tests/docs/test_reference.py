"""The reference: every public name is described, and its example runs."""

import doctest
from pathlib import Path

import made
import pytest

import drgst
from drgst.cli import COMMANDS
from drgst.recipes import recipe_names
from drgst.selftrain import parts
from drgst.selftrain.settings import Settings

DESCRIBED = [name for _, names in made.public() for name in names]


def test_every_public_name_is_described_once() -> None:
    public = {f"drgst.{name}" for name in drgst.__all__} - {"drgst.__version__", "drgst.datasets", "drgst.lab"}
    public |= {f"drgst.lab.{name}" for name in drgst.lab.__all__}
    public |= {f"drgst.selftrain.parts.{part.__name__}" for slot in parts.SLOTS.values() for part in slot}
    assert len(DESCRIBED) == len(set(DESCRIBED))
    assert public <= set(DESCRIBED)
    for name in DESCRIBED:
        assert made.find(name).__doc__, f"{name} has no docstring"
    assert set(made.examples()) == set(DESCRIBED)


@pytest.mark.parametrize("name", {text: name for name, text in made.examples().items()}.values())
def test_the_example_of_a_name_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = {"drgst": drgst, **{part.__name__: part for slot in parts.SLOTS.values() for part in slot}}
    example = doctest.DocTestParser().get_doctest(made.examples()[name], names, name, None, 0)
    wrong: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=wrong.append)
    assert not wrong, "".join(wrong)


def test_the_pages_are_made_of_all_commands_recipes_settings_and_packages() -> None:
    """What the makers write, and that pages call no maker that does not exist."""
    text = made.commands()
    for name in COMMANDS:
        assert f"## drgst {name}\n" in text
    assert "| `--per-class N` | Training labels per class" in text
    assert [f"## {name}\n" in made.recipes() for name in recipe_names()] == [True] * len(recipe_names())
    assert all(f"| `{name}` |" in made.settings() for name in Settings.model_fields)
    assert "| `selftrain` | The loop" in made.packages()
    assert ">selftrain <tspan>" in made.architecture()
    assert "| `sts` | " in made.measured("sts")
    pages = [p for p in (made.HOME / "docs").rglob("*.md") if "_build" not in p.parts]
    called = {name for page in pages for name, _ in made.MARK.findall(page.read_text(encoding="utf-8"))}
    assert called == set(made.MAKERS)


def test_docstrings_are_prose_with_formulas() -> None:
    lines = ["N.", "|V_L| of `x_` and ``a*b_``, :class:`~drgst.Graph` and model_ in"]
    made.plain_docstring(None, "", "", None, None, lines)
    assert lines == ["N\\.", "\\|V_L\\| of `x\\_` and ``a*b_``, :class:`~drgst.Graph` and model\\_ in"]
