"""Constants of the time loop: the rule that each of them belongs to, at both sides of its bound.

The compiled functions run as Python here, on numbers made for the purpose; what they call beside the rule is replaced.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from netsim.core import contract, scales
from netsim.core.compiled.function import Compiled
from netsim.core.contract import CURVED, FRESH, ITERATIONS, RATE, ROUGH, RTOL, SETTLING, UNSOLVED, UNTESTED, WIDE
from netsim.core.loop import adaptive, control, crossings, defect, delays, event_iteration, instants
from netsim.core.methods import single
from netsim.core.newton import CONVERGED, NOT_CONVERGED
from netsim.core.problem import ENTRIES, KV, KX, NK, NQ, NY
from netsim.core.radau import along_constraints, stages


@pytest.fixture
def plain(monkeypatch):
    """The compiled functions of a module as Python, with some of them replaced."""

    def prepare(module, **replaced):
        for name, value in list(vars(module).items()):
            if name in replaced:
                monkeypatch.setattr(module, name, replaced[name])
            elif isinstance(value, Compiled):
                monkeypatch.setattr(module, name, value.py_func)
        return module

    return prepare


def sizes(**given):
    """Problem.sizes with some of its numbers."""
    found = np.zeros(32, np.int64)
    for position, value in given.items():
        found[{"nk": NK, "ny": NY, "nq": NQ, "entries": ENTRIES}[position]] = value
    return found


def positions(largest, *values):
    """An array of positions by pairs (position, value)."""
    found = np.zeros(largest)
    for position, value in values:
        found[position] = value
    return found


# ------------------------------------------------------------------------------------------------------- sizes and first steps


def motion(so_far, nominal=1.0, rtol=1e-6, refused=0.0):
    """Problem and trial of one position, its velocity 10 m/s."""
    tolerances = positions(32, (RTOL, rtol))
    rows = np.array([[so_far], [0.0], [0.0], [refused]])
    trial = SimpleNamespace(
        start=np.array([0.0, 10.0, 0.0]), scale=np.full(2, rtol), tolerances=tolerances, exponent=np.ones(2, int), fixed=np.zeros(2),
        sizes=rows, kind=np.zeros(2, int), nominal=np.full(2, nominal), largest=np.zeros(2), counters=positions(32, (SETTLING, 1)),
    )  # fmt: skip
    return SimpleNamespace(sizes=sizes(nk=1)), trial


def test_a_first_step_is_no_smaller_than_a_share_of_the_run(plain):
    """10 m/s past a tolerance of 1 um at order 5 ask for 0.3 rtol^(1/5)/10 s, but never for less than 1e-10 of the run."""
    first = plain(adaptive).first_size
    problem, trial = motion(1.0)
    asked = 0.3 * 1e-6**0.2 / 10
    assert first(problem, trial, asked / 1.01e-10, 5) == pytest.approx(asked)
    assert first(problem, trial, asked / 0.5e-10, 5) == pytest.approx(2 * asked)


def test_what_never_moved_has_no_size_for_a_first_step(plain):
    """Below 1000 times the share that keeps scales from zero."""
    first = plain(adaptive).first_size
    assert first(*motion(0.9e-15), 10.0, 5) == 1e-2
    assert first(*motion(1.1e-15), 10.0, 5) < 2e-3


def test_no_scale_is_zero(plain):
    """What is zero, with all of its kind, counts 1e-18 of its nominal size."""
    fill = plain(scales)._fill
    problem, trial = motion(0.0, nominal=5.0)
    trial.start[:] = 0.0
    fill(problem, trial, np.zeros(1), trial.start, 0.0)
    assert trial.scale == pytest.approx(np.full(2, 1e-6 * 5e-18), rel=1e-12, abs=0.0)


@pytest.mark.parametrize(("times", "widened"), [(2.9, False), (3.1, True)])
def test_scales_count_what_a_step_tries_beyond_three_times_what_was_known(plain, times, widened):
    widen = plain(scales).widen_scales
    problem, trial = motion(1.0, nominal=100.0)
    widen(problem, trial, np.array([times, 0.0, 0.0]), True)
    assert trial.tolerances[WIDE] == widened
    assert trial.scale[0] == pytest.approx(1e-6 * (times if widened else 1.0))


def test_refused_steps_of_a_method_that_does_not_settle_tell_no_size(plain):
    problem, trial = motion(0.2)
    trial.start[:], trial.end, trial.counters[SETTLING] = 0.0, np.array([7.0, 0.0, 0.0]), 0
    plain(scales).count_refused(problem, trial, 0.5)
    assert not trial.sizes[3].any()


@pytest.mark.parametrize(("moved", "size"), [(0.9e-15, 7.0), (1.1e-15, 0.2)])
def test_refused_steps_tell_the_size_of_what_has_not_moved_until_they_are_passed(plain, moved, size):
    """Also where a linearised step before the run had told one (0.2)."""
    problem, trial = motion(0.2)
    trial.start[:], trial.largest[:] = 0.0, moved
    trial.end = np.array([7.0, 0.0, 0.0])
    plain(scales).count_refused(problem, trial, 0.5)
    plain(scales)._fill(problem, trial, trial.sizes[0], trial.start, 0.0)
    assert trial.scale[0] == pytest.approx(1e-6 * size, rel=1e-9, abs=0.0)
    plain(scales).pass_refused(trial, 0.4)
    assert trial.sizes[3, 0] == (7.0 if size == 7.0 else 0.0)
    plain(scales).pass_refused(trial, 0.5)
    assert not trial.sizes[3].any()


# ------------------------------------------------------------------------------------------------------------ looks between steps


@pytest.mark.parametrize(("error", "told"), [(9.9, 0), (10.1, 1)])
def test_an_estimate_beyond_ten_rtol_of_a_given_step_is_told(plain, error, told):
    trial = SimpleNamespace(counters=np.zeros(32, int))
    numbers = positions(16, (control.FIXED, 0.1), (control.WEIGHT, 1.0))
    assert plain(adaptive)._may_keep(trial, SimpleNamespace(numbers=numbers, places=np.zeros(18, int)), error)
    assert (trial.counters[ROUGH], trial.counters[UNTESTED]) == (told, 0)
    assert numbers[control.WORST] == told * error


@pytest.mark.parametrize(("spacings", "looks"), [(3, 3), (999, 999), (5000, 1000)])
def test_a_long_step_is_looked_into_a_thousand_times_at_most(plain, spacings, looks):
    seen = []

    def correction(method, problem, factor, trial, control_, first, t, h, theta, judged):
        seen.append(theta)
        return 0.5

    look = plain(defect, correction=correction).defect
    held = SimpleNamespace(limits=np.ones(1), numbers=positions(16, (control.SPACING, 1.0)), places=np.zeros(16, int))
    trial = SimpleNamespace(counters=np.zeros(32, int), tolerances=np.ones(8))
    assert look(None, SimpleNamespace(sizes=sizes()), None, trial, held, 0.0, float(spacings)) == 0.5
    assert len(seen) == looks and seen[0] == pytest.approx(0.86 / looks)


@pytest.mark.parametrize(("shrinking", "steps"), [(0.5, 7), (0.45, 6), (0.89, 8), (0.91, 1)])
def test_a_sample_is_corrected_eight_times_while_corrections_shrink(plain, shrinking, steps):
    """From 100 tolerances: by halves one is reached in seven corrections; at 0.89 eight do not reach it, at 0.91 nothing is hoped for."""
    left, found = [100.0], []

    def missed(*_):
        left.append(left[-1] * shrinking)
        found.append(left[-1])
        return left[-1]

    trial = SimpleNamespace(work=np.zeros((1, 1)), middle=np.zeros(1), scale=np.ones(1), start=np.zeros(1), end=np.zeros(1), tolerances=np.zeros(4))
    ask = plain(defect, correction=lambda *_: 100.0, _missed=missed, place=lambda *_: None).corrected
    held = SimpleNamespace(limits=np.ones(1))
    problem = SimpleNamespace(sizes=sizes(ny=1))
    reached = ask(None, problem, None, SimpleNamespace(**vars(trial), g=None), held, 0.0, 1.0, 0.5)
    assert len(found) == steps and reached == (left[-1] <= 1.0)


@pytest.mark.parametrize(("rest", "corrections"), [(0.9e-3, 1), (1.1e-3, 2)])
def test_a_light_node_is_corrected_until_a_thousandth_of_a_tolerance_is_left(plain, rest, corrections):
    """A first correction of so many tolerances; what follows is a tenth of it."""
    found = []

    def solved(factor, trial, r, e):
        e[0] = rest * 0.1 ** len(found)
        found.append(e[0])

    settle = plain(defect, solve=solved, place=lambda *_: None, run_table=lambda *_: None).settle_massless
    g = np.zeros(32)
    g[KX], g[KV] = 1.0, 0.5
    trial = SimpleNamespace(g=g, out=np.zeros(1), work=np.zeros((1, 1)), middle=np.zeros(3), start=np.zeros(3), end=np.zeros(3), scale=np.ones(2))
    held = SimpleNamespace(light=np.ones((2, 1)))
    settle(SimpleNamespace(sizes=sizes(nk=1, entries=1), residual=None), None, trial, held, 0.5, 1.0)
    assert len(found) == corrections and trial.middle[0] == pytest.approx(-sum(found), rel=1e-12)


@pytest.mark.parametrize(("spacings", "looks"), [(1, 4), (100, 100), (5000, 1000)])
def test_relations_are_looked_at_four_to_a_thousand_times_in_a_step(plain, spacings, looks):
    seen = []
    first = plain(
        crossings, evaluate_events=lambda *_: None, _state=lambda *arguments: seen.append(arguments[7]), _worst=lambda *_: -1.0,
        _turned=lambda *_: crossings.NEVER, copy=lambda *_: None,
    ).first_event  # fmt: skip
    watch = SimpleNamespace(spacing=np.array([1.0, 0.0]), sizes=np.zeros(6, int), found=np.zeros(0), peak=np.zeros(0), recent=np.zeros((3, 0)))
    trial = SimpleNamespace(counters=np.zeros(32, int), g=None)
    assert first(None, None, trial, None, watch, 0.0, float(spacings), float(spacings)) == crossings.NEVER
    assert len(seen) == looks


@pytest.mark.parametrize(("bend", "timed"), [(0.5e-12, 1), (2e-12, 0)])
def test_a_condition_of_time_alone_is_known_beforehand_where_it_is_straight(plain, bend, timed):
    """t - 0.5 s with a bend in the middle of the run, as a share of the ends' sizes."""

    def look(watch, g):
        watch.found[0] = (g[instants.TIME] - 0.5) + (0.5 * bend if g[instants.TIME] == 0.5 else 0.0)

    due = plain(instants, evaluate_events=look).next_due
    rooms = {name: np.zeros(1) for name in ("found", "kept", "room")}
    watch = SimpleNamespace(sizes=np.array([1, 0, 0, 0, 0, 0]), kind=np.full(1, crossings.TIMED), **rooms)
    instant = due(watch, np.zeros(instants.TIME + 1), 0.0, 1.0)
    assert watch.kind[0] == (crossings.TIMED if timed else crossings.SEARCHED) and instant == (0.5 if timed else np.inf)


