"""Shared by all tests: the example netlists by name, read once, and runs of them with the options and signals a test asks for."""

from collections.abc import Callable
from functools import cache

import hypothesis
import pytest

import netsim
from netsim.analyses.option_values import written_option
from netsim.analyses.over_time.run import transient
from netsim.analyses.transient import OPTIONS
from netsim.library.files import models_folder
from netsim.results.samples import Samples
from netsim.simulate.options import check_options
from netsim.text.expressions.from_python import parse_expression
from netsim.text.syntax import Run

hypothesis.settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)  # a busy machine is no failure
hypothesis.settings.register_profile("thorough", hypothesis.settings.get_profile("untimed"))  # property tests look its name up and draw more
hypothesis.settings.load_profile("untimed")


@cache
def loaded(name: str) -> netsim.Model:
    """A model of the models folder: 'rc' is models/rc.net."""
    return netsim.load(models_folder() / f"{name}.net")


def line_options(model: netsim.Model, run: Run) -> dict[str, object]:
    """What a run line says, in SI units."""
    scope = model.values.scope(model.network.top)
    return {b.name: written_option(b, scope, OPTIONS[b.name]) for b in run.options}


@cache
def ran(name: str, save: tuple[str, ...] = (), **options: object) -> Samples:
    """The samples of a model's own run, with some options changed; with `save`, of these signals instead of those of the netlist."""
    return sampled(loaded(name), save, **options)


def sampled(model: netsim.Model, save: tuple[str, ...] = (), **options: object) -> Samples:
    """The samples of any model's own run, as `ran`; fails where the run does."""
    if not save:
        (samples,) = model.samples(options)
    else:
        (run,) = model.network.runs
        given = line_options(model, run) | options
        chosen = check_options("transient", given, {})
        samples = transient(model.machine, model.structure, chosen, [parse_expression(text, "save") for text in save])
    assert samples.finished, samples.message
    return samples


@pytest.fixture(scope="session")
def model() -> Callable[[str], netsim.Model]:
    return loaded
