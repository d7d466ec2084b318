"""Columns of free text."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from pydantic import Field, model_validator

from drgst.tables.cells import Cells
from drgst.tables.kinds.base import LONGEST_TEXT, Column, Detected, Finite, Text, least_rows

MOST_WORDS = 128  # words of a text column with a feature of their own
SHOWN = 5  # words of a text that are shown
_WORD = re.compile(r"\w+")


class TextColumn(Column):
    r"""TF-IDF of the most frequent words with unit rows: tf_w · (1 + ln((1 + N) / (1 + df_w)))."""

    sparse = True

    kind: Literal["text"] = "text"
    words: tuple[Text, ...] = Field(max_length=MOST_WORDS)
    idf: tuple[Finite, ...] = Field(max_length=MOST_WORDS)

    @model_validator(mode="after")
    def _check(self) -> TextColumn:
        if len(self.words) != len(self.idf) or len(set(self.words)) != len(self.words):
            raise ValueError("words must differ and each needs its idf")
        return self

    @classmethod
    def detect(cls, name: str, cells: Cells) -> Detected | None:
        """Every column is one of text."""
        return Detected()

    @classmethod
    def fit(cls, column: str, cells: Cells) -> TextColumn:
        frequency: Counter[str] = Counter()
        for text, count in zip(cells.texts, cells.counts.tolist(), strict=True):
            for word in set(_WORD.findall(text.lower())):
                frequency[word] += count
        least = least_rows(cells.rows)
        ranked = sorted(frequency.items(), key=lambda item: (-item[1], item[0]))
        fitting = ((word, n) for word, n in ranked if least <= n < cells.rows and len(word) <= LONGEST_TEXT)
        kept = list(islice(fitting, MOST_WORDS))
        idf = tuple(float(1 + np.log((1 + cells.rows) / (1 + count))) for _, count in kept)
        flag = bool(cells.missing.any())
        return cls(column=column, flag=flag, words=tuple(word for word, _ in kept), idf=idf)

    def names(self) -> list[str]:
        return [f"{self.column}: {word}" for word in self.words]

    def block(self, cells: Cells) -> tuple[Any, np.ndarray, list[str]]:
        index = {word: k for k, word in enumerate(self.words)}
        found = [Counter(index[w] for w in _WORD.findall(t.lower()) if w in index) for t in cells.texts]
        ends = np.cumsum([0, *(len(row) for row in found), 0])  # the last row is that of missing cells
        places = np.array([k for row in found for k in row], dtype=np.int64)
        weights = np.array([n for row in found for n in row.values()], dtype=np.float64) * np.array(self.idf)[places]
        distinct = sp.csr_array((weights, places, ends), shape=(len(found) + 1, len(self.words)))
        norms = np.sqrt(np.asarray(distinct.multiply(distinct).sum(axis=1)))
        distinct = sp.diags_array(1 / np.where(norms > 0, norms, 1)) @ distinct
        return sp.csr_array(distinct.astype(np.float32))[cells.codes], cells.missing, []

    def show(self, x: np.ndarray, usual: np.ndarray) -> str:
        words = [self.words[k] for k in np.argsort(-x[: len(self.words)])[:SHOWN] if x[k] > 0]
        return ", ".join(words) or "none of the frequent words"
