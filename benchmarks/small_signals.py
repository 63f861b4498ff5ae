"""Small signals of SPICE circuits beside ngspice: the largest difference of each analysis of one deck, in one run.

The circuits have every device that netsim reads from SPICE. `.ac` and `.dc` compare all potentials and the currents of
sources and coils, beside the largest value of each over the sweep; `.noise` the root densities at the output and at
the input, point by point; `.tf` the gain and both resistances; `.pz` every root that ngspice finds with the nearest one
of netsim, and the other way round. Both programs have the same Gmin. ngspice 39 has the constants k and q of 2014, so
netsim is run at the temperature at which k T/q is the same, 1e-4 K below 27 degrees.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from small_signal_decks import CIRCUITS, EXCEPT, INSTEAD, closed_roots

Array = np.ndarray
Plots = dict[str, dict[str, Array]]

TIGHT = ".options reltol=1e-10 abstol=1e-18 vntol=1e-14 gmin=1e-12 itl1=1000"
EQUAL = ".options temp=26.999898121947695 tnom=26.999898121947695"
SWEEPS = ".ac dec 3 10 1g\n.noise v(out) v1 dec 2 10 100meg\n.tf v(out) v1\n"
POLES = ".pz in 0 out 0 vol pz\n"
OPEN = 1e11
"""Ohm: of a gate; ngspice says 1e20 or what Gmin leaves."""
BOUNDS = {".ac": 1e-9, ".dc": 1e-6, ".noise": 1e-4, ".tf": 1e-8, ".pz": 1e-8}


def deck(circuit: str, more: str = "") -> str:
    return f"circuit\n{circuit}{SWEEPS}{TIGHT}\n{more}\n.end\n"


def theirs(name: str, folder: Path) -> Plots:
    """What ngspice finds: name of the plot -> name of the vector -> values. Each analysis has a process of its own."""
    lines, found, swaps = (CIRCUITS[name] + SWEEPS).splitlines(), dict[str, dict[str, Array]](), INSTEAD.get(name, {})
    asked = [line for line in lines if re.match(rf"({'|'.join(map(re.escape, BOUNDS))})\s", line)]
    for line in asked:
        rest = "\n".join(each for each in lines if each not in asked)
        for old, new in swaps.items():
            rest = rest.replace(old, new) if line.startswith((".ac", ".noise", ".pz")) else rest
        file, raw = folder / "theirs.cir", folder / "theirs.raw"
        file.write_text(f"circuit\n{rest}\n{line}\n{TIGHT}\n.end\n")
        raw.unlink(missing_ok=True)
        subprocess.run(["ngspice", "-b", "-r", str(raw), str(file)], capture_output=True, timeout=60, check=False)
        found |= plots_of(raw.read_bytes()) if raw.exists() else {}
    return found


def plots_of(data: bytes) -> Plots:
    """The plots of a binary raw file."""
    found, at = {}, 0
    while (mark := data.find(b"Binary:\n", at)) >= 0:
        head, at = data[at:mark].decode("latin1"), mark + 8
        title, flags, columns, rows = (
            re.search(rf"^{word}: *(.*?) *$", head, re.MULTILINE)[1]  # type: ignore[index]
            for word in ("Plotname", "Flags", "No. Variables", "No. Points")
        )
        kind = np.dtype(complex if flags == "complex" else float)
        size = int(columns) * int(rows) * kind.itemsize
        values = np.frombuffer(data[at : at + size], kind).reshape(int(rows), int(columns))
        found[title] = dict(zip(re.findall(r"^\t\d+\t(\S+)\t", head, re.MULTILINE), values.T))
        at += size
    return found


def ours(name: str, folder: Path) -> dict[str, object]:
    """The samples of each analysis of netsim, by its name."""
    import netsim

    file = folder / "ours.cir"
    file.write_text(deck(CIRCUITS[name], EQUAL))
    return {str(s.attributes["analysis"]): s for s in netsim.load(file).samples()}


def differences(name: str, folder: Path) -> dict[str, float]:
    """The largest relative difference of each analysis."""
    mine, plots = ours(name, folder), theirs(name, folder)
    found = {
        ".ac": _curves(mine["ac"], plots["AC Analysis"]),
        ".dc": _curves(mine["sweep_static"], plots["DC transfer characteristic"]),
    }
    found[".noise"] = _densities(mine["noise"], plots["Noise Spectral Density Curves"])
    found[".tf"] = _transfer(mine["transfer"], plots["Transfer Function"])
    if "poles" in mine:
        other = closed_roots(name)
        if other is None:
            roots = plots["Pole-Zero Analysis"]
            other = tuple(np.array([v[0] for key, v in roots.items() if kind in key]) for kind in ("pole", "zero"))  # type: ignore[assignment]
        found[".pz"] = _roots(mine["poles"], other)
    return found


def _curves(samples: object, plot: dict[str, Array]) -> float:
    """Of all potentials and currents that both have."""
    worst, compared = 0.0, 0
    names = {s.name for s in samples.signals}  # type: ignore[attr-defined]
    largest = {kind: max(np.abs(v).max() for name, v in plot.items() if name.startswith(f"{kind}(")) for kind in "vi"}
    for name, values in plot.items():
        kind, node = re.fullmatch(r"([vi])\((.*)\)", name).groups() if "(" in name else ("", "")  # type: ignore[union-attr]
        own = f"{'n' if node[:1].isdigit() else ''}{node}.{kind}"
        if own not in names and (own := own.replace(".", "_.", 1)) not in names:
            continue
        series = samples.series(own)  # type: ignore[attr-defined]
        size = max(np.abs(values).max(), 1e-6 * largest[kind])
        compared += 1
        if size:
            worst = max(worst, float(np.abs(series - values).max() / size))
    assert compared > 1
    return worst


def _densities(samples: object, plot: dict[str, Array]) -> float:
    """At the output, and at the input as far as a gain is above 1e-9: ngspice has no smaller one than 1e-10 here."""
    output, input_ = (samples.series(name) for name in ("output", "input"))  # type: ignore[attr-defined]
    sees = output / input_ > 1e-9
    off = np.abs(output / plot["onoise_spectrum"] - 1), np.abs(input_ / plot["inoise_spectrum"] - 1)[sees]
    return float(max(each.max() for each in off))


def _transfer(samples: object, plot: dict[str, Array]) -> float:
    worst = 0.0
    for own, word in (
        ("gain", "Transfer_function"),
        ("input_resistance", "Input_impedance"),
        ("output_resistance", "output_impedance"),
    ):
        (value,) = (values[0] for name, values in plot.items() if word in name)
        found = samples.series(own)[0]  # type: ignore[attr-defined]
        if min(abs(value), abs(found)) < OPEN:
            worst = max(worst, abs(found / value - 1))
    return float(worst)


def _roots(samples: object, other: tuple[Array, Array]) -> float:
    s = samples.series("real") + 1j * samples.series("imaginary")  # type: ignore[attr-defined]
    zero, worst = samples.series("zero"), 0.0  # type: ignore[attr-defined]
    for found, roots in ((s[zero == 0], other[0]), (s[zero == 1], other[1])):
        mine = np.concatenate([found, found[found.imag > 0].conj()])
        for a, b in ((mine, roots), (roots, mine)):
            for each in a:
                size = max(abs(each), 1e-12 * np.abs(a).max())
                worst = max(worst, float(np.abs(b - each).min(initial=np.inf) / size))
    return worst


def bound_of(name: str, analysis: str) -> float:
    return EXCEPT.get(name, ({}, ""))[0].get(analysis, BOUNDS[analysis])


def report(names: tuple[str, ...] = tuple(CIRCUITS)) -> None:
    print(f"Largest differences from ngspice\n  {'':22}" + "".join(f"{a:>10}" for a in BOUNDS))
    reasons = dict.fromkeys(EXCEPT[name][1] for name in names if name in EXCEPT)
    numbers = {reason: f" [{i + 1}]" for i, reason in enumerate(reasons)}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            found = differences(name, Path(folder))
            cells = (f"{found[a]:10.0e}" if a in found else f"{'-':>10}" for a in BOUNDS)
            print(f"  {name:22}" + "".join(cells) + (numbers[EXCEPT[name][1]] if name in EXCEPT else ""))
    for reason, number in numbers.items():
        print(f" {number} {reason}")


if __name__ == "__main__":
    report(tuple(sys.argv[1:]) or tuple(CIRCUITS))
