"""The table of runs: one row a run, its columns and what they mean."""

from __future__ import annotations

VERSION = 1  # of the layout; a store of a higher one is refused
APPLICATION = 0x44524753  # "DRGS": tells our stores from other SQLite files

# column -> SQL type; the order is that of exports
COLUMNS = {
    "key": "TEXT PRIMARY KEY",  # sha256 of everything that decides the result (drgst.bench.task)
    "dataset": "TEXT NOT NULL",
    "per_class": "INTEGER NOT NULL",  # training labels a class
    "recipe": "TEXT NOT NULL",
    "variant": "TEXT NOT NULL",  # settings that differ from the recipe's own, "" for none
    "pool": "TEXT NOT NULL",
    "validation": "TEXT NOT NULL",  # public, or none
    "draw": "INTEGER NOT NULL",
    "seed": "INTEGER NOT NULL",
    "test_accuracy": "REAL",  # accuracies are fractions, 0 to 1
    "val_accuracy": "REAL",
    "teacher_test_accuracy": "REAL",
    "teacher_val_accuracy": "REAL",
    "macro_f1": "REAL",  # of the result on test nodes, as ece and brier
    "ece": "REAL",
    "brier": "REAL",
    "teacher_ece": "REAL",
    "stages": "INTEGER",  # stages trained after the teacher
    "result_stage": "INTEGER",
    "epochs": "INTEGER",
    "seconds": "REAL",
    "peak_memory_mb": "REAL",
    "stop_reason": "TEXT",
    "error": "TEXT",  # of a failed run, else NULL
    "settings": "TEXT NOT NULL",  # all of them, JSON
    "data_sha256": "TEXT NOT NULL",
    "split_sha256": "TEXT NOT NULL",
    "algorithm": "INTEGER NOT NULL",
    "code": "TEXT",  # version and commit
    "versions": "TEXT",  # JSON
    "created": "TEXT NOT NULL",  # UTC
    "stage_rows": "TEXT",  # a dict a stage: trusted, precision, accuracies, gain; JSON
}
BULKY = ("settings", "versions", "stage_rows")  # columns that tables do without

TABLES = (
    f"CREATE TABLE IF NOT EXISTS runs ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())})",
    "CREATE INDEX IF NOT EXISTS runs_cell ON runs (dataset, per_class, recipe, variant, draw)",
    # who is at work on what, so that two benches share the work
    "CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, beat REAL)",
    # the keys of a cell that was asked for before, so that a finished grid is recognised without opening data
    "CREATE TABLE IF NOT EXISTS memo (request TEXT PRIMARY KEY, keys TEXT NOT NULL)",
)
