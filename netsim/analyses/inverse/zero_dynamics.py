"""The poles of a network linearised at a point: every finite s of P(s) u = (K + s D + s^2 M) u = 0, of a network of any
index.

Of an inverse problem these are the zeros between the actuators and the followed signals: with the motions prescribed,
what is left free moves as e^(s t) (zero dynamics; A. Isidori, Nonlinear Control Systems, chapter 4).
"""

import numpy as np

from netsim.analyses.modal import matrices
from netsim.analyses.signals.states.reduction import LARGEST, Poles, poles_of
from netsim.equations.machine import Machine

Array = np.ndarray


def poles(machine: Machine, g: Array) -> Poles | None:
    """The poles at the point g.

    None where the point is singular (no orders exist) or the network too large."""
    parts = matrices(machine, g.copy())
    return poles_of([part.toarray() for part in parts]) if parts[0].shape[0] <= LARGEST else None
