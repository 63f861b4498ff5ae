"""What counts at rest only, or in small signals only."""

import numpy as np
import pytest

import netsim


def tables(tmp_path, text):
    (tmp_path / "c.cir").write_text(f"title\n{text}\n.end\n")
    return netsim.load(tmp_path / "c.cir").samples()


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("line", [".ac lin 3 1 10", ".op"])
def test_ac_of_a_resistor_counts_in_small_signals_alone(tmp_path, scale, line):
    """A divider 1:4 at rest, 1:1 in small signals."""
    circuit = f"v1 a 0 dc 5 ac 3\nr1 a b {scale!r} ac={4 * scale!r}\nr2 b 0 {4 * scale!r}\n.save v(b)"
    table = tables(tmp_path, f"{circuit}\n{line}")[-1]
    wanted = 4.0 if line == ".op" else 1.5
    assert np.abs(np.asarray(table.values).ravel()) == pytest.approx(wanted, rel=1e-11)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_the_resistance_at_rest_vanishes_beyond_all_frequencies(tmp_path, scale):
    """At 1 nHz it counts 1/(2 pi 1e-9 1e15) = 1.6e-7 of itself, behind by a quarter of a turn."""
    circuit = f"i1 0 a ac 1\nr1 a 0 {3 * scale!r} ac={scale!r}\n.ac lin 1 1n 1n\n.save v(a)"
    (value,) = np.asarray(tables(tmp_path, circuit)[-1].values).ravel()
    assert value.real == pytest.approx(scale, rel=1e-9)
    assert value.imag == pytest.approx(-2 * scale / (2 * np.pi * 1e6), rel=1e-6)


@pytest.mark.parametrize("coupling", ["1.005", "-1.005", "{1}"])
def test_windings_at_rest_are_short_circuits_whatever_their_couplings_are(tmp_path, coupling):
    circuit = f"v1 a 0 1\nr1 a b 2\nl1 b 0 1u\nl2 c 0 4u\nr2 c 0 1k\nk1 l1 l2 {coupling}\n.save v(b) v(c) i(l1)\n.op"
    values = np.asarray(tables(tmp_path, circuit)[-1].values).ravel()
    assert values == pytest.approx([0.0, 0.0, 0.5], abs=1e-12)


def test_such_couplings_are_refused_in_time(tmp_path):
    with pytest.raises(netsim.InputError):
        tables(tmp_path, "v1 a 0 1\nl1 a b 1u\nr1 b 0 1\nl2 c 0 4u\nr2 c 0 1k\nk1 l1 l2 1.005\n.tran 1n 1u")


PLACES = [("npn()", 2), ("pnp()", 3), ("npn(subs=-1)", 3), ("pnp(subs=1)", 2)]
"""How many junctions the base has: that of the substrate is at the collector, or at the base of a lateral transistor."""


@pytest.mark.parametrize("gmin", [1e-12, 1e-9])
@pytest.mark.parametrize("kind, junctions", PLACES)
def test_a_base_that_draws_current_backwards_sees_gmin_of_its_junctions(tmp_path, kind, junctions, gmin):
    """v = -i/(n gmin) with all else at ground, beside saturation currents far below."""
    sign = -1 if kind[0] == "p" else 1
    circuit = f"i1 b 0 {sign}n\nq1 0 b 0 m\n.model m {kind[:-1]} is=1e-22 bf=100)\n.options gmin={gmin!r}\n.save v(b)\n.op"
    (value,) = np.asarray(tables(tmp_path, circuit)[-1].values).ravel()
    assert value == pytest.approx(-sign * 1e-9 / (junctions * gmin), rel=1e-6)


@pytest.mark.parametrize("scale", [1e-15, 1e-12, 1e-9])
@pytest.mark.parametrize("kind, junctions", PLACES)
def test_the_capacitance_of_the_substrate_is_at_the_collector_or_at_the_base(tmp_path, kind, junctions, scale):
    """The currents of a source between substrate and all else, which is not biased, and of collector and base."""
    circuit = "vs s 0 ac 1\nvc c 0 0\nvb b 0 0\nq1 c b 0 s m\n.options gmin=0\n.ac lin 1 1 1\n.save i(vs) i(vc) i(vb)"
    table = tables(tmp_path, f"{circuit}\n.model m {kind[:-1]} is=1e-30 cjs={scale!r})")[-1]
    there = 1j * 2 * np.pi * scale
    wanted = [-there, there, 0.0] if junctions == 2 else [-there, 0.0, there]
    assert np.asarray(table.values).ravel() == pytest.approx(wanted, rel=1e-9, abs=1e-9 * scale)


def test_a_diode_whose_saturation_current_is_large_conducts(tmp_path):
    circuit = "i1 0 a 1\nd1 a 0 m\n.model m d(is=2000)\n.save v(a)\n.op"
    (value,) = np.asarray(tables(tmp_path, circuit)[-1].values).ravel()
    thermal = 300.15 * 1.380649e-23 / 1.602176634e-19
    assert value == pytest.approx(thermal * np.log1p(1 / 2000), rel=1e-9)
