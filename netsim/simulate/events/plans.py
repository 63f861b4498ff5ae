"""The consistent point behind an instant: by the plan of its mode, or the careful way where no plan serves."""

from contextlib import suppress

import numpy as np

from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.consistent import Consistent, condition_at, make_consistent, nothing_to_recover
from netsim.core.problem import TIME
from netsim.initial.consistent.newton import solve_stage
from netsim.initial.flat_plan import compiled_plan
from netsim.initial.reactions.indeterminacy import REGULAR, set_indeterminacy
from netsim.initial.recovery import differentiated_held, plan_recovery, recover_point
from netsim.initial.stages import Stages, partials_in
from netsim.simulate.events.iteration import EventIteration
from netsim.text.errors import SimulationError

Array = np.ndarray


def make_whole(s: EventIteration, g: Array, t: float) -> None:
    """Compute accelerations, forces, rates and values for the discretes and the time in g. Positions, velocities and
    differentiated quantities stay."""
    before = g.copy()
    for _ in range(2):
        plan, struct = plan_for(s, g, t)
        if len(plan.sizes) and make_consistent(struct, g):
            return
        g[:] = before
        s.plans.pop(s.mode(g), None)
    stages, d = stages_of(s), s.structure.dynamic.d
    held = np.flatnonzero(differentiated_held(s.machine, s.structure, partials_in(stages, g)))
    for k in range(1 - int(d.max(initial=0)), 1):
        before = g.copy()
        try:
            solve_stage(
                stages,
                g,
                k,
                mass_metric=s.machine.system.layout.nk > 0,
                known=held[(d[held] + k == 0) & (s.machine.system.layout.nk == 0)],
            )
        except SimulationError:  # a voltage that steps at a capacitor moves its charge
            g[:] = before
            solve_stage(stages, g, k, mass_metric=s.machine.system.layout.nk > 0)


def plan_for(s: EventIteration, g: Array, t: float) -> tuple[Consistent, Struct]:
    """The plan of consistent points for the discretes in g, and its struct for compiled code. A new plan takes its
    pivots at g.

    Raises `IndeterminacyFound` if elements come to hold the same quantity (netsim.initial.reactions.indeterminacy)."""
    key = s.mode(g)
    if not _has_its_shares(s, key, g):
        set_indeterminacy(s.machine, s.structure, g, key)
    if key not in s.plans:
        recovery, plan = plan_recovery(s.machine, s.structure, g, jumping=False), nothing_to_recover()
        with suppress(SimulationError):
            recover_point(recovery, g, s.machine.system.layout.state(g), float(g[TIME]))
            plan = compiled_plan(recovery)
        s.plans[key] = recovery, plan, struct_of(plan)
    return s.plans[key][1:]


def _has_its_shares(s: EventIteration, key: bytes, g: Array) -> bool:
    """Whether it is known how elements share loads at g: in a mode seen before in which they do not, whose matrix is
    regular at this position too."""
    if key not in s.plans or not s.positions:
        return key in s.plans and s.shares is None
    if s.shares is not None:
        s.shares.use(key)
        if s.shares.coefficients.any():
            return False
    _, plan, struct = s.plans[key]
    return bool(len(plan.sizes) and condition_at(struct, g) < REGULAR)


def stages_of(s: EventIteration) -> Stages:
    """The stages of a point behind an instant: every equation, changes beside nominal sizes."""
    system = s.machine.system
    weights = 1.0 / np.concatenate([system.nominals, np.ones(system.layout.nq)])
    everything = np.ones(len(s.structure.signature.equation), bool)
    return Stages(s.machine, s.structure.signature, s.structure.dynamic, everything, weights)
