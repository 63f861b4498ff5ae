"""Flexible links and beams in the plane against Kozlowski's case, closed forms and the elastica."""

from functools import cache

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy.integrate import solve_bvp
from scipy.linalg import eigh
from scipy.optimize import minimize_scalar

import netsim
from beam_oracle import Chain
from netsim.core.loop.control import SIZE
from netsim.core.newton import NOT_FINITE
from netsim.initial.initial import consistent_start
from netsim.initial.recovery import plan_recovery, recover_point
from netsim.library.files import models_folder
from netsim.simulate import adaptive
from netsim.text.errors import SimulationError

PENDULUM = models_folder() / "manipulators/flexible_pendulum_1.net"

# t: theta1, u3, u4, u5, u6 of one link in two elements (a Lagrange code at rtol 1e-12; the paper prints curves only)
ONE_LINK = {
    1: (-1.70565950, -3.21052031e-05, -1.60722043e-04, -1.50654935e-04, -2.71425184e-04),
    2: (-1.53665760, -7.88097045e-08, 6.32048192e-06, 8.53186449e-06, 2.20238522e-05),
    3: (-1.48866559, 2.60982268e-05, 1.31251996e-04, 1.14576137e-04, 1.93520626e-04),
    4: (-1.73199727, -3.80790870e-06, -7.68181880e-06, -2.07356404e-06, 8.37570673e-06),
    5: (-1.40384966, 3.96744609e-05, 1.98108235e-04, 1.79408411e-04, 3.12824575e-04),
}
DOUBLE = models_folder() / "manipulators/flexible_pendulum_2.net"
HANGING = (3.8359, 219.16, 788.94, 1916.0, 3524.3)


def test_flexible_pendulum():
    model = netsim.load(PENDULUM)
    result = model.transient(stop=2.0, rtol=1e-9, sample=1.0, save=["theta1", "u3", "u4", "u5", "u6"])
    names = ("theta1", "u3", "u4", "u5", "u6")
    found, wanted = np.array([result[n].values[1:] for n in names]).T, np.array(list(ONE_LINK.values()))
    assert np.all(np.abs(found - wanted[:2]) < 1e-6 * np.abs(wanted).max(axis=0))
    energy = (result["energy.stored"] + result["energy.dissipated"] - result["energy.supplied"]).values
    assert np.abs(energy - energy[0]).max() < 1e-10


def test_flexible_pendulum_hanging():
    text = PENDULUM.read_text().replace("start joint1.q = start1", "start joint1.q = -90 deg")
    rates = 2 * np.pi * netsim.load(text).modal(modes=5)["frequency"].values
    assert np.allclose(rates, HANGING, rtol=5e-5)


def test_double_flexible_pendulum():
    rates = 2 * np.pi * netsim.load(DOUBLE).modal(modes=10)["frequency"].values
    assert np.allclose(rates, Chain(2).frequencies(), rtol=1e-6)
    assert np.allclose(rates[:5], (2.6800, 7.1861, 162.75, 282.83, 670.95), rtol=5e-5)  # published with the reference motion


AMPLITUDES = {"theta1": 0.0393231513, "theta2": 0.0798047761}
LARGEST = {
    "u3": 3.69484045e-05,
    "u4": 0.000185884734,
    "u5": 0.000187424364,
    "u6": 0.000389902916,
    "w3": 6.19247146e-05,
    "w4": 0.000302912458,
    "w5": 0.000255457533,
    "w6": 0.000423353293,
}
"""Half the range of the angles (rad) and largest size of deflections (m) and slopes at 0, 0.01 ... 1 s: Chain(2) at rtol 1e-10, drift 3e-13 J."""


def test_amplitudes_of_the_double_pendulum():
    result = netsim.load(DOUBLE).transient(stop=1.0, rtol=1e-8, sample=0.01, method="rk8", formulation="tree")
    for name, wanted in AMPLITUDES.items():
        assert abs(np.ptp(result[name].values) / 2 / wanted - 1) < 5e-5
    for name, wanted in LARGEST.items():
        assert abs(np.abs(result[name].values).max() / wanted - 1) < 5e-5
    assert np.ptp(result["energy.stored"].values) < 1e-9


