"""What a joint is worth at one admissible placement, from its symbolic form alone: its constraints, reactions and powers."""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from netsim.equations.forms.build import build_form
from netsim.equations.forms.form import Form
from netsim.equations.forms.symbols import UNIFORM, Key
from netsim.library.files import Library, collect
from netsim.text.parse import parse

Array = np.ndarray


def library(*names: str) -> Library:
    return collect(parse("\n".join(f"use {name}" for name in names) + "\n", "<test>"))


def form_of(lib: Library, name: str) -> Form:
    return build_form(lib.components[name], {})


@dataclass
class Point:
    """Values for every symbol of a form: orders 0..2 of keys, and parameters."""

    form: Form
    values: dict[tuple[Key, int], float]
    parameters: dict[str, list[float]]

    def evaluate(self, expressions: list) -> Array:
        """The expressions' values; symbols without a value are zero."""
        symbols, numbers = [], []
        for key, symbol in self.form.symbols.gathered.items():
            symbols.append(symbol)
            numbers.append(self.values.get(key, 0.0))
        for name, scalars in self.form.symbols.parameters.items():
            symbols += scalars
            numbers += self.parameters.get(name, [1.0] * len(scalars))  # hidden ones say that a terminal is no ground
        symbols += list(UNIFORM.values())
        numbers += [0.0] * len(UNIFORM)
        function = ca.Function("f", [ca.vertcat(*symbols)], [ca.densify(ca.vertcat(*map(ca.SX, expressions)))])
        return np.array(function(numbers)).ravel()

    def jacobian(self, expressions: list, columns: list[tuple[Key, int]]) -> Array:
        """Derivatives by some symbols (a symbol that is not read: zero)."""
        read = self.form.symbols.gathered
        found = np.zeros((len(expressions), len(columns)))
        for j, key in enumerate(columns):
            if key in read:
                found[:, j] = self.evaluate([ca.jacobian(ca.SX(e), read[key]) for e in expressions])
        return found


def rows(form: Form, kind: str) -> list[int]:
    return [i for i, key in enumerate(form.rows) if key[0] == kind]


def constraints(point: Point, nodes: list[Key], own: list[Key]) -> Array:
    """The constraint Jacobian on the nodes' velocities, the joint's own coordinates eliminated: orthonormal rows."""
    residuals = [point.form.residuals[i] for i in rows(point.form, "own")]
    on_nodes = point.jacobian(residuals, [(k, 0) for k in nodes])
    on_own = point.jacobian(residuals, [(k, 0) for k in own])
    _, size, right = np.linalg.svd(np.linalg.svd(on_own.T)[2][np.linalg.matrix_rank(on_own) :] @ on_nodes)
    return right[: int((size > 1e-9).sum())]


def throughs(point: Point, nodes: list[Key]) -> Array:
    """What enters the component at each of the nodes' components."""
    place = {key: i for i, key in enumerate(point.form.rows)}
    values = point.evaluate(list(point.form.residuals))
    return np.array([values[place[key]] if key in place else 0.0 for key in nodes])


def account(point: Point, nodes: list[Key], velocity: Array) -> tuple[float, float, float]:
    """(power into the component, rate of its stored energy, power it dissipates) at velocities its constraints admit."""
    form, own = point.form, [("own", i) for i in range(len(point.form.own))]
    residuals = [form.residuals[i] for i in rows(form, "own")]
    rates = np.linalg.lstsq(
        point.jacobian(residuals, [(k, 0) for k in own]), -point.jacobian(residuals, [(k, 0) for k in nodes]) @ velocity, rcond=None
    )[0]
    stored = point.jacobian([form.stored], [(k, 0) for k in own])[0] @ rates + point.jacobian([form.stored], [(k, 0) for k in nodes])[0] @ velocity
    return float(throughs(point, nodes) @ velocity), float(stored), float(point.evaluate([form.dissipated])[0])


def moving(point: Point, nodes: list[Key], velocity: Array) -> Point:
    """The same point with velocities of the nodes."""
    return Point(point.form, {**point.values, **{(key, 1): v for key, v in zip(nodes, velocity)}}, point.parameters)


def reactions(point: Point, nodes: list[Key]) -> Array:
    """What enters at the nodes per unit of each multiplier (lam, mu, tension, F, T, M, drive)."""
    form = point.form
    loads = [i for i, name in enumerate(form.own) if name.split(".")[0].split("[")[0] in ("lam", "mu", "tension", "F", "T", "M", "drive")]
    place = {key: i for i, key in enumerate(form.rows)}
    return point.jacobian([form.residuals[place[k]] if k in place else 0 for k in nodes], [(("own", i), 0) for i in loads])


def admissible(constraint_rows: Array) -> Array:
    """Orthonormal columns: the velocities that the constraints allow."""
    return np.linalg.svd(constraint_rows)[2][len(constraint_rows) :].T
