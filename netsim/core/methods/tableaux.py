"""Coefficients of explicit Runge-Kutta methods: 5(4) and 8(5, 3) of Dormand and Prince, 6(5) of Verner.

Sources: J. Dormand, P. Prince, A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6, 1980; L. Shampine,
Some practical Runge-Kutta formulas, Math. Comp. 46, 1986 (between steps of 5(4)); J. Verner, Explicit Runge-Kutta
methods with estimates of the local truncation error, SIAM J. Numer. Anal. 15, 1978 (DVERK of the IMSL library); E.
Hairer, S. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 1993, sec. II.5, II.6 (DOP853; coefficients of
scipy.integrate.DOP853).
"""

from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Tableau:
    """nodes (s) and weights (s, s) of the stages; that number `end` (from 0) is the step's end and the next one's first
    stage, those behind it are for what lies inside the step. errors (1 or 2, end + 1): what the weights differ by from
    formulas of lower order. dense (s, degree): weights of the stages at theta, theta^2 ... inside the step."""

    order: int
    nodes: Array
    weights: Array
    end: int
    errors: Array
    dense: Array

    @property
    def stages(self) -> int:
        """How many rates there are, those inside the step included."""
        return len(self.nodes)


def dormand_prince_5() -> Tableau:
    """Seven stages, the last one of a step being the first of the next."""
    nodes = [0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0]
    rows = [
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
    error = [71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]
    dense = [
        [1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
        [0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
        [0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
        [0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
        [0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
    ]
    return Tableau(5, np.array(nodes), _square(rows), 6, np.array([error]), np.array(dense))


def verner_6() -> Tableau:
    """Eight stages and the step's end; one more in the middle, where all conditions up to order 5 have a solution, for
    the quintic through both."""
    nodes = [0.0, 1 / 6, 4 / 15, 2 / 3, 5 / 6, 1.0, 1 / 15, 1.0, 1.0, 1 / 2]
    sixth = [3 / 40, 0.0, 875 / 2244, 23 / 72, 264 / 1955, 0.0, 125 / 11592, 43 / 616, 0.0]
    fifth = [13 / 160, 0.0, 2375 / 5984, 5 / 16, 12 / 85, 3 / 44, 0.0, 0.0, 0.0]
    rows = [
        [1 / 6],
        [4 / 75, 16 / 75],
        [5 / 6, -8 / 3, 5 / 2],
        [-165 / 64, 55 / 6, -425 / 64, 85 / 96],
        [12 / 5, -8.0, 4015 / 612, -11 / 36, 88 / 255],
        [-8263 / 15000, 124 / 75, -643 / 680, -81 / 250, 2484 / 10625, 0.0],
        [3501 / 1720, -300 / 43, 297275 / 52632, -319 / 2322, 24068 / 84065, 0.0, 3850 / 26703],
        sixth[:8],
        [189 / 2560, 0.0, 6125 / 16896, 145 / 2304, -9 / 460, -21 / 704, 125 / 6624, 0.0, 1 / 32],
    ]
    weights, stage = _square(rows), np.eye(10)
    through = np.array(
        [weights[9], weights[8], stage[0], stage[9], stage[8]]
    )  # y at 1/2 and 1, y' at 0, 1/2 and 1, less y at 0
    powers = np.arange(1, 6)
    conditions = [0.5**powers, 1.0**powers, powers * 0.0 ** (powers - 1), powers * 0.5 ** (powers - 1), powers * 1.0]
    dense = np.linalg.solve(np.array(conditions), through).T
    return Tableau(6, np.array(nodes), weights, 8, np.array([np.subtract(sixth, fifth)]), dense)


def dormand_prince_8() -> Tableau:
    """Twelve stages and the step's end; three more for a polynomial of order 7 inside."""
    from scipy.integrate import DOP853 as D

    weights = np.zeros((16, 16))
    weights[:12, :12], weights[12, :12], weights[13:] = D.A, D.B, D.A_EXTRA
    start, end, move = np.eye(16)[0], np.eye(16)[12], weights[12]
    parts = [
        move,
        start - move,
        2.0 * move - end - start,
        *D.D,
    ]  # of theta, theta (1 - theta), theta^2 (1 - theta), theta^2 (1 - theta)^2 ...
    dense = np.zeros((16, len(parts)))
    factor = np.polynomial.Polynomial([1.0])
    for k, part in enumerate(parts):
        factor = factor * np.polynomial.Polynomial([1.0, -1.0] if k % 2 else [0.0, 1.0])
        dense[:, : factor.degree()] += np.outer(part, factor.coef[1:])
    return Tableau(8, np.array([*D.C, 1.0, *D.C_EXTRA]), weights, 12, np.array([D.E5, D.E3]), dense)


def _square(rows: list[list[float]]) -> Array:
    """The weights of stage k from its row, stage 0 having none."""
    found = np.zeros((len(rows) + 1, len(rows) + 1))
    for k, row in enumerate(rows):
        found[k + 1, : len(row)] = row
    return found


NEAR = 0.05
"""Nodes nearer to one another than this share of a step count as one: a polynomial through both would only magnify
rounding."""


def watched_nodes(tableau: Tableau) -> tuple[float, ...]:
    """Where in a step a method looks at functions of time, from 0 to 1."""
    kept = [0.0]
    for node in np.unique(tableau.nodes[: tableau.errors.shape[1]]):
        if node - kept[-1] >= NEAR and (node == 1.0 or node <= 1.0 - NEAR):
            kept.append(float(node))
    return tuple(kept)