def test_names_follow_the_number_of_elements():
    for elements in (1, 3):
        result = netsim.load(DOUBLE, counts={"elements": elements}).transient(stop=0.001, method="rk8")
        assert {f"{c}{k}" for c in "uw" for k in range(3, 2 * elements + 3)} <= set(result.data_vars)


OTHERS = [
    (1, {"elements": 1}, {"EI": 300.0, "line": 8.0, "start1": -1.0}),
    (1, {"elements": 3}, {"EI": 400.0, "line": 2.0, "start1": 0.3}),
    (2, {"elements": 1}, {"EI": 500.0, "line": 3.0, "start1": -0.7, "start2": 1.2}),
    (2, {"elements": 2}, {"EI": 1000.0, "line": 5.0, "start1": -np.pi / 2, "start2": np.radians(5)}),
]


@pytest.mark.parametrize(("links", "counts", "params"), OTHERS)
def test_other_numbers_against_a_dense_lagrange_code(links, counts, params):
    """Elements, stiffness, mass and starting angles: every coordinate to 1e-6 of its range, energy to 1e-10 J."""
    chain = Chain(links, counts["elements"], params["EI"], params["line"])
    model = netsim.load(PENDULUM if links == 1 else DOUBLE, counts=counts).with_overrides(params)
    wanted, _ = chain.motion([params[f"start{k + 1}"] for k in range(links)], np.arange(21) * 5e-3, rtol=1e-9)
    names = [f"{c}{k}" for c in "uw"[:links] for k in range(3, 2 * counts["elements"] + 3)]
    names = [n for k in range(links) for n in (f"theta{k + 1}", *names[k * 2 * counts["elements"] : (k + 1) * 2 * counts["elements"]])]
    result = model.transient(stop=0.1, rtol=1e-11, sample=5e-3, method="rk8", save=names)
    found = np.array([result[n].values for n in names]).T
    assert np.all(np.abs(found - wanted) < 1e-6 * np.ptp(wanted, axis=0))
    assert np.ptp(result["energy.stored"].values) < 1e-10


ROOTS = {  # beta L of cos cosh = -1 (clamped), sin = 0 (hinged), cos cosh = 1 (free)
    "clamped": (1.875104068711961, 4.694091132974175, 7.854757438237613, 10.99554073487547, 14.13716839104647),
    "hinged": tuple(np.pi * np.arange(1, 6)),
    "free": (4.730040744862704, 7.853204624095838, 10.99560783800167, 14.13716549125746, 17.27875965739948),
}
ENDS = {
    "clamped": "hold planar_weld (ground, a) at = [0, 0] m",
    "hinged": "hold planar_revolute (ground, a) at = [0, 0] m\nslide planar_pin_in_slot (ground, b) at = [2, 0] m",
    "free": "",
}


@pytest.mark.parametrize("ends", ENDS)
def test_frequencies_of_beams_converge_at_order_four(ends):
    """omega = (beta L)^2 sqrt(EI/(line L^4)), the first five; errors of cubic elements fall as h^4."""
    text = f"""
use planar
world gravity = [0, 0, 0] m/s2
count elements = 8
beam1 planar_flexible_link (a, b) at1 = [0, 0] m, at2 = [2, 0] m, line = 3 kg/m, EI = 50 N.m2, elements = elements
{ENDS[ends]}
run modal(modes = 12)
"""
    exact = np.array(ROOTS[ends]) ** 2 * np.sqrt(50 / (3 * 2**4))
    errors = []
    for elements in (16, 32) if ends == "free" else (8, 16):
        rates = 2 * np.pi * netsim.load(text, counts={"elements": elements}).modal(modes=12, from_="rest")["frequency"].values
        elastic = rates[rates > 0.01][:5]
        errors.append(elastic / exact - 1)
    assert np.all(np.array(errors) > 0)  # elements are stiffer than the beam
    order = np.log2(errors[0] / errors[1])
    assert np.all(np.abs(order - 4) < 0.25), order


