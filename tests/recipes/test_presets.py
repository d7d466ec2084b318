"""The published settings: read from the table, used where they apply, and only there."""

import csv
from pathlib import Path

import numpy as np
import pytest

from drgst.recipes import find_recipe
from drgst.recipes.presets import (
    for_dataset,
    labels_per_class,
    published,
    published_threshold,
    teacher_only,
    tuned,
    tuned_cells,
)

WORDS = ("keep", "teacher_scale", "floor")


def test_two_cells_by_hand() -> None:
    """Cora 20, dropout and dropedge, as published: 2 and 5 trainings, that of the teacher included."""
    do = published("cora", 20, "dropout")
    assert (do["threshold"], do["beta"], do["drop_rate"], do["stages"]) == (0.53, pytest.approx(1 / 3), 0.5, 1)
    de = published("Cora", 20, "dropedge")
    assert (de["threshold"], de["beta"], de["drop_rate"], de["stages"]) == (0.54, 0.5, 0.4, 4)


def test_other_methods_by_a_threshold_take_that_of_dropout() -> None:
    found = published_threshold("cora", 20, "dropedge")
    assert found == {"weight_decay": 5e-4, "normalise": "l1", "threshold": 0.53}
    assert published_threshold("mygraph", 20, "dropedge") == {}


def test_cells_without_a_student() -> None:
    """Nine published cells train once: their result is the teacher."""
    assert published("citeseer", 3, "dropedge")["stages"] == 0
    assert teacher_only("dropout") == "Pubmed 3, 5, 10"
    assert teacher_only("dropedge") == "Pubmed 3, 5, 10; Citeseer 3; Corafull 3; Flickr 3"


TUNED = Path(__file__).parents[2] / "src" / "drgst" / "recipes" / "data" / "tuned_settings.csv"


def test_every_tuned_cell_is_valid_and_takes_the_place_of_the_published_one() -> None:
    with TUNED.open(encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    assert len({(row["dataset"], row["labels_per_class"], row["information_gain"]) for row in rows}) == len(rows) > 0
    for row in rows:
        dataset, per_class, kind = row["dataset"], int(row["labels_per_class"]), row["information_gain"]
        found = tuned(dataset, per_class, kind)
        assert (found["threshold"], found["stages"]) == (float(row["threshold"]), int(row["stages"]))
        assert [found[name] for name in WORDS] == [row[name] for name in WORDS]
        assert found["weight_decay"] == for_dataset(dataset, per_class, kind)["weight_decay"]
        settings = find_recipe("drgst-do-tuned" if kind == "dropout" else "drgst-de-tuned").settings(preset=found)
        assert (settings.keep, settings.beta) == (row["keep"], found["beta"])
        assert f"{dataset} " in tuned_cells(kind)


def test_a_cell_that_was_not_tuned_has_the_published_settings() -> None:
    assert tuned("corafull", 20, "dropout") == {"keep": "best", **published("corafull", 20, "dropout")}
    assert tuned("mygraph", 3, "dropedge") == {"keep": "best"}


def test_flickr_has_its_own_weight_decay() -> None:
    assert published("flickr", 3, "dropedge")["weight_decay"] == 5e-5
    assert published("cora", 3, "dropedge")["weight_decay"] == 5e-4


def test_unknown_cases_fall_back() -> None:
    """An unknown data set gives nothing, an unpublished count or another method the data set's general part."""
    assert published("mygraph", 20, "dropedge") == {}
    general = published("cora", 7, "dropedge")
    assert general == published("cora", None, "dropedge") == for_dataset("cora", 20, "dropedge")
    assert general == {"weight_decay": 5e-4, "normalise": "l1"}
    assert published("cora", 20, "both") == published("cora", 20, "dropedge")


@pytest.mark.parametrize(
    ("counts", "wanted"),
    [
        ([3, 3, 3], 3),
        ([20] * 19 + [15], 20),
        ([3, 4], None),
        ([1, 1], 1),
        ([5, 5, 4, 6], None),
        ([20] * 3 + [15], None),
    ],
)
def test_labels_per_class(counts: list[int], wanted: int | None) -> None:
    assert labels_per_class(np.repeat(np.arange(len(counts)), counts)) == wanted
