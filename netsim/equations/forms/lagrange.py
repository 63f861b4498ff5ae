"""Forces that follow from a component's energies: Lagrange's equations at its terminals.

    f = d/dt (dT/dv) - dT/dx + dV/dx

for every quantity x that has a velocity v = x', kinetic energy T(x, v) and potential energy V(x); f is what the
neighbours must exert, as every through is. A rotation has no coordinates but a chart's psi (netsim.core.rotation), w =
B(psi) psi': the moment t, with t . w the power, is

    t = dh/dt + B^-T ((dB/dt)' h - dT/dpsi + dV/dpsi),    h = B^-T dT/dpsi',

h being the angular momentum in world axes, which does not know the chart: as a differentiated quantity it is conserved
from step to step. Source: L. Meirovitch, Methods of Analytical Dynamics, 1970, sec. 4.11 (quasi-coordinates).
"""

from typing import Any

from netsim.equations.forms.symbols import Key, Symbols
from netsim.equations.kernels.symbolic import ca
from netsim.library.component import Component, plain_name, terms_in
from netsim.text.syntax import Call, Equation


def rates_of(component: Component) -> dict[str, str]:
    """Rates ry with the coordinates y they belong to: what stands in lagrange(y, ry) where an equation says der(y) =
    ry."""
    pairs = {
        (plain_name(c.arguments[0]), plain_name(c.arguments[1]))
        for c in terms_in(component.rows, Call)
        if c.function == "lagrange"
    }
    return {ry: y for equation in component.rows for y, ry in [rate_equation(equation)] if (y, ry) in pairs}


def rate_equation(equation: Equation) -> tuple[str, str]:
    """(y, ry) of an equation der(y) = ry; empty names of any other."""
    left, right = equation.left, plain_name(equation.right)
    if isinstance(left, Call) and left.function == "der" and right is not None:
        return plain_name(left.arguments[0]) or "", right
    return "", ""


def momenta(symbols: Symbols, keys: list[Key], rotating: bool, kinetic: Any) -> list[Any]:
    """dT/dv of the across quantities `keys`; with `rotating` these are a chart's three coordinates, and the angular
    momentum is found."""
    slopes = _slopes(symbols, keys, 1, kinetic)
    return ca.vertsplit(_moment(_chart(symbols, keys), slopes)) if rotating else ca.vertsplit(slopes)


def restoring_forces(symbols: Symbols, keys: list[Key], rotating: bool, kinetic: Any, potential: Any) -> list[Any]:
    """dV/dx - dT/dx, for a rotation as a moment in world axes (with the chart's own motion)."""
    slopes = _slopes(symbols, keys, 0, potential - kinetic)
    if not rotating:
        return ca.vertsplit(slopes)
    psi = _chart(symbols, keys)
    if ca.SX(kinetic).is_zero():
        return ca.vertsplit(_moment(psi, slopes))
    rates = ca.vertcat(*(symbols.at(key, 1) for key in keys))
    spin = ca.SX.sym("h", 3)
    turned = (spin - ca.cross(psi, spin) / 2) / (1 + ca.dot(psi, psi) / 4)
    moved = ca.substitute(ca.jtimes(turned, psi, rates), spin, _moment(psi, _slopes(symbols, keys, 1, kinetic)))
    return ca.vertsplit(_moment(psi, moved + slopes))


def own_forces(coordinates: list[Any], rates: list[Any], energies: tuple[Any, Any]) -> list[tuple[Any, Any]]:
    """(dT/dv, dV/dx - dT/dx) for variables x of the component's own with rates v; energies are T and V."""
    kinetic, potential = map(ca.SX, energies)
    if not coordinates:
        return []
    momentum, force = (
        ca.gradient(kinetic, ca.vertcat(*rates)),
        ca.gradient(potential - kinetic, ca.vertcat(*coordinates)),
    )
    return list(zip(ca.vertsplit(ca.densify(momentum)), ca.vertsplit(ca.densify(force))))


def _chart(symbols: Symbols, keys: list[Key]) -> Any:
    return ca.vertcat(*(symbols.at(key, 0) for key in keys))


def _moment(psi: Any, force: Any) -> Any:
    """B^-T force: what acts on the chart's coordinates as a moment in world axes."""
    return force + ca.cross(psi, force) / 2 + psi * ca.dot(psi, force) / 4


def _slopes(symbols: Symbols, keys: list[Key], order: int, energy: Any) -> Any:
    """Derivatives by the symbols of `keys` at an order; zero where the energy does not know them."""
    found = [symbols.gathered.get((key, order)) for key in keys]
    return ca.vertcat(*(ca.SX(0) if symbol is None else ca.gradient(ca.SX(energy), symbol) for symbol in found))
