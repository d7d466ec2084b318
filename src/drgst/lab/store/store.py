"""The store: all runs in one SQLite file that several benches may write at once."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from drgst.errors import StoreError
from drgst.lab.store.schema import APPLICATION, COLUMNS, FOREIGN, TABLES, VERSION, Row, invalid

PATIENCE = 60.0  # seconds to wait for another writer


class Store:
    """An open store. WAL mode: readers never wait, writers wait for each other; each row is written on its own.

    With ``create``, a file that does not exist is made by the first write: a bench that is refused leaves none.
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = False) -> None:
        self.path = Path(path)
        self._db: sqlite3.Connection | None = None
        if not create and not self.path.is_file():
            raise StoreError(f"there is no store {self.path}; drgst lab bench --store {self.path} makes one")
        with self._explained():
            if self.path.exists():
                self._db = self._open(write=create)
            else:  # refused now, not after an hour, where nothing can be written
                folder = next(p for p in self.path.absolute().parents if p.exists())
                tempfile.TemporaryFile(dir=folder).close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; everything is on disk already."""
        if self._db is not None:
            self._db.close()

    def add(self, row: Row) -> None:
        """Keep a run. A run that succeeded stays as it is; one that failed is replaced."""
        names = ", ".join(COLUMNS)
        marks = ", ".join("?" for _ in COLUMNS)
        fresh = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS)
        statement = f"INSERT INTO runs ({names}) VALUES ({marks}) ON CONFLICT (key) DO UPDATE SET {fresh}"
        self.write(f"{statement} WHERE runs.error IS NOT NULL", [row[name] for name in COLUMNS])

    def finished(self, keys: Iterable[str]) -> set[str]:
        """Those of ``keys`` whose run is in the store and did not fail."""
        return {row["key"] for row in self.rows(keys, ("key",))}

    def rows(self, keys: Iterable[str], columns: Sequence[str], failed: bool = False) -> list[Row]:
        """The runs of ``keys`` that did not fail (or, with ``failed``, that did), in any order."""
        found: list[Row] = []
        requested = list(keys)
        for start in range(0, len(requested), 500):  # SQLite bounds the number of values of a statement
            part = requested[start : start + 500]
            marks = ", ".join("?" for _ in part)
            found += self._select(columns, f"WHERE key IN ({marks}) AND error IS {'NOT ' * failed}NULL", part)
        return found

    def all_rows(self, columns: Sequence[str] = tuple(COLUMNS)) -> list[Row]:
        """Every run, by data set, labels, recipe, variant and draw."""
        return self._select(columns, "ORDER BY dataset, per_class, recipe, variant, pool, validation, draw, key")

    def read(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows that a statement finds; none in a store without a file."""
        return self.write(statement, values) if self._db is not None or self.path.exists() else []

    def write(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Execute one statement."""
        with self._explained():
            return self._connection().execute(statement, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Several statements as one transaction."""
        self.write("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection().rollback()
            raise
        self.write("COMMIT")

    def _select(self, columns: Sequence[str], clause: str, values: Sequence[Any] = ()) -> list[Row]:
        found = self.read(f"SELECT {', '.join(columns)} FROM runs {clause}", values)
        rows = [dict(zip(columns, row, strict=True)) for row in found]
        for row in rows:
            if problem := invalid(row):
                raise StoreError(f"the store {self.path} holds a run that drgst did not write: {problem}")
        return rows

    def _connection(self) -> sqlite3.Connection:
        if self._db is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = self._open(write=True)
        return self._db

    def _open(self, write: bool) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
        try:
            self._check(db)
            if write:
                _set_up(db)
        except BaseException:
            db.close()
            raise
        return db

    def _check(self, db: sqlite3.Connection) -> None:
        """Refuse a file that is damaged, not a store, or of another version; an empty file may become a store."""
        foreign = db.execute(FOREIGN).fetchone()
        if foreign:
            raise StoreError(
                f"the store {self.path} has a {foreign[0]}, which drgst did not write; name another --store"
            )
        problem = _value(db, "PRAGMA quick_check(1)")
        if problem != "ok":
            raise StoreError(_damaged(self.path, problem))
        is_store, version = _value(db, "PRAGMA application_id") == APPLICATION, _value(db, "PRAGMA user_version")
        if not is_store and _value(db, "SELECT count(*) FROM sqlite_master"):
            raise StoreError(f"{self.path} is an SQLite file, but not a store of drgst; name another --store")
        if is_store and version != VERSION:
            age = "a newer" if version > VERSION else "an older"
            raise StoreError(
                f"{self.path} was written by {age} drgst (store version {version}, this one reads {VERSION}); "
                f"use {age} drgst, or name another --store"
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(f"can't write the store {self.path}: {error.strerror or error}") from error
        except sqlite3.OperationalError as error:
            raise StoreError(_operational(self.path, str(error))) from error
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # a name in the damaged file may be no text
            raise StoreError(_damaged(self.path, str(error))) from error


def _value(db: sqlite3.Connection, statement: str) -> Any:
    return db.execute(statement).fetchone()[0]


def _set_up(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")  # safe with WAL: a power cut costs the last rows, not the file
    db.execute("BEGIN IMMEDIATE")
    for statement in (*TABLES, f"PRAGMA application_id = {APPLICATION}", f"PRAGMA user_version = {VERSION}"):
        db.execute(statement)
    db.execute("COMMIT")


def _damaged(path: Path, problem: str) -> str:
    return (
        f"the store {path} is damaged ({' '.join(problem.split())}); move it away and start a new one; recover what "
        f"can still be read with: drgst lab bench rescue {path} --store NEW.db"
    )


def _operational(path: Path, problem: str) -> str:
    if "full" in problem:
        return f"the disk is full: can't write the store {path}; the runs that ended before are kept"
    if "readonly" in problem or "unable to open" in problem:
        return f"can't write the store {path}: {problem}; name a --store in a folder that can be written"
    if "malformed" in problem:
        return _damaged(path, problem)
    return f"the store {path} can't be used: {problem}"
