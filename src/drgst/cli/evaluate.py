"""``drgst evaluate``: a finished run against labels that it was not given, and a threshold to act on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drgst.cli.console import emit, get_console, plain_table, refuse, say
from drgst.cli.options import JsonOption, RunArgument, option

if TYPE_CHECKING:
    import numpy as np
    from rich.table import Table

    from drgst.decide.evaluate import Estimate, Evaluation, GroupRow
    from drgst.decide.threshold import Decision, Goal
    from drgst.runs.result import Result

app = typer.Typer(add_completion=False)


@app.command()
def evaluate(
    run: RunArgument,
    truth: Annotated[str | None, option("FILE", "Table with ids and labels.", default="labels of the graph")] = None,
    columns: Annotated[
        list[str] | None, option("NAME=KIND", "Which column of the table is the id or label; repeatable.", "--column")
    ] = None,
    positive: Annotated[str | None, option("CLASS", "Class to rank and flag.", default="the rarer of two")] = None,
    target: Annotated[str | None, option("GOAL", "Choose a threshold: precision=0.9, or recall=80%.")] = None,
    top: Annotated[int | None, option("N", "Choose this many nodes.")] = None,
    by: Annotated[str | None, option("GROUP", "Also per day, week, month, year, COLUMN or COLUMN=PERIOD.")] = None,
    out: Annotated[
        Path | None, option("FOLDER", "Write evaluation.json, calibration.csv, evaluation.png, flagged.csv.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Evaluate a run on nodes whose labels it was not given.

    Each figure has a 95 % bootstrap interval. --target or --top chooses a threshold from the probabilities of the run,
    which needs no truth, and says how sure that is.
    """
    from drgst.decide.evaluate import evaluate_groups, evaluate_result
    from drgst.decide.truth import read_groups
    from drgst.files import plain
    from drgst.runs.run import load_result
    from drgst.tables.faults import TableError

    goal, roles, console = _goal(target, top), _roles(columns or []), get_console(json)
    result = load_result(run)
    try:
        labels, notes = _labels(result, truth, roles, positive)
    except TableError as error:
        refuse(error, json)
    grouping = None if by is None else read_groups(by, _group_tables(truth, run), result.node_ids)
    say(console, *(f"- {note}" for note in notes))
    document: dict[str, Any] = {"run": str(run)}
    found, flagged = None, None
    if goal is None or (labels[result.unlabelled] >= 0).any():
        found = evaluate_result(result, labels, positive)
        document |= found.to_dict()
        positive = found.positive
        for table in _tables(found):
            console.print(table)
        if grouping is not None:
            rows = evaluate_groups(result, labels, grouping[1], positive)
            document["groups"] = plain(rows)
            console.print(_group_table(grouping[0], rows, positive))
        say(console, *(note for one in found.calibration for note in one.notes()))
    if goal is not None:
        positive, decision, nodes = _decided(result, positive, goal)
        document["decision"] = {"class": positive, **plain(decision)}
        right = labels[nodes] == result.model.class_names.index(positive) if found else None
        say(console, *_sentences(decision, positive, right, result.never_held_out))
        flagged = _flagged_csv(result, nodes, positive)
    if out is not None:
        say(console, f"written to {out}{_write(out, document, found, flagged)}")
    if json:
        emit(document)


def _decided(result: Result, positive: str | None, goal: Goal) -> tuple[str, Decision, np.ndarray]:
    """The class, the decision and the nodes, likeliest first."""
    from drgst.decide.evaluate import rarer_class
    from drgst.decide.threshold import decide
    from drgst.errors import SettingError

    none = result.train_labels[:0]
    positive = positive or rarer_class(result.probabilities[result.unlabelled], none, result.model.class_names)
    if positive is None:
        raise SettingError("which of the classes the threshold is for is not clear: name it with --positive")
    return positive, *decide(result, positive, goal)


def _goal(target: str | None, top: int | None) -> Goal | None:
    from drgst.decide.threshold import Goal
    from drgst.errors import SettingError

    if target is None:
        return None if top is None else Goal(top=top)
    if top is not None:
        raise SettingError("--target and --top choose a threshold each: give one of them")
    name, _, value = target.partition("=")
    try:
        share = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        name = ""
    if name not in ("precision", "recall"):
        raise SettingError(f"--target takes precision=SHARE or recall=SHARE, as 0.9 or 90%, not {target!r}")
    return Goal(precision=share) if name == "precision" else Goal(recall=share)


def _roles(columns: list[str]) -> dict[str, str]:
    """``["customer=id"]`` as ``{"id": "customer"}``."""
    from drgst.errors import SettingError

    roles = {kind: name for name, _, kind in (text.rpartition("=") for text in columns)}
    if not roles.keys() <= {"id", "label"} or "" in roles.values():
        raise SettingError(f"--column takes NAME=id or NAME=label here, not {', '.join(columns)!r}")
    return roles


