"""How the package hangs together: imports point one way, files stay small, names and docstrings are kept; changed values rebuild nothing."""

import ast
import re
import threading
from pathlib import Path

import networkx
import numpy as np
import pytest

import netsim
from conftest import loaded
from netsim.equations.kernels import native
from netsim.equations.machine import build_machine, run_calls
from netsim.library.files import models_folder
from repeated import repeated

PACKAGE = Path(netsim.__file__).parent

ROOMS = {
    "text": "registry collecting kept.cache kept.shipped kept.sources kept.trees columns errors limits roots "
    "units terms syntax expressions.show show spelling expressions.operations expressions.sizes expressions.filters expressions.junctions "
    "expressions.shapes expressions.beams expressions.functions "
    "expressions.literals expressions.typed grammar.words grammar.scan grammar.build_expressions grammar.build grammar.flat grammar.grammar "
    "grammar.explain parse expressions.from_python kept.parsed_texts",
    "formats": "format csv netcdf "
    "spice.cards spice.blocks spice.numbers spice.functions spice.expressions spice.conditions spice.circuit spice.scopes "
    "spice.elements.models spice.elements.words_of_cards spice.elements.semiconducting.parameters spice.elements.sources "
    "spice.elements.two_resistances spice.elements.passives "
    "spice.elements.distributed.relaxations spice.elements.distributed.lines spice.elements.distributed.coupled "
    "spice.elements.transfer spice.elements.code_models spice.elements.devices spice.elements.switches spice.elements.semiconducting.transistors "
    "spice.elements.semiconducting.ideal_diode spice.elements.semiconducting.semiconductors spice.elements.windings "
    "spice.analyses.small_signals spice.analyses.measures spice.analyses.operating spice.analyses.other_lines spice.analyses.harmonics "
    "spice.analyses.sweeps spice.analyses.control "
    "spice.netlist urdf.elements urdf.robot urdf.tree urdf.reading urdf.netlist *",
    "library": "formats component functions components extension shadowing domains checks places files search catalogue",
    "network": "network checks lets placement repetition expansion signals tables values bindings of_time.pulses given reading",
    "core": "compiled.kinds compiled.struct compiled.linking compiled.store compiled.digests compiled.sources compiled.translation "
    "compiled.entries compiled.processes compiled.objects compiled.function compiled.call linear.elimination "
    "linear.graphs linear.columns linear.matching "
    "linear.symbolic linear.patterns linear.nesting linear.triangles linear.factors linear.sweep linear.least_change linear.equilibrated "
    "rotation problem history newton consistent "
    "minimum_norm contract method scales states readings variational.charts variational.variation "
    "variational.equations variational.adjoint loop.control loop.crossings loop.defect "
    "loop.event_iteration loop.accumulated loop.turnover loop.sums loop.sampler loop.delays loop.adaptive loop.instants loop.refined "
    "begin.stages begin.step_responses begin.variant methods.tableaux methods.kinks methods.explicit "
    "methods.single methods.euler methods.prediction methods.trbdf2 bdf.differences bdf.stability methods.bdf methods.generalized_alpha "
    "radau.arrays radau.coupled radau.matrix radau.stages radau.along_constraints methods.radau methods.*",
    "equations": "kernels.symbolic kernels.program kernels.lowering forms.symbols forms.facts forms.form forms.delays forms.hidden_discretes "
    "forms.events forms.lagrange forms.turns forms.name_resolution forms.build forms.record kernels.kernel forms.noise kernels.native"
    " kernels.vector_functions kernels.vectors kernels.addresses kernels.reference "
    "kernels.precomputation "
    "layout numbering batches parameters inputs prescribed expression_form elements system history "
    "machine starts.rows starts.written messages",
    "structure": "orders nullspace pencil prescribed roles causes unconnected rest of_time.switching of_time.periods time_events "
    "of_time.continuity of_time.smoothness findings",
    "initial": "cut_sets charts conflicts diagnosis.suspects diagnosis.diagnosis consistent.derivatives stages consistent.newton fixed assembly "
    "diagnosis.changes diagnosis.operating_point "
    "initial reachability reactions.indeterminacy reactions.reactions reactions.redundancy reactions.axes "
    "reactions.left_out singular_configuration consistent.plan consistent.compiled_start recovery differentiated flat_plan "
    "reactions.minimum_norm static.held static.rest static.determined static.search static.homotopy static.equilibrium static.reinitialisation",
    "multibody": "tree.beam tree.model tree.spatial tree.charts tree.flexible tree.kinematics tree.wrench_derivatives tree.entries tree.robot "
    "tree.algorithms.articulated tree.algorithms.inverse tree.algorithms.forward tree.algorithms.composite "
    "tree.algorithms.observers tree.algorithms.superelements tree.algorithms.derivatives tree.algorithms.newmark superelements "
    "jointspace.compiled.plan jointspace.compiled.twists jointspace.compiled.flexible jointspace.compiled.entries jointspace.deflections "
    "jointspace.joints jointspace.compiled.recursion jointspace.calls jointspace.spanning jointspace.numbering jointspace.pattern "
    "jointspace.partials jointspace.element jointspace.rows jointspace.start recursion.inertias recursion.integrals recursion.projection "
    "recursion.sources recursion.links recursion.chains recursion.bodies recursion.pushes recursion.states recursion.starts recursion.given "
    "recursion.runge_kutta",
    "results": "progress samples partial.container partial.rows partial.claim partial.recording partial.reading measuring.splines earlier files "
    "measuring.quadrature series trajectories "
    "over_frequency.harmonics over_cases.one_per_code "
    "selection over_frequency.figures over_frequency.densities over_frequency.members measuring.subjects measuring.record "
    "measuring.side_by_side measures claims rates listing over_frequency.curves "
    "over_frequency.pictures over_frequency.spectra over_cases.pictures over_parameters.pictures over_parameters.characteristics plots",
    "simulate": "methods options judgement pivots events.event_log setup.kinds setup.sizes events.magnitudes events.iteration "
    "events.plans events.events events.releases events.modes_at_rest setup.arrays.planned running setup.choice setup.turns setup.plane_turns "
    "setup.sliders setup.start_of_run setup.features setup.sums setup.weights setup.instants "
    "setup.arrays.readings setup.arrays.trial setup.arrays.control setup.arrays.sampler setup.arrays.consistent "
    "events.passing failed_steps snapshots run_template retreat repeated stored.run_state adaptive stored.recorder "
    "stepped.inputs stepped.stepped_run stepped.simulator",
    "analyses": "option_values refusals over_time.long_runs over_time.named_signals over_time.start over_time.templates over_time.verdicts analysis "
    "signals.linearised signals.states.passivity signals.states.leading signals.states.reduction signals.states.growth signals.states.prescribed "
    "recursion_options recursion static "
    "over_time.run transient "
    "signals.corners signals.points modal signals.options signals.inputs signals.families "
    "signals.response signals.descriptor signals.ac signals.linear signals.poles signals.noise "
    "inverse.options earlier_runs inverse.tracking inverse.authority inverse.zero_dynamics inverse.runs inverse.check inverse.growth "
    "sensitivity.tangents sensitivity.varied many.ranges "
    "optimal.program.called optimal.program.blocks optimal.program.radau optimal.options optimal.parameters optimal.program.points "
    "optimal.program.rounded optimal.wishes "
    "operating.continuation operating.curve operating.switching operating.at_values "
    "operating.sweep_static operating.transfer operating.sensitivity_static operating.sensitivity_ac ports.ports "
    "optimal.program.ways optimal.program.transcription "
    "optimal.program.solve optimal.guess optimal.ends optimal.units optimal.results.answer optimal.results.costates "
    "optimal.program.refinement optimal.results.pointwise "
    "optimal.results.verification optimal.results.failing optimal.meshes optimal.simulated optimal.stable_inversion inverse.inverse "
    "optimal.posing optimal.optimize "
    "sensitivity.static_start sensitivity.elements sensitivity.changed_values sensitivity.variations "
    "sensitivity.crossing sensitivity.kinks sensitivity.forward sensitivity.gradients sensitivity.adjoint sensitivity.sensitivity "
    "periodic.clock periodic.states periodic.shooting periodic.stability periodic.sources periodic.orbit periodic.periodic "
    "periodic.forced periodic.periodic_ac periodic.branch periodic.sweep_periodic "
    "many.fit many.spreads many.indices many.cases many.one_case many.lanes.copies many.lanes.places many.lanes.lane_verdicts many.lanes.lanes "
    "many.journal many.processes many.workers "
    "many.cluster.connection many.cluster.pieces "
    "many.data_set many.sweep many.studies *",
    "api": "",
    "output": "diagram scene animate bending visual_shapes scenes mode_shapes network_shown show summary starts_shown",
    "commands": "kept_listing messages interruption analysis_commands inspection creation completion",
    "cli": "",
    "__main__": "",
}
"""A module imports only from modules before its own place, also inside functions. `*` stands for all other modules of a folder in which a module
is a method, an analysis or a file format: a new one needs no place."""
MOST_FILES = 12
"""Modules in one folder; more become a folder with a name."""