def test_tip_of_a_cantilever():
    """F L^3/(3 EI) and F L^2/(2 EI) by a single cubic element."""
    text = """
use planar
world gravity = [0, 0, 0] m/s2
hold   planar_weld    (ground, a)  at = [0, 0] m
beam1  planar_flexible_link  (a, b)       at1 = [0, 0] m, at2 = [2, 0] m, line = 3 kg/m, EI = 50 N.m2, elements = 1
push   planar_force   (b)          F = [0, 0.01] N, at = [2, 0] m
run static()
save b.r, b.phi
"""
    result = netsim.load(text).static()
    assert abs(result["b.r.y"].item() - 0.01 * 8 / 150) < 1e-10
    assert abs(result["b.phi"].item() - 0.01 * 4 / 100) < 1e-10


BEAM = """
use planar
world gravity = [0, 0, 0] m/s2
count n = 8
hold  planar_weld   (ground, a)  at = [0, 0] m
root  planar_frame  (a)          at = [0, 0] m
b1    planar_beam   (a, b)       at1 = [0, 0] m, at2 = [1, 0] m, line = 1 kg/m, EI = 1 N.m2, EA = 1e8 N, elements = n
tip   planar_frame  (b)          at = [1, 0] m
{load}
run static()
save b.r, b.phi
"""


@pytest.mark.parametrize("kind", ["planar_flexible_link", "planar_shortened_link"])
def test_load_along_the_span(kind):
    """q L^4/(8 EI), exact at the nodes; the shortened link's end draws back by the integral of half its slope's square, q^2 L^7/(112 EI^2)."""
    text = f"""
use planar
world gravity = [0, 0, 0] m/s2
hold   planar_weld (ground, a)  at = [0, 0] m
beam1  {kind} (a, b)  at1 = [0, 0] m, at2 = [2, 0] m, line = 3 kg/m, EI = 50 N.m2, load = [0, 0.01] N/m, elements = 8
run static()
save b.r
"""
    result = netsim.load(text).static()
    assert abs(result["b.r.y"].item() - 0.01 * 16 / 400) < 1e-12
    back = 0.01**2 * 2**7 / (112 * 50**2) if kind == "planar_shortened_link" else 0.0
    assert abs(2 - result["b.r.x"].item() - back) < 1e-3 * back + 1e-15


def test_sections_by_their_shape():
    """A tube and a rectangle: deflection by E I, frequency by rho A as well."""
    for section, second, area in (
        ("r = 8 mm, ri = 6 mm", np.pi / 4 * (8e-3**4 - 6e-3**4), np.pi * 28e-6),
        ("width = 12 mm, height = 6 mm", 216e-12, 72e-6),
    ):
        text = f"""
use planar
world gravity = [0, 0, 0] m/s2
hold   planar_weld (ground, a)  at = [0, 0] m
beam1  planar_flexible_link (a, b)  at1 = [0, 0] m, at2 = [1, 0] m, E = 200 GPa, rho = 7800 kg/m3, {section}, elements = 6
run modal(modes = 1, from = rest)
"""
        rate = 2 * np.pi * netsim.load(text).modal(modes=1, from_="rest")["frequency"].item()
        assert abs(rate / (ROOTS["clamped"][0] ** 2 * np.sqrt(200e9 * second / (7800 * area))) - 1) < 1e-5


def test_lumped_mass_converges_at_order_two():
    """First frequency of a cantilever by elements for large displacements, all mass at the nodes; consistent mass: order four."""
    exact = ROOTS["clamped"][0] ** 2
    for lumped, order in ((1, 2), (0, 4)):
        errors = []
        for n in (4, 8):
            text = BEAM.format(load="").replace("EA = 1e8 N", f"EA = 1e6 N, lumped = {lumped}").replace("run static()", "run modal()")
            rate = 2 * np.pi * netsim.load(text, counts={"n": n}).modal(modes=1, from_="rest")["frequency"].item()
            errors.append(abs(rate / exact - 1))
        assert abs(np.log2(errors[0] / errors[1]) - order) < 0.3, errors


def test_damping_of_a_beam():
    """Moments K (q + d q') give the share of critical damping d w/2, small or large deflections alike."""
    for kind in ("planar_beam", "planar_flexible_link"):
        text = BEAM.format(load="").replace("planar_beam ", f"{kind} ").replace("run static()", "run modal()")
        text = text.replace("EA = 1e8 N", "damping = 10 ms" if "link" in kind else "EA = 1e6 N, damping = 10 ms").replace(
            "tip   planar_frame", "# tip" if "link" in kind else "tip   planar_frame"
        )
        found = netsim.load(text, counts={"n": 6}).modal(modes=2, from_="rest")
        assert np.allclose(found["damping"].values, 0.01 * 2 * np.pi * found["frequency"].values / 2, rtol=1e-6)