def test_a_step_is_cut_for_a_delayed_value_to_a_thousandth_at_least(plain):
    """Its polynomial misses by two allowances however short the step is: each cut takes 0.9/sqrt(2) of two nodes."""
    followed = plain(delays, _missed=lambda *_: 10.0).followed
    past = SimpleNamespace(length=np.ones(1), place=np.zeros(1, int), numbers=np.zeros(16, int))
    trial = SimpleNamespace(scale=np.ones(1), counters=np.zeros(32, int))
    share = followed(SimpleNamespace(buffer=past, sizes=sizes()), trial, SimpleNamespace(nodes=np.array([0.0, 1.0])), 0.0, 1.0)
    assert 1e-3 * 0.9 / np.sqrt(2) < share <= 1e-3


# ------------------------------------------------------------------------------------------------------------------------ events


def following(plain, rest, apart):
    """What `follow` answers, and after how many points, where a discrete's value goes to and fro by `apart` about `rest`."""
    seen = []

    def look(watch, g):
        seen.append(rest + (apart if len(seen) % 2 else 0.0))
        watch.found[0] = seen[-1]

    follow = plain(event_iteration, evaluate_events=look, make_consistent=lambda *_: True).follow
    watch = SimpleNamespace(
        sizes=np.array([0, 1, 0, 0, 2, 0]),
        stage=np.array([0, 1]),
        modes=np.zeros(0, int),
        following=np.array([rest + apart]),
        found=np.zeros(1),
        room=np.zeros(4),
    )
    return follow(watch, None, np.zeros(4), False), len(seen)


