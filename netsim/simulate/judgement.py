"""Warnings about the accuracy of a run: its energy balance, and steps that did not pass the error test.

W501   more than 1 % of the energy turned over (netsim.core.loop.turnover) is missing from the balance
E515   more than 10 % is missing, and more than 20 rtol of the largest energies, although the steps passed an error test
       and only library components take energy
W502   in given steps the method's own estimate of the error is far above rtol
W503   steps failed the error test and were accepted, given steps were taken in parts, a jump was passed over, or a
       point could not be made consistent
W504   a shown expression of signals has no finite value
W506   errors of the steps may have added up far above rtol, since what swings loses little energy
W520   the error of a step makes far more than rtol of a force, current or output of an element, or of a sum of signals,
       that somebody looks at

The balance is not judged if a component states energies at terminals of a domain without `power`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from netsim.core.contract import ACCEPTED, ASTRAY, PARTS, REINITIALISED, ROUGH, UNTESTED
from netsim.core.loop.accumulated import ERRORS, PEAK
from netsim.core.loop.control import BY_FAR, WORST
from netsim.core.loop.turnover import FLOWS, MISSED, energy_level, turned_over
from netsim.core.method import Method
from netsim.core.readings import LARGEST, WHEN
from netsim.core.readings import MISSED as READ_WRONGLY
from netsim.equations.numbering import nominal
from netsim.library.component import dimension, names_in, plain_name, terms_in
from netsim.library.files import library_folder
from netsim.network.lets import signals_in
from netsim.network.network import Network
from netsim.results.samples import Signal
from netsim.results.selection import Named
from netsim.results.series import unit_of
from netsim.simulate.methods import METHODS
from netsim.simulate.options import TransientOptions
from netsim.text.columns import counted
from netsim.text.errors import Problem
from netsim.text.syntax import Call

LITTLE, MUCH = 0.01, 0.1
"""Missing parts of the energy turned over: above the first a run warns, above the second one with an error test
fails."""
ROUNDING, UNTURNED = 1e-8, 1e-4
"""Of the largest energies: differences below the first are rounding (of velocities, as positions over a step, and 1e4
steps add up), below the second nothing to warn of in given steps, though what merely spins turns nothing over."""
CANCELLED = 1e-11
"""Part of what sources hand to one another that rounding and the balances of nodes leave of it (bdf: 5e-14)."""
KEPT = 20.0
"""Errors of a run with an error test stay within so many rtol: so does the energy of what merely spins."""
BEYOND = 1e3
"""States with energies beyond so many times all that a run stored and turned over are not met in it."""
SOME = 0.01
"""Points that could not be made consistent, beside steps: fewer are counted only, since the steps they belong to passed
the error test."""
ADDED_UP = 100.0
"""Errors that may have added up to so many rtol are told: what another run may differ by (netsim.simulate.repeated)."""
SHOWN = 3


def energy_verdict(
    options: TransientOptions,
    network: Network,
    turnover: Any,
    rounding: Callable[[float], float] = lambda _: 0.0,
    exchanged: Callable[[], float] = lambda: 0.0,
) -> Problem | None:
    """W501 or E515 if the balance misses too much of the energy turned over; None if it closes or cannot be judged.

    rounding(most): the energy in J that is nothing but rounding, made in states of energies up to `most`; a part that
    is no larger is not judged. exchanged(): the energy in J that sources may have handed to one another: where they do
    nothing else, what is turned over is what their powers leave when they cancel, and is not judged."""
    if not misses_energy(options, turnover) or not accounts_are_complete(network):
        return None
    missed, level = float(turnover[FLOWS, MISSED]), float(energy_level(turnover))
    turned = max(float(turned_over(turnover)), abs(missed))
    if turned <= CANCELLED * exchanged() or abs(missed) <= rounding(BEYOND * max(turned, level)):
        return None
    part = 100 * abs(missed) / turned
    amount = f"{part:.{0 if part >= 10 else 1}f} % of the energy turned over ({abs(missed):.2g} J of {turned:.2g} J)"
    if turned == abs(missed) < MUCH * level:  # what spins turns nothing over
        amount = f"{abs(missed):.2g} J, {100 * abs(missed) / level:.2g} % of the energy held, while less is turned over"
    method, own = METHODS[options.method], _own_statements(network)
    name = method.title or method.name
    if options.step:
        message = f"{name} in steps of {options.step:g} s {_word(missed, method)} {amount}"
        hint = "use a shorter step, or " + (
            "`method = radau`" if method.order == 1 else "omit `step`, so that the error test selects the steps"
        )
    else:
        message = f"the energy balance of {name} misses {amount}"
        hint = f"use a smaller rtol than {options.rtol:g}, or another method; if the result stays the same, "
        hint += "look for processes shorter than a step"
    if own:
        hint += f"; or `stores` and `dissipates` of {own} do not contain all energies"
    span = network.runs[0].span if len(network.runs) == 1 else None
    failed = not options.step and abs(missed) > max(MUCH * turned, KEPT * options.rtol * level) and not own
    return Problem("E515" if failed else "W501", message, span, hint=hint)


def misses_energy(options: TransientOptions, turnover: Any) -> Any:
    """Whether an account, or each of several (..., 9, m), misses more than a run may without a word."""
    missed = np.abs(turnover[..., FLOWS, MISSED])
    turned = np.maximum(turned_over(turnover), missed)
    tolerance = UNTURNED if options.step else ROUNDING + max(options.rtol, min(KEPT * options.rtol, UNTURNED))
    return missed > np.maximum(LITTLE * turned, tolerance * energy_level(turnover))


def _word(missed: float, method: Method) -> str:
    return "gained" if missed < 0 else "dissipated" if method.order == 1 else "lost"


def accounts_are_complete(network: Network) -> bool:
    """Whether every energy that a component states belongs to terminals whose domains name their power."""
    types = {id(i.component): i.component for i in network.instances}.values()
    return all(c.is_signal(t) or c.domain(t).power is not None for c in types if _states(c) for t in c.terminals)


def _own_statements(network: Network) -> str:
    """The quoted names of types outside the library whose energies are stated by hand, or that state none though power
    flows in at their terminals; empty if there are none."""
    types = {i.component.name: i.component for i in network.instances if not _shipped(i.component)}
    names = [
        f"'{name}'"
        for name, c in types.items()
        if not c.is_lagrangian and (_states(c) or not all(map(c.is_signal, c.terminals)))
    ]
    if not names:
        return ""
    return " and ".join(names) if len(names) < SHOWN else f"{', '.join(names[:SHOWN])} ..."


def _states(component: Any) -> bool:
    d = component.definition
    return any(each is not None for each in (d.stores, d.dissipates, d.kinetic, d.potential))


def _shipped(component: Any) -> bool:
    """Whether a type is of the library or made by netsim itself (`<coupled inductors>`), not written by the user in a
    file or as text."""
    file = component.definition.span.file if component.definition.span else "<text>"
    return file.startswith(str(library_folder())) or (file.startswith("<") and file != "<text>")


def only_heat_rests(network: Network) -> bool:
    """Whether everything with a memory stores what flows in as it is (heat, the enthalpy of a gas: domains whose power
    is a flow, without an across), and no source follows a signal. Nothing resists a change of such flows, so that no
    energy swings between two stores: what goes back and forth has been sent by a source, and is forgotten."""
    follows = (signals_in(b.value, i.frame) for i in network.instances for b in i.text.bindings)
    return not any(any(each) for each in follows) and not any(
        component.is_signal(t) or _has_inertia(component.domain(t))
        for component in {id(i.component): i.component for i in network.instances}.values()
        if any(term.function == "der" for term in _calls(component))
        for t in component.terminals
    )


def _calls(component: Any) -> Iterator[Call]:
    d = component.definition
    for expr in (*(each for e in d.equations for each in (e.left, e.right)), *(let.value for let in d.lets)):
        yield from terms_in(expr, Call)


def _has_inertia(domain: Any) -> bool:
    across = {quantity.name for quantity in domain.across}
    return domain.power is None or any(plain_name(name) in across for name in names_in(domain.power))


def accumulated_errors(options: TransientOptions, turnover: Any, free: int, differentiated: int) -> Any:
    """What the errors of the steps may have added up to, in units of rtol (netsim.core.loop.accumulated), by one
    account or by each of several (..., 9, m); 0 in given steps, and without `free` states (all motion is prescribed):
    then no step begins with what the last one left. `differentiated`: the number of differentiated quantities, beside
    motion."""
    method, peak = METHODS[options.method], turnover[..., ERRORS, PEAK]
    left = 0.0 if options.step or not free else method.left(options.rtol) / (1.0 if differentiated else method.motion)
    return left * peak


def added_up_verdict(options: TransientOptions, errors: float) -> Problem | None:
    """W506 if the errors of the steps may have added up to more than `ADDED_UP` rtol, and no other run tells it."""
    if errors <= ADDED_UP or options.verify:
        return None
    message = f"the errors of the steps may have added up to {errors:.2g} rtol (rtol = {options.rtol:g}): "
    message += "an oscillation loses so little energy that none of them is forgotten"
    hint = "use a smaller rtol or a method of higher order (`radau`, `rk8`); in a single run `verify = yes` measures it"
    return Problem("W506", message, hint=hint)


def reading_verdict(options: TransientOptions, network: Network, named: Sequence[Named], sizes: Any) -> Problem | None:
    """W520 if the error of a step makes more than `KEPT` rtol of the largest value of a reading or sum of signals, or,
    where that is nothing, of the largest of its unit up to the nominal size; `sizes`: see netsim.core.readings."""
    if not named or options.verify:
        return None
    least, missed = missed_of_readings(network, named, sizes)
    wrong = np.flatnonzero(missed > KEPT * options.rtol)
    if not len(wrong):
        return None
    worst = wrong[np.argmax(missed[wrong])]
    each = named[worst]
    more = f" ({counted(len(wrong) - 1, 'further signal')} likewise)" if len(wrong) > 1 else ""
    message = f"'{each.name}' may be off by {missed[worst]:.2g} of its largest value at t = {sizes[WHEN, worst]:g} s"
    message += f"{more}: the steps go by quantities whose small errors are large ones of it"
    shares = zip(each.signals, each.weights)
    lines = [f"`nominal {name} = {f'{least[worst] / abs(w):.2g} {unit}'.rstrip()}`" for (name, unit), w in shares]
    hint = f"{', '.join(lines)} in the netlist {'make' if len(lines) > 1 else 'makes'} the steps short enough for it"
    return Problem("W520", f"{message} (rtol = {options.rtol:g})", hint=hint)


def missed_of_readings(network: Network, named: Sequence[Named], sizes: Any) -> tuple[Any, Any]:
    """The sizes by which errors of readings are measured, and these errors in shares of them: arrays (..., readings)
    for `sizes` (3, ..., readings)."""
    domains = {node.domain.name: node.domain for node in network.nodes}.values()
    nominals = {unit_of(dimension(q.unit)): nominal(q) for each in domains for q in (*each.through, *each.across)}
    least = sizes[LARGEST].copy()
    for unit in {each.unit for each in named}:
        of = [each.unit == unit for each in named]
        most = sizes[LARGEST][..., of].max(axis=-1, keepdims=True)
        least[..., of] = np.maximum(least[..., of], np.minimum(nominals.get(unit, 1.0), most))
    return least, np.where(least > 0.0, sizes[READ_WRONGLY] / np.where(least > 0.0, least, 1.0), 0.0)


def value_verdicts(signals: Sequence[Signal], time: Any, values: Any) -> list[Problem]:
    """W504 for a shown signal that is not finite somewhere: an expression of signals that is divided by zero there."""
    found = []
    for signal, column in zip(signals, np.asarray(values).T):
        wrong = np.flatnonzero(~np.isfinite(column))
        if len(wrong):
            message = f"'{signal.name}' has no finite value at t = {time[wrong[0]]:g} s"
            message += f" and at {counted(len(wrong) - 1, 'further sample')}" if len(wrong) > 1 else ""
            hint = "its expression divides by zero there, takes the root or logarithm of what is negative, or overflows"
            found.append(Problem("W504", message, hint=hint))
    return found


def step_verdicts(options: TransientOptions, counters: Any, numbers: Any, jumps: Sequence[float]) -> list[Problem]:
    """W502 and W503: steps with an estimated error above the tolerance, and what was passed over; `jumps`: the instant
    of the first one, if any was."""
    found: list[Problem] = []
    steps = counted(int(counters[ACCEPTED]), "step")
    if counters[ROUGH]:
        message = f"in {counters[ROUGH]} of {steps} the estimated error is larger than {BY_FAR:g} rtol, "
        message += f"at most {numbers[WORST]:.2g} rtol (rtol = {options.rtol:g})"
        hint = "use a shorter step, or omit `step`, so that the error test selects the steps"
        found.append(Problem("W502", message, hint=hint))
    passed = [
        f"{counted(int(counters[k]), word)} {how}"
        for k, word, how in (
            (UNTESTED, "step", "of the shortest possible length failed the error test"),
            (PARTS, "given step", "had to be taken in parts, since Newton's method found no whole one"),
            (REINITIALISED, "jump", "in a circuit had to be passed over"),
        )
        if counters[k]
    ]
    if jumps:
        passed[-1] += f" ({'at' if counters[REINITIALISED] == 1 else 'the first at'} t = {jumps[0]:.9g} s)"
    if counters[ASTRAY] > SOME * counters[ACCEPTED]:
        passed.append(f"{counted(int(counters[ASTRAY]), 'point')} could not be made consistent with all equations")
    if passed:
        message = f"in a run of {steps}, {', '.join(passed)}"
        found.append(Problem("W503", message, hint="compare with a run with a smaller rtol or another method"))
    return found
