"""`.four 1k v(out)`: mean, amplitudes and phases of nine harmonics of a transient's last period, as `measure` lines.

measure v_out_0 = harmonic(out.v, 0, f = 1 kHz)            the mean
measure v_out_1 = harmonic(out.v, 1, f = 1 kHz)            an amplitude
measure v_out_phase1 = harmonic_phase(out.v, 1, f = 1 kHz)
measure v_out_thd = distortion(out.v, n = 9, f = 1 kHz)               the distortion, as a share
"""

import re
from collections.abc import Iterator

from netsim.formats.spice.analyses.operating import PROBE
from netsim.formats.spice.analyses.small_signals import quantity
from netsim.formats.spice.cards import Card
from netsim.formats.spice.circuit import word
from netsim.formats.spice.expressions import expression
from netsim.formats.spice.scopes import Scope
from netsim.text.errors import InputError, Problem
from netsim.text.spelling import new_name
from netsim.text.syntax import Call, Measure, Number

HARMONICS = 9
"""As many as ngspice gives unless `nfreqs` says another number."""


def harmonics(card: Card, scope: Scope) -> Iterator[Measure]:
    """The measures of a card. Raises `InputError`."""
    tokens = card.plain
    probes = list(PROBE.finditer(card.text))
    if not tokens or not probes:
        raise InputError(Problem("E131", "'.four' is written .four 1k v(out) v(a,b)", card.span()))
    if not any(other.word == ".tran" for other in scope.block.control):
        return scope.circuit.report.note("'.four' is ignored: there is no .tran", card.span())
    frequency = scope.value(card, tokens[0], "Hz")
    for match in probes:
        signal = quantity(expression(card, match[0], match.start(), scope))
        name = word(re.sub(r"\W+", "_", match[0].lower()).strip("_"))
        functions = [(f"{name}_0", "harmonic", 0)]
        for n in range(1, HARMONICS + 1):
            functions += [(f"{name}_{n}", "harmonic", n), (f"{name}_phase{n}", "harmonic_phase", n)]
        span = card.span()
        for title, function, n in functions:
            call = Call(function, (signal, Number(float(n), span=span)), (("f", frequency),), span=span)
            yield Measure(new_name(title, "_", scope.taken), call, span=span)
        all_of_them = ("n", Number(float(HARMONICS), span=span)), ("f", frequency)
        title = new_name(f"{name}_thd", "_", scope.taken)
        yield Measure(title, Call("distortion", (signal,), all_of_them, span=span), span=span)
