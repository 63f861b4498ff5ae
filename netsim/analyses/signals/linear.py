"""`run linear(inputs = [...], at = static)`: a network as a linear one, x' = A x + B w, y = C x + D w, with states that
are quantities of the network, and as its own equations E z' = A z + B w with delays apart.

The rows of the result are states and then outputs, its columns states and then inputs: [A B; C D]. `Model.linearise`
has the matrices as objects of SciPy, python-control and xarray.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from netsim.analyses.analysis import Analysis, OptionSource, Task
from netsim.analyses.signals.ac import chosen_inputs
from netsim.analyses.signals.descriptor import descriptor
from netsim.analyses.signals.inputs import Inputs, inputs_of
from netsim.analyses.signals.linearised import Linearised
from netsim.analyses.signals.options import WHERE, PointOptions, point_options
from netsim.analyses.signals.points import Point, linearised_at
from netsim.analyses.signals.response import response
from netsim.analyses.signals.states.prescribed import without_prescribed
from netsim.analyses.signals.states.reduction import StateSpace, poles_of, reduced, slow_ones_anew, state_space
from netsim.equations.kernels.symbolic import ca
from netsim.equations.messages import position_name
from netsim.equations.system import System
from netsim.results.claims import with_claims
from netsim.results.samples import Samples, Signal
from netsim.text.errors import InputError, Problem, SimulationError

Array = np.ndarray
OWN = 1e-3
"""How much rather positions, speeds and what the user names are states than other quantities."""
SMALL = 1e-9
OF_STATES = ("a", "b", "c", "d", "states", "poles", "zeros", "to_scipy", "to_control", "to_xarray")
"""What a network without a state space does not have."""
NOTHING = 1e-13
"""Direct parts below this share of an input are rounding."""


@dataclass(frozen=True, eq=False)
class LinearNetwork:
    """A network linearised at a time (s) in its own equations: names of inputs and outputs, with their values there.

    Networks with delays have no other form (E428). `notes` say where that holds on one side only, or beyond what
    components allow."""

    time: float
    inputs: tuple[Signal, ...]
    outputs: tuple[Signal, ...]
    at: Mapping[str, float]
    point: Point
    lin: Linearised
    sources: Inputs

    def __getattr__(self, name: str) -> Any:
        if name in OF_STATES:
            hint = "its poles are infinitely many; `descriptor` and `frequency_response` are exact for delays"
            raise InputError(Problem("E428", f"a network with delays has no state space, and no '{name}'", hint=hint))
        raise AttributeError(f"'{type(self).__name__}' has no attribute '{name}'")

    def frequency_response(self, frequencies: Any) -> Array:
        """y/w (frequencies, outputs, inputs), exact for delays."""
        s = 2j * np.pi * np.atleast_1d(np.asarray(frequencies, float))
        return response(self.lin, self.sources.equations, self.sources.outputs, s)

    @cached_property
    def notes(self) -> str:
        """What components assert and does not hold at the point, and the elements that are at a corner there."""
        nothing = Samples("", np.zeros(0), (), np.zeros((0, 0)), axis="row", about=(self.point.about(),))
        return str(with_claims(self.point.machine, nothing).attributes.get("notes", ""))

    @cached_property
    def descriptor(self) -> dict[str, Any]:
        """E z' = A z + sum A_k z(t - T_k) + B w, y = C z + sum C_k z(t - T_k) + D w (sparse) over z = [u, q, and
        derivatives where the equations have higher ones]; `delays` lists (T_k, A_k, C_k)."""
        return descriptor(self.lin, self.sources)

    def save(self, path: Path | str) -> Path:
        """Write A, B, C, D where they are, the descriptor form (descriptor_E ..., delay_lengths, delay_A, delay_C) and
        the names as .npz or .mat; raises `InputError`."""
        path, wide = Path(path), {f"descriptor_{k}": self.descriptor[k].toarray() for k in "EABCD"}
        states = {"A": self.a, "B": self.b, "C": self.c, "D": self.d} if isinstance(self, LinearModel) else {}
        if delays := self.descriptor["delays"]:
            wide["delay_lengths"] = np.array([length for length, _, _ in delays])
            wide |= {f"delay_{k}": np.array([each[1 + i].toarray() for each in delays]) for i, k in enumerate("AC")}
        named: dict[str, Any] = {"inputs": self.inputs, "outputs": self.outputs}
        named |= {"states": self.states} if isinstance(self, LinearModel) else {}
        names = {k: np.array([getattr(s, "name", s) for s in v], object) for k, v in named.items()}
        if path.suffix == ".npz":
            everything: dict[str, Any] = {**states, **wide, **{k: v.astype(str) for k, v in names.items()}}
            np.savez(path, **everything)
        elif path.suffix == ".mat":
            from scipy.io import savemat

            savemat(path, {**states, **wide, **names})
        else:
            raise InputError(Problem("E430", f"the format of '{path}' is unknown", hint="the formats are .npz, .mat"))
        return path


@dataclass(frozen=True, eq=False)
class LinearModel(LinearNetwork):
    """x' = a x + b w, y = c x + d w, with the names of the states."""

    a: Array
    b: Array
    c: Array
    d: Array
    states: tuple[str, ...]

    @cached_property
    def poles(self) -> Array:
        """Every finite s of the network's equations (1/s): the eigenvalues of a, slow ones to their own digits."""
        found = poles_of(self.lin.dense)
        return np.zeros(0, complex) if found is None else found.rates

    def zeros(self, output: int | str = 0, input: int | str = 0) -> Array:
        """Transmission zeros (1/s) from one input to one output: poles of the network whose output is held."""
        i = output if isinstance(output, int) else [s.name for s in self.outputs].index(output)
        j = input if isinstance(input, int) else [s.name for s in self.inputs].index(input)
        return zeros_of(self.lin, self.sources, i, j)

    def to_scipy(self) -> Any:
        """`scipy.signal.StateSpace`."""
        from scipy.signal import StateSpace

        return StateSpace(self.a, self.b, self.c, self.d)

    def to_control(self) -> Any:
        """A `control.StateSpace` with these names, of inputs and outputs with _ for the dots that python-control keeps
        for itself; needs python-control."""
        import control

        names = [identifiers([s.name for s in signals]) for signals in (self.inputs, self.outputs)]
        return control.ss(self.a, self.b, self.c, self.d, states=list(self.states), inputs=names[0], outputs=names[1])

    def to_xarray(self) -> Any:
        """A, B, C, D over state, input and output."""
        import xarray

        dims = {"A": ("state", "state_"), "B": ("state", "input"), "C": ("output", "state_"), "D": ("output", "input")}
        names = {"state": self.states, "state_": self.states}
        names |= {"input": tuple(s.name for s in self.inputs), "output": tuple(s.name for s in self.outputs)}
        matrices = zip(dims.items(), (self.a, self.b, self.c, self.d))
        coords = {k: list(v) for k, v in names.items()}
        return xarray.Dataset(
            {n: (d, m) for (n, d), m in matrices}, coords=coords, attrs={"time": self.time, "notes": self.notes}
        )