@pytest.mark.parametrize(("rest", "apart", "points"), [(1.0, 0.9e-12, 10), (0.0, 0.9e-15, 10)])
def test_discretes_agree_to_rounding_after_ten_rounds(plain, rest, apart, points):
    """Before that they agree exactly or not at all; the first of the rounds is the one in which they were found."""
    assert following(plain, rest, apart) == (event_iteration.AGREED, points)


@pytest.mark.parametrize(("rest", "apart"), [(1.0, 1.2e-12), (0.0, 1.1e-15)])
def test_discretes_that_differ_by_more_never_agree(plain, rest, apart):
    assert following(plain, rest, apart)[0] == event_iteration.ENDLESS


@pytest.mark.parametrize(("beyond", "rounds"), [(0.9e-9, 1), (1.1e-9, 2)])
def test_within_an_instant_a_small_zero_crossing_function_keeps_its_relation(plain, beyond, rounds):
    """The first round exchanges the relation of the event at 1e-12 of the largest value; then the function lies on the other side."""
    values = [1e-12, 1e-12, -beyond, -beyond, -beyond, -beyond]

    def look(watch, g):
        watch.found[:] = [values.pop(0) if len(values) > 1 else values[0], g[2], 1.0]

    def follow(watch, plan, g, once):
        g[0] = g[2]
        return event_iteration.AGREED

    ask = plain(event_iteration, evaluate_events=look, follow=follow).iterate_events
    watch = SimpleNamespace(
        sizes=np.array([1, 1, 0, 0, 2, 0]), stage=np.zeros(2, int), found=np.zeros(3), peak=np.ones(1), flips=np.ones(1, int),
        kind=np.zeros(1, int), strict=np.zeros(1, int), following=np.zeros(1), changed=np.zeros(1, int), setting=np.zeros(0, int),
    )  # fmt: skip
    assert ask(watch, None, np.array([1.0, 0.0, 1.0]), False) == event_iteration.STILL
    assert watch.stage[event_iteration.ROUND] == rounds


