# ruff: noqa: E501  (a circuit per line reads best)
"""Operating points that are hard to find: long chains of inverters, amplifiers, references and latches; beside ngspice where it is installed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import netsim

MOS = (".model nm nmos(vto=0.8 kp=50u)", ".model pm pmos(vto=-0.8 kp=20u)")
BIPOLAR = (".model qn npn(is=1e-15 bf=120 vaf=90 rb=50 rc=20 re=1)", ".model qp pnp(is=1e-15 bf=20 vaf=50)")

HARD = {
    "schmitt trigger": (BIPOLAR, "v(c1) v(c2) v(e)",
        "vcc vcc 0 12; vin in 0 4; rb in b1 1k; q1 c1 b1 e qn; q2 c2 b2 e qn; r1 vcc c1 4.7k; r2 vcc c2 1k; ra c1 b2 10k; rc b2 0 22k; re e 0 330"),
    "widlar reference": (BIPOLAR, "v(vref) v(c1) v(c2)",
        "vcc vcc 0 9; r0 vcc vref 2.2k; r1 vref c1 600; r2 vref c2 6k; r3 e2 0 600; q1 c1 c1 0 qn; q2 c2 c1 e2 qn 10; q3 vref c2 0 qn"),
    "thyristor": (BIPOLAR, "v(an) v(g) v(h)", "v1 a 0 20; r1 a an 100; q1 g h an qp; q2 h g 0 qn; rg g 0 1k; ig 0 g 2m"),
    "latch": (MOS, "v(q) v(p)",
        "vdd vdd 0 5; mp1 q p vdd vdd pm w=4u l=1u; mn1 q p 0 0 nm w=2u l=1u; mp2 p q vdd vdd pm w=4u l=1u; mn2 p q 0 0 nm w=2u l=1u; r1 q vdd 1meg; "
        ".nodeset v(q)=5 v(p)=0"),
    "two-stage amplifier": (MOS, "v(out) v(y) v(t)",
        "vdd vdd 0 5; ib vdd b 30u; m8 b b 0 0 nm w=4u l=1u; m5 t b 0 0 nm w=4u l=1u; m1 x im t 0 nm w=3u l=1u; m2 y ip t 0 nm w=3u l=1u; "
        "m3 x x vdd vdd pm w=15u l=1u; m4 y x vdd vdd pm w=15u l=1u; m6 out y vdd vdd pm w=94u l=1u; m7 out b 0 0 nm w=14u l=1u; r1 out 0 1meg; vp ip 0 2.5; vm im 0 2.4"),
    "741": ((".model qn npn(is=5e-15 bf=200 vaf=125 br=2 rb=200 rc=200 re=2)", ".model qp pnp(is=2e-15 bf=50 vaf=50 br=4 rb=300 rc=100 re=10)"), "v(out) i(vcc)",
        "vcc vcc 0 15; vee vee 0 -15; vin np 0 1; rl out 0 2k; q1 c12 np e1 qn; q2 c12 out e2 qn; q3 c3 b34 e1 qp; q4 c4 b34 e2 qp; q5 c3 b56 e5 qn; "
        "q6 c4 b56 e6 qn; q7 vcc c3 b56 qn; r1 e5 vee 1k; r2 e6 vee 1k; r3 b56 vee 50k; q8 c12 c12 vcc qp; q9 b34 c12 vcc qp; q10 b34 b10 e10 qn; "
        "r4 e10 vee 5k; q11 b10 b10 vee qn; r5 b12 b10 39k; q12 b12 b12 vcc qp; q13 c17 b12 vcc qp; q16 vcc c4 b17 qn; r9 b17 vee 50k; q17 c22 b17 e17 qn; "
        "r8 e17 vee 100; q18 c17 b18 c22 qn; q19 c17 c17 b18 qn; r10 b18 c22 40k; q14 vcc c17 e14 qn; r6 e14 out 27; q20 vee c22 e20 qp; r7 e20 out 22"),
}  # fmt: skip


def written(tmp_path, models, signals, lines):
    path = tmp_path / "c.cir"
    path.write_text("\n".join(["a title", *models, *lines, ".op", f".save {signals}" if signals else "*", ".end", ""]))
    return path


def ngspice_point(path, signals):
    text = re.sub(r"(?m)^\.(save|end).*\n", "", path.read_text())
    path.with_name("n.cir").write_text(
        f"{text}.options reltol=1e-7 abstol=1e-15 vntol=1e-9\n.control\nset numdgt=12\nop\nprint {signals}\n.endc\n.end\n"
    )
    said = subprocess.run(["ngspice", "-b", "n.cir"], cwd=path.parent, capture_output=True, text=True, check=False).stdout
    return [float(re.search(rf"{re.escape(name)} = (\S+)", said)[1]) for name in signals.split()]


@pytest.mark.skipif(shutil.which("ngspice") is None, reason="ngspice is not installed")
@pytest.mark.parametrize("name", HARD)
def test_hard_points_against_ngspice(name, tmp_path):
    models, signals, cards = HARD[name]
    path = written(tmp_path, models, signals, cards.split("; "))
    (found,) = netsim.load(path).samples()
    assert found.values[0] == pytest.approx(ngspice_point(path, signals), rel=1e-6, abs=1e-9)


def test_long_chains_of_inverters_rest_at_any_input(tmp_path):
    """Gains multiply along a chain: the matrix has no digits left, but every stage has its point, that of a stage by itself at its input."""
    n = 60
    stages = [line for k in range(1, n + 1) for line in (f"mp{k} a{k} a{k - 1} vdd vdd pm w=10u l=1u", f"mn{k} a{k} a{k - 1} 0 0 nm w=4u l=1u")]
    chain = netsim.load(written(tmp_path, MOS, "", [".param vi=0", "vdd vdd 0 5", "vin a0 0 {vi}", *stages]))
    alone = netsim.load(written(tmp_path, MOS, "", [".param vi=0", "vdd vdd 0 5", "vin a0 0 {vi}", *stages[:2]]))
    for volts in (1.25, 2.25, 2.45):
        found = chain.with_params(vi=volts).static()
        for k in range(1, 3):
            before, after = float(found[f"a{k - 1}.v"].values[0]), float(found[f"a{k}.v"].values[0])
            assert after == pytest.approx(float(alone.with_params(vi=before).static()["a1.v"].values[0]), rel=1e-6, abs=1e-6)
        last = float(found[f"a{n}.v"].values[0])
        assert min(last, 5.0 - last) < 1e-6
        assert "limited Newton converged" in found.attrs["homotopy"]


@pytest.mark.parametrize("carry", [False, True])
def test_an_adder_settles_bit_by_bit(tmp_path, monkeypatch, carry):
    """A chain of 200 gates takes limited Newton more iterations than a short one: each settles a stage, while as many
    unknowns as before are on their way. All ones and the one at rest (`dc 2.5`) are a carry and zeros."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    import digital

    bits, at_rest = 48, "vb b0 0 dc 2.5 pulse(0 " if carry else "vb b0 0 pulse(0 "
    path = tmp_path / "adder.cir"
    path.write_text(digital.adder(bits).text().replace("vb b0 0 pulse(0 ", at_rest).replace(".tran", ".op\n*"))
    found = netsim.load(path).static()
    assert float(found[f"c{bits - 1}.v"].values[-1]) == pytest.approx(digital.SUPPLY if carry else 0.0, abs=1e-3)
    assert float(found[f"s{bits - 1}.v"].values[-1]) == pytest.approx(0.0 if carry else digital.SUPPLY, abs=1e-3)


def test_the_grading_of_sidewalls_is_ngspices(tmp_path):
    """Levels 1 and 6 take 0.5 for a `mjsw` that is not given, levels 2 and 3 take 0.33."""
    for level, wanted in ((1, 0.5), (2, 0.33), (3, 0.33), (6, 0.5)):
        model = f".model mm nmos level={level} tox=10n cj=1m cjsw=0.3n"
        path = written(tmp_path, (model,), "v(d)", ["v1 d 0 1", "m1 d d 0 0 mm w=2u l=1u ad=1p pd=4u"])
        loaded = netsim.load(path)
        (device,) = (i for i in loaded.network.instances if i.name.startswith("m1"))
        assert loaded.machine.values.parameters(device)["Mjsw"].value == wanted