def identifiers(names: Sequence[str]) -> list[str]:
    """Names with _ for dots, those that become equal with further ones behind them."""
    found = list[str]()
    for name in names:
        word = name.replace(".", "_")
        while word in found:
            word += "_"
        found.append(word)
    return found


def linear_model(lin: Linearised, inputs: Inputs, point: Point) -> LinearNetwork:
    """The state space at a point, or the network's own equations with delays; raises `SimulationError` (E444) where the
    outputs contain derivatives of inputs or the point is singular."""
    values = {s.name: float(v) for s, v in zip((*lin.signals, *inputs.signals), (*lin.values, *inputs.values))}
    given = point.time, inputs.signals, lin.signals, values, point, lin, inputs
    if len(lin.length):
        return LinearNetwork(*given)
    parts, outputs = lin.dense, [power[:, : lin.size].toarray() for power in lin.outputs]
    drives, feeds = ([power.toarray() for power in powers] for powers in (inputs.equations, inputs.outputs))
    parts, drives, outputs, feeds = without_prescribed(parts, drives, outputs, feeds)
    found = reduced(parts, drives)
    if found is None:
        message = "the linearised equations are singular at this point: no state space exists"
        raise SimulationError(Problem("E444", message, hint="ac() may still find responses"))
    names = state_names(lin.machine.system)
    weights = np.where([names[j].startswith("(") for j, _ in found.of], OWN, 1.0)
    ss = state_space(found, outputs, feeds, weights)
    if ss.direct.size and np.abs(ss.direct).max() > SMALL * max(np.abs(ss.d).max(), np.abs(ss.c).max(initial=0.0)):
        p = int(np.argmax(np.abs(ss.direct).max(axis=(0, 2))))
        message = f"'{lin.signals[p].name}' contains the derivative of an input: no state space has such an output"
        raise SimulationError(Problem("E444", message, hint="leave it out of `save`, or take the input's integral"))
    states = tuple(entry_name(lin, names, *each) for each in found.of[ss.chosen])
    return LinearModel(*given, ss.a, ss.b, ss.c, ss.d, states)


def state_names(system: System) -> list[str]:
    """Names of the unknowns (positions by their own) and of the differentiated quantities: `c1.v` where a quantity of
    the element is differentiated, else `(c1) 1`."""
    names = [position_name(system, u) for u in range(system.n)] + [""] * system.layout.nq
    for batch in system.batches:
        for k, quantity in enumerate(batch.form.differentiated):
            reading = next(
                (
                    name
                    for name, typed in batch.form.readings.items()
                    if not isinstance(typed.value, tuple) and ca.is_equal(ca.SX(typed.value), quantity, 2)
                ),
                "",
            )
            for label, number in zip(batch.labels, batch.differentiated(k)):
                names[system.n + number] = f"{label}.{reading}" if reading else f"({label}) {k + 1}"
    return names


