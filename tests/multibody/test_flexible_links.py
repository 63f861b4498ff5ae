"""The flexible link of the spatial library: its functions as data, its energy against the tree's, its starts, and what is said of mistakes."""

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import netsim
from netsim.analyses.over_time.run import transient
from netsim.equations.forms.build import build_form
from netsim.equations.forms.symbols import UNIFORM
from netsim.multibody.recursion.links import link_of
from netsim.multibody.tree.algorithms.observers import kinetic_energy, potential_energy
from netsim.multibody.tree.model import Body, Joint, build_tree
from netsim.output.scenes import moving_signals, scene_of
from netsim.simulate.options import TransientOptions
from netsim.text.errors import InputError
from netsim.text.expressions.beams import gauss_points, gauss_weights, quadrature, shape_functions, shortening
from netsim.text.expressions.shapes import FAMILIES, bending_shapes, wave_number
from netsim.text.expressions.sizes import flatten

NETLIST = """
use spatial
world gravity = [1, 2, 3] m/s2
trunk   box_body (hub)   rho = 500 kg/m3, l = [0.4, 0.3, 0.2] m, at = [0, 0, 1] m
rod     flexible_link (hub, tip)  {link}at1 = [0.2, 0, 1] m, at2 = [1.2, 0.1, 1.2] m, side = [0.3, 1, 0.2], line = 0.5 kg/m, EIy = 30, EIz = 50
disc    body (tip)       m = 0.3 kg, I = diag(0.001, 0.001, 0.002) kg.m2, at = {disc}
start   hub.v = [0.3, 0.1, 2] m/s
start   hub.w = [2, -3, 4] rad/s
run transient(stop = {stop}, rtol = 1e-9, sample = 1 ms)
save hub.r, tip.r, rod.tip, rod.ry, rod.rz
"""
WHOLE = "n = 3, torsion = 2, foreshortening = 1, spin = 0.01 kg.m, rotary = [0.1, 0.2] kg.m, "


def network(link="", stop="0.02 s", disc="[1.2, 0.1, 1.2] m"):
    return netsim.load(NETLIST.replace("{link}", link).replace("{stop}", stop).replace("{disc}", disc))


# --------------------------------------------------------------------------------------------------- functions


@pytest.mark.parametrize("name", FAMILIES)
def test_families_keep_their_ends(name):
    """All are clamped at the beginning; derivatives are those of the values; functions are independent."""
    functions, points, step = bending_shapes(name, 6), np.array([0.2, 0.5, 0.9]), 1e-5
    at = {order: functions.evaluate(np.array([0.0, 1.0]), order) for order in (0, 1, 2)}
    assert np.abs(at[0][:, 0]).max() < 1e-14 and np.abs(at[1][:, 0]).max() < 1e-13
    for order in (0, 1):
        rate = (functions.evaluate(points + step, order) - functions.evaluate(points - step, order)) / (2 * step)
        assert np.abs(rate - functions.evaluate(points, order + 1)).max() < 1e-4
    held = {"guided": 1, "guided_modes": 1, "clamped_modes": 1, "pinned_modes": 0}
    if name in held:
        assert np.abs(at[held[name]][2:, 1]).max() < 1e-12
    values = np.array(gauss_weights(40, 1)) ** 0.5 * functions.evaluate(np.array(gauss_points(40, 1)), 0)
    assert np.linalg.matrix_rank(values, tol=1e-4 * np.linalg.norm(values, 2)) == 6


@pytest.mark.parametrize(
    "end, numbers", [("free", (1.87510407, 4.69409113)), ("clamped", (4.73004074, 7.85320462)), ("pinned", (3.92660231, 7.06858275))]
)
def test_wave_numbers_are_the_tables(end, numbers):
    """R. D. Blevins, Formulas for Natural Frequency and Mode Shape, 1979, table 8-1."""
    assert [wave_number(end, k) for k in (0, 1)] == pytest.approx(numbers, abs=5e-9)


def test_integrals_by_quadrature():
    """Given rows: int x^2 x^3, and int_0^x (2 s)(3 s^2) ds, in closed form; a family: guided functions (9) of the paper."""
    x, h, rows = gauss_points(12, 1), gauss_weights(12, 1), ((1.0, 0, 0, 0, 0, 0), (0.0, 1, 0, 0, 0, 0))
    f = shape_functions(0.0, 2.0, 0.0, x, rows)
    assert quadrature(f, f, h)[0][1] == pytest.approx(1 / 6, rel=1e-14) and quadrature(f, x, h) == pytest.approx((1 / 4, 1 / 5), rel=1e-14)
    assert shortening(0.0, 2.0, x, rows)[1] == pytest.approx([6 * s**4 / 4 for s in x], rel=1e-13)
    curvature = shape_functions(3.0 - 2.0, 1.0, 2.0, x, ())
    assert quadrature(curvature, curvature, h)[0][0] == pytest.approx(12, rel=1e-14)


# ------------------------------------------------------------------------------------------------------ energy


