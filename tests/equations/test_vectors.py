"""Kernels in vectors against those of single instances: the same bits but for elementary functions, which are within three
units in the last place; groups that overlap; outputs that meet in one place."""

import casadi
import numpy as np
import pytest

from netsim.equations.kernels import native, vectors
from netsim.equations.kernels.lowering import lower
from netsim.equations.kernels.program import BINARY, UNARY, Instruction, Program
from netsim.equations.kernels.vector_functions import FUNCTIONS, LANES

SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, 1e-300, 5e-324, -1e-17, 1e17, 700.0, 709.7, 710.0, -745.0, -800.0, 1e308, np.inf, -np.inf, np.nan]
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path))


def both(program, gathered, uniforms=(), parameters=(), scatter=None):
    """What the program gives by single instances and in vectors."""
    n = gathered.shape[1]
    g = np.concatenate([gathered.ravel(), uniforms])
    uniform = np.arange(gathered.size, g.size, dtype=np.int32)
    scatter = np.arange(program.n_outputs * n, dtype=np.int32) if scatter is None else scatter
    found = []
    for compiled in (native.compile({"a": program}), native.compile({"a": program}, vectors.VECTORS)):
        out = np.zeros(program.n_outputs * n)
        native.run_native(compiled, "a", n, np.arange(gathered.size, dtype=np.int32), uniform, np.ravel(parameters).astype(float), scatter, g, out)
        found.append(out.reshape(program.n_outputs, n))
    return found


@pytest.mark.parametrize("op", sorted((UNARY | BINARY) - set(FUNCTIONS)))
def test_every_operation_has_the_same_bits(op):
    x, y = (grid.ravel() for grid in np.meshgrid(SPECIAL, SPECIAL))
    program = Program(2, 0, 0, (), (Instruction(op, (0, 1)[: 1 if op in UNARY else 2]),), (2,))
    single, wide = both(program, np.array([x, y]))
    assert single.tobytes() == wide.tobytes() or np.array_equal(single, wide, equal_nan=True)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_within_three_units_in_the_last_place(name):
    random = np.random.default_rng(1)
    x = np.concatenate(
        [
            SPECIAL,
            random.normal(size=2000),
            10.0 ** random.uniform(-20, 20, 2000),
            random.uniform(-750, 712, 4000),
            -(10.0 ** random.uniform(-20, 0, 1000)),
            1 + random.normal(size=500) * 1e-8,
        ]
    )
    found = both(Program(1, 0, 0, (), (Instruction(name, (0,)),), (1,)), x[None])[1][0]
    with np.errstate(all="ignore"):
        exact = np.asarray(getattr(np, name)(x.astype(np.longdouble)))
        wanted = exact.astype(float)
        units = np.abs(found - exact) / np.spacing(np.maximum(np.abs(wanted), 2.3e-308))
    regular = np.isfinite(wanted)
    assert np.array_equal(found[~regular], wanted[~regular], equal_nan=True)
    assert np.max(units[regular]) < 3.0


def test_groups_overlap_and_outputs_meet():
    """Any number of instances from one group on; sums in shared places are taken in the order of single instances."""
    x, u, p = casadi.SX.sym("x", 2), casadi.SX.sym("u"), casadi.SX.sym("p")
    program = lower(x, u, p, casadi.vertcat(x[0] * x[1] + u * p, casadi.if_else(x[0] < x[1], x[0] / p, 0.0), 0.0, x[1]))
    random = np.random.default_rng(2)
    for n in range(LANES, 4 * LANES + 1):
        scatter = random.integers(0, 5, program.n_outputs * n).astype(np.int32)
        single, wide = both(program, random.normal(size=(2, n)), (0.3,), random.normal(size=n), scatter)
        assert single.tobytes() == wide.tobytes()


def test_few_instances_and_short_programs_stay_single():
    long, without = (Program(1, 0, 0, (), tuple(Instruction(op, (k,)) for k in range(5)), (5,)) for op in ("exp", "sin"))
    assert vectors.is_vectorised(long, LANES) and not vectors.is_vectorised(long, LANES - 1)
    assert not vectors.is_vectorised(without, 1000)
    steps = tuple(Instruction("mul", (k, k)) for k in range(3 * 2 + 1))  # more than three times what is read and added
    heavy = Program(1, 0, 0, (), steps, (7,))
    assert vectors.is_vectorised(heavy, 16) and not vectors.is_vectorised(heavy, 15)
    assert not vectors.is_vectorised(Program(1, 0, 0, (), steps[:-1], (6,)), 1000)
    assert not vectors.is_vectorised(Program(2, 0, 1, (), (Instruction("mul", (0, 2)),), (3,)), 1000)
