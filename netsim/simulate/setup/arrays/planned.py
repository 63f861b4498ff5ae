"""What is to be integrated, and how: all that the arrays of a run are made of."""

from dataclasses import dataclass

from netsim.core.method import Method
from netsim.equations.machine import Machine
from netsim.initial.initial import Structure
from netsim.simulate.options import TransientOptions


@dataclass(frozen=True, eq=False)
class Planned:
    """A run before its first step: equations with their values, their differentiation orders, options, method."""

    machine: Machine
    structure: Structure
    options: TransientOptions
    method: Method
