"""Programs without what depends on parameters alone: the same values, and nothing of it left."""

import numpy as np
import pytest

import netsim
from netsim.equations.kernels.precomputation import split_precomputation, with_constants
from netsim.equations.kernels.program import Instruction, Program
from netsim.equations.kernels.reference import evaluate
from netsim.equations.system import build_system
from netsim.library.files import models_folder

MODELS = ["diode_bridge", "benchmarks/transistor_amplifier", "mechanisms/fourbar_planar", "spice/inverter.cir"]


def programs(name):
    """Programs of all batches of a model."""
    path = models_folder() / (name if name.endswith(".cir") else f"{name}.net")
    for batch in build_system(netsim.load(path).network).batches:
        yield from (getattr(batch.kernels, kind).program for kind in ("residual", "jacobian", "energy", "partials"))


@pytest.mark.parametrize("name", MODELS)
def test_same_values(name):
    rng, cut = np.random.default_rng(3), 0
    for program in programs(name):
        gathered, uniforms = rng.uniform(0.1, 0.9, (program.n_gather, 4)), rng.uniform(0.5, 1.5, program.n_uniform)
        parameters = rng.uniform(0.1, 0.9, (program.n_parameters, 4))
        rest, settled = with_constants(program, 4, parameters.ravel())
        cut += rest is not program
        if program.n_gather or program.n_parameters:
            found = evaluate(rest, gathered, uniforms, settled.reshape(rest.n_parameters, 4))
            assert np.array_equal(found, evaluate(program, gathered, uniforms, parameters), equal_nan=True)
    assert cut or name.startswith("mech")


@pytest.mark.parametrize("name", MODELS[::3])
def test_nothing_is_left_that_parameters_settle(name):
    shorter = 0
    for program in programs(name):
        before, rest = split_precomputation(program)
        if before is None:
            continue
        settled = range(rest.first_parameter, rest.first_result)
        assert all(any(i not in settled for i in step.operands) for step in rest.instructions)
        assert split_precomputation(rest) == (None, rest)
        shorter = max(shorter, len(program.instructions) - len(rest.instructions))
    assert shorter > 20


def test_cheap_products_stay():
    """gather*(p + q): reading p + q would cost what adding does."""
    program = Program(1, 0, 2, (), (Instruction("add", (1, 2)), Instruction("mul", (0, 3))), (4,))
    assert split_precomputation(program) == (None, program)


def test_an_output_of_parameters_alone():
    """[p/q, gather] with a constant between."""
    program = Program(1, 1, 2, (2.0,), (Instruction("div", (2, 3)), Instruction("mul", (5, 4))), (6, 0, 4))
    before, rest = split_precomputation(program)
    assert not rest.instructions and before.n_gather == before.n_uniform == 0
    found, parameters = with_constants(program, 2, np.array([1.0, 3.0, 4.0, 5.0]))
    assert np.array_equal(evaluate(found, np.array([[7.0, 8.0]]), np.zeros(1), parameters.reshape(-1, 2)), [[0.5, 1.2], [7.0, 8.0], [2.0, 2.0]])
