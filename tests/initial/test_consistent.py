"""Recovered forces inside the compiled loop against the readable way: the same points, in every domain and with new pivots on the way."""

import numpy as np
import pytest

from conftest import line_options, loaded, sampled
from netsim.initial import recovery
from netsim.simulate import stepping

MODELS = {
    "two_masses": {"step": 8e-3},
    "quarter_car": {},
    "dc_motor": {},
    "diode_rectifier": {},
    "pump_drive": {},
    "mechanisms/slider_crank": {"stop": 0.3},
    "mechanisms/double_pendulum": {"stop": 0.5},
    "mechanisms/five_bar": {"stop": 0.2},
    "mechanisms/fourbar_planar": {"stop": 0.3},
    "tripod/stage1": {"stop": 4.0},
}
COUNT = 200


def recovered(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Signals and energy account of some steps."""
    samples = sampled(loaded(name), forces="recovered", every=3, **_some_steps(name))
    return samples.values, samples.energy


def _some_steps(name: str) -> dict:
    options = {"method": "euler"} | MODELS[name]
    if "stop" not in options:
        (run,) = loaded(name).network.runs
        given = line_options(loaded(name), run) | options
        options["stop"] = COUNT * given["step"]
    return options


def difference(found, other) -> float:
    """The largest difference of a signal beside its own size."""
    return float(np.max(np.abs(found - other) / (np.abs(other).max(axis=0) + 1e-9)))


@pytest.mark.parametrize("name", MODELS)
def test_compiled_points_are_those_of_the_readable_way(name, monkeypatch):
    values, account = recovered(name)
    monkeypatch.setattr(stepping, "is_ready", lambda plan: False)
    again, readable = recovered(name)
    assert difference(values, again) < 1e-9
    assert difference(account, readable) < 1e-9


@pytest.mark.parametrize("name", ["two_masses", "mechanisms/fourbar_planar", "tripod/stage1"])
def test_stages_solved_afresh_give_the_same(name, monkeypatch):
    """Without fixed pivots every stage goes to `netsim.initial.stages`, as a start does."""
    values, account = recovered(name)
    monkeypatch.setattr(recovery, "_run", lambda *_: False)
    monkeypatch.setattr(stepping, "is_ready", lambda plan: False)
    monkeypatch.setitem(MODELS, name, MODELS[name] | {"stop": 20 * MODELS[name].get("step", 0.01)})
    few, told = recovered(name)
    assert difference(few[:-1], values[: len(few) - 1]) < 1e-8
    assert difference(told[:-1], account[: len(told) - 1]) < 1e-8


def test_samples_go_on_where_pivots_break_down(monkeypatch):
    """A sample whose pivots do not serve is taken the careful way, the next ones with the pivots found there."""
    values, _ = recovered("tripod/stage1")
    plans = []
    spoilt = stepping.compiled_plan

    def plan(of):
        found = spoilt(of)
        plans.append(of)
        if of is not None and len(plans) == 2:  # the first one with stages
            found.reals[:] = np.nan
        return found

    monkeypatch.setattr(stepping, "compiled_plan", plan)
    again, _ = recovered("tripod/stage1")
    assert len(plans) == 3 and difference(values, again) < 1e-9


def test_no_python_between_samples(monkeypatch):
    """With recovered forces the loop is entered once per block, not once per sample."""
    entered = []
    ordinary = stepping.advance
    monkeypatch.setattr(stepping, "advance", lambda *given: (entered.append(1), ordinary(*given))[1])
    samples = sampled(loaded("tripod/stage1"), forces="recovered", method="euler", step=1e-3, stop=2.0)
    assert len(samples.time) == 2001 and len(entered) < 100
