"""What a run would refuse before it steps in time, for `check`: starts, saved and plotted expressions without a value,
networks that are no trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from netsim.analyses.modal import INFINITE, ModalOptions
from netsim.analyses.recursion_options import RecursionOptions
from netsim.equations.history import refuse_delays
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


def refuse_runs(machine: Machine, options: Sequence[Any]) -> None:
    """Raises `InputError` where a run line asks for a recursion, or for modes, that the network does not allow."""
    for option in options:
        if isinstance(option, ModalOptions):
            refuse_delays(machine.system, "modal()", INFINITE)
        if isinstance(option, RecursionOptions):
            from netsim.analyses.recursion import tree_of

            tree_of(machine, option)
