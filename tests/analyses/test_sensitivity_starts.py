"""How starts change with parameters: near the known one as started anew, and what it costs; pictures of derivatives."""

import numpy as np
import pytest

import netsim
from netsim.analyses.sensitivity import elements, static_start, varied
from netsim.analyses.sensitivity.varied import parameter_changes, placed_at, start_changes
from netsim.results.files import samples_in, samples_of, write
from netsim.results.over_parameters.pictures import drawn
from netsim.simulate.options import TransientOptions
from netsim.simulate.setup.start_of_run import start_of_run
from netsim.text.errors import InputError

DIVIDER = """use electrical
param U = 5 V
param R = 1 kOhm
v1 voltage (a, ground) v = U
r1 resistor (a, b) R = R
d1 diode (b, c)
r2 resistor (c, ground) R = 2*R
c1 capacitor (c, ground) C = 1 uF
r3 resistor (b, d) R = 3 kOhm
c2 capacitor (d, ground) C = 2 uF, start v = U/10
l1 inductor (d, e) L = 1 mH
r4 resistor (e, ground) R = 500 Ohm
"""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (DIVIDER, ["U", "R", "r3.R", "c2.C", "c1.C", "l1.L", "d1.Is", "c2.v.start"]),
        ("benchmarks/transistor_amplifier", ["R", "R0.R", "C2.C", "Q1.alpha", "Q2.Vt", "C3.v.start"]),
    ],
)
def test_starts_change_near_the_known_one_as_anew(text, names, monkeypatch):
    """And so do parameters; those of one element ask that one alone."""
    model = netsim.load(text)
    tasks = []

    def keep(task, *rest):
        tasks.append(task)
        return elements.all_varied(task, *rest)

    monkeypatch.setattr("netsim.analyses.sensitivity.sensitivity.all_varied", keep)
    model.sensitivity(to=names, stop="1 us")
    task, options = tasks[0], TransientOptions(stop=1e-6)
    machine, structure, g, _ = start_of_run(task.machine, task.structure)
    near = static_start.static_start(machine, structure, g)
    local = elements.Elements(task, near).local
    layout = machine.system.layout
    contents = layout.differentiated(np.arange(layout.nq), 0)
    for name in names:
        anew, close, own = (varied.varied_quantity(task, name, options, None, *ways) for ways in ((placed_at,), (near.placed,), (near.placed, local)))
        assert (own.local is not None) == (name.count(".") == 1)
        for each in (close, own):
            mine, wanted = (start_changes(machine, [v])[0] for v in (each, anew))
            for part in (slice(1, layout.y), slice(layout.y, layout.history), contents):
                if each.local and part is not contents:
                    continue
                size = np.abs(wanted[part]).max(initial=0.0) + 1e-2 * np.abs(g[part]).max(initial=0.0) / abs(anew.value)
                np.testing.assert_allclose(mine[part], wanted[part], rtol=1e-8, atol=1e-8 * size, err_msg=name)
            mine, wanted = (parameter_changes(machine, v) for v in (each, anew))
            assert mine.keys() == wanted.keys()
            for key in mine:
                np.testing.assert_allclose(mine[key], wanted[key], rtol=1e-12, atol=1e-300, err_msg=name)


def test_a_circuit_is_started_once(monkeypatch):
    """A parameter of a circuit costs no start, one of a network with events four."""
    count = []

    def counted(*given, **more):
        count.append(given)
        return start_of_run(*given, **more)

    monkeypatch.setattr("netsim.analyses.sensitivity.varied.start_of_run", counted)
    netsim.load(DIVIDER).sensitivity(to=["U", "R", "r3.R"], stop="1 us")
    assert count == []
    ball = netsim.load("many/bouncing_ball")
    ball.sensitivity(to=["b.e"], stop=1.5)
    assert len(count) == 4


def test_what_does_not_depend_on_a_parameter_has_no_derivative():
    """Exactly, not to the rounding of differences."""
    found = netsim.load(DIVIDER).sensitivity(to=["r3.R", "U"], of=["a.v"], stop="1 ms")
    assert not found["d(a.v)/d(r3.R)"].values.any() and np.allclose(found["d(a.v)/d(U)"], 1.0, rtol=1e-12)


RESONANCE = """use electrical
param U = 1 V
v1 voltage (a, ground) v = U
r1 resistor (a, b) R = 100 Ohm
l1 inductor (b, c) L = 10 mH, start i = 0 A
c1 capacitor (c, ground) C = 1 uF, start v = 0 V
measure rise = when(c.v > 0.9 V) - when(c.v > 0.1 V)
plot c.v
"""


def test_pictures_show_derivatives_times_their_parameters(tmp_path):
    """Curves of signals and bars of measures, the same from memory and from a file."""
    model = netsim.load(RESONANCE)
    values = {"U": 1.0, "r1.R": 100.0, "c1.C": 1e-6}
    found = model.sensitivity(to=list(values), of=["c.v", "rise"], stop="2 ms")
    (file,) = write(found, tmp_path / "result.nc")
    for runs in (samples_in(found), samples_of(file)):
        above, below = drawn(runs[0], ()).axes
        shown = {line.get_label(): line.get_ydata() for line in above.get_lines()}
        assert shown.keys() == values.keys() and above.get_ylabel() == "p d(c.v)/dp [V]"
        for name, value in values.items():
            np.testing.assert_allclose(shown[name], value * found[f"d(c.v)/d({name})"].values, rtol=1e-12)
        bars = dict(zip([t.get_text() for t in below.get_yticklabels()], [patch.get_width() for patch in below.patches]))
        rise = found.attrs["measure.rise"]
        assert bars == pytest.approx({n: v * found.attrs[f"measure.d(rise)/d({n})"] / rise for n, v in values.items()})
    assert len(model.plot("rise", result=found).figure.axes) == 1
    with pytest.raises(InputError, match=r"'b\.v' has no derivatives here"):
        model.plot("b.v", result=found)
    back = model.sensitivity(to=list(values), of=["c.v"], stop="2 ms", derivatives="adjoint")
    assert back.attrs["measure.rise"] == pytest.approx(rise, rel=1e-3) and back["c.v"].dims == ("time",)
    (axes,) = model.plot(result=back).figure.axes
    assert axes.get_xlabel() == "p/final(c.v) d(final(c.v))/dp"
