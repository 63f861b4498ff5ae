"""Random networks of every domain: all methods agree with Radau's at a fine tolerance, and every run's energy account closes.

A few fixed examples by default; `pytest --hypothesis-profile=thorough` draws more of them.
"""

from collections import defaultdict
from collections.abc import Iterator

import hypothesis
import numpy as np
from hypothesis import given

import netsim
from netsim.results.samples import Samples
from random_networks import Network, networks

TOLERANCES = (1e-4, 1e-6)
FINE = 1e-9
ALLOWED = 50.0
"""How many rtol of a signal's amplitude a sample may be off, and of the energy turned over the account."""
ACCOUNT = 20.0
"""So many times more where values differ by decades: a stiff spring moves by a small part of what its ends move by, to which the tolerance
refers, and its energy is part of the account."""
FEW, MANY = 6, 100
IMPLICIT = ("radau", "bdf", "trbdf2")


def ran(model: netsim.Model, method: str, rtol: float) -> Samples:
    (samples,) = model.samples({"method": method, "rtol": rtol})
    return samples


def amplitudes(network: Network, reference: Samples) -> np.ndarray:
    """The largest value of each signal, or of its kind where that is larger, then at most the nominal (docs/integrators.md, Sizes)."""
    own = np.abs(reference.values).max(axis=0)
    kinds = defaultdict(float)
    described = [network.saved[signal.name] for signal in reference.signals]
    for (kind, _), size in zip(described, own, strict=True):
        kinds[kind] = max(kinds[kind], size)
    return np.maximum(own, [min(nominal, kinds[kind]) for kind, nominal in described])


def complaints(network: Network, methods: tuple[str, ...], account: float = 1.0) -> Iterator[str]:
    """What runs by these methods have against one another, or against their energy account, beyond what is allowed, of
    energy `account` times that.

    A capacity of heat stores what its temperature is above absolute zero, and tolerances refer to that too."""
    line = f"run transient(stop = {network.stop:.6g} s, sample = {network.stop / 40:.6g} s)"
    model = netsim.load(f"{network.text}\n{line}\nsave {', '.join(network.saved)}\n")
    reference = ran(model, "radau", FINE)
    assert reference.finished, reference.message
    sizes = amplitudes(network, reference)
    runs = [("radau", FINE, reference), *((m, rtol, ran(model, m, rtol)) for m in methods for rtol in TOLERANCES)]
    for method, rtol, run in runs:
        name = f"{method} at rtol {rtol:g}"
        if not run.finished or run.broken:
            yield f"{name} stops: {run.message} {run.broken}"
            continue
        off = np.abs(run.values - reference.values).max(axis=0) / sizes / rtol
        if not off.max() <= ALLOWED:
            yield f"{name}: {run.signals[int(np.argmax(off))].name} is off by {off.max():.3g} rtol of its amplitude ({run.attributes['steps']} steps)"
        stored, supplied, dissipated = run.energy.T
        missed = np.abs(stored - stored[0] - supplied + dissipated).max()
        turned, rounding = max(run.attributes["turned_over"], np.ptp(stored)), 1e-12 * np.abs(run.energy).max()
        if "thermal" in network.text:
            turned = max(turned, np.abs(stored).max())
        if not missed <= account * ALLOWED * rtol * turned + rounding:
            yield f"{name}: its account misses {missed / turned / rtol:.3g} rtol of the energy turned over"


def settings(count: int) -> hypothesis.settings:
    """A few examples, always the same, unless a profile asks for more."""
    more = hypothesis.settings.get_profile("thorough") if hypothesis.settings.get_current_profile_name() == "thorough" else None
    return hypothesis.settings(max_examples=MANY if more else count, derandomize=not more, database=None, phases=[hypothesis.Phase.generate])


@settings(FEW)
@given(networks(spread=1.0))
def test_every_method_finds_the_same_motion(network):
    found = list(complaints(network, (*IMPLICIT, "rk45")))
    assert not found, "\n".join([*found, network.text])


@settings(FEW)
@given(networks(spread=4.0))
def test_implicit_methods_agree_where_values_differ_by_decades(network):
    found = list(complaints(network, IMPLICIT, ACCOUNT))
    assert not found, "\n".join([*found, network.text])
