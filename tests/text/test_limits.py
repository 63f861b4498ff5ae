"""What is too large is refused at its line, before any of it is built."""

import importlib
import os
import time as clock

import pytest

import netsim
from netsim.cli import main
from netsim.text import errors
from netsim.text.errors import SHOWN, InputError, Problem, SimulationError, Span
from netsim.text.limits import LIMITS, limit, limits

CIRCUIT = "use electrical\nv voltage (a, ground) v = 1 V\nr resistor (a, b) R = 1 Ohm\nc capacitor (b, ground) C = 1 F\n"
RUN = "run transient(stop = 1 s)\n"


def chain(first, count, body):
    """`count` lets that stand on one another."""
    return "\n".join([f"let a0 = ({first})", *(f"let a{k} = ({body.format(k - 1)})" for k in range(1, count))]) + "\n"


MODELS = "".join(f"model m{k} (a : electrical)\n  x m{k + 1} (a)\n  y m{k + 1} (a)\nend\n" for k in range(30))

LARGE = {
    "count": ("count n = 1e9\n", "2:7", "'n' is 1e+09"),
    "no number": ("count n = 9^9^9\n", "2:11", "a whole number is wanted, this is inf"),
    "range": ("r[k] resistor (a, b) R = 1 Ohm for k in 1..1e12\n", "2:1", "1e+12 of these"),
    "two ranges": ("r[k,j] resistor (a, b) R = 1 Ohm for k in 1..1000, j in 1..1000\n", "2:1", "1e+06 of these"),
    "lets": ("let u{k} = (k*1 V) for k in 1..1e12\n", "2:5", "1e+12 of these"),
    "models": (MODELS + "model m30 (a : electrical)\n  r resistor (a, ground) R = 1 Ohm\nend\nx m0 (b)\n", "123:3", "this is element 300001"),
    "squares": (chain("c.v/(1 V)", 41, "a{0}*a{0}") + "x current (b, ground) I = a40*1 A\n", "18:5", "'a16' stands for 6.55e+04 terms"),
    "depth": (chain("c.v/(1 V)", 3000, "a{0}") + "x current (b, ground) I = a2999*1 A\n", "102:5", "'a100' stands on 101 lets"),
}


@pytest.mark.parametrize("name", LARGE)
def test_what_is_too_large_is_refused_at_its_line(name):
    lines, place, words = LARGE[name]
    with pytest.raises(InputError) as raised:
        netsim.load(CIRCUIT.replace("\n", f"\n{lines}", 1) + RUN).samples()
    (problem,) = raised.value.problems
    assert words in problem.message
    assert f"{problem.span.line}:{problem.span.column}" == place
    assert name == "no number" or "--limit" in problem.hint


def test_what_lets_of_numbers_stand_for_is_found_once():
    """3 000 lets on one another, and 40 squares: a value each."""
    found = netsim.load(CIRCUIT + chain("1 V", 3000, "a{0}") + "save a2999\n" + RUN.replace("1 s", "1 s, sample = 1 s"))
    assert found.values.scope(found.network.top)
    run = netsim.load(CIRCUIT.replace("v = 1 V", "v = 1 V*a40") + chain("1", 41, "a{0}*a{0}") + RUN)
    assert float(run.transient()["a.v"][-1]) == 1.0


def test_lets_of_numbers_that_stand_on_themselves_are_told():
    with pytest.raises(InputError, match=r"E233 '[pq]' depends on itself"):
        netsim.load(CIRCUIT.replace("v = 1 V", "v = p") + "param p = q*2\nparam q = p\n" + RUN).transient()
    with pytest.raises(InputError, match="E233"):
        netsim.load(CIRCUIT + "let u = (w + c.v)\nlet w = (u)\nx current (b, ground) I = u*1 A/(1 V)\n" + RUN).transient()


def test_limits_are_raised_for_what_is_inside():
    text = CIRCUIT + "x[k] resistor (b, ground) R = 1 Ohm for k in 1..20\n" + RUN
    with limits(elements=20), pytest.raises(InputError, match="E260"):
        netsim.load(text)
    with netsim.limits(elements=30):
        assert len(netsim.load(text).network.instances) == 23
    assert limit("elements") == LIMITS["elements"][0]
    with pytest.raises(InputError, match="did you mean 'elements'"), limits(elemens=3):
        pass