def rotating(speed: float) -> np.ndarray:
    """Rates of a rotating cantilever in the plane of rotation, hub radius 0, in units of sqrt(EI/(line L^4)): Ritz with ten polynomials for
    w^(4) - (T w')' - (omega^2 + W^2) w = 0, T = W^2 (1 - x^2)/2."""
    shapes = [Polynomial([0.0, 0.0, 1.0]) * Polynomial([-1.0, 2.0]) ** k for k in range(10)]
    tension = Polynomial([0.5, 0.0, -0.5]) * speed**2

    def gram(f):
        return np.array([[f(a, b).integ()(1.0) for b in shapes] for a in shapes])

    stiffness = gram(lambda a, b: a.deriv(2) * b.deriv(2) + tension * a.deriv() * b.deriv())
    return np.sqrt(eigh(stiffness, gram(lambda a, b: a * b), eigvals_only=True) - speed**2 + 0j).real


ROTATING = """
use planar
world gravity = [0, 0, 0] m/s2
hub    planar_revolute       (ground, a)  at = [0, 0] m
drive  planar_hinge_speed    (ground, a)  w = 6 rad/s
blade  planar_shortened_link (a, b)       at1 = [0, 0] m, at2 = [1, 0] m, line = 1 kg/m, EI = 1 N.m2, elements = {n}
{pluck}
run    transient(stop = 4 s)
let    bent = blade.q[{n}].u
"""


def pluck_of(n: int, lines: str) -> str:
    """Starts of n nodes in the shape of a loaded cantilever, 1 mm at its end."""
    shape = [(k, 1e-3 * x**2 * (6 - 4 * x + x**2) / 3, 1e-3 * (12 * x - 12 * x**2 + 4 * x**3) / 3) for k, x in enumerate(np.arange(1, n + 1) / n, 1)]
    return "\n".join(lines.format(k=k, u=u, s=s) for k, u, s in shape)


def plucked(n: int) -> float:
    """The slowest rate in the motion after a small pluck."""
    pluck = pluck_of(n, "start blade.q[{k}].u = {u} m\nstart blade.q[{k}].s = {s} rad")
    result = netsim.load(ROTATING.format(n=n, pluck=pluck)).transient(stop=4.0, rtol=1e-6, sample=0.01, save=["bent"])
    assert np.abs(result["bent"].values).max() < 2e-3
    return slowest_rate(result.time.values, result["bent"].values, rotating(6.0))


def slowest_rate(t: np.ndarray, seen: np.ndarray, known: np.ndarray) -> float:
    """The rate of the slowest wave in a motion, fitted beside the next two known ones."""

    def left(rate):
        waves = np.array([f(w * t) for w in (rate, *known[1:3]) for f in (np.cos, np.sin)]).T
        return np.linalg.norm(seen - waves @ np.linalg.lstsq(waves, seen)[0])

    return minimize_scalar(left, bounds=(0.9 * known[0], 1.1 * known[0]), method="bounded", options={"xatol": 1e-6}).x


def test_a_beam_stiffens_as_it_rotates():
    """Lag rates w^2 = flap^2 - W^2, flap rates of D. Hodges and M. Rutkowski 1981: 3.6816 at W = 1, 7.3604 at W = 6, where a beam that does
    not draw back (3.5160^2 < 6^2) would fold away. Shortenings vary linearly along an element: order 2."""
    for speed, flap in ((1.0, 3.6816), (6.0, 7.3604)):
        assert abs(np.hypot(rotating(speed)[0], speed) - flap) < 1e-4
    errors = [plucked(n) / rotating(6.0)[0] - 1 for n in (2, 4)]
    assert errors[1] < 0.011
    assert abs(np.log2(errors[0] / errors[1]) - 2) < 0.2


