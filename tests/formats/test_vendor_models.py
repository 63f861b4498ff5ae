# ruff: noqa: E501  (decks have long lines)
"""Macromodels in the words of PSpice and LTspice, as vendors write them, against ngspice in its modes for these."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import netsim
from netsim.formats.spice.numbers import value_of
from ngspice_runs import NGSPICE

FOLDER = Path(__file__).parents[1] / "reference" / "vendor"
JUMP = 0.1
NAMES = {
    "opamp_boyle": ("out",), "opamp_ltspice": ("out", "fb"), "ldo": ("out",), "mosfet": ("d", "g"), "comparator": ("out",),
    "igbt": ("c", "g"), "zener": ("a", "b", "c"), "buck_ltspice": ("sw", "out"), "sources": ("c", "d", "e", "f", "h", "i"),
    "tl431": ("k", "r"), "optocoupler": ("c", "a"),
}  # fmt: skip
"""Nodes that are compared; the node `g` of `sources` is a table, whose corners ngspice rounds."""


def ngspice(folder, deck, mode, nodes, step, stop):
    """Instants and potentials, with steps of a 10000th of the run."""
    (folder / ".spiceinit").write_text(f"set ngbehavior={mode}\n")
    lines = [line for line in deck.splitlines() if not line.lower().startswith((".tran", ".end ", ".end\n")) and line.lower() != ".end"]
    control = f".control\nset numdgt=15\nset wr_singlescale\ntran {step!r} {stop!r} 0 {stop / 10000!r}\nwrdata out.txt {' '.join(f'v({n})' for n in nodes)}\n.endc"
    (folder / "deck.cir").write_text("\n".join([*lines, ".options reltol=1e-5 abstol=1e-13 vntol=1e-8", control, ".end", ""]))
    subprocess.run(["ngspice", "-b", "deck.cir"], cwd=folder, capture_output=True, timeout=60, check=False)
    return np.loadtxt(folder / "out.txt")


@NGSPICE
@pytest.mark.parametrize("name", NAMES)
def test_macromodels(name, tmp_path):
    """1e-3 rms of the range; where ngspice's signal jumps within a step, its values about it count."""
    for file in FOLDER.iterdir():
        shutil.copy(file, tmp_path)
    deck = (FOLDER / f"{name}.cir").read_text()
    words = next(line for line in deck.splitlines() if line.startswith(".tran")).split()
    stop = value_of(words[2])
    (tmp_path / "ours.cir").write_text(deck.replace(" ".join(words), f".tran {stop / 2000!r} {stop!r}"))
    found = netsim.load(tmp_path / "ours.cir").run()
    theirs = ngspice(tmp_path, deck, "ltpsa" if "ltspice" in name else "psa", NAMES[name], stop / 2000, stop)
    t, s = theirs[:, 0], found["time"].values
    at = np.clip(np.searchsorted(t, s, side="right") - 1, 0, len(t) - 2)
    for k, node in enumerate(NAMES[name], 1):
        a, b = theirs[:, k], found[f"{node}.v"].values
        about = a[np.clip(at[:, None] + np.arange(-1, 3), 0, len(a) - 1)]
        jumps = np.abs(np.diff(about, axis=1)).max(axis=1) > JUMP * np.ptp(a)
        outside = np.maximum(np.maximum(about.min(axis=1) - b, b - about.max(axis=1)), 0.0)
        gaps = np.where(jumps, outside, np.abs(b - np.interp(s, t, a)))
        assert np.ptp(a) > 0.1 and np.sqrt(np.mean(gaps**2)) < 1e-3 * np.ptp(a), node


DIODES = {
    "straight": {"vfwd": 0.7, "vrev": 2.0},
    "limited": {"vfwd": 1.0, "vrev": 2.0, "ilimit": 1.0, "revilimit": 0.5},
    "bent": {"vfwd": 1.0, "vrev": 2.0, "rrev": 0.3, "ilimit": 1.0, "revilimit": 1.0, "epsilon": 1.0, "revepsilon": 0.5},
}


def beyond(w, on, off, at, limit, bend):
    """The current of one side, counted from zero voltage on that side."""
    v = w + at
    reached = off * (at + bend) + 0.5 * bend * (on - off)
    past = (limit - reached) * np.tanh(on / limit * (w - bend)) + reached if limit else off * at + on * w
    return np.where(w <= 0, off * v, np.where(w < bend, off * v + 0.5 * w**2 * (on - off) / (bend or 1.0), past))


@NGSPICE
@pytest.mark.parametrize("name", DIODES)
def test_diodes_of_straight_pieces(name, tmp_path):
    """LTspice's, over all of their regions: the closed form to 1e-12, and ngspice, which stops 1e-3 before that."""
    figures = DIODES[name]
    deck = f"title\nv1 a 0 0\nd1 a b dm\nv2 b 0 0\n.model dm d(ron=0.5 roff=1k {' '.join(f'{k}={x!r}' for k, x in figures.items())})\n"
    (tmp_path / "ours.cir").write_text(deck + ".dc v1 -5 5 0.1\n.save i(v2)\n.end\n")
    found = netsim.load(tmp_path / "ours.cir").run()["v2.i"].values.ravel()
    (tmp_path / ".spiceinit").write_text("set ngbehavior=ltpsa\n")
    control = ".control\nset numdgt=15\nset wr_singlescale\ndc v1 -5 5 0.1\nwrdata out.txt i(v2)\n.endc\n.end\n"
    (tmp_path / "deck.cir").write_text(deck + control)
    subprocess.run(["ngspice", "-b", "deck.cir"], cwd=tmp_path, capture_output=True, timeout=60, check=False)
    theirs = np.loadtxt(tmp_path / "out.txt")[:, 1]
    v = np.linspace(-5, 5, 101)
    ahead = beyond(v - figures["vfwd"], 2.0, 1e-3, figures["vfwd"], figures.get("ilimit"), figures.get("epsilon", 0.0))
    back = beyond(-v - 2.0, 1 / figures.get("rrev", 0.5), 1e-3, 2.0, figures.get("revilimit"), figures.get("revepsilon", 0.0))
    assert np.abs(found - np.where(v > 0, ahead, -back)).max() < 1e-12
    assert np.ptp(theirs) > 1.4 and np.abs(found - theirs).max() < 1e-3 * np.ptp(theirs)


def test_what_does_not_belong_to_a_diode_of_straight_pieces(tmp_path):
    """A saturation current beside them."""
    (tmp_path / "c.cir").write_text("t\nv1 a 0 1\nd1 a 0 dm\n.model dm d(ron=1 roff=1meg is=1e-14)\n.op\n.end\n")
    with pytest.raises(netsim.InputError, match="'is'"):
        netsim.load(tmp_path / "c.cir")
