"""Generated fraud tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest

import drgst
from drgst.errors import DrgstError, SettingError

SMALL: dict[str, Any] = {"accounts": 2000, "positive_rate": 0.05, "labelled": 30}


@pytest.fixture(scope="module")
def tables() -> drgst.datasets.FraudTables:
    return drgst.fraud_tables(5, **SMALL)


def test_equal_arguments_give_equal_tables(tables: drgst.datasets.FraudTables) -> None:
    again = drgst.datasets.fraud_tables(5, **SMALL)
    other = drgst.fraud_tables(6, **SMALL)
    for name in ("accounts", "transactions", "truth"):
        assert getattr(tables, name).equals(getattr(again, name))
        assert not getattr(tables, name).equals(getattr(other, name))


def test_the_difficulties_are_there(tables: drgst.datasets.FraudTables) -> None:
    accounts, transactions, truth = (t.to_pandas() for t in (tables.accounts, tables.transactions, tables.truth))
    assert truth["fraud"].sum() == 100
    assert accounts["label"].value_counts().to_dict() == {"fraud": 30, "ok": 30}
    known = accounts["label"].notna()
    assert ((accounts["label"] == "fraud") == truth["fraud"])[known].all()
    assert set(truth["week"][known]) == {1}
    for column in ("opened", "age", "income", "device", "note"):
        assert 0 < accounts[column].isna().mean() < 0.5
    assert accounts["branch"].str.startswith("0").any()
    assert transactions.duplicated(["from_account", "to_account"]).any()
    assert (transactions["from_account"] == transactions["to_account"]).any()
    rings = truth[truth["fraud"]].groupby("ring").size()
    assert rings.iloc[:-1].between(4, 12).all()
    assert (truth["ring"][~truth["fraud"]] == -1).all()


def test_rings_trade_with_themselves() -> None:
    inside = {}
    for share in (0.0, 0.8):
        tables = drgst.fraud_tables(5, **SMALL, informative_edges=share)
        ring = dict(zip(tables.truth["account_id"].to_pylist(), tables.truth["ring"].to_pylist(), strict=True))
        ends = (tables.transactions[name].to_pylist() for name in ("from_account", "to_account"))
        pairs = [(ring[u], ring[v]) for u, v in zip(*ends, strict=True) if ring[u] >= 0]
        inside[share] = np.mean([a == b for a, b in pairs])
    assert inside[0.0] < 0.05
    assert inside[0.8] == pytest.approx(0.8, abs=0.05)


def test_label_noise() -> None:
    tables = drgst.fraud_tables(5, **SMALL, label_noise=0.3)
    labels, truth = tables.accounts["label"].to_pylist(), tables.truth["fraud"].to_pylist()
    wrong = [(label == "fraud") != fraud for label, fraud in zip(labels, truth, strict=True) if label is not None]
    assert len(wrong) == 60
    assert np.mean(wrong) == pytest.approx(0.3, abs=0.15)


def test_two_weeks(tables: drgst.datasets.FraudTables) -> None:
    first, second = tables.week(1), tables.week(2)
    assert first.accounts.num_rows + second.accounts.num_rows == 2000
    assert second.accounts.num_rows == 400
    assert second.accounts["label"].null_count == 400
    assert first.transactions.num_rows + second.transactions.num_rows == tables.transactions.num_rows
    assert pc.max(first.transactions["time"]).as_py() < pc.min(second.transactions["time"]).as_py()
    fitted = drgst.from_tables(first.accounts, first.transactions, label="label")
    joined = fitted.schema.apply(second.accounts, second.transactions, base=fitted.graph)
    assert joined.graph.num_nodes == 2000
    assert joined.new.size == 400
    with pytest.raises(DrgstError, match="there is no week 3"):
        tables.week(3)


def test_written_tables_are_read_without_cleaning(tables: drgst.datasets.FraudTables, tmp_path: Path) -> None:
    tables.write(tmp_path)
    made = drgst.from_tables(tmp_path / "accounts.csv", tmp_path / "transactions.csv", label="label")
    assert drgst.check_tables(tmp_path / "accounts.csv", tmp_path / "transactions.csv", label="label") == []
    assert made.graph.node_ids.tolist() == tables.truth["account_id"].to_pylist()
    kinds = {encoder.column: encoder.kind for encoder in made.schema.columns}
    assert kinds == {
        **{"opened": "date", "age": "number", "income": "number", "credit_score": "number", "logins": "number"},
        **{"country": "category", "branch": "category", "device": "category"},
        **{"verified": "boolean", "phone_changed": "boolean", "note": "text"},
    }
    assert {column.column for column in made.schema.dropped} == {"iban", "currency"}
    memory = drgst.from_tables(tables.accounts, tables.transactions, label="label")
    assert (memory.graph.features != made.graph.features).nnz == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"accounts": 10}, "accounts = 10"),
        ({"positive_rate": 2}, "positive_rate = 2"),
        ({"label_noise": -1}, "label_noise = -1"),
        ({"informative_edges": 1.5}, "informative_edges = 1.5"),
        ({"labelled": 0}, "labelled = 0"),
        ({"labelled": 90}, "labelled = 90"),
        ({"positive_rate": 1.0}, "labelled = 30"),
    ],
)
def test_settings_out_of_range(change: dict[str, float], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        drgst.fraud_tables(0, **{**SMALL, **change})


def test_rings_share_devices_and_other_columns_stay(tables: drgst.datasets.FraudTables) -> None:
    shared = drgst.fraud_tables(5, **SMALL, ring_devices=0.8)
    assert shared.accounts.drop_columns(["device_id", "phone"]).equals(tables.accounts)
    assert shared.transactions.equals(tables.transactions)
    truth, accounts = shared.truth.to_pandas(), shared.accounts.to_pandas()
    users = truth.groupby(accounts["device_id"])
    assert 0.7 < truth["ring_device"][truth["ring"] >= 0].mean() < 0.9
    assert not truth["ring_device"][truth["ring"] < 0].any()
    assert (users["ring"].nunique()[users["ring_device"].max()] == 1).all()
    assert accounts["device_id"].value_counts().max() > 20  # a public terminal
