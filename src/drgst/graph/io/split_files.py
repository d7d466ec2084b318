"""Splits in files: lists of node ids, and JSON that survives a re-ordering of the nodes."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import numpy as np

from drgst.errors import DataFileError, SplitError
from drgst.files import write_text
from drgst.graph.core import Graph
from drgst.graph.split import POOLS, Pool, Split

FORMAT = "drgst-split"
VERSION = 1
PARTS = ("train", "val", "test")
PathLike = str | os.PathLike[str]

log = logging.getLogger("drgst")


def from_id_files(
    graph: Graph, train: PathLike, val: PathLike, test: PathLike, pool: Pool = "unlabelled", name: str = "id-files"
) -> Split:
    """A split from three text files with one node id per line; repeated ids are merged, and that is logged."""
    index = _index(graph)
    v_l, v_val, v_test = (_positions(index, _read_ids(path), str(path)) for path in (train, val, test))
    split = Split.of(v_l, v_val, v_test, graph.num_nodes, pool, name)
    split.check(graph)
    return split


def to_json(split: Split, graph: Graph) -> str:
    """The split as JSON text by node ids; the pool by its rule where one fits, by its ids otherwise."""
    split.check_range(graph.num_nodes)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "name": split.name,
        "graph": graph.name,
        "nodes": graph.num_nodes,
        **{part: graph.node_ids[getattr(split, part)].tolist() for part in PARTS},
        "pool": pool_rule(split, graph.num_nodes) or graph.node_ids[split.pool].tolist(),
    }
    return json.dumps(document, ensure_ascii=False)


def from_json(text: str, graph: Graph, source: str = "the split") -> Split:
    """The split that :func:`to_json` wrote, for ``graph`` in whatever order its nodes are; checked like any other."""
    document = _document(text, source)
    if document["nodes"] != graph.num_nodes:
        raise SplitError(f"{source} was made for {document['nodes']} nodes, but the graph has {graph.num_nodes}")
    index = _index(graph)
    train, val, test = (_positions(index, document[part], f"{part} of {source}") for part in PARTS)
    pool, name = document["pool"], document["name"]
    if isinstance(pool, str):
        split = Split.of(train, val, test, graph.num_nodes, cast(Pool, pool), name)  # refuses an unknown rule
    else:
        split = Split(train, val, test, _positions(index, pool, f"pool of {source}"), name)
    split.check(graph)
    return split


def save_split(split: Split, graph: Graph, path: PathLike) -> None:
    """Write the split to a JSON file, whole or not at all."""
    write_text(path, to_json(split, graph) + "\n")


def load_split(path: PathLike, graph: Graph) -> Split:
    """Read a split that :func:`save_split` wrote."""
    return from_json(_read(path), graph, str(path))


def pool_rule(split: Split, nodes: int) -> Pool | None:
    """The rule that gives the split's pool, or None for a pool of its own."""
    for rule in POOLS:
        if np.array_equal(split.with_pool(rule, nodes).pool, split.pool):
            return rule
    return None


def _read(path: PathLike) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise DataFileError(f"can't read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise DataFileError(f"{path} is not a text file: {error.reason}") from error


def _read_ids(path: PathLike) -> list[str]:
    lines = [line.strip() for line in _read(path).splitlines()]
    ids = [line for line in lines if line]
    distinct = list(dict.fromkeys(ids))
    if len(distinct) < len(ids):
        log.info("%s names %d nodes more than once; they count once", path, len(ids) - len(distinct))
    return distinct


def _index(graph: Graph) -> dict[str, int]:
    """Node id as text -> position; text, because ids 7 and "7" are one node to a person with a CSV file."""
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
    for part in (*PARTS, "pool"):
        value = document.get(part)
        if not _is_id_list(value) and not (part == "pool" and isinstance(value, str)):
            raise DataFileError(f'{source} needs a list of node ids "{part}"')
    return document


def _is_id_list(value: Any) -> bool:
    return isinstance(value, list) and all(type(node) in (int, str) for node in value)