def test_samples_beyond_the_memory_are_refused_before_the_run():
    model = netsim.load(CIRCUIT + "run transient(stop = 3e8 s, sample = 1 s)\n")
    began = clock.perf_counter()
    with pytest.raises(InputError, match=r"3e\+08 samples of \d+ signals"):
        model.transient()
    assert clock.perf_counter() - began < 5.0
    with limits(values=10), pytest.raises(InputError, match="E260"):
        netsim.load(CIRCUIT + RUN.replace("1 s", "1 s, step = 0.1 s")).transient()


@pytest.mark.parametrize(
    "run",
    [
        "sensitivity(stop = 1 s, sample = 1e-15 s, of = [out.v], to = [r.R])",
        "optimize(stop = free(1 s, 20 s), sample = 1e-12 s, minimize = integral(out.v*(1 A)), parameters = [r.R = 1 Ohm .. 2 Ohm])",
    ],
)
def test_other_analyses_refuse_them_too(run):
    with pytest.raises(InputError, match=r"E260 .* samples of \d signals are"):
        netsim.load(f"{RC}run {run}\nsave out.v\n").samples()


@pytest.mark.parametrize("time", ["1e-300 s", "1e300 s", "1e308 s", "1e-310 s"])
@pytest.mark.parametrize(
    "run",
    [
        "transient(stop = T)",
        "periodic(period = T)",
        "sensitivity(stop = T, of = [out.v], to = [r.R])",
        "optimize(stop = T, minimize = integral(out.v^2), parameters = [r.R = 1 Ohm .. 2 Ohm])",
        "optimize(stop = free(T, 1e308 s), minimize = integral(out.v^2), parameters = [r.R = 1 Ohm .. 2 Ohm])",
        "ac(from = 1 Hz, to = 2 Hz, input = src, at = T)",
        "linear(inputs = [src.v], at = T)",
        "poles(at = T)",
    ],
)
def test_times_that_no_run_can_take_are_refused_in_words(run, time):
    with pytest.raises(InputError, match=r"E42[0-9]|E448"):
        netsim.load(f"{RC}run {run.replace('T', time)}\nsave out.v\n").samples()


RC = """use electrical
src voltage   (a, ground)   v = 1 V
r   resistor  (a, out)      R = 1 kOhm
c   capacitor (out, ground) C = 1 uF
"""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("stop = 1e308 s", "'stop' must be between"),
        ("stop = 1 s, step = 1e-300 s", "'step' must be between"),
        ("stop = 1 s, step = 1e-17 s", "'step' is lost in the rounding of 'stop'"),
        ("stop = 1e-100 s", "'stop' must be between"),
    ],
)
def test_times_that_no_clock_tells(options, words):
    with pytest.raises(InputError, match="E423") as raised:
        netsim.load(CIRCUIT + f"run transient({options})\n").transient()
    assert words in str(raised.value)


# ---------------------------------------------------------------------------------------------------------- files


def test_files_that_include_one_another(tmp_path):
    (tmp_path / "a.net").write_text('include "b.net"\n')
    (tmp_path / "b.net").write_text('# second\ninclude "a.net"\n')
    with pytest.raises(InputError, match=r"E220 'a.net' includes itself: a.net -> b.net -> a.net") as raised:
        netsim.load(tmp_path / "a.net")
    assert raised.value.problems[0].span.line == 2