@pytest.mark.parametrize(("located", "beyond", "acts"), [(1, 0.4e-12, 0), (1, 0.6e-12, 1), (0, 1.9e-12, 0), (0, 2.1e-12, 1)])
def test_beside_another_instant_a_relation_acts_from_where_it_is_seen(plain, located, beyond, acts):
    """What has left a floor stands 1e-12 behind it, and is not there again when another event comes."""

    def look(watch, g):
        watch.found[:] = [beyond, 1.0]

    ask = plain(event_iteration, evaluate_events=look).begin_round
    watch = SimpleNamespace(
        sizes=np.array([1, 0, 0, 0, 0, 0]), found=np.zeros(2), peak=np.ones(1), flips=np.array([located]), kind=np.zeros(1, int),
        strict=np.zeros(1, int), following=np.zeros(0), changed=np.zeros(1, int), setting=np.zeros(0, int),
    )  # fmt: skip
    ask(watch, np.array([1.0]), True)
    assert watch.flips[0] == acts


@pytest.mark.parametrize(
    ("now", "rise", "truth"),
    [
        (0.9e-9, -1.0, 1.0),
        (1.1e-9, -1.0, 0.0),
        (0.9e-15, 0.9e-20, 1.0),
        (1.1e-15, 0.9e-20, 0.0),
        (0.0, 1.1e-20, 0.0),
        (0.0, -1.1e-20, 1.0),
        (0.0, 0.9e-20, 1.0),
    ],
)
def test_what_leaves_zero_has_the_relation_of_its_direction(plain, now, rise, truth):
    """Of `x <= 0`, false before: it becomes true where x falls or rests at zero. Both are measured by the largest value."""
    seen = []

    def look(watch, g):
        seen.append(None)
        watch.found[0] = now if len(seen) == 1 else now + rise

    leave = plain(event_iteration, evaluate_events=look).set_directions
    watch = SimpleNamespace(
        sizes=np.array([1, 0, 0, 0, 20, 0]), found=np.zeros(1), kept=np.zeros(1), room=np.zeros(32), peak=np.ones(1), kind=np.zeros(1, int),
        strict=np.zeros(1, int), named=np.zeros(0, int),
    )  # fmt: skip
    g = np.zeros(32)
    leave(SimpleNamespace(sizes=sizes()), watch, g, 1e-9)
    assert g[20] == truth


