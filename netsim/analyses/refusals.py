"""What every run would refuse: starts, saved and plotted expressions without a value, more samples than fit."""

from collections.abc import Sequence

from netsim.equations.machine import Machine
from netsim.equations.starts.written import start_rows, written_sizes
from netsim.results.selection import readable, select
from netsim.text.limits import check_limit
from netsim.text.syntax import Expr


def refuse_signals(machine: Machine, saves: Sequence[Expr], plots: Sequence[Expr]) -> None:
    """Raises `InputError` for starts, sizes and signals that name nothing, and for expressions of signals that have no
    value."""
    start_rows(machine.system, machine.values)
    written_sizes(machine)
    readable(machine, select(machine, saves, plots))


def check_size(stop: float, between: float, signals: int, hint: str = "") -> None:
    """Raises `InputError` (E260) where samples every `between` (0: as steps are) would fill the memory; what else can
    be done about it is the `hint`."""
    rows = stop / between if between else 0.0
    what = f"{rows:.3g} samples of {signals} signals are {rows * signals:.3g} numbers"
    hint = "save fewer signals, or sample less often (`sample`, `every`)" + hint
    check_limit("values", rows * signals, what, hint=hint)
