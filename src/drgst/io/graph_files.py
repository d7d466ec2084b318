"""Graph files of other programs: GraphML, GML, GEXF and plain edge lists, with labels from a table or an attribute."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa

from drgst.errors import DataFileError, NoLabels, located, unknown
from drgst.extras import import_extra
from drgst.files import PathLike, open_regular, reading
from drgst.graph.core import Graph
from drgst.tables.columns import PAIRS, no_column
from drgst.tables.faults import Fault, TableError, some
from drgst.tables.options import TableOptions
from drgst.tables.read import read_graph
from drgst.tables.source import Table, open_table, read_table
from drgst.tables.text_file import pieces

LABELS = ("label", "class")  # attributes that may hold the class of a node
_DAMAGE = (
    *(KeyError, ValueError, TypeError, IndexError, AttributeError, AssertionError, EOFError, RecursionError),
    *(ElementTree.ParseError, StopIteration, LookupError, OverflowError, zlib.error),
)
_ENCODINGS = ("utf-8", "us-ascii", "iso-8859-1", "windows-1252", "utf-16")  # of XML files
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*?(?:encoding\s*=\s*[\"']([^\"']*)[\"'][^>]*)?\?>")
_SEPARATORS = re.compile(r"[,;\s]+")


def read_graph_file(path: Path, labels: PathLike | None = None, classes: tuple[str, ...] | None = None) -> Graph:
    """A graph from a ``.graphml``, ``.gml``, ``.gexf`` or edge list file, which may be compressed by gzip.

    ``labels`` is a CSV or Parquet file with the columns ``id`` and ``label`` (else its first two columns), or the name
    of a node attribute; without it the attribute ``label`` or ``class`` is taken. Other attributes become features, as
    in :func:`drgst.from_tables`, and repeated edges are aggregated alike. An edge list has two ids and optionally a
    weight per line, separated by blanks, tabs, commas or semicolons; lines with ``#`` or ``%`` are comments.
    ``classes`` are the class names of a model that will predict the graph: labels may then be missing.
    """
    nodes, edges = _attributed(path) if _format(path) in _READERS else _edge_list(path)
    nodes, label = _with_labels(read_table(nodes).checked(), labels, path)
    if label is None and classes is None:
        others = ", ".join(repr(name) for name in nodes.columns[1:6])
        attribute = f"an attribute (of this file: {others})" if others else "an attribute (this file has none)"
        raise NoLabels(f"{path} has no labels: name a file with the columns id and label, or {attribute} (--labels)")
    weight = "weight" if "weight" in edges.columns else None
    ends = {"id": "id", "source": "source", "target": "target", "weight": weight}
    options = TableOptions.of(label=label, edge_columns=False, classes=classes, **ends)
    made = read_graph(nodes, read_table(edges), options)
    read = some([column.column for column in made.schema.columns])
    notes = [f"{path.name}: node attributes read as features: {read}"] if read else []
    return made.graph.with_(name=path.name.partition(".")[0], notes=(*made.graph.notes, *notes))


def _attributed(path: Path) -> tuple[Table, Table]:
    """Node and edge table of a file that NetworkX reads."""
    nx = import_extra("networkx", "networkx")
    read, kind = _READERS[_format(path)]
    with reading(path, *_DAMAGE, nx.NetworkXException, kind=f"a {kind} graph"):
        content = _content(path)
        content = content if kind == "GML" else _plain_xml(content)
        if kind != "GML":
            _check_declared(content)
        graph = read(nx, content)
        names = list(dict.fromkeys(name for _, data in graph.nodes(data=True) for name in data))
        cells = {"id": pa.array([str(node) for node in graph], pa.string())}
        notes = []
        for name in names:
            values = [data.get(name) for _, data in graph.nodes(data=True)]
            if any(isinstance(value, list | dict | tuple) for value in values):
                notes.append(f"{path.name}: attribute {str(name)!r} holds lists or records and is not used")
                continue
            column = "id attribute" if name == "id" else str(name)
            cells[column] = pa.array([None if value is None else str(value) for value in values], pa.string())
        ends = [(str(u), str(v), w) for u, v, w in graph.edges(data="weight")]
        weights = [None if w is None else str(w) for _, _, w in ends]
        edges = _edge_table(path.name, [e[0] for e in ends], [e[1] for e in ends], weights)
    return Table(path.name, pa.table(cells), tuple(notes)), edges


def _content(path: Path) -> bytes:
    """The bytes of a regular file, unpacked where its name ends in ``.gz``; refused where memory does not suffice."""
    with located(path.name), open_regular(path) as handle:
        stream = gzip.GzipFile(fileobj=handle) if path.suffix == ".gz" else handle
        return b"".join(pieces(stream, share=8))  # the graph needs several times the memory of its text


def _plain_xml(content: bytes) -> bytes:
    """An XML document in UTF-8 without declaration; other encodings and document types are refused."""
    wide = content.startswith((b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<"))
    if wide:
        encoding = "utf-16-be" if content.startswith(b"\0<") else "utf-16-le" if content[:2] == b"<\0" else "utf-16"
    else:
        declared = _DECLARATION.match(content[:1000].decode("latin-1").removeprefix("\xef\xbb\xbf"))
        encoding = ((declared and declared[1]) or "utf-8").lower()
        if encoding not in _ENCODINGS[:-1]:
            raise ValueError(f"its encoding {encoding!r} is not read (allowed: {', '.join(_ENCODINGS)})")
    text = content.decode(encoding).removeprefix("\ufeff")
    if "<!doctype" in text.lower() or "<!entity" in text.lower():
        raise ValueError("it has a document type, which is not allowed")
    return _DECLARATION.sub("", text).encode()


def _check_declared(content: bytes) -> None:
    """Refuse nodes that are declared twice, of which NetworkX keeps the last, and edges to nodes that are not."""
    found: dict[str, list[Mapping[str, str]]] = {"node": [], "edge": []}
    for element in ElementTree.fromstring(content).iter():
        found.get(str(element.tag).rpartition("}")[2], []).append(element.attrib)
    counts = Counter(node.get("id") for node in found["node"])
    twice = next((node for node, count in counts.items() if count > 1), None)
    if twice is not None:
        raise ValueError(f"the node {twice!r} is declared {counts[twice]} times")
    for edge in found["edge"]:
        for end in (edge.get("source"), edge.get("target")):
            if end is not None and end not in counts:
                raise ValueError(f"an edge leads to {end!r}, which is not a node of the file")


def _edge_list(path: Path) -> tuple[Table, Table]:
    """Node table (ids only) and edge table of an edge list."""
    rows: list[list[str]] = []
    lines: list[int] = []
    faults = []
    with reading(path, *_DAMAGE, kind="an edge list"):
        text = _content(path).decode("utf-8-sig")
    if "\0" in text:
        raise DataFileError(f"{path} is not an edge list: it holds zero bytes")
    for number, line in enumerate(io.StringIO(text), start=1):
        cells = [cell for cell in _SEPARATORS.split(line.strip()) if cell]
        if not cells or cells[0].startswith(("#", "%")):
            continue
        if not rows and tuple(cell.lower() for cell in cells[:2]) in PAIRS:
            continue  # a header
        if len(cells) < 2:
            message = f"{line.strip()[:40]!r} is not an edge: two ids are needed"
            faults.append(Fault(path.name, message, number, unit="line"))
            continue
        rows.append(cells)
        lines.append(number)
    if not rows and not faults:
        faults.append(Fault(path.name, "is empty: a line with two ids is needed"))
    if faults:
        raise TableError(faults)
    sources, targets = [row[0] for row in rows], [row[1] for row in rows]
    ids = list(dict.fromkeys(end for row in rows for end in row[:2]))
    weights = _weights(rows, lines, path)
    edges = _edge_table(path.name, sources, targets, weights)
    return Table(path.name, pa.table({"id": ids})), Table(path.name, edges.data, unit="line", place=lines.__getitem__)


def _weights(rows: Sequence[Sequence[str]], lines: Sequence[int], path: Path) -> list[str]:
    """The third cell of each line if one of them is a number; then all must be."""
    cells = [row[2] if len(row) > 2 else "" for row in rows]
    if not any(map(_is_number, cells)):
        return []
    for cell, line in zip(cells, lines, strict=True):
        if not _is_number(cell):
            message = f"the weight {cell!r} is not a number, but other lines have one"
            raise TableError([Fault(path.name, message, line, unit="line")])
    return cells


def _edge_table(file: str, sources: Sequence[str], targets: Sequence[str], weights: Sequence[str | None]) -> Table:
    columns = {"source": pa.array(sources, pa.string()), "target": pa.array(targets, pa.string())}
    if any(weight is not None for weight in weights):
        columns["weight"] = pa.array([weight or "1" for weight in weights], pa.string())
    return Table(file, pa.table(columns))


def _with_labels(nodes: Table, labels: PathLike | None, path: Path) -> tuple[Table, str | None]:
    """The node table and its label column."""
    if labels is None:
        return nodes, next((name for name in LABELS if name in nodes.columns and _repeats(nodes, name)), None)
    if not Path(labels).exists():
        attributes = [name for name in nodes.columns if name != "id"]
        if str(labels) not in attributes:
            raise DataFileError(f"{path}: {unknown('labels file or node attribute', str(labels), attributes)}")
        return nodes, str(labels)
    table = open_table(labels, "labels").checked()
    if len(table.columns) < 2:
        raise TableError([table.fault("two columns are needed: id and label")])
    names = ("id", "label") if {"id", "label"} <= set(table.columns) else table.columns[:2]
    if unread := [name for name in names if name not in table.texts]:
        raise TableError([table.fault(no_column(name, table)) for name in unread])
    index = {text: k for k, text in enumerate(nodes.data.column("id").to_pylist())}
    column: list[str | None] = [None] * len(index)
    faults = []
    for row in range(table.data.num_rows):
        text, label = (table.texts[name].text(row) for name in names)
        if text not in index:
            faults.append(table.fault(f"{text!r} is not a node of {path.name}", row, names[0]))
        elif column[index[text]] not in (None, label):
            faults.append(table.fault(f"node {text!r} has two labels", row, names[1]))
        else:
            column[index[text]] = label
    if faults:
        raise TableError(faults)
    data = nodes.data.drop_columns(["label"]) if "label" in nodes.columns else nodes.data
    data = data.append_column("label", pa.array(column, pa.string()))
    return read_table(Table(nodes.file, data, nodes.notes)), "label"


def _format(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix


def _repeats(nodes: Table, name: str) -> bool:
    """Whether an attribute has classes rather than names of nodes: on average at least two nodes per value."""
    counts = nodes.texts[name].counts
    return int(counts.sum()) >= 2 * counts.size


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _read_gml(nx: Any, content: bytes) -> Any:
    """Nodes by label, or by id where labels are missing or not unique."""
    try:
        return nx.read_gml(io.BytesIO(content))
    except nx.NetworkXError:
        return nx.read_gml(io.BytesIO(content), label="id")


_READERS: dict[str, tuple[Callable[[Any, bytes], Any], str]] = {
    ".graphml": (lambda nx, content: nx.read_graphml(io.BytesIO(content)), "GraphML"),
    ".gml": (_read_gml, "GML"),
    ".gexf": (lambda nx, content: nx.read_gexf(io.BytesIO(content)), "GEXF"),
}
