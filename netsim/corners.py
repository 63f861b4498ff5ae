"""Instants at which functions of time have corners or jump: steps end there."""

from __future__ import annotations

import numpy as np

from netsim.solvers.machine import Machine

Array = np.ndarray


def corners_of(machine: Machine, stop: float) -> Array:
    """Every corner within (0, stop) of any function of time that drives the network, in order."""
    return np.zeros(0)