def elastica(force: float) -> np.ndarray:
    """The tip of an inextensible cantilever of length 1 and EI = 1 under a dead load: theta'' = -F cos theta, theta(0) = 0, theta'(1) = 0."""
    s, y = np.linspace(0, 1, 200), np.zeros((4, 200))
    for f in np.linspace(force / 10, force, 10):
        found = solve_bvp(
            lambda s, y, f=f: np.array([y[1], -f * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]),
            lambda a, b: np.array([a[0], b[1], a[2], a[3]]), s, y, tol=1e-10, max_nodes=100_000,
        )  # fmt: skip
        s, y = found.x, found.y
    return y[2:, -1]


def test_elastica():
    wanted, errors = elastica(10.0), []
    for n in (4, 8, 16):
        result = netsim.load(BEAM.format(load="push planar_force (b) F = [0, 10] N, at = [1, 0] m"), counts={"n": n}).static()
        errors.append(np.hypot(result["b.r.x"].item() - wanted[0], result["b.r.y"].item() - wanted[1]))
    assert errors[1] < 1e-4
    assert np.all(np.abs(np.log2(np.array(errors[:-1]) / errors[1:]) - 4) < 0.3)


def test_beam_rolled_up_by_an_end_moment():
    """M = 2 pi EI/L bends it to a full circle."""
    result = netsim.load(BEAM.format(load="turn planar_moment (b) M = 6.283185307179586 N.m"), counts={"n": 16}).static()
    assert abs(result["b.phi"].item() - 2 * np.pi) < 1e-6
    assert np.hypot(result["b.r.x"].item(), result["b.r.y"].item()) < 1e-4


FORMULATIONS = {
    "floating": ("planar_flexible_link", ""),
    "drawing back": ("planar_shortened_link", ""),
    "corotational": ("planar_beam", ", EA = 1e7 N"),
}


@cache
def swinging(kind: str, elements: int, EI: float = 1000.0) -> np.ndarray:
    """Directions (rad) of the chords of both links at 0.1 ... 0.5 s after letting go at -90 and -60 degrees: ends are points of every formulation."""
    name, more = FORMULATIONS[kind]
    middle, end = "[0, -1] m", f"[0.5, {-1 - np.sqrt(0.75)}] m"
    text = f"""
use planar
world gravity = [0, -9.81, 0] m/s2
j1 planar_revolute (ground, a1) at = [0, 0] m
l1 {name} (a1, b1) at1 = [0, 0] m, at2 = {middle}, line = 5 kg/m, EI = {EI} N.m2, elements = {elements}{more}
j2 planar_revolute (b1, a2) at = {middle}
l2 {name} (a2, b2) at1 = {middle}, at2 = {end}, line = 5 kg/m, EI = {EI} N.m2, elements = {elements}{more}
p1 planar_marker (b1) at = {middle}
p2 planar_marker (b2) at = {end}
run transient(stop = 0.5 s)
"""
    result = netsim.load(text).transient(stop=0.5, rtol=1e-6, sample=0.1, save=["p1.r", "p2.r"])
    x1, y1, x2, y2 = (result[n].values for n in ("p1.r.x", "p1.r.y", "p2.r.x", "p2.r.y"))
    return np.array([np.arctan2(y1, x1), np.arctan2(y2 - y1, x2 - x1)])


def test_formulations_agree_on_the_double_pendulum():
    """Chords of both links to 5e-4 rad; a beam that draws back is nearer to the corotational one than a beam that keeps its length."""
    corotational = swinging("corotational", 4)
    floating, short = (np.abs(swinging(kind, 2) - corotational).max() for kind in ("floating", "drawing back"))
    assert floating < 5e-4
    soft = swinging("corotational", 6, 60.0)
    floating, short = (np.abs(swinging(kind, 4, 60.0) - soft).max() for kind in ("floating", "drawing back"))
    assert short < floating / 3


RECURSIVE = """
use spatial
world gravity = [0, -9.81, 0] m/s2
j1 revolute      (ground, a1) at = [0, 0, 0] m, axis = [0, 0, 1]
l1 flexible_link (a1, b1) at1 = [0, 0, 0] m, at2 = [0, -1, 0] m, side = [1, 0, 0], line = 5 kg/m, EIy = {EI} N.m2, n = {n}, foreshortening = {short}
j2 revolute      (b1, a2) at = [0, -1, 0] m, axis = [0, 0, 1]
l2 flexible_link (a2, b2) at1 = [0, -1, 0] m, at2 = {end}, side = [1, 0, 0], line = 5 kg/m, EIy = {EI} N.m2, n = {n}, foreshortening = {short}
run recursion(stop = 0.5 s, rtol = 1e-8, from = rest, sample = 0.1 s)
save b1.r, b2.r
"""