LONGEST = 350
LONG: dict[str, int] = {
    "api.py": 385,
    "initial/initial.py": 391,
    "network/expansion.py": 406,
    "text/syntax.py": 371,
}
"""Files that are longer than they should be, and may only become shorter."""


def modules():
    """Dotted names within the package -> (file, syntax tree)."""
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = (file, ast.parse(file.read_text(encoding="utf-8")))
    return found


MODULES = modules()
NAMES = [name for name in MODULES if name]


def order():
    """All modules of `ROOMS` in their order."""
    placed = [f"{room}.{name}" if name else room for room, modules in ROOMS.items() for name in modules.split() or [""]]
    for name in placed:
        folder = name.removesuffix("*")
        others = [each for each in NAMES if each.rpartition(".")[0] == folder.rstrip(".") and MODULES[each][0].name != "__init__.py"]
        yield from [each for each in others if each not in placed] if name != folder else [name]


ORDER = list(order())


def imports(name):
    """Modules that one imports anywhere in its text, also inside functions; of a folder that is imported as a whole, all of them."""
    for other in _imported(name):
        inside = [each for each in NAMES if each.startswith(f"{other}.") and MODULES[each][0].name != "__init__.py"] if other else []
        yield from inside or [other]


def _imported(name):
    for node in ast.walk(MODULES[name][1]):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: a relative import"
            if node.module and node.module.split(".")[0] == "netsim":
                base = node.module.partition(".")[2]
                for alias in node.names:
                    inner = f"{base}.{alias.name}".lstrip(".")
                    yield inner if inner in MODULES else base
        elif isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[2] for alias in node.names if alias.name.split(".")[0] == "netsim")


