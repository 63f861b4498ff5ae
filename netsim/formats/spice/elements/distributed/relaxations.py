"""Lines with losses O (LTRA) and Y (TXL): one delay, and relaxations for what the losses add to it.

With Z = R + s L and Y = G + s C per length, a line of length l obeys at each end (Branin 1967)

    y i1 = y v1 - h (y v2 + i2),   y(s) = sqrt(Y/Z),   h(s) = exp(-l sqrt(Z Y))

and both functions are a constant, h also a delay T = l sqrt(L C), times a sum of relaxations x/(s + x) whose rates lie
between G/C and R/L, where the functions have their cut:

    y = sqrt(C/L) (1 + sum c_k x_k/(s + x_k)),   h = exp(-l (R/Z0 + G Z0)/2 - s T) (1 + sum d_k x_k/(s + x_k))

The rates are dense at both ends of the cut. The weights are those of least squares over frequencies from the slowest
that a run sees, and exact at rest. There are as many as an error of `ERROR` needs.
"""

from dataclasses import dataclass

import numpy as np

from netsim.formats.spice.cards import Card
from netsim.formats.spice.numbers import literal
from netsim.formats.spice.scopes import Scope
from netsim.text.parse import parse
from netsim.text.syntax import Expr, Instance, Name

Array = np.ndarray
ERROR = 3e-5
"""Largest error of y/sqrt(C/L) and of h over frequency, where `MOST` relaxations reach it."""
MOST = 14
SLOWEST = 1e-3
"""The least frequency of the fit as a share of R/L, where the run does not say one."""
LEAK = 1e-5
"""y at rest over sqrt(C/L) where G = 0: the line leaks LEAK^2 R l/2 times that, and its resistance is R l exactly."""


@dataclass(frozen=True)
class Relaxations:
    """Rates (1/s) and weights of y and h."""

    rates: Array
    admittance: Array
    transmission: Array


@dataclass(frozen=True)
class Figures:
    """R, L, C, G per length, and the length."""

    R: float
    L: float
    C: float
    G: float
    length: float

    @property
    def impedance(self) -> float:
        """Z0 = sqrt(L/C)."""
        return float(np.sqrt(self.L / self.C))

    @property
    def delay(self) -> float:
        """T = length sqrt(L C)."""
        return float(self.length * np.sqrt(self.L * self.C))

    @property
    def attenuation(self) -> float:
        """What is left of a front."""
        return float(np.exp(-0.5 * self.delay * (self.R / self.L + self.G / self.C)))


def relaxations(line: Figures, slowest: float = 0.0) -> Relaxations:
    """As many as the error needs; `slowest` is the least angular frequency that counts, 0 where it is not known."""
    a, b = line.R / line.L, line.G / line.C
    if a == b:
        return Relaxations(*(np.zeros(0),) * 3)
    found = None
    for n in range(2, MOST + 1):
        found, error = _fitted(line, n, min(slowest, 0.3 * a) if slowest else SLOWEST * a)
        if error < ERROR:
            break
    assert found is not None
    return found


def _fitted(line: Figures, n: int, slowest: float) -> tuple[Relaxations, float]:
    a, b = line.R / line.L, line.G / line.C
    high, low = max(a, b), max(min(a, b), slowest)
    shares = np.geomspace(low / high / (1.0 if b else 30.0), 10.0, n)
    rates = 1.1 * high * shares / (1 + shares)
    s = 1j * np.geomspace(low, 100 * high, 400)
    basis = rates / (s[:, None] + rates)
    y, h = np.sqrt((s + b) / (s + a)), np.exp(-line.delay * (np.sqrt(s + a) * np.sqrt(s + b) - s - (a + b) / 2))
    y0, h0 = np.sqrt(b / a), float(np.exp(-line.delay * (np.sqrt(a * b) - (a + b) / 2)))
    if b == 0:
        loss = a * line.delay
        y0, h0 = LEAK, (1 - 2 * LEAK * loss / (2 + LEAK * loss)) / line.attenuation
    weights, errors = [], []
    for wanted, at_rest, size in ((y, y0, 1.0), (h, h0, line.attenuation)):
        rest = at_rest - 1
        matrix, right = basis[:, 1:] - basis[:, :1], wanted - 1 - rest * basis[:, 0]
        stacked = np.vstack([matrix.real, matrix.imag]), np.concatenate([right.real, right.imag])
        tail = np.linalg.lstsq(*stacked, rcond=1e-12)[0]
        weights.append(np.array([rest - tail.sum(), *tail]))
        errors.append(size * float(np.abs(basis @ weights[-1] + 1 - wanted).max()))
    return Relaxations(rates, *weights), max(errors)


def relaxing_line(card: Card, scope: Scope, nodes: tuple[Name, ...], line: Figures) -> Instance:
    """The line as an instance of a component with as many relaxations as it needs."""
    stop = scope.circuit.times[1]
    found, span = relaxations(line, 1 / stop if stop else 0.0), card.span()
    given: dict[str, Expr] = {"Z": literal(line.impedance, span, "Ohm"), "T": literal(line.delay, span, "s")}
    given["A"] = literal(line.attenuation, span)
    for k, (x, c, d) in enumerate(zip(found.rates, found.admittance, found.transmission), 1):
        given |= {f"x{k}": literal(float(x), span, "1/s"), f"c{k}": literal(float(c), span)}
        given[f"d{k}"] = literal(float(d), span)
    return scope.instance(card, _component(scope, len(found.rates)), nodes, given)


def _component(scope: Scope, n: int) -> str:
    """The component with n relaxations, defined once."""
    key, top = f":line_{n}", scope
    while top.above is not None:
        top = top.above
    if key not in top.ends:
        name = scope.circuit.type_name(f"lossy_line_{n}")
        scope.circuit.definitions.append(parse("\n".join(_text(name, n)), "line with losses").statements[0])
        top.ends[key] = (name,)
    return top.ends[key][0]


def _text(name: str, n: int) -> list[str]:
    """a1, a2: what enters the line at its ends, times Z; u, w: relaxations of voltages and of what arrives."""
    index = range(1, n + 1)

    def summed(weight: str, state: str, end: int) -> str:
        return "".join(f" + {weight}{k}*{state}{end}_{k}" for k in index)

    text = [f'component {name} (p1, n1, p2, n2 : electrical) "transmission line with losses, {n} relaxations"']
    text += ["  param Z : Ohm > 0", "  param T : s > 0", "  param A > 0"]
    text += [line for k in index for line in (f"  param x{k} : 1/s > 0", f"  param c{k}", f"  param d{k}")]
    for end in (1, 2):
        text += [f"  branch p{end} -> n{end} : v{end}, i{end}", f"  var a{end} : V"]
        text += [f"  var {state}{end}_{k} : V" for state in "uw" for k in index]
    for end, other in ((1, 2), (2, 1)):
        text += [
            f"  a{end} = v{end}{summed('c', 'u', end)} + Z*i{end}",
            f"  let f{end} = delayed(a{other}, T)",
            f"  i{end} = (v{end}{summed('c', 'u', end)} - A*(f{end}{summed('d', 'w', end)}))/Z",
        ]
        text += [f"  der(u{end}_{k}) = x{k}*(v{end} - u{end}_{k})" for k in index]
        text += [f"  der(w{end}_{k}) = x{k}*(f{end} - w{end}_{k})" for k in index]
    return [*text, "end", ""]