@cache
def recursive(functions: int, EI: float = 1000.0, short: int = 0) -> np.ndarray:
    """The same chords, links by shape functions through the recursion: neither elements nor multipliers."""
    text = RECURSIVE.format(EI=EI, n=functions, short=short, end=f"[0.5, {-1 - np.sqrt(0.75)}, 0] m")
    found = netsim.load(text).samples()[0]
    x1, y1, x2, y2 = (found.series(f"{b}.r.{c}") for b in ("b1", "b2") for c in "xy")
    return np.array([np.arctan2(y1, x1), np.arctan2(y2 - y1, x2 - x1)])


def test_floating_frame_large_deflections_and_recursion_agree():
    """Rigid angles (chords) of the double pendulum by three ways that share no equation: to 5e-4 rad, each towards its own limit. Shape functions
    and elements that keep their length have the same limit; the corotational beam has another, which links that draw back come near."""
    floating, corotational = ([swinging("floating", n) for n in (1, 2)], [swinging("corotational", n) for n in (2, 4)])
    ritz = [recursive(n) for n in (2, 3, 4)]
    for one, other in ((floating[-1], corotational[-1]), (floating[-1], ritz[-1]), (corotational[-1], ritz[-1])):
        assert np.abs(one - other).max() < 5e-4
    soft = swinging("corotational", 6, 60.0)
    kept, drawn = (np.abs(recursive(3, 60.0, short) - soft).max() for short in (0, 1))
    assert drawn < kept / 3
    apart = [np.abs(each - ritz[-1]).max() for each in ritz[:-1]]
    assert apart[1] < apart[0] / 3
    assert np.abs(floating[1] - ritz[-1]).max() < np.abs(floating[0] - ritz[-1]).max() / 3
    assert np.abs(corotational[1] - ritz[-1]).max() < np.abs(corotational[0] - ritz[-1]).max() / 2


def test_truncated_equations_lose_energy():
    """Without M' q' and q'^T dM/dq q' (A. Usoro et al. 1986, and K94 for two links) a wide swing does not keep its energy; with them it does."""
    times = np.linspace(0, 0.3, 4)
    full, truncated = (Chain(2, 1, EI=300.0, truncated=t).motion([-np.pi / 2, 1.0], times, rtol=1e-7)[1] for t in (False, True))
    assert full < 1e-5
    assert truncated > 0.1


def test_an_explicit_method_says_that_stability_binds_its_steps(monkeypatch):
    """Elements vibrate within microseconds; where rk6 finds no point any more behind 1 500 such steps, it says so and names what serves."""
    true = adaptive.attempts

    def attempts(run, most):
        if run.steps < 1500:
            return true(run, most)
        run.control.numbers[SIZE] = 1e-30
        return NOT_FINITE

    monkeypatch.setattr(adaptive, "attempts", attempts)
    model = netsim.load(PENDULUM, counts={"elements": 12})
    with pytest.raises(SimulationError) as caught:
        model.transient(stop=10.0, sample=10.0, method="rk6", rtol=0.1, save=["theta1"])
    problem = caught.value.problems[0]
    assert problem.code == "E505" and problem.message.startswith("rk6 stops at t = ")
    assert "stability limits the steps of an explicit method" in problem.hint and "radau or bdf" in problem.hint


def test_fill_grows_with_the_number_of_elements():
    """A frame that carries a beam meets every element: eliminated late it costs nothing, in an order of columns alone its fill grows like n^2."""
    fills = []
    for elements in (50, 100):
        model = netsim.load(PENDULUM, counts={"elements": elements})
        g, _ = consistent_start(model.machine, model.structure)
        plans = [p for _, p in recover_once(model.machine, model.structure, g).stages if p.m]
        fills.append([len(p.factor.l_row) + len(p.factor.u_row) for p in plans])
    assert np.all(np.array(fills[1]) < 2.1 * np.array(fills[0])), fills


def recover_once(machine, structure, g):
    recovery = plan_recovery(machine, structure, g)
    recover_point(recovery, g, machine.system.layout.state(g), 0.0)
    return recovery
