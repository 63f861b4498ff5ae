"""What every run would refuse, for `check`: starts, saved and plotted expressions without a value."""

from __future__ import annotations

from collections.abc import Sequence

from netsim.equations.machine import Machine
from netsim.equations.starts import start_rows, written_sizes
from netsim.results.selection import readable, select
from netsim.text.syntax import Expr


def refuse_signals(machine: Machine, saves: Sequence[Expr], plots: Sequence[Expr]) -> None:
    """Raises `InputError` for starts, sizes and signals that name nothing, and for expressions of signals that have no
    value."""
    start_rows(machine.system, machine.values)
    written_sizes(machine)
    readable(machine, select(machine, saves, plots))