def rank(name):
    return ORDER.index(name)


@pytest.mark.parametrize("name", [name for name in NAMES if MODULES[name][0].name != "__init__.py"])
def test_imports_point_one_way(name):
    assert name in ORDER, f"'{name}' has no place in the order: give it one"
    upward = [other for other in imports(name) if other and (other not in ORDER or rank(other) > rank(name))]
    assert upward == [], f"{name} imports from above itself"


def test_packages_hold_nothing_themselves():
    """What a package is for stands in its docstring; its modules are imported by their own names."""
    assert [name for name in NAMES if MODULES[name][0].name == "__init__.py" and len(MODULES[name][1].body) != 1] == []


def test_the_order_names_what_there_is():
    assert sorted(ORDER) == sorted(name for name in NAMES if MODULES[name][0].name != "__init__.py")


def test_the_map_of_the_house_is_the_order_of_its_rooms():
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)(?:/|\.py)` \|", text, re.MULTILINE) == list(ROOMS)[:-1]


def test_folders_hold_a_dozen_files_at_most():
    folders = {MODULES[name][0].parent for name in NAMES}
    assert {f.name: n for f in folders if (n := sum(file.name != "__init__.py" for file in f.glob("*.py"))) > MOST_FILES} == {}


def test_no_cycles():
    graph = networkx.DiGraph((name, other) for name in NAMES for other in imports(name) if other and other != name)
    assert [sorted(c) for c in networkx.strongly_connected_components(graph) if len(c) > 1] == []


@pytest.mark.parametrize("name", NAMES)
def test_files_are_short_and_named_after_what_they_hold(name):
    file = MODULES[name][0]
    lines = file.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= LONG.get(file.relative_to(PACKAGE).as_posix(), LONGEST), f"{file.name} has {len(lines)} lines"
    assert max(map(len, lines), default=0) <= 120, "remarks for lint and patterns may be broken, too"
    assert not {"utils", "util", "base", "manager", "helper", "helpers", "data", "misc", "common"} & set(name.split("."))


VAGUE = {
    *("asked", "begun", "chosen", "driven", "found", "given", "kept", "known", "lap", "left", "lent", "lost", "made", "meant"),
    *("met", "near", "other", "parted", "said", "seen", "shown", "swung", "taken", "told", "wanted", "without"),
}
"""Words that fit anything: what a module offers has a name that says what is done to what."""


def test_public_names_say_what_is_done_to_what():
    offered = {(name, node.name) for name, (_, tree) in MODULES.items() for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert sorted(each for each in offered if each[1].lower() in VAGUE) == []


ALIKE = {
    ("core.loop.crossings", "core.loop.event_iteration"): "sizes of the watch as locals: a call in compiled code would cost more lines",
}
"""Pairs of modules that share a run of equal lines, with the reason."""


def test_no_run_of_lines_stands_twice():
    """Six equal lines in a row, imports and blanks passed over, are written once, or the reason is above."""
    texts = {}
    for name, (file, tree) in MODULES.items():
        lines = file.read_text(encoding="utf-8").splitlines()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
        texts[name] = "\n".join(lines)
    assert {(a, b) for (a, _), (b, _) in repeated(texts)} == set(ALIKE)


@pytest.mark.parametrize("name", NAMES)
def test_everything_public_is_documented(name):
    tree = MODULES[name][1]
    definitions = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef) and not n.name.startswith("_")]
    assert [n.name for n in definitions if not ast.get_docstring(n)] == []
    assert ast.get_docstring(tree) or not tree.body, "the file says what it holds"


def test_import_is_light():
    """The command line can show its help without CasADi, numba, SciPy or matplotlib."""
    import subprocess
    import sys

    heavy = "casadi numba llvmlite scipy matplotlib xarray pandas"
    code = f"import sys, netsim, netsim.text.errors, netsim.text.units, netsim.cli; print(*(set('{heavy}'.split()) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_run_imports_what_it_needs(tmp_path):
    """A run that writes a table needs no data frames, no pictures, no other method, no multibody code, and no compiler once its code is kept."""
    import subprocess
    import sys

    unused = (
        "xarray pandas networkx matplotlib scipy.integrate scipy.optimize scipy.spatial numba netsim.formats.spice.netlist netsim.core.methods.bdf"
    )
    unused += " netsim.multibody.recursion.bodies netsim.analyses.modal netsim.analyses.inverse.inverse netsim.output.scenes"
    run = ["run", str(models_folder() / "two_masses.net"), "--output", str(tmp_path / "a.csv")]
    code = f"import sys, netsim.cli; netsim.cli.main({run}); print(*sorted(set('{unused}'.split()) & set(sys.modules)), file=sys.stderr)"
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1].strip() == ""


# ----------------------------------------------------------------------------------------------- values and structure


@pytest.fixture
def compiled(monkeypatch):
    """Programs handed to the compiler from now on, counted."""
    counted = []
    original = native.compile

    def spy(programs, by):
        counted.extend(programs)
        return original(programs, by)

    monkeypatch.setattr(native, "compile", spy)
    return counted


def test_new_values_rebuild_and_compile_nothing(compiled):
    model = loaded("two_masses")
    model.samples({"stop": 0.1})
    compiled.clear()
    other = model.with_params(stiffness=321.0).with_overrides({"m1.m": "3 kg"})
    (changed,), (same,) = other.samples({"stop": 0.1}), model.samples({"stop": 0.1})
    assert compiled == []
    assert other.system is model.system and other.structure is model.structure
    assert not np.array_equal(changed.series("s1.f"), same.series("s1.f"))


def _bound(expression):
    lines = ["use translational", "param q = 3 N/m", "m1 mass (a) m = 2 kg, start v = 1 m/s", f"f1 force (a) F = {expression}"]
    return netsim.load("\n".join([*lines, "run transient(stop = 0.1 s, step = 1 ms, method = euler)", ""]))


def test_a_new_bound_expression_costs_its_kernels_only(compiled):
    """Other literals share the code; another shape compiles its own kernels and none of the components'."""
    _bound("-q*a.x").samples()
    compiled.clear()
    _bound("-q*a.x").with_params(q=8.0).samples()
    assert compiled == []
    _bound("-q*a.x*tanh(2.71*a.x/(1 m))").samples()
    shape = len(compiled)
    assert 0 < shape <= 5
    _bound("-q*a.x*tanh(3.14*a.x/(1 m))").samples()
    assert len(compiled) == shape


def test_the_content_of_a_table_costs_none(tmp_path, compiled):
    net = tmp_path / "drive.net"
    lines = ["use electrical", 'v1 voltage (a, ground) v = table("drive.csv", time, "v")', "r1 resistor (a, ground) R = 2 Ohm"]
    net.write_text("\n".join([*lines, "run transient(stop = 1 s, step = 0.1 s, method = euler)", ""]))
    found = []
    for scale in (1.0, 3.0):
        (tmp_path / "drive.csv").write_text("time [s],v [V]\n" + "\n".join(f"{t},{scale * t**2}" for t in np.linspace(0, 1, 11)) + "\n")
        found.append(netsim.load(net).samples()[0].series("a.v")[-1])
        if scale == 1.0:
            compiled.clear()
    assert compiled == []
    assert found == pytest.approx([1.0, 3.0])


HARD_NAMES = "k t F lambda E x der_x"


def test_names_of_users_meet_no_names_of_the_code():
    """Parameters called like our own symbols give the same numbers as any other names, on both targets."""

    def text(names):
        params = "\n".join(f"  param {n} = {i + 1}" for i, n in enumerate(names))
        outer = "\n".join(f"param {n} = {i + 2}" for i, n in enumerate(names))
        law = f"i = ({' + '.join(names)})*v/(1 Ohm) + {names[1]}*der(v)*(1 F)"
        component = f"component odd (p : electrical)\n{params}\n  branch p -> ground : v, i\n  {law}\nend\n"
        bindings = ", ".join(f"{n} = {n}/2" for n in names)
        source = f"s1 current (a, ground) I = 1 A * ({'*'.join(names)})*sin({names[0]}*time/(1 s))\n"
        return f"use electrical\n{component}{outer}\no1 odd (a) {bindings}\n{source}run transient(stop = 1 s, step = 10 ms, method = euler)\n"

    models = [netsim.load(text(names)) for names in (HARD_NAMES.split(), [f"plain{i}" for i in range(7)])]
    hard, plain = (model.samples()[0] for model in models)
    assert np.max(np.abs(hard.series("a.v"))) > 0
    assert np.array_equal(hard.values, plain.values)
    assert np.array_equal(*(reference_residual(model) for model in models))


def reference_residual(model):
    """The residual at a fixed point by the NumPy target, checked against the machine code."""
    from netsim.core.compiled.call import run_table

    machine = build_machine(model.system, model.values)
    g = machine.g + np.linspace(0.1, 1.0, len(machine.g))
    numpy, machine_code = np.zeros(model.system.out_size), np.zeros(model.system.out_size)
    run_calls(machine.calls["residual"], model.system.layout.uniforms, g, numpy)
    run_table(machine.problem.residual, g, machine_code)
    assert np.allclose(numpy, machine_code, rtol=1e-14, atol=0)
    return numpy


# ------------------------------------------------------------------------------------------------------- repeatability


def test_runs_of_one_model_are_bit_identical_also_in_threads():
    model = loaded("diode_rectifier")
    first = model.samples({"stop": 0.02})[0]
    found = [None] * 3

    def work(i):
        found[i] = model.samples({"stop": 0.02})[0]

    threads = [threading.Thread(target=work, args=(i,)) for i in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work(2)
    for other in found:
        assert np.array_equal(first.values, other.values) and np.array_equal(first.energy, other.energy)
