"""The store: every run that was ever made, in one SQLite file that several benches may write at once."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from drgst.bench.schema import APPLICATION, COLUMNS, TABLES, VERSION
from drgst.errors import StoreError

PATIENCE = 60.0  # seconds to wait for another writer
Row = dict[str, Any]


class Store:
    """An open store. WAL mode: readers never wait, writers wait for each other; each row is written on its own."""

    def __init__(self, path: str | os.PathLike[str], *, create: bool = False) -> None:
        self.path = Path(path)
        if not create and not self.path.is_file():
            raise StoreError(f"there is no store {self.path}; drgst bench --store {self.path} makes one")
        with self._explained():
            if create:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
            try:
                self._check()
                if create:
                    self._set_up()
            except BaseException:
                self._db.close()
                raise

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; everything is on disk already."""
        self._db.close()

    def add(self, row: Row) -> None:
        """Keep a run. A run that succeeded stays as it is; one that failed is replaced."""
        names = ", ".join(COLUMNS)
        marks = ", ".join("?" for _ in COLUMNS)
        fresh = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS)
        words = f"INSERT INTO runs ({names}) VALUES ({marks}) ON CONFLICT (key) DO UPDATE SET {fresh}"
        self.run(f"{words} WHERE runs.error IS NOT NULL", [row[name] for name in COLUMNS])

    def finished(self, keys: Iterable[str]) -> set[str]:
        """Those of ``keys`` whose run is in the store and did not fail."""
        return {row["key"] for row in self._of(keys, ("key",), "AND error IS NULL")}

    def rows(self, keys: Iterable[str], columns: Sequence[str]) -> list[Row]:
        """The runs of ``keys`` that did not fail, in no order."""
        return self._of(keys, columns, "AND error IS NULL")

    def errors(self, keys: Iterable[str]) -> list[Row]:
        """The runs of ``keys`` that failed."""
        return self._of(keys, ("key", "dataset", "per_class", "recipe", "draw", "error"), "AND error IS NOT NULL")

    def all_rows(self, columns: Sequence[str] | None = None) -> list[Row]:
        """Every run, by data set, labels, recipe, variant and draw."""
        wanted = tuple(columns or COLUMNS)
        order = "dataset, per_class, recipe, variant, pool, validation, draw, key"
        return self._dicts(wanted, self.run(f"SELECT {', '.join(wanted)} FROM runs ORDER BY {order}"))

    def run(self, words: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """One statement, with SQLite's complaints in plain words."""
        with self._explained():
            return self._db.execute(words, values).fetchall()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Several statements as one; nobody else writes meanwhile."""
        self.run("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.rollback()
            raise
        self.run("COMMIT")

    def _of(self, keys: Iterable[str], columns: Sequence[str], more: str) -> list[Row]:
        found: list[Row] = []
        wanted = list(keys)
        for start in range(0, len(wanted), 500):  # SQLite bounds the number of values of a statement
            part = wanted[start : start + 500]
            marks = ", ".join("?" for _ in part)
            words = f"SELECT {', '.join(columns)} FROM runs WHERE key IN ({marks}) {more}"
            found += self._dicts(columns, self.run(words, part))
        return found

    @staticmethod
    def _dicts(columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> list[Row]:
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def _check(self) -> None:
        """Refuse what is damaged, no store, or of a newer version; an empty file may become one."""
        problem = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if problem != "ok":
            raise StoreError(_damaged(self.path, problem))
        kind = self._db.execute("PRAGMA application_id").fetchone()[0]
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        bare = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if kind != APPLICATION and not bare:
            raise StoreError(f"{self.path} is an SQLite file, but not a store of drgst; name another --store")
        if kind == APPLICATION and version > VERSION:
            raise StoreError(
                f"{self.path} was written by a newer drgst (store version {version}, this one reads up to {VERSION}); "
                "update drgst, or name another --store"
            )

    def _set_up(self) -> None:
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")  # safe with WAL: a power cut costs the last rows, not the file
        self._db.execute("BEGIN IMMEDIATE")  # fails here, not after an hour, where nothing can be written
        for words in TABLES:
            self._db.execute(words)
        self._db.execute(f"PRAGMA application_id = {APPLICATION}")
        self._db.execute(f"PRAGMA user_version = {VERSION}")
        self._db.execute("COMMIT")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(f"can't write the store {self.path}: {error.strerror or error}") from error
        except sqlite3.OperationalError as error:
            raise StoreError(_operational(self.path, str(error))) from error
        except sqlite3.DatabaseError as error:
            raise StoreError(_damaged(self.path, str(error))) from error


def _damaged(path: Path, problem: str) -> str:
    return (
        f"the store {path} is damaged ({' '.join(problem.split())}); move it away and start afresh; bring back what "
        f"can still be read with: drgst bench rescue {path} --store NEW.db"
    )


def _operational(path: Path, problem: str) -> str:
    if "full" in problem:
        return f"the disk is full: can't write the store {path}; the runs that ended before are kept"
    if "readonly" in problem or "unable to open" in problem:
        return f"can't write the store {path}: {problem}; name a --store in a folder that can be written"
    if "malformed" in problem:
        return _damaged(path, problem)
    return f"the store {path} can't be used: {problem}"