def _labels(
    result: Result, truth: str | None, roles: dict[str, str], positive: str | None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Labels of the table, or those of the graph that were hidden from the run; refuses an unknown class."""
    from drgst.decide.truth import TruthColumns, read_truth
    from drgst.errors import SettingError, unknown

    names = result.model.class_names
    if positive is not None and positive not in names:
        raise SettingError(unknown("class", positive, names))
    if truth is None:
        return result.graph.labels, ()
    columns = TruthColumns(roles.get("id"), roles.get("label"), positive)
    read = read_truth(truth, result.node_ids, names, columns)
    return read.labels, read.notes


def _tables(found: Evaluation) -> list[Table]:
    """Figures, calibration of each class, confusion matrix and thresholds."""
    positive, count = found.positive, f"{found.truth.size:,} nodes"
    figures = plain_table(f"{count} whose labels the run was not given", "", "95% interval")
    for title, value in found.titled():
        figures.add_row(title, *_cells(value))
    calibration = plain_table("predicted as", "nodes", "mean p", "right (95%)", "ECE of the class")
    for one in found.calibration:
        stated = "" if one.predicted == 0 else f"{one.stated:.3f}"
        cells = (one.label, f"{one.predicted:,}", stated, _short(one.right), f"{one.ece.value:.3f}")
        calibration.add_row(*cells)
    confusion = plain_table("true class, predicted as", *found.class_names)
    for name, row in zip(found.class_names, found.confusion, strict=True):
        confusion.add_row(name, *(f"{int(v):,}" for v in row))
    if positive is None:
        return [figures, calibration, confusion]
    table = plain_table(f"p({positive}) ≥", "nodes", "mean p", "precision (95%)", "recall (95%)")
    for row in found.thresholds:
        stated = "" if row.flagged == 0 else f"{row.stated:.3f}"
        table.add_row(f"{row.threshold:g}", f"{row.flagged:,}", stated, *map(_short, (row.precision, row.recall)))
    return [figures, calibration, confusion, table]


def _group_tables(truth: str | None, run: Path) -> list[Any]:
    """The tables whose columns may group the nodes: the truth, and the node table that the run was given."""
    from drgst.runs.folder import NODES

    return [*([] if truth is None else [truth]), *([run / NODES] if (run / NODES).is_file() else [])]


def _group_table(by: str, rows: list[GroupRow], positive: str | None) -> Table:
    extra = () if positive is None else (positive, "avg. precision (95%)")
    table = plain_table(by, "nodes", "accuracy (95%)", "ECE", *extra)
    for row in rows:
        cells = [row.group, f"{row.nodes:,}", _short(row.figures["accuracy"]), f"{row.figures['ece'].value:.3f}"]
        if row.share is not None:
            cells += [f"{row.share:.3f}", _short(row.figures["average_precision"])]
        table.add_row(*cells)
    return table


def _cells(estimate: Estimate) -> tuple[str, str]:
    if estimate.value != estimate.value:
        return "", ""
    return f"{estimate.value:.3f}", f"{estimate.low:.3f} to {estimate.high:.3f}"


def _short(estimate: Estimate) -> str:
    value, low, high = (f"{v:.2f}" for v in (estimate.value, estimate.low, estimate.high))
    return "" if estimate.value != estimate.value else f"{value} ({low} to {high})"


def _sentences(decision: Decision, positive: str, right: np.ndarray | None, never_held_out: str) -> list[str]:
    """The decision in words; ``right``: which flagged nodes are of the class, where that is known."""
    lines = [
        f"{positive}: {decision.flagged:,} nodes have a probability of at least {decision.threshold:.4f}",
        f"expected precision {decision.precision}, expected recall {decision.recall}",
    ]
    if decision.sure is not None:
        safe = "no number of nodes meets it" if decision.safe is None else f"--top {decision.safe} meets it"
        lines.append(f"the target is met with a probability of {decision.sure:.0%}; {safe} with 95%")
    if decision.labels:
        lines.append(f"the intervals are from {decision.labels:,} out-of-fold labels and chance{never_held_out}")
    else:
        lines.append(
            "the intervals are from chance alone: the run has no out-of-fold labels of a sample to check it with"
        )
    if right is not None:
        lines.append(
            f"{int(right.sum()):,} of these {right.size:,} are {positive} in the truth file ({right.mean():.1%})"
        )
    return lines


def _flagged_csv(result: Result, nodes: np.ndarray, positive: str) -> str:
    from drgst.files import csv_text

    p = result.probabilities[nodes, result.model.class_names.index(positive)]
    rows = ((result.node_ids[node], f"{v:.6f}") for node, v in zip(nodes.tolist(), p.tolist(), strict=True))
    return csv_text([("id", f"p:{positive}"), *rows])


def _write(folder: Path, document: dict[str, Any], found: Evaluation | None, flagged: str | None) -> str:
    """Write the files; "" or why there is no figure."""
    from json import dumps

    from drgst.errors import SettingError
    from drgst.files import csv_text, write_text
    from drgst.report.figure import evaluation_figure
    from drgst.report.style import check_matplotlib, save

    if flagged is not None:
        write_text(folder / "flagged.csv", flagged)
    write_text(folder / "evaluation.json", dumps(document, indent=2, allow_nan=False) + "\n")
    if found is None:
        return ""
    write_text(folder / "calibration.csv", csv_text(found.calibration_rows()))
    try:
        check_matplotlib()
    except SettingError as error:
        return f" without evaluation.png: {error}"
    save(evaluation_figure(found), folder / "evaluation.png")
    return ""