def test_files_that_include_one_another_too_deeply(tmp_path):
    """More than the limit, or what the stack of Python holds at this place, whichever is less; the stack alone where the limit is raised."""
    for k in range(1500):
        (tmp_path / f"{k}.net").write_text(f'include "{k + 1}.net"\n')
    (tmp_path / "1500.net").write_text(CIRCUIT + RUN)
    assert len(netsim.load(tmp_path / "1400.net").network.instances) == 3
    for source in (tmp_path / "0.net", f'include "{tmp_path / "0.net"}"\n'):
        with netsim.allow(tmp_path), pytest.raises(InputError, match=r"E260 100\d files include one another|E261"):
            netsim.load(source)
        with netsim.allow(tmp_path), limits(files=5000), pytest.raises(InputError, match="E261 something in this text"):
            netsim.load(source)


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "folder", "pipe"])
def test_names_that_are_no_files(tmp_path, name):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for line in (f'include "{name}"\n', CIRCUIT.replace("v = 1 V", f'v = table("{name}", time/(1 s))*1 V') + RUN):
        file = tmp_path / "main.net"
        file.write_text(line)
        with pytest.raises(InputError, match=r"E220 cannot read|E240 cannot read|E128 the control character U\+0000"):
            netsim.load(file).samples()
    with pytest.raises(InputError, match="E100"):
        netsim.load(tmp_path / name)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("0,1\n1,nan\n2,3", "column 2 ('u') of line 4 of table 't.csv' is not finite: nan"),
        ("0,1\n1,inf\n2,3", "column 2 ('u') of line 4 of table 't.csv' is not finite: inf"),
        ("0,1\n1\n2,3", "line 4 of table 't.csv' has no column 2 ('u'): it has 1"),
        ("0,1\n1,2,3\n2,3", "line 4 of table 't.csv' has 3 columns, and its header 2"),
        ("0,1\n1,two\n2,3", "'two' in column 2 ('u') of line 4 of table 't.csv' is no number"),
        ("0,1\n2,2\n\n1,3", "the first column of 't.csv' must increase; it does not at line 6"),
    ],
)
def test_the_row_and_column_of_a_table_that_is_wrong(tmp_path, rows, words):
    (tmp_path / "t.csv").write_text(f"# measured\nt [s],u [V]\n{rows}\n")
    file = tmp_path / "main.net"
    file.write_text(CIRCUIT.replace("v = 1 V", 'v = table("t.csv", time)') + RUN)
    with pytest.raises(InputError) as raised:
        netsim.load(file).samples()
    assert words in str(raised.value)


# ---------------------------------------------------------------------------------------------------------- messages


def test_the_first_fifty_of_many_problems_are_shown(tmp_path, capsys):
    file = tmp_path / "wrong.net"
    file.write_text("use electrical\n" + "".join(f"wrong line {k} here\n" for k in range(2000)))
    assert main(["check", str(file)]) == 2
    shown = capsys.readouterr().err
    assert shown.count("E114") == errors.SHOWN
    assert shown.endswith("and 1950 more\n")


@pytest.mark.parametrize("column", [1, 400, 998])
def test_long_lines_are_shown_around_the_place(column):
    text = "".join(chr(97 + k % 26) for k in range(1000))
    errors.remember_source("<long>", text)
    shown = errors.render(Problem("E999", f"a word {'y' * 500} of a sentence", Span("<long>", 1, column, 1, column + 2)))
    head, line, caret = shown.splitlines()
    assert "(500 letters)" in head
    assert all(len(each) < 2 * errors.WIDE for each in (head, line, caret))
    at = caret.index("^")
    assert line[at : at + 2] == text[column - 1 : column + 1]


@pytest.mark.parametrize(
    ("line", "code", "searched"),
    [
        ("r{k} resistr{k} (a, ground) R = 1 Ohm", "E226", "netsim.network.expansion.homes"),
        ("r{k} resistr (a, ground) R = 1 Ohm", "E226", "netsim.network.expansion.homes"),
        ("r{k} resistor (a, ground) R = 1 Ohmm", "", "difflib.get_close_matches"),
        ("use electricl", "E220", "difflib.get_close_matches"),
    ],
)
def test_hints_of_many_wrong_lines_cost_no_more_than_those_that_are_shown(line, code, searched, monkeypatch):
    module, name = searched.rsplit(".", 1)
    whole, calls = getattr(importlib.import_module(module), name), []
    monkeypatch.setattr(searched, lambda *a, **k: calls.append(a) or whole(*a, **k))
    lines = "\n".join(line.format(k=k) for k in range(3 * SHOWN))
    with pytest.raises(InputError) as caught:
        netsim.load(f"use electrical\n{lines}\nrun transient(stop = 1 s)\n").check()
    assert sum(p.code.startswith(code) for p in caught.value.problems) >= (3 * SHOWN if line[0] == "r" else 1)
    assert len(calls) <= SHOWN


@pytest.mark.parametrize("run", ["periodic(method = euler, rtol = 1e-9)", "sensitivity(stop = 1 s, of = [c.v], to = [r.R])", "transient(stop = 1 s)"])
def test_steps_that_fill_the_memory_are_told(run):
    """Implicit Euler takes 10^9 steps for the first run, whose unknowns at all of them are kept."""
    text = CIRCUIT.replace("v = 1 V", "v = 1 V*sin(2*pi*time/(1 s))").replace("C = 1 F", "C = 10 mF")
    with limits(values=2000), pytest.raises(SimulationError, match=r"E260 \d+ steps, up to t = .* s of [13] s, leave .* numbers") as told:
        netsim.load(f"{text}run {run}\nsave c.v\n").run()
    assert ("--limit values" in str(told.value)) == ("euler" not in run)