# ---------------------------------------------------------------------------------------------------- methods of one stage at a time


def corrections(plain, norms, rate=1.0, curved=1, fresh=1, stays=False):
    """(status, iterations, which of them factorised anew, the contraction that is kept) where corrections have these norms."""
    left, anew = list(norms), []
    trial = SimpleNamespace(
        tolerances=positions(32, (RATE, rate)),
        counters=np.zeros(32, int),
        u=np.zeros(1),
        work=np.zeros((6, 1)),
        out=np.zeros(1),
        g=np.zeros(64),
        history=None,
    )
    trial.counters[CURVED], trial.counters[FRESH] = curved, fresh

    def factorised(*_):
        anew.append(trial.counters[ITERATIONS] + 1)
        return True

    ask = plain(
        single, spread=lambda *_: None, evaluate=lambda *_: None, _factorised=factorised, solve=lambda *_: None, widen=lambda *_: None,
        error_norm=lambda *_: left.pop(0), _stays=lambda *_: stays,
    )._corrected  # fmt: skip
    status = ask(SimpleNamespace(sizes=sizes(), residual=None), None, trial)
    return status, trial.counters[ITERATIONS], anew, trial.tolerances[RATE]


def test_a_stage_is_tried_twelve_times(plain):
    assert corrections(plain, 1e6 * 0.8 ** np.arange(40))[:2] == (NOT_CONVERGED, 12)
    assert corrections(plain, [*(1e6 * 0.8 ** np.arange(11)), 1e-9])[:2] == (CONVERGED, 12)


@pytest.mark.parametrize(("left", "held"), [(31.0, True), (33.0, False)])
def test_equations_hold_to_the_rounding_of_their_terms(plain, left, held):
    """2 y - 10 of y = 5 may leave 32 roundings of 10; of y = 1e-30 whose error may be 1e-6, a thousandth of that."""
    problem, matrix = SimpleNamespace(indptr=[0, 1], indices=[0]), np.array([2.0])
    for y, scale, size in ((5.0, 1e-12, 2.0 * 5.0 * np.finfo(float).eps), (1e-30, 1e-6, 2.0 * 1e-9 / 32.0)):
        residual, trial = np.array([left * size]), SimpleNamespace(scale=np.array([scale]))
        assert plain(contract).rounded(problem, trial, residual, matrix, np.array([y]), 1e-3, np.zeros(1)) is held


def test_two_corrections_may_grow(plain):
    assert corrections(plain, [1.0, 2.0, 4.0, 1e-3, 1e-6])[0] == CONVERGED
    assert corrections(plain, [1.0, 2.0, 4.0, 8.0, 1e-3, 1e-6])[:2] == (NOT_CONVERGED, 4)


@pytest.mark.parametrize(("contraction", "anew"), [(0.29, []), (0.31, [3, 4])])
def test_a_slow_contraction_asks_for_a_new_matrix(plain, contraction, anew):
    """In the iterations behind it, until one shrinks fast."""
    assert corrections(plain, [100.0, 100 * contraction, 100 * contraction**2, 1e-9])[2] == anew


@pytest.mark.parametrize(("second", "iterations"), [(0.13, 2), (0.14, 3)])
def test_newton_leaves_a_fiftieth_of_the_tolerance(plain, second, iterations):
    """From 1 to 0.13 leaves 0.13^2/(1 - 0.13) = 0.0194 of it, from 1 to 0.14 more than 0.02."""
    assert corrections(plain, [1.0, second, 1e-9])[:2] == (CONVERGED, iterations)


@pytest.mark.parametrize(("rate", "iterations"), [(0.9e-6, 1), (1.1e-6, 2)])
def test_the_matrix_of_a_linear_network_is_believed_for_some_stages(plain, rate, iterations):
    """A contraction below 1e-6 asks for no second correction, and counts twice in the next stage; an equation that curves is always asked."""
    status, count, _, kept = corrections(plain, [1.0, 0.0], rate, curved=0)
    assert (status, count) == (CONVERGED, iterations)
    assert kept == pytest.approx(2 * rate if iterations == 1 else 1e-9)  # the least that is believed
    assert corrections(plain, [1.0, 0.0], rate, curved=1)[1] == 2


