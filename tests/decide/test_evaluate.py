"""Evaluation, thresholds, the truth file, and labels to review."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.metrics import average_precision_score

import drgst
from drgst.datasets.synthetic import block_model
from drgst.decide.evaluate import ClassCalibration, Estimate, bootstrap, evaluate, rarer_class
from drgst.decide.review import review, review_labels
from drgst.decide.threshold import Goal, choose_threshold
from drgst.decide.truth import TruthColumns, read_groups, read_truth
from drgst.errors import RunError, SettingError
from drgst.graph.split import random_split
from drgst.runs.metrics import RankScores
from drgst.tables.faults import TableError


def test_intervals_have_the_width_of_the_standard_error() -> None:
    right = np.random.default_rng(1).random(400) < 0.8
    found = bootstrap({"share": lambda w: float(np.average(right, weights=w))}, 400)["share"]
    half = 1.96 * np.sqrt(found.value * (1 - found.value) / 400)
    assert found.high - found.value == pytest.approx(half, rel=0.25)
    assert found.value - found.low == pytest.approx(half, rel=0.25)
    assert found.high - found.low == pytest.approx(2 * half, rel=0.1)  # at 90 % it would have 0.84 of that


def test_figures_that_do_not_exist_are_nan() -> None:
    found = bootstrap({"auc": RankScores(np.arange(300.0), np.zeros(300, dtype=bool)).roc_auc}, 300)["auc"]
    assert np.isnan([found.value, found.low, found.high]).all()


def test_calibration_per_class_shows_what_the_top_label_hides() -> None:
    """1,000 nodes: 940 are surely a; 60 are said to be b with 0.6, and a third of them are."""
    p = np.repeat([[0.99, 0.01], [0.4, 0.6]], [940, 60], axis=0)
    truth = np.repeat([0, 1, 0], [940, 20, 40])
    found = evaluate(p, truth, ("a", "b"))
    assert found.positive == "b"
    first, second = found.calibration
    assert (first.label, first.predicted, second.predicted) == ("b", 60, 940)
    assert first.stated == pytest.approx(0.6)
    assert first.right.value == pytest.approx(1 / 3)
    assert first.notes() == [
        "probabilities of b are too high: 60% is stated on average for the nodes predicted b, and 33% of them are right"
    ]
    assert second.notes() == []
    assert first.right.low < first.right.value < first.right.high
    assert first.ece.value == pytest.approx((940 * 0.01 + 60 * (0.6 - 1 / 3)) / 1000)
    assert found.figures["ece"].value == pytest.approx(first.ece.value)  # of two classes they are the same
    assert found.to_dict()["calibration"][0]["right"]["value"] == pytest.approx(1 / 3)
    depths = [name for name in found.figures if name.startswith("precision_at_")]
    assert depths == [f"precision_at_{k}" for k in (10, 50, 100, 200, 500)]  # up to half of the nodes


def test_a_week_is_named_by_its_monday() -> None:
    table = pd.DataFrame({"id": range(5), "day": ["2026-06-01", "2026-06-07", "2026-06-08", "2026-06-14", None]})
    title, groups = read_groups("week", [table], range(5))
    assert title == "day, week"
    assert groups.tolist() == ["2026-06-01"] * 2 + ["2026-06-08"] * 2 + ["(none)"]
    truth = pd.DataFrame({"id": range(5), "week": [1, 1, 2, 2, 2]})  # a column of that name is meant
    title, groups = read_groups("week", [truth, table], range(5))
    assert (title, groups.tolist()) == ("week", ["1", "1", "2", "2", "2"])


def test_too_low_a_probability_is_said_as_well() -> None:
    low = ClassCalibration("b", 100, 0.55, Estimate(0.9, 0.84, 0.95), Estimate(0.1, 0.05, 0.15))
    assert low.notes()[0].startswith("probabilities of b are too low: 55% is stated")
    assert not replace(low, stated=0.86).notes()  # within the interval


def test_a_class_that_is_never_predicted_has_no_precision() -> None:
    found = evaluate(np.tile([0.6, 0.3, 0.1], (30, 1)), np.arange(30) % 3, ("a", "b", "c"), "c")
    assert [one.label for one in found.calibration] == ["c", "a", "b"]
    assert np.isnan(found.calibration[0].right.value)
    assert found.calibration[0].ece.value == pytest.approx(1 / 3 - 0.1)
    assert found.calibration_rows()[1][3] is None


def test_the_rarer_class_by_truth_then_by_predictions() -> None:
    p = np.array([[0.2, 0.8], [0.3, 0.7]])
    assert rarer_class(p, np.array([1, 1, 0]), ("a", "b")) == "a"
    assert rarer_class(p, np.array([0, 0, 1]), ("a", "b")) == "b"
    assert rarer_class(p, np.array([0, 1]), ("a", "b")) == "a"
    assert rarer_class(1 - p, np.array([], dtype=int), ("a", "b")) == "b"
    assert rarer_class(p, np.array([], dtype=int), ("a", "b", "c")) is None


IDS, CLASSES = ["a", "b", "c", "d"], ("fraud", "ok")
ANY = TruthColumns()


def test_columns_are_found_by_content() -> None:
    table = pd.DataFrame({"week": [1, 2, 1], "who": ["c", "a", "z"], "what": ["ok", "fraud", "ok"]})
    found = read_truth(table, IDS, CLASSES, ANY)
    assert found.labels.tolist() == [0, -1, 1, -1]
    assert found.notes == ("truth: 1 row with ids that are not nodes of the run ignored",)


def test_true_and_false_stand_for_two_classes() -> None:
    table = pd.DataFrame({"id": IDS, "fraud": [True, False, True, None], "vip": [True, True, False, False]})
    found = read_truth(table, IDS, CLASSES, TruthColumns(positive="fraud"))
    assert found.labels.tolist() == [0, 1, 0, -1]
    assert "true counts as 'fraud', false as 'ok'" in found.notes[0]
    assert read_truth(table, IDS, CLASSES, ANY).labels.tolist() == [0, 1, 0, -1], "the column has the name of a class"
    table = pd.DataFrame({"id": IDS, "OK": [True, False, True, None]})
    assert read_truth(table, IDS, CLASSES, TruthColumns(positive="fraud")).labels.tolist() == [1, 0, 1, -1]


@pytest.mark.parametrize(
    ("text", "columns", "words"),
    [
        ("id,label\na,ok\nb,frod\n", TruthColumns(label="label"), "line 3, column 'label': 'frod' is not a class"),
        ("id,label\na,ok\na,ok\n", ANY, "line 3, column 'id': the id 'a' occurs more than once"),
        ("x,label\nq,ok\nr,ok\n", ANY, "no column holds the ids"),
        ("id,label\na,1.5\n", ANY, "no column holds classes"),
        ("id,l,m\na,ok,ok\n", ANY, "the columns 'l', 'm' hold classes of the run ('fraud', 'ok'): name"),
        ("id,label\na,ok\n", TruthColumns(label="lable"), "did you mean 'label'"),
        ("id,label\na,ok\n", TruthColumns(id="key"), "unknown column 'key'"),
    ],
)
def test_faults_name_file_and_place(text: str, columns: TruthColumns, words: str, tmp_path: Path) -> None:
    path = tmp_path / "truth.csv"
    path.write_text(text)
    with pytest.raises(TableError) as error:
        read_truth(path, IDS, CLASSES, columns)
    assert words in str(error.value)
    assert str(error.value).startswith("truth.csv")


P = np.array([0.95, 0.9, 0.7, 0.4, 0.05])


def test_a_precision_a_recall_and_a_number() -> None:
    precise = choose_threshold(P, Goal(precision=0.84))
    assert (precise.flagged, precise.threshold) == (3, 0.7)
    assert precise.precision.expected == pytest.approx(2.55 / 3)
    assert choose_threshold(P, Goal(recall=0.84)).flagged == 3
    assert choose_threshold(P, Goal(recall=1)).flagged == 5
    assert choose_threshold(P, Goal(top=2)).recall.expected == pytest.approx(1.85 / 3)
    assert choose_threshold(P, Goal(top=99)).flagged == 5
    assert choose_threshold(P, Goal(top=2)).sure is None
    assert choose_threshold(P, Goal(top=2)).safe is None


@pytest.mark.parametrize("goal", [Goal(precision=0.8), Goal(recall=0.8)])
def test_a_safe_number_of_nodes_meets_the_target_in_nineteen_of_twenty_worlds(goal: Goal) -> None:
    """It is on the safe side of the threshold that is expected to meet it; 200 worlds are drawn from p."""
    rng = np.random.default_rng(0)
    p = np.sort(expit(rng.normal(scale=3, size=1000) - 2))[::-1]
    found = choose_threshold(p, goal)
    assert found.safe is not None
    assert (found.safe < found.flagged) == (goal.precision is not None)
    truth = rng.random((200, p.size)) < p
    hits = truth[:, : found.safe].sum(axis=1)
    reached = hits / (found.safe if goal.precision is not None else truth.sum(axis=1))
    assert (reached >= 0.8).mean() >= 0.93


def test_no_number_is_safe_where_probabilities_are_too_low() -> None:
    assert choose_threshold(P, Goal(precision=0.94)).safe is None


@pytest.mark.parametrize("given", [{}, {"precision": 0.9, "top": 3}, {"precision": 1.2}, {"recall": 0}, {"top": 0}])
def test_impossible_goals_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(SettingError):
        Goal(**given)  # type: ignore[arg-type]


def test_a_precision_that_no_threshold_reaches_is_refused() -> None:
    with pytest.raises(SettingError, match=r"highest probability is 0\.95"):
        choose_threshold(P, Goal(precision=0.99))


@pytest.mark.parametrize("temperature", [0.7, 1.0, 1.4])
def test_intervals_cover_the_precision(temperature: float) -> None:
    """Of 20 worlds whose stated probabilities are too certain, right or too doubtful, most are covered."""
    covered = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        z = rng.normal(scale=3, size=400) - 5
        known = rng.normal(scale=3, size=80)
        truth, labels = (rng.random(v.size) < expit(v) for v in (z, known))
        p = expit(z / temperature)
        found = choose_threshold(p, Goal(top=40), (expit(known / temperature), labels), seed)
        precision = truth[p >= found.threshold].mean()
        covered += found.precision.low - 0.03 <= precision <= found.precision.high + 0.03
    assert covered >= (16 if temperature == 1 else 13)


def test_labels_that_disagree_flatten_the_probabilities() -> None:
    """Where 0.9 is stated and 0.6 is true, T is above 1, and less is expected of the likeliest nodes."""
    p = np.linspace(0.02, 0.98, 500)
    stated = np.repeat([0.9, 0.1], 50)
    decisions = [
        choose_threshold(p, Goal(top=50), (stated, np.tile(np.arange(50) < right, 2) ^ (stated < 0.5)))
        for right in (30, 49)
    ]
    assert decisions[0].precision.high < decisions[1].precision.low


def test_a_temperature_keeps_the_expected_number() -> None:
    """Labels that contradict certain probabilities flatten them, but the mean over all nodes stays."""
    rng = np.random.default_rng(0)
    p, wrong = rng.beta(0.3, 4.0, 3_000), (np.full(60, 0.999), rng.random(60) < 0.5)
    found = choose_threshold(p, Goal(top=p.size), wrong)
    assert found.precision.low < p.mean() < found.precision.high
    assert found.precision.high - found.precision.low < 0.05


def test_the_order_is_that_of_the_margin() -> None:
    p = np.array([[0.9, 0.1], [0.4, 0.6], [0.02, 0.98], [0.3, 0.7]])
    found = review_labels(p, np.array([0, 0, 0, 1]), np.array([5, 6, 7, 8]))
    assert found.nodes.tolist() == [7, 6, 8, 5]
    assert found.contradicted == 2
    rows = found.rows(list("abcdefghi"), ("x", "y"))
    assert rows[0] == {"id": "h", "given": "x", "suggested": "y", "p_given": 0.02, "p_suggested": 0.98}
    assert len(rows) == 2
    assert len(found.rows(list("abcdefghi"), ("x", "y"), 1)) == 1


def test_flipped_labels_come_first() -> None:
    graph = block_model(600, 2400, seed=0, classes=3, features=60, homophily=0.9, signal=0.6)
    split = random_split(graph, per_class=20, val=0, test=0, seed=0)
    flipped = np.random.default_rng(0).choice(split.train, 6, replace=False)
    labels = graph.labels.copy()
    labels[flipped] = (labels[flipped] + 1) % 3
    model = drgst.SelfTraining("logistic-ppr", {"calibrate": "crossfit"}).fit(graph.with_(labels=labels), split)
    found = review(model.result_)
    wrong = np.isin(found.nodes, flipped)
    assert average_precision_score(wrong, -np.arange(wrong.size)) > 0.9
    plain = drgst.SelfTraining("logistic-ppr").fit(graph, split)
    with pytest.raises(RunError, match="calibrate=crossfit"):
        review(plain.result_)
