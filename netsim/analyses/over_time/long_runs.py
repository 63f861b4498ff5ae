"""Runs that write themselves down as they go: how much of them memory keeps, and samples that stay on the disk."""

import gc
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

import netsim
from netsim.analyses.refusals import check_size
from netsim.equations.machine import Machine
from netsim.results.partial.recording import LEADING, TRAILING, Recording
from netsim.results.samples import Samples
from netsim.results.selection import Selection
from netsim.simulate.adaptive import Running
from netsim.simulate.options import TransientOptions
from netsim.simulate.stored.recorder import Recorder, identity_of
from netsim.text.errors import InputError, Problem
from netsim.text.limits import TOO_LARGE

Array = np.ndarray

IN_MEMORY = 1e6
"""Numbers of samples that a run keeps in memory, where others can go to the disk."""
FEWEST = 100
"""Rows that it keeps at least."""
DIGITS = 20
"""Bytes of a number in a text, about."""
BESIDE = LEADING + TRAILING
LEFT_OUT = "; without `plot`, `measure`, `assert` and `integral` samples stay on the disk"


def windowed(options: TransientOptions, signals: int, recording: Recording | None, whole: bool) -> TransientOptions:
    """The options with the rows that memory keeps: all where something reads the `whole` result at once.

    Raises `InputError` (E260) where the samples that are asked for would fill the memory, or the disk."""
    in_memory = not recording or whole or recording.whole
    options = replace(options, window=0 if in_memory else max(FEWEST, int(IN_MEMORY / (signals + BESIDE))))
    between = options.sample or options.step * options.every
    if in_memory or not recording:
        check_size(options.stop, between, signals, LEFT_OUT if recording else "")
    elif between and (rows := options.stop / between) > options.window:
        needed = rows * (8 * (signals + BESIDE) + DIGITS * (signals + 1))
        if needed > (free := shutil.disk_usage(recording.folder.parent).free):
            message = f"{rows:.3g} samples of {signals} signals may take {needed / 1e9:.3g} GB on the disk"
            message += f", where {free / 1e9:.3g} GB are free"
            raise InputError(Problem(TOO_LARGE, message, hint="save fewer signals, or sample less often"))
    return options


def recorder_of(
    recording: Recording | None,
    machine: Machine,
    options: TransientOptions,
    g: Array,
    selection: Selection,
    followed: Selection,
) -> Recorder | None:
    """What writes the run down, where there is a place for it. Raises `InputError` where it is to go on from a state
    that does not fit."""
    if recording is None:
        return None
    names = [*selection.entries, "", *followed.entries]
    signals = [entry.signal for entry in selection.entries.values()]
    identity = identity_of(machine, options, g, names, netsim.__version__)
    return Recorder(recording.log(identity, signals, len(selection.shown), len(followed.entries)))


def unseen_signals(selection: Selection, unseen: Sequence[str], sampled: Array) -> Mapping[str, Array]:
    """Signals that are sampled and not saved."""
    numbers = {name: j for j, name in enumerate(selection.entries)}
    return {name: sampled[:, numbers[name]] for name in unseen}


def on_disk(samples: Samples, run: Running, selection: Selection, unseen: Sequence[str], recorder: Recorder) -> Samples:
    """The samples of a run whose rows are on the disk, but for the last ones. `samples` has the rows in memory."""
    rows, top = recorder.log.rows, run.machine.system.network.top
    scope, kinetic = run.machine.values.scope(top), samples.kinetic is not None

    def piece(block: Array) -> Samples:
        time, sampled, account = block[:, 0], block[:, 1:-4], block[:, -4:]
        columns = {name: sampled[:, j] for j, name in enumerate(selection.entries)}
        found = selection.signals(columns, time, scope, top)
        values = np.column_stack([series for series, _ in found.values()]) if found else np.zeros((len(time), 0))
        return replace(
            samples, time=time, values=values, energy=account[:, :3], kinetic=account[:, 3] if kinetic else None,
            unseen=unseen_signals(selection, unseen, sampled),
        )  # fmt: skip

    last = np.column_stack([each[max(0, rows.count - run.flushed) :] for each in run.sampled])

    def pieces() -> Iterator[Samples]:
        for block in rows.chunks():
            found = piece(block)
            gc.collect(0)  # scopes of expressions hold themselves, and their series
            yield found
        if len(last):
            yield piece(last)

    ends = np.vstack([rows.read(0, 1), last[-1:] if len(last) else rows.read(rows.count - 1, rows.count)])
    return replace(piece(ends), pieces=pieces, count=rows.count + len(last))
