"""``config.toml``: a run that can be run again; also settings written as ``key=value``."""

from __future__ import annotations

import json
import platform
import tomllib
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

from drgst import __version__
from drgst.datasets.registry import data_source
from drgst.errors import RunError, SettingError, located, unknown
from drgst.extras import check_imported
from drgst.files import read_bytes
from drgst.runs.config import RUN_KEYS, RunConfig, labels_source
from drgst.selftrain.settings import Settings

REMARKS = {
    "recipe_sha256": "of the recipe file",
    "data_sha256": "of features, edges, node ids and class names",
    "known_sha256": "of the split and of the training and validation labels",
}
TABLES = ("run", "settings", "versions")
_TYPES: dict[str, type] = {"per_class": int, "seed": int, "threads": int}


def to_toml(config: RunConfig) -> str:
    """The text of ``config.toml``."""
    head = "# A run of drgst. Run it again: drgst run --config THIS-FILE --out ANOTHER-FOLDER\n"
    settings = {k: "none" if v is None else v for k, v in config.settings.items()}
    tables = {"run": config.keys(), "settings": settings, "versions": config.versions}
    return head + "\n".join(_table(name, values) for name, values in tables.items())


def read_config(path: Path) -> RunConfig:
    """The config in ``path``. Its paths are relative to its folder; an unknown key is refused with the nearest one."""
    try:
        document = tomllib.loads(read_bytes(path).decode("utf-8"))
    except OSError as error:
        raise RunError(f"can't read {path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RunError(f"{path} is not TOML: {error}") from error
    with located(path):
        return _config(document, path.parent)


def parse_changes(words: Iterable[str], also: Collection[str] = ()) -> dict[str, Any]:
    """``["epochs=30", "beta=1/3"]`` as a dict; a word may hold several, separated by commas or blanks.

    The keys are settings, or keys of ``[run]`` that ``also`` lists.
    """
    changes: dict[str, Any] = {}
    for text in words:
        for word in text.replace(",", " ").split() or [text]:
            key, equals, value = word.partition("=")
            if not equals or not key or not value:
                hint = f"; write --set {word}=VALUE" if word in Settings.model_fields else ""
                raise SettingError(f"--set takes key=value, not {word!r}{hint}")
            if key in Settings.model_fields and value.endswith("%"):
                raise SettingError(f"setting {key} is {value}: write the share as a number, {_share(value)}")
            changes[key] = _value(key, value)
    Settings().updated({key: value for key, value in changes.items() if key not in also})
    return changes


@cache
def versions() -> Mapping[str, str]:
    """Versions of everything that can change the last bits."""
    others = {name: version(name) for name in ("torch", "numpy", "scipy")}
    return {"drgst": __version__, "python": platform.python_version(), **others}


def _share(percent: str) -> str:
    """``0.5`` for ``50%``."""
    try:
        return f"{float(percent.removesuffix('%')) / 100:g}"
    except ValueError:
        return "as in 0.5"


def _config(document: dict[str, Any], folder: Path) -> RunConfig:
    _only("table", document, TABLES)
    for name, content in document.items():
        if not isinstance(content, dict):
            raise SettingError(f"{name} must be a table: write [{name}]")
    run = dict(document.get("run", {}))
    _only("key of [run]", run, RUN_KEYS)
    for key, value in run.items():
        kind = _TYPES.get(key, str)
        if type(value) is not kind:
            raise SettingError(f"{key} is {value!r}, but must be a {'whole number' if kind is int else 'text'}")
    if "data" in run:
        run["data"] = data_source(run["data"], folder)
    if "labels" in run:
        run["labels"] = labels_source(run["labels"], folder)
    if "split" in run:
        run["split"] = str((folder / run["split"]).absolute())
    if "add_labels" in run:
        run["add_labels"] = "\n".join(str((folder / path).absolute()) for path in run["add_labels"].splitlines())
    settings = {k: _value(k, v) for k, v in document.get("settings", {}).items()}
    Settings().updated(settings)
    check_imported(run.get("recipe"), "the file", "name it yourself: --recipe module:function")
    check_imported(settings.get("backbone"), "the file", "name it yourself: --set backbone=module:Class")
    return RunConfig(**run, settings=settings, versions=document.get("versions", {}))


def _value(key: str, value: Any) -> Any:
    """None for the text "none" where the setting may be None (TOML has no None)."""
    known = Settings.model_fields.get(key)
    optional = known is not None and type(None) in get_args(known.annotation)
    return None if optional and value == "none" else value


def _only(kind: str, given: Iterable[str], known: Iterable[str]) -> None:
    for name in given:
        if name not in known:
            raise SettingError(unknown(kind, name, known))


def _table(name: str, values: Mapping[str, Any]) -> str:
    """``[name]`` and a line ``key = value  # remark`` for every value that is not None."""
    remarks = {key: f"  # {words}" for key, words in REMARKS.items()}
    lines = [f"{key} = {_literal(v)}{remarks.get(key, '')}" for key, v in values.items() if v is not None]
    return "\n".join([f"[{name}]", *lines]) + "\n"


def _literal(value: Any) -> str:
    """A text, truth value, whole or decimal number as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
