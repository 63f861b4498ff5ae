"""Consistent points inside the compiled loop against the readable way: the same points, in every domain."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

import netsim
from conftest import line_options, loaded, sampled
from netsim.core.compiled.struct import struct_of
from netsim.core.newton import CONVERGED, set_time
from netsim.core.states import load, project
from netsim.initial import recovery
from netsim.initial.recovery import plan_recovery, recover_point
from netsim.library.files import models_folder
from netsim.results.selection import Selection, reader_of
from netsim.simulate import adaptive
from netsim.simulate.options import check_options
from netsim.simulate.setup.arrays import consistent as first_points
from netsim.simulate.setup.start_of_run import start_of_run

MODELS = {
    "two_masses": {"step": 8e-3},
    "quarter_car": {},
    "dc_motor": {},
    "diode_rectifier": {},
    "pump_drive": {},
    "mechanisms/slider_crank": {},
    "mechanisms/double_pendulum": {},
    "mechanisms/five_bar": {},
    "mechanisms/fourbar_planar": {},
    "tripod/stage1": {},
}
COUNT = 20


def begun_run(name: str) -> adaptive.Running:
    """A run of a model by implicit Euler with recovered forces, some steps on."""
    model = loaded(name)
    given = line_options(model, model.network.runs[0]) | {"method": "euler", "forces": "recovered"} | MODELS[name]
    options = check_options("transient", {option: given[option] for option in ("step", "method", "forces")} | {"stop": COUNT * given["step"]}, {})
    machine, structure, g, _ = start_of_run(model.machine, model.structure, str(given.get("from", "")), None)
    run = adaptive.begin_adaptive(machine, structure, replace(options, formula=True), g, reader_of(machine, Selection()), np.zeros(0))
    assert adaptive.integrate_adaptive(run, None) is None
    return run


def difference(run, found, other) -> float:
    """The largest difference of two states beside the largest entry of the same kind."""
    layout = run.machine.system.layout
    ends = np.cumsum([layout.nk, layout.nk, layout.nk])
    sizes = np.concatenate([np.full(len(part), np.abs(part).max(initial=1e-9)) for part in np.split(other, ends)])
    return float(np.max(np.abs(found - other) / np.maximum(sizes, np.abs(other))))


def compiled_and_readable(run) -> tuple[np.ndarray, np.ndarray]:
    """The consistent point near the last step as compiled loops find it, and as Python does."""
    trial, layout, problem = run.trial, run.machine.system.layout, run.machine.struct
    g, state = trial.g.copy(), trial.start.copy()
    load(problem, g, state)
    assert set_time(problem, g, run.now) == CONVERGED
    count = 3 * layout.nk + layout.ny + 2 * layout.nq
    recovery = plan_recovery(run.machine, run.structure, g)
    point = layout.state(recover_point(recovery, g, state, run.now))
    assert project(problem, struct_of(run.plan), g, state)
    return state[:count], point[:count]


@pytest.mark.parametrize("name", MODELS)
def test_compiled_points_are_those_of_the_readable_way(name):
    run = begun_run(name)
    assert len(run.plan.sizes) > 0
    assert difference(run, *compiled_and_readable(run)) < 1e-9


@pytest.mark.parametrize("name", ["two_masses", "mechanisms/fourbar_planar", "tripod/stage1"])
def test_stages_solved_afresh_give_the_same(name, monkeypatch):
    """Without fixed pivots every stage goes to `netsim.initial.stages`, as a start does."""
    run = begun_run(name)
    monkeypatch.setattr(recovery, "_run", lambda *_: False)
    assert difference(run, *compiled_and_readable(run)) < 1e-8


def test_points_that_are_not_found_are_told(monkeypatch):
    """A sample whose pivots do not serve shows what the method gave, and the run says so."""
    spoilt = first_points.compiled_plan

    def plan(of):
        found = spoilt(of)
        found.reals[:] = np.nan
        return found

    monkeypatch.setattr(first_points, "compiled_plan", plan)
    samples = sampled(loaded("two_masses"), forces="recovered", method="euler", step=8e-3, stop=0.08)
    assert samples.attributes["inconsistent_points"] > 0
    assert any(problem.code == "W503" for problem in samples.warnings)


def test_what_vanishes_by_symmetry_where_a_run_begins_has_the_size_of_what_it_becomes(tmp_path):
    """Straight rods at rest have momenta about their axes that are nothing but rounding, 1e-54 N m s; scaled by these,
    no velocity could be projected as soon as the rods bend."""
    for source in [*(models_folder() / "tripod").glob("*.inc"), *(models_folder() / "tripod").glob("*.lib")]:
        shutil.copy(source, tmp_path)
    shared = "base_radius = base_radius, ball_radius = ball_radius, height = height, F = 1 mN"
    rods = "\n".join(f"{r} thrust (lo{r}, hi{r}) phi = {120 * k} deg, {shared}, start k = o{r}, start rate = u{r}" for k, r in enumerate("ABC"))
    (tmp_path / "bent.net").write_text(f'include "elastic_bending.inc"\n{rods}\nrun transient(stop = 0.1 s, rtol = 1e-6)\nsave top.r\n')
    samples = sampled(netsim.load(tmp_path / "bent.net"))
    assert samples.attributes["inconsistent_points"] == 0 and not samples.warnings


def test_no_python_between_samples(monkeypatch):
    """With recovered forces the loop is entered once per block, not once per sample."""
    entered = []
    ordinary = adaptive.advance
    monkeypatch.setattr(adaptive, "advance", lambda *given: (entered.append(1), ordinary(*given))[1])
    samples = sampled(loaded("tripod/stage1"), forces="recovered", method="euler", step=1e-3, stop=2.0)
    assert len(samples.time) == 2001 and len(entered) < 100