def entry_name(lin: Linearised, names: Sequence[str], j: int, level: int) -> str:
    """The name of a quantity, or of its derivative: of a position the velocity."""
    if level == 1 and j < lin.machine.system.layout.nk:
        return lin.machine.system.names[j]
    return names[j] if not level else f"der({names[j]})" + "'" * (level - 1)


def zeros_of(lin: Linearised, inputs: Inputs, output: int, input_: int) -> Array:
    """Finite s at which the output is zero for a nonzero input: poles of [P W; C D].

    Where that network has no order by its structure alone, they are found from the state space."""
    size, w = lin.size, [input_]
    known = without_prescribed(
        lin.dense,
        [power[:, w].toarray() for power in inputs.equations],
        [power[[output], :size].toarray() for power in lin.outputs],
        [power[[output]][:, w].toarray() for power in inputs.outputs],
    )

    def part(powers: list[Array], k: int) -> Array:
        return powers[k] if k < len(powers) else np.zeros_like(powers[0])

    own, driven, read_, fed = known
    parts = [
        np.block([[part(own, k), part(driven, k)], [part(read_, k), part(fed, k)]]) for k in range(max(map(len, known)))
    ]
    found = poles_of(parts)
    if found is not None:
        return found.rates
    of_states = reduced([p[:size, :size] for p in parts], [p[:size, size:] for p in parts])
    if of_states is None:
        return np.zeros(0, complex)
    read, feeds = [p[size:, :size] for p in parts], [p[size:, size:] for p in parts]
    s = zeros_of_states(state_space(of_states, read, feeds, np.ones(len(of_states.of))))
    return slow_ones_anew(parts, s, np.zeros((size + 1, len(s))))[0]


def zeros_of_states(ss: StateSpace) -> Array:
    """Finite zeros of y = c x + d w, x' = a x + b w with one input and one output.

    While d vanishes, y = 0 takes one combination of the states away: its rate is the output of those that remain
    (A. Emami-Naeini, P. Van Dooren, Automatica 18, 1982). With d they are the eigenvalues of a - b c/d."""
    from scipy.linalg import matrix_balance, qr

    a, (size, _) = matrix_balance(ss.a, permute=False, separate=True) if len(ss.a) else (ss.a, (np.ones(0), None))
    b, c, strength = ss.b[:, 0] / size, ss.c[0] * size, float(np.linalg.norm(ss.b[:, 0] / size)) or 1.0
    b, d = b / strength, float(ss.d[0, 0]) / strength
    least = NOTHING * float(np.linalg.norm(c)) / (float(np.linalg.norm(a)) or 1.0)
    while len(a) and abs(d) <= least:
        if not c.any():
            return np.zeros(0, complex)
        turn = np.roll(qr(c[:, None])[0], -1, axis=1)  # the last state is the one that y reads
        a, b = turn.T @ a @ turn, turn.T @ b
        a, b, c, d, least = a[:-1, :-1], b[:-1], a[-1, :-1], float(b[-1]), NOTHING
    return np.linalg.eigvals(a - np.outer(b, c) / d).astype(complex) if len(a) else np.zeros(0, complex)


def run(task: Task, where_: PointOptions) -> Samples:
    """[A B; C D] at every instant, one below the other."""
    models: list[Any] = list(_models(task, where_))
    first = models[0]
    if not isinstance(first, LinearModel):
        hint = "its poles are infinitely many; ac() and `Model.linearise` are exact for delays"
        raise InputError(Problem("E428", "linear() has no state space for a network with delays", hint=hint))
    columns = (*(Signal(name) for name in first.states), *first.inputs)
    if any(model.states != first.states for model in models):
        raise SimulationError(Problem("E444", "the states differ between these instants", hint="take one at a time"))
    values = np.concatenate([np.block([[m.a, m.b], [m.c, m.d]]) for m in models])
    attributes = {
        "at": ", ".join(f"{m.time:g} s" for m in models) if where_.at else "static",
        "states": "; ".join(first.states),
        "inputs": "; ".join(s.name for s in first.inputs),
        "outputs": "; ".join(s.name for s in first.outputs),
    }
    rows = np.arange(1.0, len(values) + 1)
    signals = tuple(Signal(s.name) for s in columns)
    about = tuple(model.point.about() for model in models)
    return Samples("", rows, signals, values, attributes=attributes, axis="row", about=about)


def models_at(task: Task, where_: PointOptions) -> LinearNetwork | list[LinearNetwork]:
    """The linear model at the point, one for each of several; raises as `linear_model`."""
    found = list(_models(task, where_))
    return found if len(found) > 1 else found[0]


def _models(task: Task, where_: PointOptions) -> Iterator[LinearNetwork]:
    for lin, selection, point in linearised_at(task, where_.at):
        inputs = inputs_of(lin, task, selection, chosen_inputs(lin.machine.system, where_.inputs))
        yield linear_model(lin, inputs, point)


def check(options: Mapping[str, Any], line: OptionSource) -> PointOptions:
    """Options of a run line or call, checked; raises `InputError`."""
    return point_options(options, line)


ANALYSIS = Analysis("linear", WHERE, check, run)