@pytest.mark.parametrize(
    "link",
    [
        "n = 2, shapes = given, shape = [[1, 0, 0, 0, 0, 0], [0, 1, 0, 2, 0, 0]], foreshortening = 1, ",
        f"planes = 1, {WHOLE}",
        *(f"shapes = {family}, {WHOLE.replace('n = 3', 'n = 4') if family == 'hermite' else WHOLE}" for family in FAMILIES),
    ],
)
def test_its_energy_is_the_beam_s(link):
    """At a random state, large deflections and turned in space: the component's text against integrals of netsim.multibody.tree, to rounding."""
    model, rng = network(link), np.random.default_rng(1)
    instance = model.network.instances[1]
    beam = link_of(instance, model.values)
    tree = build_tree([Body("rod", None, Joint("free"), beam.beam)], gravity=(1, 2, 3))
    q, v = 0.1 * rng.normal(size=tree.nq), rng.normal(size=tree.nv)
    q[3:7] = rng.normal(size=4)
    q[3:7] /= np.linalg.norm(q[3:7])
    turned = Rotation.from_quat(q[3:7]).as_matrix()
    own, first = {}, 0
    for name, rate, count in beam.variables:
        own |= {name: q[7 + first : 7 + first + count], rate: v[6 + first : 6 + first + count]}
        first += count
    form = build_form(instance.component, dict(instance.counts))
    node = [q[:3], turned @ v[:3], np.zeros(3)], [np.zeros(3), turned @ v[3:6], np.zeros(3)]
    places = {0: beam.start, 1: beam.end}

    def number(key, order):
        match key:
            case ("chart", 0, k):
                return (turned @ beam.axes.T).ravel()[k]
            case ("place", t, c):
                return places[t][c]
            case ("node", 0, c):
                return node[c // 3][order][c % 3]
            case ("own", i):
                name, _, index = form.own[i].partition(".") if "." in form.own[i] else form.own[i].rstrip("]").partition("[")
                return own[name]["xyz".index(index) if index in "xyz" else int(index) - 1] if name in own else 0.0
        return 0.0

    parameters = model.values.parameters(instance)
    numbers = {s: number(key, order) for (key, order), s in form.symbols.gathered.items()}
    numbers |= {
        s: x for name, all_ in form.symbols.parameters.items() for s, x in zip(all_, flatten(parameters[name].value) if name in parameters else [1.0])
    }
    numbers |= {s: float(name[-2]) + 1 if name.startswith("gravity") else 0.0 for name, s in UNIFORM.items()}
    stored = ca.Function("stored", [ca.vertcat(*numbers)], [form.stored])(ca.DM(list(map(float, numbers.values()))))
    assert float(stored) == pytest.approx(kinetic_energy(tree, q, v) + potential_energy(tree, q), rel=1e-13)


def test_energy_is_kept_by_more_functions_than_constraints():
    """Three functions in each plane: nothing pulls the rates of elastic coordinates where samples and steps are made consistent."""
    run = network("n = 3, ").samples()[0]
    assert run.finished and np.ptp(run.energy[:, 0]) < 1e-8 * run.energy[0, 0]


def test_a_link_begins_straight_and_at_rest():
    """Written velocities of its root move the whole link as one body; its end may be any point of the body there."""
    run = network("n = 3, ", "1 ms", "[1.3, 0.2, 1.1] m").samples()[0]
    assert [np.abs(run.series(f"rod.{q}.{c}")[0]) < 1e-9 for q in ("ry", "rz") for c in "xyz"] == [True] * 6
    assert np.abs(run.series("rod.tip.x")[0]) < 1e-12


@pytest.mark.parametrize("link", ["n = 3, foreshortening = 1, ", "n = 1, shapes = guided, "])
def test_it_is_drawn_bent(link):
    """Its curve ends at the end frame, and its straight line where the end of a stiff link would be."""
    model = network(link)
    samples = transient(model.machine, model.structure, TransientOptions(0.01, sample=0.005), beside=moving_signals(model))
    curve = next(c for c in scene_of(model, samples).curves if c.name == "rod")
    end = np.column_stack([samples.unseen[f"tip.r.{c}"] for c in "xyz"])
    assert np.abs(curve.bent[:, -1] - end).max() < 1e-9
    assert np.abs(curve.bent[:, 0] - curve.straight[:, 0]).max() == 0 and np.linalg.norm(curve.bent[-1, -1] - curve.straight[-1, -1]) > 1e-5
    assert np.linalg.norm(curve.straight[-1, -1] - curve.straight[-1, 0]) == pytest.approx(np.linalg.norm([1, 0.1, 0.2]), rel=1e-9)


# ---------------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    "link, code, words",
    [
        ("shapes = free_mode, ", "E208", "free_mode"),
        ("shapes = 11, ", "E234", "'shapes' is 11, but must be <= 10"),
        ("shapes = hermite, n = 3, ", "E235", "n is even"),
        ("n = 0, ", "E234", "'n' is 0"),
        ("shapes = given, ", "E235", "needs rows"),
        ("shape = [[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]], ", "E204", "a vector of 0"),
        ("torsion = 1, ", "E235", "torsion needs an inertia"),
    ],
)
def test_mistakes_are_told(link, code, words):
    with pytest.raises(InputError) as caught:
        network(link).samples()
    problem = caught.value.problems[0]
    assert problem.code == code and words in problem.message


def test_a_misspelt_family_has_a_neighbour():
    with pytest.raises(InputError) as caught:
        network("shapes = free_mode, ")
    assert "free_modes" in caught.value.problems[0].hint
