"""Splits in JSON files and in lists of node ids; nodes are identified by id, so their order does not matter."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from typing import Any, cast

import numpy as np

from drgst.errors import DataFileError, SplitError, located
from drgst.files import PathLike, read_text, write_text
from drgst.graph.core import Graph
from drgst.graph.split import PARTS, POOLS, Pool, Split

FORMAT, VERSION = "drgst-split", 1

_log = logging.getLogger("drgst")


def from_id_files(graph: Graph, train: PathLike, val: PathLike, test: PathLike, name: str = "id-files") -> Split:
    """A split from three text files with one node id per line; repeated ids are logged and count once."""
    index = _index(graph)
    v_l, v_val, v_test = (_positions(index, _read_ids(path), str(path)) for path in (train, val, test))
    split = Split.of(v_l, v_val, v_test, graph.num_nodes, name=name)
    split.check(graph)
    return split


def to_json(split: Split, graph: Graph) -> str:
    """The split as JSON text; the pool as its rule if one gives it, else as node ids."""
    split.check_range(graph.num_nodes)
    rules = (rule for rule in POOLS if np.array_equal(split.with_pool(rule, graph.num_nodes).pool, split.pool))
    document = {
        "format": FORMAT,
        "version": VERSION,
        "name": split.name,
        "graph": graph.name,
        "nodes": graph.num_nodes,
        **{part: graph.node_ids[getattr(split, part)].tolist() for part in PARTS[:3]},
        "pool": next(rules, None) or graph.node_ids[split.pool].tolist(),
    }
    return json.dumps(document, ensure_ascii=False)


def from_json(text: str, graph: Graph, source: str = "the split", check: bool = True) -> Split:
    """The split of ``graph`` in the JSON text that :func:`to_json` wrote; ``source`` names it in errors."""
    document = _document(text, source)
    if document["nodes"] != graph.num_nodes:
        raise SplitError(f"{source} was made for {document['nodes']} nodes, but the graph has {graph.num_nodes}")
    index = _index(graph)
    train, val, test = (_positions(index, document[part], f"{part} of {source}") for part in PARTS[:3])
    pool, name = document["pool"], document["name"]
    with located(source):
        if isinstance(pool, str):
            split = Split.of(train, val, test, graph.num_nodes, cast(Pool, pool), name)
        else:
            split = Split(train, val, test, _positions(index, pool, f"pool of {source}"), name)
        if check:
            split.check(graph)
    return split


def save_split(split: Split, graph: Graph, path: PathLike) -> None:
    """Write the split to a JSON file, atomically."""
    write_text(path, to_json(split, graph) + "\n")


def load_split(path: PathLike, graph: Graph, check: bool = True) -> Split:
    """Read a split that :func:`save_split` wrote; without ``check`` it may not fit the labels."""
    return from_json(read_text(path), graph, str(path), check)


def _read_ids(path: PathLike) -> list[str]:
    ids = [line.strip() for line in read_text(path).splitlines() if line.strip()]
    distinct = list(dict.fromkeys(ids))
    if len(distinct) < len(ids):
        _log.info("%s names %d nodes more than once; they count once", path, len(ids) - len(distinct))
    return distinct


def _index(graph: Graph) -> dict[str, int]:
    """Node id as text -> position; the ids 7 and "7" are the same node."""
    return {str(node): i for i, node in enumerate(graph.node_ids.tolist())}


def _positions(index: dict[str, int], ids: Iterable[Any], where: str) -> np.ndarray:
    try:
        return np.array([index[str(node)] for node in ids], dtype=np.int64)
    except KeyError as error:
        raise SplitError(f"{where} names node {error.args[0]!s}, which the graph does not have") from None


def _document(text: str, source: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataFileError(f"{source} is not valid JSON: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DataFileError(f'{source} is not a split: it lacks "format": "{FORMAT}"')
    if document.get("version") != VERSION:
        raise DataFileError(f"{source} has version {document.get('version')}; this drgst reads version {VERSION}")
    if not isinstance(document.setdefault("name", "split"), str) or type(document.get("nodes")) is not int:
        raise DataFileError(f'{source} needs a text "name" and a number "nodes"')
    for part in PARTS:
        value = document.get(part)
        if not _is_id_list(value) and not (part == "pool" and isinstance(value, str)):
            raise DataFileError(f'{source} needs a list of node ids "{part}"')
    return document


def _is_id_list(value: Any) -> bool:
    return isinstance(value, list) and all(type(node) in (int, str) for node in value)
