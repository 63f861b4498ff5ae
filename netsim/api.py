"""The facade: load a netlist, look at it, change parameters, run it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netsim import analyses
from netsim.analyses.analysis import OVERFLOWS, Analysis, OptionSource, Task, options_by_line, options_of, run_analysis
from netsim.analyses.earlier_runs import other_run, refuse_unknown_runs, table_calls
from netsim.analyses.inverse.options import OWN, line_from
from netsim.analyses.many.cluster.connection import on_cluster
from netsim.analyses.many.studies import Studies
from netsim.analyses.refusals import refuse_signals
from netsim.analyses.transient import stepped_options
from netsim.core.method import Method
from netsim.equations.machine import Machine, build_machine
from netsim.equations.system import System, build_system
from netsim.formats.format import Format
from netsim.initial.initial import Structure
from netsim.initial.reactions.axes import with_axis
from netsim.initial.reactions.redundancy import solvable
from netsim.library.files import shown_path
from netsim.library.formats import FORMATS
from netsim.network.network import Network
from netsim.network.reading import read_network
from netsim.network.values import Values
from netsim.results import listing
from netsim.results.claims import judged, signals_judged, with_claims, with_unjudged
from netsim.results.earlier import series_of_run
from netsim.results.files import dataset_or_raise, named_runs, samples_in
from netsim.results.measures import check_measures
from netsim.results.partial.recording import Recording
from netsim.results.progress import Report, watched
from netsim.results.samples import Samples
from netsim.simulate.methods import METHODS
from netsim.structure.findings import at_rest, findings
from netsim.structure.orders import absent_rates
from netsim.text.columns import counted
from netsim.text.errors import InputError, NetsimError, Problem, nearest
from netsim.text.expressions.from_python import expression_given, mapping_given, refused, texts_given
from netsim.text.registry import Registry
from netsim.text.syntax import Expr, Name, Plot, Run

if TYPE_CHECKING:
    from netsim.simulate.stepped.simulator import Simulator

ANALYSES = Registry(analyses, Analysis)


@dataclass(frozen=True, eq=False)
class Model(Studies):
    """A network ready to be analysed under one set of parameter values. Everything derived is made once, when first
    wanted."""

    network: Network
    overrides: Mapping[str, Expr] = field(default_factory=dict)
    shared: dict[Any, Any] = field(default_factory=dict, repr=False)
    checks: bool = field(default=False, repr=False)  # other netlists, whose runs tables read, are not run

    @property
    def system(self) -> System:
        """The numbered system; shared by all models that differ in parameter values only."""
        if "system" not in self.shared:
            self.shared["system"] = build_system(self.network, self.values)
        return self.shared["system"]

    @cached_property
    def prepared(self) -> tuple[System, Structure]:
        """The system that is solved (without constraints that are redundant by structure) and its differentiation
        orders.

        Raises `InputError` for a structurally singular network."""
        found = findings(self.system, self.values, self.shared)
        errors = [p for p in found if not p.is_note and (self.network.runs or p.code != "E302")]  # see _settled
        if errors:
            raise InputError(errors)
        constant = absent_rates(self.system, self.values)
        if "prepared" not in self.shared or not np.array_equal(self.shared["prepared"][0], constant):
            try:
                self.shared["prepared"] = (constant, solvable(self.system, self.values, constant))
            except InputError as error:
                raise InputError([with_axis(p, self.system, self.values) for p in error.problems]) from None
        return self.shared["prepared"][1]

    @property
    def structure(self) -> Structure:
        """Differentiation orders of the system."""
        return self.prepared[1]

    @cached_property
    def values(self) -> Values:
        known = self.shared.setdefault("values", Values(self.network, self.overrides))
        return known.under(self.overrides, self.network)  # type: ignore[no-any-return]

    @cached_property
    def machine(self) -> Machine:
        return build_machine(self.prepared[0], self.values, lambda call, name: self._earlier(call, name, []))

    def _settled(self, for_static: bool = False) -> None:
        """Raises E302 where a run from Python that begins at the static solution finds something that nothing
        determines there; before that, what is wrong with the network itself."""
        _ = self.machine
        if ("at rest", for_static) not in self.shared:
            self.shared["at rest", for_static] = at_rest(self.system, for_static)
        if self.shared["at rest", for_static]:
            raise InputError(self.shared["at rest", for_static])

    def __repr__(self) -> str:
        network, given = self.network, ", ".join(self.overrides)
        sizes = f"{counted(len(network.instances), 'element')}, {counted(len(network.nodes), 'node')}"
        return f"<Model {shown_path(network.file)}: {sizes}{', changed ' * bool(given)}{given}>"

    def _repr_html_(self) -> str:
        return listing.about(self.network, list(self.overrides))._repr_html_()

    def __reduce__(self) -> Any:
        """What is derived holds addresses in this process: another one derives it again."""
        return Model, (self.network, dict(self.overrides))

    def __deepcopy__(self, known: Any) -> "Model":
        return self  # nothing of it changes

    @property
    def parameters(self) -> listing.Listing:
        """Every parameter with its value, unit and sentence, as a table."""
        return listing.parameters(self.network, self.values)

    @property
    def signals(self) -> listing.Listing:
        """Every signal that can be saved, with its SI unit, as a table."""
        return listing.signals(self.machine)

    @property
    def elements(self) -> listing.Listing:
        """Every element with its type, nodes and parameters, as a table."""
        return listing.elements(self.network, self.values)

    def with_params(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> "Model":
        """The same network with other parameter values (numbers in SI, or texts with units), by name or in a mapping,
        which takes dotted names too: {"m1.m": "3 kg"}. Nothing is rebuilt or recompiled."""
        return self.with_overrides({**mapping_given("with_params", {} if values is None else values), **more})

    def with_overrides(self, values: Mapping[str, Expr | str | float]) -> "Model":
        """As `with_params`, for parsed expressions too."""
        return replace(self, overrides={**self.overrides, **{n: expression_given(n, v) for n, v in values.items()}})

    @OVERFLOWS
    def check(self) -> list[Problem]:
        """Every mistake and note that can be found without stepping in time."""
        try:
            if not self.checks and any(call.run.endswith(".net") for call in table_calls(self.system, self.values)):
                return replace(self, checks=True).check()
            machine = self.machine
        except NetsimError as error:
            return list(error.problems)
        noted = chain(self.network.notes, *self.values.notes.values())
        found = [*noted, *findings(self.system, self.values, self.shared)]
        try:
            refuse_signals(machine, self._saves(), self._plots())
            check_measures(machine, self.network, self._runs_over_time or not self.network.runs)
            refuse_unknown_runs(self.system, self.values)
            runs = [(ANALYSES[run.analysis], o) for run, o in zip(self.network.runs, self.run_options())]
            for analysis, options in runs:
                analysis.refuse(self._task(), options)
            tabled = any(call.run for p in self.system.prescribed_inputs for _, call in p.calls)  # nothing is shown yet
            if runs and not tabled and not any(p for p in found if not p.is_note):
                found += runs[0][0].notes(self._task(), runs[0][1])
        except NetsimError as error:
            found += [with_axis(p, self.system, self.values) for p in error.problems]
        return found

    def run_options(self) -> list[Any]:
        """The options of every run line, checked."""
        return [self._options(run, {}) for run in self.network.runs]

    def run(self, progress: Report | None = None, **options: Any) -> Any:
        """Every `run` line in order: an xarray.Dataset, or where there are several a dict of them by name. Options
        (stop, step, method ...) take the place of those in the lines. Raises `SimulationError` as `transient` does."""
        with watched(progress) as report:
            done = self.samples({name.rstrip("_"): value for name, value in options.items()}, report)
        found = list(map(dataset_or_raise, done))  # no frame between: warnings name the line of the user
        return found[0] if len(found) == 1 else named_runs(found)

    def plot(self, *signals: str, result: Any = None) -> Any:
        """A `Picture` of signals, or of expressions of them; without any, of the plot lines. `result`: of a run that
        was done; else the netlist is run."""
        from netsim.results.plots import picture_of, study_in

        runs = self.samples() if result is None else samples_in(result)
        drawn = tuple(expression_given("plot", text) for text in texts_given("plot", signals))
        lines = (Plot(drawn),) if signals else () if study_in(runs) else self.network.plots
        return picture_of(runs, lines, self.values.scope(self.network.top))

    @OVERFLOWS
    def samples(
        self, options: Mapping[str, Any] | None = None, progress: Report | None = None, beside: Sequence[Name] = (),
        recording: Recording | None = None, client: Any = None,
    ) -> list[Samples]:  # fmt: skip
        """As `run`, a list of `Samples`, also of runs that failed; signals `beside` are sampled unseen. `client`: of
        the dask cluster that computes sweeps."""
        if not self.network.runs:
            raise InputError(Problem("E420", "the netlist has no `run` line", hint="add: run transient(stop = 1 s)"))
        refuse_unknown_runs(self.system, self.values)
        runs = self.network.runs
        chosen = list(map(self._options, runs, options_by_line(options or {}, runs, ANALYSES)))
        beside = (*beside, *signals_judged(self.network))
        check_measures(self.machine, self.network, self._runs_over_time or not self.network.runs)
        done: list[Samples] = []
        for run, option in zip(runs, chosen):
            try:
                task = self._task(None, progress, beside, self._read_later(run.name), done, recording)
                task = on_cluster(task, client, partial(self._task, None, None, beside))
                samples = run_analysis(ANALYSES[run.analysis], task, option, run.span)
            except KeyboardInterrupt:  # outside the time loop: what earlier runs found is kept
                if not done:
                    raise
                message = f"interrupted before run '{run.name or run.analysis}'"
                done[-1] = replace(done[-1], finished=False, message=message)
                break
            done.append(self._judged(with_claims(self.machine, replace(samples, name=run.name))))
            if not samples.finished:
                return done
        return with_unjudged(self.network, done, self._runs_over_time)

    @property
    def _runs_over_time(self) -> bool:
        return any(run.analysis in ANALYSES and ANALYSES[run.analysis].over_time for run in self.network.runs)

    def _judged(self, samples: Samples) -> Samples:
        return judged(self.machine, samples, self._runs_over_time)

    def _task(
        self, save: Sequence[str] | None = None, progress: Report | None = None, beside: Sequence[Name] = (),
        rated: Sequence[Name] = (), done: Sequence[Samples] = (), recording: Recording | None = None,
    ) -> Task:  # fmt: skip
        """What an analysis works on, after the runs that are done."""

        def earlier(call: Any, name: str) -> Any:
            return self._earlier(call, name, done)

        def build() -> tuple[Machine, Structure]:
            return build_machine(self.prepared[0], self.values, earlier) if done else self.machine, self.structure

        def under(values: Mapping[str, float]) -> Task:
            return self.with_overrides(values)._task(save, progress, beside, rated, done)

        given = self.network, self.values, build, earlier, self._rewired, under
        asked = self._saves(save), self._plots(), progress, beside, rated, recording
        return Task(*given, *asked, None if done else self.shared)

    def _rewired(self, network: Network) -> tuple[Values, System, Structure]:
        """Another network of the same parameters, ready to be run."""
        other = replace(self, network=network, shared={})
        return other.values, *other.prepared

    def inverse(
        self, track: Mapping[str, str], actuators: Sequence[str], progress: Report | None = None,
        save: Sequence[str] | None = None, **options: Any,
    ) -> Any:  # fmt: skip
        """The inputs `actuators` that make signals follow motions (`track = {"M.x": "1 mm*bell(...)"}`). Options: those
        of `transient`, passes, weights, coordinates, bounded (see the language reference)."""
        line = line_from(track, {"actuators": actuators, **{n: options.pop(n) for n in OWN if n in options}})
        model = replace(self, network=replace(self.network, runs=(line,)))  # its motions may read tables over runs
        return dataset_or_raise(model._alone(line, save, progress, options))

    def transient(self, progress: Report | None = None, save: list[str] | None = None, **options: Any) -> Any:
        """A transient run as an xarray.Dataset. Options: stop, step, method, rtol, forces, every, sample, from_,
        formulation, superelements. Without `stop` they take the place of those in the netlist's first transient line;
        with it, that line is not read.

        Raises `SimulationError` where it fails or an assertion does not hold; its `samples` hold the result so far."""
        line = self._transient_line(options)
        check_measures(self.machine, self.network, self._runs_over_time or not self.network.runs)
        return dataset_or_raise(self._judged(self._alone(line, save, progress, options)))

    def _transient_line(self, options: Mapping[str, Any]) -> Run:
        """The netlist's first transient line, or an empty one where the options have a `stop`."""
        line = next((run for run in self.network.runs if run.analysis == "transient" and "stop" not in options), None)
        if not line and not any(isinstance(o, str) and o == "rest" for o in map(options.get, ("from_", "from"))):
            self._settled()
        return line or Run("transient", ())

    def simulator(self, save: Sequence[str] | None = None, inputs: Sequence[str] = (), **options: Any) -> "Simulator":
        """A transient run that is stepped from Python: `step`, `advance`, signals and inputs by name or index, `state`,
        `fork`. `inputs`: parameters that sources read, to be set between steps. Options: those of `transient` but
        `every` and `sample`; the run goes on beyond `stop`, by which steps are scaled (1 s where nothing says it).

        Raises what `transient` raises, and `InputError` for what cannot be an input."""
        from netsim.analyses.over_time.run import start_simulator

        line = self._transient_line(options)
        task = self._task(save, beside=signals_judged(self.network))
        return start_simulator(task, self._options(line, stepped_options(line, options)), texts_given("inputs", inputs))

    def static(self, save: list[str] | None = None, **options: Any) -> Any:
        """The equilibrium or operating point as an xarray.Dataset of one row. Options: at (s), formulation.
        Raises `SimulationError` where there is none or none is found."""
        self._settled(for_static=True)
        return dataset_or_raise(self._alone(Run("static", ()), save, None, options))

    def __getattr__(self, name: str) -> Any:
        """`model.modal(modes = 5)`: any analysis as a method, `analyse` with its name."""
        if not name.startswith("_") and name in ANALYSES:
            return partial(self.analyse, name)
        raise AttributeError(f"'Model' object has no attribute '{name}'")

    def linearise(self, save: list[str] | None = None, **options: Any) -> Any:
        """x' = A x + B w, y = C x + D w (a `LinearModel`); a list for several instants. Options: inputs, at."""
        from netsim.analyses.signals.linear import models_at

        return models_at(self._task(save), self._options(Run("linear", ()), options))

    def analyse(
        self, analysis: str, progress: Report | None = None, save: list[str] | None = None, **options: Any
    ) -> Any:
        """Any analysis by its name, also one that was registered, as an xarray.Dataset."""
        return dataset_or_raise(self._alone(Run(analysis, ()), save, progress, options))

    @OVERFLOWS
    def _alone(
        self, line: Run, save: Sequence[str] | None, progress: Report | None, options: Mapping[str, Any],
        client: Any = None,
    ) -> Samples:  # fmt: skip
        """One analysis that no run line asks for, with what components assert of it."""
        beside = signals_judged(self.network)
        chosen = self._options(line, {name.rstrip("_"): value for name, value in options.items()})
        with watched(progress) as report:
            task = on_cluster(self._task(save, report, beside), client, partial(self._task, save, None, beside))
            return with_claims(self.machine, run_analysis(ANALYSES[line.analysis], task, chosen))

    def _saves(self, given: str | Sequence[str] | None = None) -> list[Expr]:
        if given is None:
            return [signal for save in self.network.saves for signal in save.signals]
        return [expression_given("save", text) for text in texts_given("save", given)]

    def _plots(self) -> list[Expr]:
        return [signal for plot in self.network.plots for signal in plot.signals]

    def _read_later(self, name: str) -> list[Name]:
        """Signals of the run `name` that tables of other runs read."""
        calls = table_calls(self.system, self.values) if name else ()
        return [call.signal for call in calls if call.run == name and call.signal] + self.shared.get("rated", [])

    def _earlier(self, call: Any, name: str, done: Sequence[Samples]) -> Any:
        """What a table over a run of this netlist, or of another one, shows: time, value and two rates; None where the
        run is not done yet."""
        if not name.endswith(".net"):
            return series_of_run(call, next((s for s in done if s.name == name), None))
        beside = self.overrides, self.shared, self.network, table_calls(self.system, self.values)
        return series_of_run(call, other_run(name, call, *beside, load, self.checks))

    def _options(self, run: Run, given: Mapping[str, Any]) -> Any:
        if not isinstance(run.analysis, str):
            raise refused("analysis", "the name of an analysis", run.analysis)
        if run.analysis not in ANALYSES:
            hint = nearest(run.analysis, ANALYSES) or f"the analyses are {', '.join(ANALYSES)}"
            raise InputError(Problem("E425", f"there is no analysis '{run.analysis}'", run.span, hint=hint))
        analysis, scope = ANALYSES[run.analysis], self.values.scope(self.network.top)
        return options_of(analysis, OptionSource(run, frozenset(given), self.network, scope), given)


def load(source: str | Path, counts: Mapping[str, int] | None = None) -> Model:
    """A model from a netlist file, a shipped model by its name ("tripod/stage4"), or the text of a netlist (anything
    with a line break); from a URDF file that robot, standing on the ground; from a SPICE circuit (.cir, .ckt, .sp,
    .spice, .spi), or a file of a registered format, the network it describes.

    Raises `InputError` with every mistake in the text; structure and values are looked at when first needed.
    """
    return Model(read_network(source, counts))


def register(*records: Method | Analysis[Any] | Format) -> None:
    """Methods, analyses and file formats of your own, for all models of this process.

    Raises `ValueError` for a name that netsim itself provides."""
    homes: dict[type, Registry[Any]] = {Method: METHODS, Analysis: ANALYSES, Format: FORMATS}
    for record in records:
        if type(record) not in homes:
            raise refused("register", "a method, an analysis or a format", record)
        homes[type(record)].add(record)