def test_where_the_next_correction_stays_the_matrix_is_taken_anew(plain):
    """One by a new matrix is the last: what stays there is rounding. A linear network has no other branch."""
    assert corrections(plain, [1.0, 0.01, 0.001], stays=True)[:3] == (CONVERGED, 3, [3])
    assert corrections(plain, [1.0, 0.01], stays=True, curved=0)[:3] == (CONVERGED, 2, [])


@pytest.mark.parametrize(("ahead", "scale", "stays"), [(0.91, 1.0, True), (0.89, 1.0, False), (1.0, 1e8, False)])
def test_a_correction_stays_from_nine_tenths_of_the_last_one_on_and_above_rounding(plain, ahead, scale, stays):
    """Of an unknown that is tested: 1e-3 of a scale of rtol = 1e-6 is above 1e3 eps of it, 1e-11 is below."""
    work = np.zeros((6, 1))
    work[0] = 1e-3

    def solve(factor, trial, right, found):
        found[:] = ahead * 1e-3

    asked = plain(single, evaluate=lambda *_: None, solve=solve)._stays
    trial = SimpleNamespace(
        tolerances=positions(32, (RTOL, 1e-6)), work=work, out=np.zeros(1), scale=np.array([scale * 1.0]), exponent=np.zeros(1, int)
    )
    assert asked(SimpleNamespace(sizes=sizes(), residual=None), None, trial) == stays
    trial.exponent[0] = 1
    assert not asked(SimpleNamespace(sizes=sizes(), residual=None), None, trial)


@pytest.mark.parametrize(("rtol", "tolerance"), [(1e-3, 2e-5), (1e-12, 1e-12)])
def test_masses_iterate_to_a_fiftieth_of_the_tolerance(plain, rtol, tolerance):
    asked = []

    def careful(problem, factor, trial, fresh, until):
        asked.append(until)
        return CONVERGED, 1, 1, True

    solve = plain(single, damped_newton=careful, set_differentiated_history=lambda *_: None, set_least=lambda *_: None).solve_given
    trial = SimpleNamespace(tolerances=positions(32, (RTOL, rtol)), counters=np.zeros(32, int), u=np.zeros(1), g=np.zeros(64), history=None)
    trial.counters[UNSOLVED] = 0
    assert solve(SimpleNamespace(sizes=sizes(nk=1)), SimpleNamespace(pivot_inverse=np.ones(1)), trial) == CONVERGED
    assert asked == [pytest.approx(tolerance, rel=1e-9, abs=0.0)]


@pytest.mark.parametrize(
    ("estimate", "exponent", "reach", "error"),
    [((1.0, -3.0), 1, 0.0, 0.0), ((1.0, 1.0), 1, 0.0, 0.5), ((4.0, 0.0), 1, 0.0, 1.5), ((1.0, 1.0), 0, 0.0, 0.0), ((1.0, 1.0), 1, 1e14, 0.0)],
)
def test_velocities_count_by_half_of_their_error_along_constraints(plain, estimate, exponent, reach, error):
    """Two masses, 3 kg and 1 kg, on one rod: of an estimate the mean by masses stays, and what would stretch the rod is nothing. Free
    masses have all of it elsewhere; below the rounding of positions it is none."""
    h, first = 0.1, 3.6
    l2 = (first / h) ** 2
    matrix = np.array([[3.0 * l2, 0.0, 1.0], [0.0, l2, -1.0], [1.0, -1.0, 0.0]])
    powers = np.zeros((3, 9))
    powers[2] = np.diag([3.0, 1.0, 0.0]).T.ravel()
    method = SimpleNamespace(error=np.array([[0.0, 0.0], estimate]), powers=powers, eigenvalues=np.array([first, 0.0, 0.0]))
    problem = SimpleNamespace(sizes=sizes(nk=2, ny=1), indptr=np.array([0, 3, 6, 9]), indices=np.tile(np.arange(3), 3), reach=np.full(2, reach))
    trial = SimpleNamespace(
        work=np.zeros((6, 3)), exponent=np.array([0, 0, exponent, exponent, 2]), scale=np.ones(5), start=np.zeros(4), nominal=np.ones(4),
        tolerances=positions(32, (RTOL, 1e-6)),
    )  # fmt: skip

    def solve(factor, trial, right, found):
        found[:] = np.linalg.solve(matrix, right)

    norm = plain(stages) and plain(along_constraints, solve=solve).error_along_constraints(method, problem, None, trial, h)
    assert norm == pytest.approx(error, abs=1e-12)
