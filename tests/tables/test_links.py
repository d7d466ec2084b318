"""Links: columns and tables that relate rows, chains, later tables, and every bad input in one sentence."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import drgst
from drgst.errors import SettingError
from drgst.tables.faults import TableError
from drgst.tables.schema import TableSchema

ACCOUNTS = pd.DataFrame(
    {
        "account": [f"a{k}" for k in range(8)],
        "age": [31, 45, 27, 60, 38, 52, 29, 41],
        "device": ["D1", "D1", "D2", "", "D2", "D3", "none", "D1"],
        "label": ["fraud", "", "ok", "ok", "", "ok", "fraud", ""],
    }
)
LOGINS = pd.DataFrame({"account": ["a0", "a1", "a1", "a1", "a5", "a6"], "phone": ["p1", "p1", "p1", "p2", "p2", ""]})
CELLS = pd.DataFrame({"phone": ["p1", "p2", "p9"], "cell": ["c1", "c1", "c2"]})


def made(*links: Any, nodes: pd.DataFrame = ACCOUNTS, edges: Any = None, **options: Any) -> drgst.TableGraph:
    return drgst.from_tables(nodes, edges, label="label", id="account", links=links, **options)


def pairs(relation: drgst.Relation) -> set[tuple[int, str]]:
    u, e = relation.incidence.nonzero()
    return set(zip(u.tolist(), relation.entities[e].tolist(), strict=True))


def test_a_column_relates_rows_and_is_no_feature() -> None:
    tables = made("device")
    (relation,) = tables.graph.relations
    assert relation.name == "device"
    assert pairs(relation) == {(0, "D1"), (1, "D1"), (7, "D1"), (2, "D2"), (4, "D2"), (5, "D3")}
    assert "device" not in tables.schema.feature_columns
    assert "relates rows that share a value" in tables.report


def test_a_table_relates_rows_and_repeated_links_count_once() -> None:
    (relation,) = made(drgst.Link(LOGINS)).graph.relations
    assert relation.name == "phone"
    assert pairs(relation) == {(0, "p1"), (1, "p1"), (1, "p2"), (5, "p2")}
    assert set(relation.incidence.data.tolist()) == {1.0}


def test_a_chain_is_the_product_of_its_links() -> None:
    phone, cell = made(drgst.Link(LOGINS), drgst.Link(CELLS)).graph.relations
    assert (phone.name, cell.name) == ("phone", "cell")
    assert cell.incidence.toarray()[:, 0].tolist() == [1, 2, 0, 0, 0, 1, 0, 0]


DEVICES = pd.DataFrame(
    {"device": ["D1", "D2", "D3", "D9"], "price": [10.0, 20.0, 30.0, 0.0], "os": ["x", "y", "x", "y"]}
)


def test_features_of_entities_flow_to_rows(tmp_path: Path) -> None:
    tables = made("device", drgst.Link(DEVICES))
    assert tables.schema.feature_names[-3:] == ["device: price", "device: os = x", "device: os = y"]
    x = np.asarray(tables.graph.features)[:, -3:]
    assert (x[0] == x[1]).all()
    assert (x[0] == x[7]).all()
    assert x[0, 1:].tolist() == [1, 0]
    assert x[2, 1:].tolist() == [0, 1]
    assert x[2, 0] > x[0, 0]
    assert x[5, 0] > x[2, 0]
    assert not x[3].any()
    assert not x[6].any()
    assert "mean of device" in tables.report
    tables.schema.save(tmp_path / "schema.json")
    schema = TableSchema.load(tmp_path / "schema.json")
    nodes = pd.DataFrame({"account": ["n1", "n2"], "age": [20, 30], "device": ["D2", "D7"]})
    later = schema.apply(nodes, {schema.entities[0].table: DEVICES}, base=tables.graph).graph
    assert np.array_equal(np.asarray(later.features)[8:, -3:], np.vstack([x[2], np.zeros(3)]))
    assert not np.asarray(schema.apply(nodes, base=tables.graph).graph.features)[8:, -3:].any()


def test_rows_with_several_entities_have_their_mean() -> None:
    phones = pd.DataFrame({"phone": ["p1", "p2"], "prepaid": ["yes", "no"], "plan": ["a", "b"]})
    tables = made(drgst.Link(LOGINS), drgst.Link(phones, source="phone", target="*"))
    place = tables.schema.feature_names.index("phone: prepaid")
    assert np.asarray(tables.graph.features)[:, place].tolist() == [1, 0.5, 0, 0, 0, 0, 0, 0]


def test_columns_may_be_named() -> None:
    table = LOGINS.assign(when="2026-01-01")
    with pytest.raises(TableError, match="is not clear \\(columns: account, phone, when\\)"):
        made(drgst.Link(table))
    (relation,) = made(drgst.Link(table, source="account", target="phone", name="calls")).graph.relations
    assert relation.name == "calls"


def test_whole_numbers_are_one_entity_with_and_without_decimals() -> None:
    nodes = ACCOUNTS.assign(device=[7.0, 7.0, 8.0, None, 8.0, 7.0, None, 8.0])
    (relation,) = made("device", nodes=nodes).graph.relations
    assert relation.entities.tolist() == ["7", "8"]


def test_later_rows_join_by_known_and_new_entities(tmp_path: Path) -> None:
    first = made("device", drgst.Link(LOGINS, name="phone"))
    first.schema.save(tmp_path / "schema.json")
    schema = TableSchema.load(tmp_path / "schema.json")
    nodes = pd.DataFrame({"account": ["n1", "n2"], "age": [20, 30], "device": ["D2", "D9"]})
    logins = pd.DataFrame({"account": ["n1", "a7"], "phone": ["p3", "p1"]})
    later = schema.apply(nodes, {schema.links[1].table: logins}, base=first.graph).graph
    device, phone = later.relations
    assert {(8, "D2"), (9, "D9"), (0, "D1")} < pairs(device)
    assert pairs(phone) == pairs(first.graph.relations[1]) | {(8, "p3"), (7, "p1")}
    alone = schema.apply(nodes.drop(columns="device")).graph
    assert not alone.relations


@pytest.mark.parametrize(
    ("links", "change", "reason"),
    [
        (["devise"], {}, "nodes: unknown column 'devise'; did you mean 'device'?"),
        (["device"], {"device": "D1"}, "nodes, column 'device': every row has the value 'D1'"),
        (["device"], {"device": [f"D{k}" for k in range(8)]}, "column 'device': no two rows have the same value"),
        (["device"], {"device": None}, "column 'device': all cells are missing"),
        (["age", "label"], {}, "both label and link name it"),
        ([drgst.Link(LOGINS.assign(account="x"))], {}, "is not clear"),
        ([drgst.Link(LOGINS, source="account", target="fone")], {}, "unknown column 'fone'; did you mean 'phone'?"),
        (
            [drgst.Link(LOGINS.assign(account=["a0", "a1", "a1", "a1", "a5", "zz"]))],
            {},
            "row 6, column 'account': 'zz' is not the id of a node; 1 row with 1 such id",
        ),
        (
            [drgst.Link(LOGINS.assign(account=["a0", None, "a1", "a1", "a5", "a6"]))],
            {},
            "row 2, column 'account': the end of the link is empty",
        ),
        ([drgst.Link("/nowhere/logins.csv")], {}, "logins.csv"),
        ([drgst.Link(LOGINS, source="account", target="*")], {}, "no column holds the entities of an earlier link"),
        (
            ["device", drgst.Link(pd.concat([DEVICES, DEVICES[:1]], ignore_index=True), source="device", target="*")],
            {},
            "row 5, column 'device': the id 'D1' occurs again, first in row 1",
        ),
        (["device", drgst.Link(DEVICES.assign(price=1, os="x"))], {}, "no column other than 'device' tells"),
    ],
)
def test_bad_links_are_one_sentence(links: list[Any], change: dict[str, Any], reason: str) -> None:
    with pytest.raises(TableError) as caught:
        made(*links, nodes=ACCOUNTS.assign(**change))
    assert any(reason in str(fault) for fault in caught.value.faults), caught.value.faults


def test_links_of_another_type_are_refused() -> None:
    with pytest.raises(SettingError, match=r"links has 3, but takes names of columns and drgst.Link"):
        made(3)


@pytest.mark.parametrize("field", ["source", "target", "name"])
def test_names_of_links_are_texts(field: str) -> None:
    with pytest.raises(SettingError, match=f"{field} of a Link is 3, but must be a text"):
        made(drgst.Link(LOGINS, **{field: 3}))


def test_few_cells_are_noted() -> None:
    nodes = pd.concat([ACCOUNTS.assign(account=ACCOUNTS["account"] + str(k)) for k in range(10)], ignore_index=True)
    nodes["device"] = ["D1", "D1", "D2", "D2"] + [None] * 76
    assert any("column 'device': 95% of its cells are missing" in note for note in made("device", nodes=nodes).notes)


def test_unknown_sources_are_left_out_on_request() -> None:
    logins = LOGINS.assign(account=["a0", "a1", "a1", "a1", "a5", "zz"])
    (relation,) = made(drgst.Link(logins), unknown_endpoints="add").graph.relations
    assert relation.incidence.shape[0] == 8


PAYMENTS = pd.DataFrame(
    {
        "source": ["a0", "a1", "a2", "a3"],
        "target": ["a1", "a2", "a3", "a4"],
        "when": ["2026-01-01", "2026-02-01", "2026-03-01T00:30:00+01:00", "2026-04-01"],
    }
)


def test_as_of_leaves_out_later_edges_and_links() -> None:
    logins = LOGINS.assign(seen=["2026-01-01", "2026-01-01", "2026-05-01", "2026-05-01", "2026-01-01", "2026-01-01"])
    tables = made(drgst.Link(logins), edges=PAYMENTS, as_of="2026-02-28T23:45:00Z")
    assert tables.graph.num_edges == 3  # half past midnight in Paris is before that
    assert pairs(tables.graph.relations[0]) == {(0, "p1"), (1, "p1"), (5, "p2")}
    assert any("1 row after 2026-02-28T23:45:00Z left out" in note for note in tables.notes)
    assert made(edges=PAYMENTS).graph.num_edges == 4


def test_links_without_a_time_are_noted() -> None:
    logins = LOGINS.assign(seen=["2026-01-01", "early", "2026-05-01", "2026-05-01", None, "2026-01-01"])
    for options in ({"as_of": "2026-03-01"}, {"half_life": "30d"}):
        tables = made(drgst.Link(logins, name="logins"), time="seen", **options)
        assert (
            "logins, row 2, column 'seen': 'early' is neither a date nor a number (2 rows without a time left out)"
            in (tables.notes)
        )
        assert ("logins: 2 rows after 2026-03-01 left out" in tables.notes) == ("as_of" in options)
    notes = made("device", drgst.Link(LOGINS, name="logins"), as_of="2026-03-01").notes
    assert "nodes: the links by 'device' have no times, so as_of leaves out none" in notes
    assert "logins: the links by 'phone' have no times, so as_of leaves out none" in notes


def test_a_column_of_times_of_links_may_be_named() -> None:
    logins = LOGINS.assign(seen="early")
    with pytest.raises(TableError, match="row 1, column 'seen': 'early' is neither a date nor a number"):
        made(drgst.Link(logins, name="logins"), time="seen", as_of="2026-03-01")
    numbered = made(drgst.Link(LOGINS.assign(seen=[1, 1, 5, 5, 1, 1])), time="seen", as_of="2")
    assert pairs(numbered.graph.relations[0]) == {(0, "p1"), (1, "p1"), (5, "p2")}


def test_links_that_are_all_later_are_a_fault() -> None:
    with pytest.raises(TableError, match="no row is of 2026-01-01 or before: the first is of 2026-05-01"):
        made(drgst.Link(LOGINS.assign(seen=[f"2026-05-0{k}" for k in range(1, 7)])), as_of="2026-01-01")


def test_edges_without_a_time_are_left_out() -> None:
    payments = PAYMENTS.assign(when=["2026-01-01", None, "2026-02-01", "2026-04-01"])
    assert made(edges=payments, as_of="2026-12-31").graph.num_edges == 3


def test_half_life_lets_old_edges_and_links_count_less() -> None:
    a = made(edges=PAYMENTS, as_of="2026-03-03", half_life="30d", edge_columns=False).graph.adjacency
    assert a[1, 2] == pytest.approx(0.5)
    assert a[0, 1] == pytest.approx(0.5 ** (61 / 30))
    logins = LOGINS.assign(seen=["2026-01-01", "2026-01-01", "2026-01-31", "2026-01-31", "2026-01-01", "2026-01-01"])
    b = made(drgst.Link(logins), half_life="30d").graph.relations[0].incidence.toarray()
    assert b[0, 0] == pytest.approx(0.5)
    assert b[1, 0] == 1  # by its latest login


def test_labels_have_times() -> None:
    known = ACCOUNTS.assign(known=["2026-02-01", "", "2026-02-15", "2026-04-10", "", "2026-03-01", "2026-02-20", ""])
    tables = made(nodes=known, edges=PAYMENTS, label_time="known", as_of="2026-03-15")
    assert "known" not in tables.schema.feature_columns
    assert tables.graph.labels.tolist() == [0, -1, 1, -1, -1, 1, 0, -1]  # a3 was labelled later
    assert "nodes: 1 label not of 2026-03-15 or before left out" in tables.notes
    assert "nodes: 1 label newer than the last edge or link, of 2026-02-28" in tables.notes  # of a5, in UTC
    logins = LOGINS.assign(seen=["2026-03-10", "2026-03-11"] * 3)
    links = [drgst.Link(logins)]
    older = [note for note in made(*links, nodes=known, edges=PAYMENTS, label_time="known").notes if "older" in note]
    assert older == ["nodes: 2 labels older than all edges and links of the row, which may follow from the label"]
    assert any("label_time" in note for note in made(edges=PAYMENTS, as_of="2026-03-15").notes)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"label_time": "device"}, "row 1, column 'device': 'D1' is neither a date nor a number"),
        ({"label_time": "knwon"}, "unknown column 'knwon'"),
        ({"label_time": "age", "as_of": "28"}, "column 'age': fewer than two classes have a label of 28 or before"),
        ({"as_of": "2020-01-01"}, "column 'when': no row is of 2020-01-01 or before: the first is of 2026-01-01"),
        ({"as_of": "soon"}, "as_of is 'soon', but must be a date"),
        ({"half_life": "a month"}, "half_life is 'a month', but must be a time above 0"),
        ({"half_life": "0d"}, "half_life is '0d'"),
        ({"as_of": "2026-01-01", "drop": "when"}, "no column of times was found"),
        ({"time": "when", "as_of": "2026-01-01", "edges": PAYMENTS.assign(when="early")}, "'early' is neither a date"),
    ],
)
def test_bad_times_are_one_sentence(options: dict[str, Any], reason: str) -> None:
    with pytest.raises((TableError, SettingError), match=reason):
        made(**{"edges": PAYMENTS, **options})
