"""Curves of operating points through what switches: diodes, valves, stops, switches with hysteresis.

Discrete variables stand still along a piece of a curve. Where a point contradicts them the piece ends; its end is found
by bisection, discretes take the values that follow from there, and the curve goes on from the operating point that they
have. That is the same point where a characteristic has a kink (a diode), and another one where it jumps (hysteresis).
What moves is led there by its loads (netsim.simulate.events.modes_at_rest), and what holds does so where it
came to rest.
"""

from collections.abc import Iterator

import numpy as np

from netsim.analyses.operating.continuation import Features, follow_curve
from netsim.analyses.operating.curve import Curve
from netsim.initial.assembly import sizes_of_machine
from netsim.initial.charts import recharted, way_between
from netsim.initial.initial import Structure
from netsim.initial.static.equilibrium import equilibrium
from netsim.initial.static.homotopy import newton
from netsim.initial.static.rest import at_rest
from netsim.initial.static.search import search_of
from netsim.simulate.events.iteration import has_events, most_rounds
from netsim.simulate.events.modes_at_rest import ModesAtRest, led_to_equilibrium, modes_at_rest
from netsim.simulate.events.releases import Releases
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray
MOST = 10_000
"""Pieces of a curve."""
HALVINGS, CLOSE = 60, 1e-13
"""How often the way to the end of a piece is halved at most, and the share of the range of l that is left then."""
APART = 1e-6
"""Points that differ by more, in sizes of the unknowns, are two: the curve jumps."""


def operating_point_at(curve: Curve, structure: Structure) -> None:
    """The operating point at the curve's l, from where the curve stands, with the discretes that follow from it.

    Raises `SimulationError`: E441 where there is none, E509 where conditions switch each other back and forth."""
    if curve.rest.machine.system.layout.nk and has_events(curve.rest.machine):
        _led_to(curve, structure, Releases())
        return
    solve_operating_point(curve)
    _agree(curve, structure)


def _agree(
    curve: Curve,
    structure: Structure,
    known: ModesAtRest | None = None,
    before: Array | None = None,
    way: Array | None = None,
) -> None:
    """The operating point whose discretes follow from it, from one that may contradict them, where the curve leads in
    the direction `way` from the point `before`."""
    modes = _modes(curve, structure, known)
    for _ in range(most_rounds(curve.rest.machine) if modes else 0):
        after = modes.following(curve.g, curve.g if before is None else before, way)  # type: ignore[union-attr]
        if after is None:
            return
        releases = Releases()
        releases.note(modes.events, curve.g, after)  # type: ignore[union-attr]
        curve.g[:] = after
        if curve.rest.machine.system.layout.nk:
            _led_to(curve, structure, releases)
            return
        solve_operating_point(curve)
    if modes:
        message = f"at {curve.value:.6g} conditions switch each other back and forth"
        raise SimulationError(Problem("E509", message, hint="separate the thresholds (hysteresis)"))


def _led_to(curve: Curve, structure: Structure, releases: Releases) -> None:
    """The operating point to which loads lead what moves from where the curve stands."""
    (machine, _, found), _ = led_to_equilibrium(curve.rest.machine, structure, curve.g.copy(), False, releases)
    curve.g[:] = found.g
    recharted(machine.system, curve.g, all_of_them=True)
    curve.rest = at_rest(machine, curve.g, sizes_of_machine(machine).size)


def solve_operating_point(curve: Curve) -> None:
    """The operating point from where the curve stands: by Newton's method, else by homotopy."""
    machine = curve.rest.machine
    start, search = curve.g.copy(), search_of(curve.rest, curve.g)
    with np.errstate(all="ignore"):
        found = newton(search)
    curve.g[:] = search.g if found else equilibrium(machine, start, sizes_of_machine(machine)).g
    recharted(machine.system, curve.g, all_of_them=True)


def _modes(curve: Curve, structure: Structure, known: ModesAtRest | None = None) -> ModesAtRest | None:
    """Those of the curve's machine, which is another one at each l where that is a parameter: else those `known`."""
    machine = curve.rest.machine
    if known and known.events.machine is machine:
        return known
    return modes_at_rest(machine, structure) if has_events(machine) else None


def follow_through_switching(
    curve: Curve, structure: Structure, last: float, steps: Array, sense: float = 1.0, features: Features | None = None
) -> Iterator[float]:
    """As `follow_curve` from where the curve stands, over all pieces."""
    first, modes = curve.value, _modes(curve, structure)
    if modes is None:
        yield from follow_curve(curve, first, last, steps, sense, features=features)
        return
    size = abs(last - first)
    for _ in range(MOST):
        kept = None
        for value in follow_curve(curve, curve.value, last, steps, sense, features=features):
            modes = _modes(curve, structure, modes)
            assert modes is not None
            if kept is not None and modes.contradicted(curve.g, kept[0], _way(curve, kept[0])):
                break
            kept = curve.kept()
            curve.rest.advance(curve.g)
            yield value
        else:
            return
        sense = float(np.sign((curve.value - kept[1]) * (last - first))) or sense
        tangent = kept[0], _way(curve, kept[0])
        kept = _end(curve, structure, modes, kept, CLOSE * size, tangent)
        before = curve.g[curve.rest.places]
        _agree(curve, structure, modes, *tangent)
        moved = np.abs(curve.g[curve.rest.places] - before) / curve.sizes[:-1]
        if features is not None and moved.max(initial=0.0) > APART:
            features.jumps.append(curve.value)
        if (curve.value - last) * np.sign(last - first) >= -CLOSE * size:
            yield curve.value
            return
    raise SimulationError(Problem("E441", f"the operating points switch more than {MOST} times before {last:.6g}"))


def _way(curve: Curve, before: Array) -> Array:
    """How positions moved from the point `before`."""
    return way_between(curve.rest.machine.system, before, curve.g)


def _end(
    curve: Curve,
    structure: Structure,
    known: ModesAtRest | None,
    low: tuple[Array, float],
    close: float,
    tangent: tuple[Array, Array],
) -> tuple[Array, float]:
    """From a point that agrees with its discretes to one behind it that does not, where the curve stands, in a
    direction that is tangent at a point before: nearly together. The curve then stands at the latter; the former."""
    high, only = curve.kept(), np.append(np.zeros(curve.rest.n), 1.0)
    for _ in range(HALVINGS):
        if abs(high[1] - low[1]) <= close:
            break
        curve.back(low)
        curve.set(0.5 * (low[1] + high[1]))
        if not curve.corrected(only, near=np.inf):
            break
        modes = _modes(curve, structure, known)
        if modes.contradicted(curve.g, *tangent):  # type: ignore[union-attr]
            high = curve.kept()
        else:
            low = curve.kept()
    curve.back(high)
    return low
