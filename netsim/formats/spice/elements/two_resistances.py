"""A resistor with `ac=`: one resistance at rest, another one in small signals.

    v = Rac i + (R - Rac) m,  dm/dt = (i - m)/SLOW

At rest m is the current, so that v = R i. At a frequency f the second term is (R - Rac) i/(1 + 2j pi f SLOW), which is
nothing beside the first one. `.pz` has a pole more, at about -1/SLOW."""

from netsim.formats.spice.circuit import Circuit
from netsim.text.parse import parse
from netsim.text.syntax import ComponentDef

SLOW = 1e15
"""Time in s in which the current counts as one at rest: at 1 mHz the resistance at rest counts 1.6e-13 of itself."""
_DOC = "resistor with a resistance of its own in small signals"
_TEXT = f"""component {{name}} (p, n : electrical) "{_DOC}"
  param R : Ohm
  param Rac : Ohm
  branch p -> n : v, i
  var m : A
  der(m) = (i - m)/({SLOW!r} s)
  v = Rac*i + (R - Rac)*m
  noise v : V2/Hz = 4*1.380649e-23 J/K*ambient*R
  out loss : W = v*i
end
"""


def resistor_type(circuit: Circuit) -> str:
    """The name of the component, defined where it is wanted first."""
    known = [d.name for d in circuit.definitions if isinstance(d, ComponentDef) and d.doc == _DOC]
    if not known:
        known = [circuit.type_name("resistor_of_small_signals")]
        (definition,) = parse(_TEXT.format(name=known[0]), "<resistor of small signals>").statements
        circuit.definitions.append(definition)
    return known[0]


def has_two(circuit: Circuit) -> bool:
    """Whether `ac=` counts: the circuit is asked for small signals, and for no run in time, where R holds."""
    return bool(circuit.analyses & {".ac", ".noise", ".pz", ".sp"}) and ".tran" not in circuit.analyses
