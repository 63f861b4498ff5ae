"""The summary of `netsim run`: the model, the effort, the last values, the energy balance, the files."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netsim.library.files import shown_path
from netsim.results.files import energy_balance
from netsim.results.over_frequency.curves import reading
from netsim.results.samples import Figure, Samples
from netsim.text.columns import columns, counted

if TYPE_CHECKING:
    from netsim.api import Model

MOST_CAUSES = 6
MOST_POLES, MOST_SHOWN = 12, 24
POLE = ("real", "imaginary", "frequency", "damping", "time_constant", "zero")
"""What the result of `poles` says of each."""
MOST_SIGNALS = 6
ROUNDING = 1e-10
"""Energies below this part of the largest of a run are rounding, and shown as 0 J."""


def summary(model: "Model", runs: Sequence[Samples], files: Sequence[Path]) -> str:
    """The text of it, ending with a newline."""
    network, system = model.network, model.system
    parts = [
        f"{shown_path(network.file)}: {counted(len(network.instances), 'element')}, "
        f"{counted(len(network.nodes), 'node')}, {counted(system.n, 'unknown')}"
    ]
    for samples in runs:
        parts += _run(samples)
    return "\n".join([*parts, *(f"wrote {file}" for file in files)]) + "\n"


def summary_json(model: "Model", runs: Sequence[Samples], files: Sequence[Path]) -> str:
    """The same for programs, in SI units: sizes of the network; of each run how it ended, its counts and notes, the
    last values, measures, energy and what was warned of; the files."""
    network = model.network
    about = {
        "netlist": shown_path(network.file),
        "elements": len(network.instances),
        "nodes": len(network.nodes),
        "unknowns": model.system.n,
        "runs": [_run_of(samples) for samples in runs],
        "files": [str(file) for file in files],
    }
    return json.dumps(about, indent=2, allow_nan=False) + "\n"


def _run_of(samples: Samples) -> dict[str, Any]:
    given = {k: v for k, v in samples.attributes.items() if isinstance(v, bool | int | float | str) and k != "netlist"}
    found: dict[str, Any] = {"name": samples.name, "finished": samples.finished, "message": samples.message}
    found |= {key: _number(value) if isinstance(value, float) else value for key, value in given.items()}
    if samples.axis in ("mode", "pole"):
        rows = [{s.name: _number(x) for s, x in zip(samples.signals, row)} for row in samples.values]
        found[f"{samples.axis}s"] = rows
    elif len(samples.time):
        found["time"] = float(samples.time[-1])
        found["last"] = {s.name: _number(x) for s, x in zip(samples.signals, samples.values[-1])}
    found["measured"] = {figure.name: _number(figure.value) for figure in samples.figures}
    if len(samples.energy):
        stored, supplied, dissipated = map(_number, samples.energy[-1])
        unaccounted = _number(energy_balance(samples.energy))
        found["energy"] = {
            "stored": stored, "supplied": supplied, "dissipated": dissipated, "unaccounted": unaccounted,
        }  # fmt: skip
    problems = (*samples.warnings, *samples.broken)
    return {**found, "warnings": [{"code": p.code, "message": p.message, "hint": p.hint} for p in problems]}


def _number(value: float) -> float | None:
    """JSON has no NaN and no infinity."""
    return float(value) if np.isfinite(value) else None


def _run(samples: Samples) -> list[str]:
    given = samples.attributes
    name = f"{samples.name} = " if samples.name else ""
    effort = [
        counted(int(given[key]), word)
        for key, word in (("cases", "case"), ("steps", "step"), ("iterations", "Newton iteration"))
        if key in given
    ]
    freedom = given.get("degrees_of_freedom")
    effort += [] if freedom is None else [f"{freedom} degree{'s' * (freedom != 1)} of freedom"]
    effort += [f"{given['cpu_seconds']:.2f} s CPU time"] if "cpu_seconds" in given else []
    head = f"{name}{given.get('analysis', 'run')}({given.get('method', '')}): {', '.join(effort)}"
    found = [given[key] for key in ("homotopy", "free") if given.get(key)] + _stability(given)
    lines = [head if samples.finished else f"{head}; not finished: {samples.message}"]
    lines += (
        [f"the start was changed to meet the constraints: {given['start_moves']}"] if given.get("start_moves") else []
    )
    lines += _events(given)
    if given.get("inconsistent_points"):
        lines.append(f"{counted(int(given['inconsistent_points']), 'point')} could not be made consistent")
    lines += ROWS[samples.axis](samples) if samples.axis in ROWS else []
    lines += [given["coordinates"]] if given.get("coordinates") else []
    lines += given.get("orbit", "").splitlines() + found + ([given["redundant"]] if given.get("redundant") else [])
    if len(samples.time) and samples.axis == "time":
        lines += [f"at t = {reading(float(samples.time[-1]), 's')}", *_last_values(samples)]
    if samples.figures:
        lines += ["measured:", *(f"{line}" for line in columns((f.name, _figure(f)) for f in samples.figures))]
    return [*lines, *(f"  {note}" for note in given.get("notes", "").split("; ") if note), *_energy(samples)]


def _modes(samples: Samples) -> list[str]:
    return [
        f"  mode {i + 1}: {reading(row[0], 'Hz')}, damping {row[1]:.3g}" for i, row in enumerate(samples.values[:, :2])
    ]


def _poles(samples: Samples) -> list[str]:
    """Whether the network is stable, and its slowest poles and zeros."""
    signals = {signal.name: (signal, samples.values[:, j]) for j, signal in enumerate(samples.signals)}
    swept = [pair for name, pair in signals.items() if name not in POLE and not name.startswith("participation ")]
    lines = []
    for i in range(min(len(samples.time), MOST_POLES)):
        real, imaginary, frequency, damping, _, zero = (float(signals[name][1][i]) for name in POLE)
        place = f"{real:.6g} 1/s" if not imaginary else f"{real:.6g} ± {imaginary:.6g} j 1/s"
        more = f", {reading(frequency, 'Hz')}, damping {damping:.3g}" if imaginary else ""
        at = "".join(f" at {signal.name} = {reading(values[i], signal.unit)}" for signal, values in swept)
        word = ("zero" if zero else "pole") + "s" * bool(imaginary)
        lines.append(f"  {word} {place}{more}{at}")
    lines = lines or ["there are no poles"]
    left = len(samples.time) - MOST_POLES
    told = samples.attributes.get("stability_of_poles", "")
    return [*filter(None, told.split("; ")), *lines, *([f"  and {left} more"] if left > 0 else [])]


def _first_row(samples: Samples) -> list[str]:
    """What there is one of: gains and resistances, derivatives at rest; equations of a state space."""
    if "states" in samples.attributes:
        return _state_space(samples)
    rows = samples.values[: len(samples.time)]
    shown = [(s.name, float(x)) for s, x in zip(samples.signals[:MOST_SHOWN], rows[0])] if len(rows) == 1 else []
    units = {s.name: s.unit for s in samples.signals}
    more = len(samples.signals) - len(shown) if shown else 0
    lines = columns((name, reading(x, units[name]) if np.isfinite(x) else "infinite") for name, x in shown)
    return [*lines, *([f"  and {more} more"] if more > 0 else [])]


def _state_space(samples: Samples) -> list[str]:
    """x' = A x + B u and y = C x + D u row by row, of the first instant and as far as there is room."""
    names = [*(f"{name}'" for name in _listed(samples, "states")), *_listed(samples, "outputs")]
    lines = list[str]()
    for name, row in zip(names[:MOST_SHOWN], samples.values):
        terms = [f"{x:.6g} {signal.name}" for x, signal in zip(row.tolist(), samples.signals) if x]
        left = [f"{len(terms) - MOST_SIGNALS} terms"] if len(terms) > MOST_SIGNALS else []
        lines.append(f"  {name} = {' + '.join([*terms[:MOST_SIGNALS], *left]) or '0'}".replace("+ -", "- "))
    more = len(names) - MOST_SHOWN
    return [*lines, *([f"  and {more} more"] if more > 0 else [])]


