"""What a model answers by many runs or their derivatives: methods of `netsim.Model`."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Protocol

from netsim.results.files import dataset_or_raise
from netsim.results.progress import Report
from netsim.results.samples import Samples
from netsim.text.expressions.from_python import (
    expressions_given,
    mapping_given,
    pair_given,
    parse_expression,
    path_given,
    texts_given,
)
from netsim.text.syntax import Binary, Run, String, Vector

RANGES = "{'r1.R': ('1 Ohm', '10 Ohm')}"
"""An example for messages."""


class StudiedModel(Protocol):
    """What a model lends to its studies."""

    network: Any

    def _alone(
        self, line: Run, save: Sequence[str] | None, progress: Report | None, options: Mapping[str, Any],
        client: Any = None,
    ) -> Samples: ...  # fmt: skip

    def _judged(self, samples: Samples) -> Samples: ...

    def _transient_line(self, options: Mapping[str, Any]) -> Run: ...


class Studies:
    """Methods of a model that concern many runs."""

    def optimize(
        self: StudiedModel, progress: Report | None = None, save: Sequence[str] | None = None, **options: Any
    ) -> Any:
        """Inputs, parameters and starts that make an objective least, as an xarray.Dataset. Options (see
        docs/optimal.md) are texts, lists of texts or numbers. Raises `SimulationError` where no motion serves."""
        from netsim.analyses.optimal.options import line_from

        return dataset_or_raise(self._alone(line_from(options), save, progress, {}))

    def sensitivity(
        self: StudiedModel, to: Sequence[str], of: Sequence[str] = (), progress: Report | None = None, **options: Any
    ) -> Any:
        """A transient run with its exact derivatives by parameters and starts, as an xarray.Dataset: `to = ["c1.C",
        "m1.x.start"]`, `of` signals, expressions and measures (all that is saved and measured where it is not given).

        Options: those of `transient`, and `derivatives = "adjoint"`: those of last values of signals, in one pass for
        any number of parameters. The derivative of `b.v` by `c1.C` is the variable `d(b.v)/d(c1.C)`; that of a
        measure `rise` is the attribute `measure.d(rise)/d(c1.C)`. Raises `InputError` for what cannot be varied,
        `SimulationError` where the run fails or a derivative does not exist."""
        line = Run("sensitivity", self._transient_line(options).options)
        given = {**options, "to": to, **({"of": kept} if (kept := texts_given("of", of)) else {})}
        return dataset_or_raise(self._judged(self._alone(line, None, progress, given)))

    def sweep(
        self: StudiedModel,
        over: Mapping[str, Any] | str,
        of: Sequence[str] = (),
        progress: Report | None = None,
        client: Any = None,
        **options: Any,
    ) -> Any:
        """A transient run under many values of parameters and starts, as an xarray.Dataset: `over = {"r1.R": ("1 kOhm",
        "10 kOhm"), "c1.C": ["1 uF", "2 uF"], "r2.R": "1 kOhm +- 5 %"}`, or a CSV file of cases. A grid has a dimension
        for each parameter; random cases lie along `case`. `failed` and `doubtful` mark cases, `message` and `warnings`
        say why; a `RuntimeWarning` tells each kind once. `of`: signals (at instants of `sample`) and measures; without
        it the measures, saved and plotted signals.

        Options: sampling ("grid", "random", "latin", "sobol", "saltelli", "corners"), points (of each range in a grid),
        cases, seed, workers (0: one for each processor), lanes (cases side by side in one run, in equal steps; 1), and
        those of `transient`. `client`: a `distributed.Client`,
        whose cluster computes the cases in place of processes of this machine. Raises `InputError` for what cannot
        be varied, `SimulationError` where all cases fail."""
        line = Run("sweep", self._transient_line(options).options)
        given = {**options, "over": _over(over)}
        if kept := texts_given("of", of):
            given["of"] = Vector(tuple(parse_expression(text, "of") for text in kept))
        return dataset_or_raise(self._alone(line, None, progress, given, client=client))

    def fit(
        self: StudiedModel, to: str | Sequence[str], signals: Sequence[str], parameters: Mapping[str, tuple[Any, Any]],
        progress: Report | None = None, **options: Any,
    ) -> Any:  # fmt: skip
        """Values of `parameters` ({"r1.R": ("1 Ohm", "10 Ohm")}) with which `signals` follow what was measured: CSV
        files with a column `time [s]` and one for each signal. An xarray.Dataset of the fitted and the measured
        signals; the attribute `measure.r1.R` is the value, `measure.sd(r1.R)` its standard deviation,
        `measure.low(r1.R)` and `measure.high(r1.R)` its confidence interval.

        Options: weights, loss, starts (of a global search), seed, iterations, confidence, `write` (a netlist with the
        values found), and those of `transient`."""
        files = list(to) if isinstance(to, list | tuple | set) else [to]
        ranges = mapping_given("parameters", parameters, RANGES).items()
        given = {
            "to": Vector(tuple(String(str(path_given("to", file))) for file in files)),
            "signals": Vector(tuple(parse_expression(text, "signals") for text in texts_given("signals", signals))),
            "parameters": Vector(
                tuple(Binary("=", parse_expression(n, "parameters"), pair_given(n, r)) for n, r in ranges)
            ),
            **{name: expressions_given(name, o) if name == "weights" else o for name, o in options.items()},
        }
        if "write" in given:
            given["write"] = String(str(path_given("write", given["write"])))
        return dataset_or_raise(self._alone(Run("fit", ()), None, progress, given))


def _over(over: Mapping[str, Any] | str) -> Any:
    """What varies, as the option of a run line: a file of cases, or values by name."""
    if isinstance(over, str | PathLike):
        return String(str(over))
    from netsim.text.parse import parse

    found = mapping_given("over", over, RANGES).items()
    items = ", ".join(f"{name} = {_values(name, given)}" for name, given in found)
    (line,) = parse(f"run sweep(over = [{items}])", "over").statements
    assert isinstance(line, Run)
    return line.options[0].value


def _values(name: str, given: Any) -> str:
    """A text as it is, (least, largest), or a list of values."""
    if isinstance(given, str):
        return given
    if isinstance(given, tuple):
        pair_given(name, given)
    elif not isinstance(expressions_given(name, given), Vector):
        given = (given,)
    texts = [each if isinstance(each, str) else repr(float(each)) for each in given]
    return " .. ".join(texts) if isinstance(given, tuple) and len(texts) > 1 else f"[{', '.join(texts)}]"
