"""What a sweep leaves on the disk while it goes on, and from where it is resumed (netsim.results.partial.recording).

NUMBER.rows has a row for each case that is done: its number, whether it failed, whether its assertions hold, measures,
signals at all instants. NUMBER.state says what the rows are, and has the messages and what makes cases doubtful; a row
counts that was there before it. A case is the same whoever computes it, so that a resumed sweep has the bits of one
that went through.
"""

import time as clock
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from netsim.analyses.many.one_case import Outcome
from netsim.results.partial.container import read_tree, settle_folder, write_tree
from netsim.results.partial.recording import NOT_RESUMED, Recording, difference
from netsim.results.partial.rows import Rows
from netsim.results.samples import Figure, Signal
from netsim.text.errors import InputError, Problem, Span

LEADING = 3
"""Columns before the measures: number, failed, holds."""


class Journal:
    """The cases of one sweep that are done; `former`: those of a sweep that is resumed."""

    def __init__(self, recording: Recording, identity: Mapping[str, str]):
        self.recording, self.identity, self.is_begun = recording, dict(identity), False
        path = recording.folder / f"{len(recording.runs) + 1}.rows"
        self.rows, self.state = Rows(path, 1), path.with_suffix(".state")
        self.about: dict[str, Any] = {}
        self.messages: dict[str, str] = {}
        self.told: dict[str, list[Any]] = {}
        self.waiting: list[tuple[int, Outcome]] = []
        self.due = clock.monotonic() + recording.first
        self.former = self._former() if recording.resume and self.state.is_file() else {}
        recording.runs.append(self)

    def add(self, i: int, found: Outcome) -> None:
        """A case that is done; now and then all new ones are written. Raises `DiskFull` where the disk takes no
        more."""
        self.waiting.append((i, found))
        if clock.monotonic() >= self.due:
            self.write()

    def write(self) -> None:
        """Write what is new, once there is a case that tells what a row has."""
        if self.about or self._described():
            try:
                self._begin()
                self.rows.append(np.array([self._row(i, found) for i, found in self.waiting]))
                self.messages |= {str(i): found.message for i, found in self.waiting if found.message}
                self.told |= {str(i): list(map(asdict, found.told)) for i, found in self.waiting if found.told}
                texts = {"messages": self.messages, "told": self.told}
                write_tree(self.state, {"identity": self.identity, "rows": self.rows.count, **texts, **self.about})
            except OSError as wrong:
                raise self.recording.full(wrong, f"; {self.rows.count} cases are written") from None
            self.waiting.clear()
        self.due = clock.monotonic() + self.recording.every

    def _described(self) -> bool:
        sample = next((found for _, found in self.waiting if not found.failed), None)
        if sample is not None:
            self.about = {
                "figures": [[each.name, each.unit, each.doc] for each in sample.figures],
                "signals": [[each.name, each.unit, each.doc] for each in sample.signals],
                "instants": 0 if sample.series is None else len(sample.series),
            }
            self.rows.width = self._width()
        return sample is not None

    def _width(self) -> int:
        return LEADING + len(self.about["figures"]) + self.about["instants"] * len(self.about["signals"])

    def _row(self, i: int, found: Outcome) -> np.ndarray:
        row = np.full(self.rows.width, np.nan)
        row[:LEADING] = i, found.failed, found.holds
        if not found.failed:
            series = np.zeros(0) if found.series is None else found.series.ravel()
            row[LEADING:] = [*(each.value for each in found.figures), *series]
        return row

    def _begin(self) -> None:
        if not self.is_begun:
            self.recording.made()
            self.state.unlink(missing_ok=True)
            self.rows.shorten(0)
            settle_folder(self.recording.folder)
            self.is_begun = True

    def _former(self) -> dict[int, Outcome]:
        """The cases that are there. Raises `InputError` where they are of another sweep."""
        try:
            tree = read_tree(self.state)
        except (OSError, ValueError, KeyError) as wrong:
            raise self._refusal(f"'{self.state}' cannot be read: {wrong}") from None
        if differs := difference(tree["identity"], self.identity):
            raise self._refusal(f"'{self.state}' is of a sweep {differs}")
        self.about = {name: tree[name] for name in ("figures", "signals", "instants")}
        self.messages, self.told = dict(tree["messages"]), dict(tree.get("told", {}))
        self.rows = Rows(self.rows.path, self._width())
        if self.rows.count < tree["rows"]:
            raise self._refusal(f"'{self.rows.path}' is shorter than its state says")
        self.rows.shorten(tree["rows"])
        self.is_begun = True
        return {int(row[0]): self._outcome(row) for chunk in self.rows.chunks() for row in chunk}

    def _outcome(self, row: np.ndarray) -> Outcome:
        number = str(int(row[0]))
        message, told = self.messages.get(number, ""), tuple(map(_problem, self.told.get(number, ())))
        if row[1]:
            return Outcome(failed=True, holds=False, message=message, told=told)
        heads, signals = self.about["figures"], tuple(Signal(*each) for each in self.about["signals"])
        values, series = row[LEADING : LEADING + len(heads)], row[LEADING + len(heads) :]
        figures = tuple(Figure(name, float(x), unit, doc) for (name, unit, doc), x in zip(heads, values))
        shown = series.reshape(self.about["instants"], len(signals)).copy() if signals else None
        return Outcome(figures, signals, shown, False, bool(row[2]), message, told)

    def _refusal(self, message: str) -> InputError:
        hint = f"run without --resume to begin anew, which removes '{self.recording.folder}'"
        return InputError(Problem(NOT_RESUMED, message, hint=hint))


def _problem(tree: dict[str, Any]) -> Problem:
    """A problem from its fields."""
    span = Span(**tree["span"]) if tree["span"] else None
    return Problem(**{**tree, "span": span, "also": tuple((Span(**at), words) for at, words in tree["also"])})