def _listed(samples: Samples, key: str) -> list[str]:
    return [name for name in samples.attributes[key].split("; ") if name]


ROWS = {"mode": _modes, "pole": _poles, "row": _first_row}
"""What is shown of a result whose rows are no instants, by its axis."""


def _events(given: Mapping[str, Any]) -> list[str]:
    """How many events there were, by element and condition: those that came most often first."""
    if not given.get("event_log"):
        return []
    causes = Counter(" ".join(line.split("\t")[1:3]) for line in given["event_log"].splitlines())
    most = [f"{cause} ({count})" for cause, count in causes.most_common(MOST_CAUSES)]
    more = [f"and {len(causes) - MOST_CAUSES} more"] if len(causes) > MOST_CAUSES else []
    return [f"{counted(int(given['events']), 'event')}: {'; '.join(most + more)}"]


def _stability(given: Mapping[str, Any]) -> list[str]:
    """What an equilibrium is, and which others were seen."""
    if given.get("stability") in (None, "not judged"):
        return []
    others = given.get("others", "")
    choose = ": a `guess` chooses among them" if given["stability"] == "unstable" and others else ""
    return [
        f"a {given['stability']} equilibrium{choose}",
        *(f"another equilibrium: {other}" for other in others.split("; ") if other),
    ]


def _figure(figure: Figure) -> str:
    found = reading(figure.value, figure.unit) if figure.value == figure.value else "not found"
    return f"{found}  {figure.doc}".rstrip()


def _last_values(samples: Samples) -> list[str]:
    shown = columns(
        (s.name, reading(float(x), s.unit)) for s, x in zip(samples.signals[:MOST_SIGNALS], samples.values[-1])
    )
    more = len(samples.signals) - MOST_SIGNALS
    return [*shown, f"  and {counted(more, 'more signal')}"] if more > 0 else shown


def _energy(samples: Samples) -> list[str]:
    if not len(samples.energy):
        return []
    smallest = ROUNDING * max(float(np.abs(samples.energy).max()), samples.attributes.get("turned_over", 0.0))
    stored, supplied, dissipated, missing = (
        reading(float(e) if abs(e) > smallest else 0.0, "J")
        for e in (*samples.energy[-1], energy_balance(samples.energy))
    )
    if len(samples.energy) == 1:
        return [f"energy: stored {stored}"]
    return [f"energy: supplied {supplied}, dissipated {dissipated}, stored {stored}; unaccounted {missing}"]
