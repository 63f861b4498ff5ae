"""Circuits run by ngspice, for comparison."""

import shutil
import subprocess

import numpy as np
import pytest

import netsim

NGSPICE = pytest.mark.skipif(shutil.which("ngspice") is None, reason="needs ngspice")
OPTIONS = ".options reltol=1e-9 abstol=1e-18 vntol=1e-15 gmin=1e-12"


def ngspice(folder, circuit, commands, vectors):
    """Columns of vectors by ngspice: frequency, then as it writes them."""
    out = folder / "out.txt"
    control = f".control\nset numdgt=15\nset wr_singlescale\n{commands}\nwrdata {out} {vectors}\n.endc\n.end\n"
    deck = folder / "deck.cir"
    deck.write_text(f"title\n{circuit}\n{OPTIONS}\n{control}")
    subprocess.run(["ngspice", "-b", str(deck)], capture_output=True, timeout=60, check=False)
    return np.loadtxt(out)


EQUAL = ".options temp=26.999898121947695 tnom=26.999898121947695"
"""The temperature at which k T/q is that of ngspice 39 at 27 degrees, which has the constants of 2014."""


def loaded(folder, circuit, lines):
    file = folder / "ours.cir"
    file.write_text(f"title\n{circuit}\n{lines}\n.end\n")
    return netsim.load(file)
