"""Every component is passive that its physics makes so: at operating points drawn within the bounds of its parameters, the power that enters is
what is stored and what is dissipated, and nothing that dissipates drives."""

import numpy as np
import pytest

from operating_points import LIBRARY, Element

POINTS, TRIALS = 4, 40
ROUNDING = 1e-8
AT_REST = 1e-5
"""What a friction that holds may give back: steps leave it a speed that decays in a millisecond (1e-6 of the speed that is no longer rest)."""

ON_ITS_WAY = "what is on its way counts as dissipated until it leaves"
DRIVES = {
    **dict.fromkeys(("lossless_line", "lossy_line", "coupled_lines"), ON_ITS_WAY),
    "bjt": "the charge that the base takes up from both junctions counts as heat, which is negative while it leaves",
    "detailed_diode": "its diffusion charge has no energy in closed form: what it takes up counts as heat, negative while it leaves",
    "vdmos": "the charge of its gate and drain has no energy in closed form: what it takes up counts as heat, negative while it leaves",
    "data_sheet_opamp": "its open output voltage, drawn at random here, lies beyond the supplies; test_output_current_comes_out_of_the_supplies",
    "braked_freewheel": "when it locks an event ends the speed, which is drawn at random here",
    "one_way_clutch": "when it locks an event ends the speed, which is drawn at random here",
    "stopped_mass": "at its stops an event ends the speed, which is drawn at random here",
    "knot": "drawn half a turn from its frame it has a second root, which no start finds",
}
"""Components that may give power that they did not store, and why."""
OPEN = {
    "hinge_spring": "its angle is one only where a hinge stands beside it: test_spatial.py",
}
"""Components whose account closes only beside others, and why."""


def test_exceptions_are_components():
    assert {*DRIVES, *OPEN} <= set(LIBRARY.components)


@pytest.mark.parametrize("name", sorted(LIBRARY.components))
def test_component_gives_no_power_that_it_does_not_have(name):
    element, random, found = Element(name), np.random.default_rng(sum(map(ord, name))), 0
    for _ in range(TRIALS):
        point = element.motion(random)
        if point is None:
            continue
        found += 1
        stored, supplied, dissipated, powers = element.account(*point)
        size = np.abs(powers).sum() + abs(stored) + abs(dissipated) + 1e-6
        balance = powers.sum() + supplied - dissipated - stored
        assert name in OPEN or abs(balance) < 10 * ROUNDING * size, (balance, size)
        holds = AT_REST if element.form.events.names else ROUNDING
        assert name in DRIVES or dissipated >= -holds * size, (dissipated, size)
        if found == POINTS:
            return
    assert found > 0, "no motion found that the component can make"
