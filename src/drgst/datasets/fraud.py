"""Accounts and transactions with fraud rings: generated tables with the difficulties of real ones and a known truth."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from drgst.errors import SettingError
from drgst.files import PathLike, replacing

if TYPE_CHECKING:
    import pyarrow as pa

START = datetime(2026, 3, 2)  # a Monday: the first day of the two weeks
DAYS = 14
NEW_SHARE = 0.2  # of the accounts that are opened in the second week
COUNTRIES = ("DE", "FR", "ES", "IT", "NL", "PL", "BE", "AT", "PT", "SE", "CZ", "GR", "RO", "IE", "LT", "MT", "CY", "LU")
PLAIN_WORDS = (
    *("customer", "asked", "about", "monthly", "statement", "card", "address", "change", "limit", "balance"),
    *("mortgage", "savings", "account", "called", "branch", "visit", "online", "password", "reset", "insurance"),
    *("travel", "notice", "fee", "waived", "joint", "signature", "form", "sent", "tax", "certificate"),
)
FRAUD_WORDS = ("urgent", "gift", "crypto", "refund", "remote", "access", "courier", "overpaid", "inheritance", "agent")


@dataclass(frozen=True, eq=False)
class FraudTables:
    """Three Arrow tables; ``accounts.to_pandas()`` is a data frame."""

    accounts: pa.Table  # account_id, columns of all types, label (fraud, ok or empty)
    transactions: pa.Table  # transaction_id, from_account, to_account, amount, time, channel
    truth: pa.Table  # account_id, fraud (true or false), ring (-1 outside rings), week in which it was opened

    def write(self, folder: PathLike) -> None:
        """Write ``accounts.csv``, ``transactions.csv`` and ``truth.csv`` to a folder."""
        from pyarrow import csv

        for name in ("accounts", "transactions", "truth"):
            with replacing(Path(folder) / f"{name}.csv") as path:
                csv.write_csv(getattr(self, name), path)

    def week(self, number: int) -> FraudTables:
        """The accounts that were known or opened in week 1 or 2, and the transactions of that week.

        Week 1 has the accounts that were opened before the second week, with labels; week 2 has the accounts that were
        opened in it, without labels, and transactions among all accounts.
        """
        import pyarrow.compute as pc

        if number not in (1, 2):
            raise SettingError(f"there is no week {number}: the tables cover the weeks 1 and 2")
        mine = pc.equal(self.truth.column("week"), number)
        middle = START + timedelta(days=DAYS / 2)
        early = pc.less(pc.strptime(self.transactions.column("time"), "%Y-%m-%d %H:%M:%S", "s"), middle)
        rows = early if number == 1 else pc.invert(early)
        return FraudTables(self.accounts.filter(mine), self.transactions.filter(rows), self.truth.filter(mine))


def fraud_tables(
    seed: int,
    *,
    accounts: int = 20_000,
    positive_rate: float = 0.02,
    labelled: int = 60,
    label_noise: float = 0.0,
    informative_edges: float = 0.55,
    ring_devices: float = 0.0,
) -> FraudTables:
    """Accounts and transactions of two weeks, in which fraudulent accounts form rings.

    The share ``positive_rate`` of the accounts is fraudulent, in rings of 4 to 12. The share ``informative_edges`` of
    the transactions that fraudulent accounts make stays within their ring; the others, and all transactions of other
    accounts, go to contacts, shops and strangers. Most columns of the accounts differ a little between both classes.
    ``labelled`` accounts per class have a label, of which the share ``label_noise`` is wrong. Columns have missing
    cells, codes with leading zeros, dates, free text, a constant and an id; transactions are directed and repeated,
    and some lead from an account to itself. Equal arguments give equal tables.

    With ``ring_devices`` above 0, accounts also have ``device_id`` and ``phone``: that share of the accounts of a ring
    uses one of its devices and phones, which ``ring_device`` of the truth marks. All others have their own, share one
    in a household, or use one of a few public terminals.
    """
    generator = _Generator(accounts, positive_rate, labelled, label_noise, informative_edges, ring_devices)
    tables = generator.draw(np.random.default_rng(seed))
    return generator.with_devices(tables, np.random.default_rng([seed, 1])) if ring_devices else tables


@dataclass
class _Generator:
    """Draws the tables; u marks an account, y_u = 1 a fraudulent one."""

    accounts: int
    positive_rate: float
    labelled: int
    label_noise: float
    informative_edges: float
    ring_devices: float

    def __post_init__(self) -> None:
        for name in ("positive_rate", "label_noise", "informative_edges", "ring_devices"):
            if not 0 <= getattr(self, name) <= 1:
                raise SettingError(f"fraud_tables has {name} = {getattr(self, name)}, but it must lie between 0 and 1")
        if self.accounts < 100:
            raise SettingError(f"fraud_tables has accounts = {self.accounts}, but at least 100 are needed")
        self.positives = round(self.accounts * self.positive_rate)
        known = (1 - NEW_SHARE) * self.positives
        if not 1 <= self.labelled <= known or self.labelled > (1 - NEW_SHARE) * self.accounts - known:
            raise SettingError(
                f"fraud_tables has labelled = {self.labelled}, but must be between 1 and the {known:.0f} fraudulent "
                "accounts (and the other accounts) of the first week"
            )

    def draw(self, rng: np.random.Generator) -> FraudTables:
        import pyarrow as pa

        self.rng, n = rng, self.accounts
        self.fraud = np.zeros(n, dtype=bool)
        self.fraud[rng.choice(n, self.positives, replace=False)] = True
        self.ring = self._rings()
        self.start = np.zeros(n)  # day of the two weeks on which an account becomes active
        new = self._some(self.fraud, NEW_SHARE) | self._some(~self.fraud, NEW_SHARE)
        self.start[new] = rng.uniform(DAYS / 2, DAYS - 1, int(new.sum()))
        self.ids = np.array([f"A{k:07d}" for k in rng.choice(10_000_000, n, replace=False)], dtype=object)
        accounts = self._accounts()
        transactions = self._transactions()
        week = np.where(self.start > 0, 2, 1)
        truth = {"account_id": self.ids, "fraud": self.fraud, "ring": self.ring, "week": week}
        return FraudTables(pa.table(accounts), pa.table(transactions), pa.table(truth))

    def with_devices(self, tables: FraudTables, rng: np.random.Generator) -> FraudTables:
        """The tables with the columns ``device_id`` and ``phone``; the columns that were there stay as they are."""
        n, rings = self.fraud.size, (self.ring >= 0) & (rng.random(self.fraud.size) < self.ring_devices)
        accounts = tables.accounts
        place = accounts.column_names.index("label")
        for name, letter, public in (("device_id", "D", 0.02), ("phone", "P", 0.0)):
            used = np.where(rng.random(n) < 0.3, rng.integers(0, n, n), np.arange(n))  # 30 % that of another household
            used = np.where(rng.random(n) < public, n + rng.integers(0, max(n // 5000, 1), n), used)
            used = np.where(rings, 2 * n + 3 * self.ring + rng.integers(0, 3, n), used)  # one of three of the ring
            names = rng.permutation(int(used.max()) + 1)  # so that no name tells whose it is
            accounts = accounts.add_column(place, name, [[f"{letter}{k:07d}" for k in names[used].tolist()]])
        return FraudTables(accounts, tables.transactions, tables.truth.append_column("ring_device", [rings]))

    def _some(self, group: np.ndarray, share: float) -> np.ndarray:
        """A mask with the rounded share of a group, drawn at random."""
        members = np.flatnonzero(group)
        mask = np.zeros(group.size, dtype=bool)
        mask[self.rng.choice(members, round(share * members.size), replace=False)] = True
        return mask

    def _rings(self) -> np.ndarray:
        """Ring of each fraudulent account, -1 of all others, (N,)."""
        members = self.rng.permutation(np.flatnonzero(self.fraud))
        sizes = self.rng.integers(4, 13, members.size // 4 + 1)
        ring = np.full(self.fraud.size, -1)
        ring[members] = np.repeat(np.arange(sizes.size), sizes)[: members.size]
        return ring

    def _normal(self, shift: float) -> np.ndarray:
        """x_u ~ N(shift · y_u, 1), (N,)."""
        return self.rng.standard_normal(self.fraud.size) + shift * self.fraud

    def _flags(self, others: float, fraud: float) -> np.ndarray:
        """True with the probability of the class, (N,)."""
        return self.rng.random(self.fraud.size) < np.where(self.fraud, fraud, others)

    def _gaps(self, values: Any, others: float, fraud: float) -> Any:
        """The values as an object array with None in the share of cells of the class."""
        cells = np.array(values, dtype=object)
        cells[self._flags(others, fraud)] = None
        return cells

    def _accounts(self) -> dict[str, Any]:
        n = self.fraud.size
        weights = 1.0 / np.arange(1, len(COUNTRIES) + 1)
        shifted = np.roll(weights, 5)
        country = self.rng.choice(COUNTRIES, n, p=weights / weights.sum()).astype(object)
        moved = self._flags(0.0, 0.5)
        country[moved] = self.rng.choice(COUNTRIES, int(moved.sum()), p=shifted / shifted.sum())
        device = np.where(self._flags(0.3, 0.55), "android", np.where(self._flags(0.4, 0.4), "web", "ios"))
        return {
            "account_id": self.ids,
            "iban": [f"{c}{k:018d}" for c, k in zip(country, self.rng.integers(0, 10**17, n), strict=True)],
            "currency": ["EUR"] * n,
            "opened": self._gaps(self._opened(), 0.01, 0.03),
            "age": self._gaps(np.clip(np.rint(47 + 15 * self._normal(-1.4)), 18, 95).astype(int), 0.04, 0.08),
            "income": self._gaps(np.round(np.exp(7.8 + 0.5 * self._normal(-0.8)), 2), 0.15, 0.3),
            "credit_score": self._gaps(
                np.clip(np.rint(640 + 80 * self._normal(-1.5)), 300, 850).astype(int), 0.08, 0.16
            ),
            "logins": np.rint(np.exp(1.6 + 0.7 * self._normal(1.5))).astype(int),
            "country": self._gaps(country, 0.02, 0.02),
            "branch": [f"{k:04d}" for k in self.rng.integers(0, 25, n) ** 2],
            "device": self._gaps(device, 0.05, 0.05),
            "verified": np.where(self._flags(0.88, 0.4), "yes", "no"),
            "phone_changed": self._gaps(np.where(self._flags(0.08, 0.45), "true", "false"), 0.1, 0.1),
            "note": self._gaps(self._notes(), 0.2, 0.2),
            "label": self._labels(),
        }

    def _opened(self) -> list[str]:
        """Date of opening: within the second week for new accounts, before the first week for all others."""
        age = np.exp(6.6 + 0.9 * self._normal(-1.4))
        last = date(START.year, START.month, START.day)
        days = np.where(self.start > 0, np.floor(self.start), -np.ceil(np.clip(age, 1, 9000)))
        return [(last + timedelta(days=int(day))).isoformat() for day in days]

    def _notes(self) -> list[str]:
        """4 to 11 words per account: 25 percent of the words of a fraudulent one are odd, 3 percent of any other's."""
        shape = (self.fraud.size, 11)
        odd = self.rng.random(shape) < np.where(self.fraud, 0.25, 0.03)[:, None]
        words = np.where(odd, self.rng.choice(FRAUD_WORDS, shape), self.rng.choice(PLAIN_WORDS, shape))
        lengths = self.rng.integers(4, 12, self.fraud.size).tolist()
        return [" ".join(row[:length]) for row, length in zip(words.tolist(), lengths, strict=True)]

    def _labels(self) -> np.ndarray:
        """fraud or ok for ``labelled`` accounts per class of the first week, with noise; None for all others."""
        labels = np.full(self.fraud.size, None, dtype=object)
        for truth in (True, False):
            known = np.flatnonzero((self.fraud == truth) & (self.start == 0))
            chosen = self.rng.choice(known, self.labelled, replace=False)
            wrong = self.rng.random(chosen.size) < self.label_noise
            labels[chosen] = np.where(wrong != truth, "fraud", "ok")
        return labels

    def _transactions(self) -> dict[str, Any]:
        n = self.fraud.size
        count = self.rng.poisson(np.where(self.fraud, 6.0, 4.0) * np.exp(0.5 * self.rng.standard_normal(n)))
        source = np.repeat(np.arange(n), count)
        target = self._targets(source)
        inside = (self.ring[source] >= 0) & (self.ring[source] == self.ring[target])
        amount = np.exp(3.6 + self.rng.standard_normal(source.size) + 0.4 * (self.fraud[source] | inside))
        day = self.rng.uniform(np.maximum(self.start[source], self.start[target]), DAYS)
        order = np.argsort(day, kind="stable")
        times = [(START + timedelta(seconds=int(86400 * d))).strftime("%Y-%m-%d %H:%M:%S") for d in day[order]]
        channel = self.rng.choice(
            ("transfer", "card", "instant", "direct debit"), source.size, p=(0.45, 0.3, 0.15, 0.1)
        )
        return {
            "transaction_id": [f"T{k:09d}" for k in range(source.size)],
            "from_account": self.ids[source][order],
            "to_account": self.ids[target][order],
            "amount": np.round(amount[order], 2),
            "time": times,
            "channel": channel,
        }

    def _targets(self, source: np.ndarray) -> np.ndarray:
        """The receiver of each transaction: a ring member, one of four contacts, a shop, a stranger or the sender."""
        n, rng = self.fraud.size, self.rng
        place = rng.permutation(n)  # contacts are near each other on a circle
        where = np.argsort(place)
        steps = rng.integers(1, 40, (n, 4))
        contact = place[(where[source] + steps[source, rng.integers(0, 4, source.size)]) % n]
        shops = rng.choice(n, max(n // 100, 1), replace=False)
        shop = shops[np.minimum(rng.exponential(0.25, source.size) * shops.size, shops.size - 1).astype(int)]
        stranger = rng.integers(0, n, source.size)
        kind = rng.random(source.size)
        target = np.select([kind < 0.5, kind < 0.85, kind < 0.99], [contact, shop, stranger], source)
        members = np.argsort(self.ring, kind="stable")
        first, last = (np.searchsorted(self.ring[members], self.ring[source], side=side) for side in ("left", "right"))
        partner = members[first + (rng.random(source.size) * (last - first)).astype(int)]
        inside = (self.ring[source] >= 0) & (rng.random(source.size) < self.informative_edges)
        return np.where(inside, partner, target)
