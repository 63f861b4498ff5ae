"""Modes as motions to look at: those of a modal run one after the other, each once through its period, as large as can
be seen.

A mode says by how much every signal moves with it, and how far behind: x(t) = x0 + a Re(d e^(i phase)). Its amplitude
is arbitrary; in the picture what moves most moves by a tenth of the picture's size, or turns by 0.4 rad. Rotations are
the nearest ones to what is linear in the amplitude.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from netsim.api import Model
from netsim.output.animate import write_page
from netsim.output.scene import Scene, TimeSection
from netsim.output.scenes import scene_of
from netsim.results.samples import Samples

Array = np.ndarray
PERIOD, BETWEEN = 2.0, 0.05
"""Seconds of the picture that a mode takes, and until the next one begins."""
INSTANTS = 49
MOST = 1900
"""Instants of all modes together."""
REACH, TURN = 0.1, 0.4
"""Largest displacement, of the picture's size, and largest angle in rad."""
PROBE = 1e-5


def page_of_run(model: Model, samples: Samples, path: Path) -> Path:
    """The page with the scene of any run that sampled `moving_signals(model)`. Raises what `scene_of` and `write_page`
    raise."""
    return write_page(scene_of_modes(model, samples) if samples.axis == "mode" else scene_of(model, samples), path)


def scene_of_modes(model: Model, samples: Samples) -> Scene:
    """The scene of a modal run that sampled `moving_signals(model)`: a chapter for every mode. Raises what `scene_of`
    raises."""
    modes = len(samples.time)
    phases = np.linspace(0.0, 2 * np.pi, max(9, min(INSTANTS, MOST // max(modes, 1))))
    sizes = np.array([np.abs([d[1 + k] for d in samples.unseen.values()]).max(initial=0.0) for k in range(modes)])
    probe = PROBE / np.where(sizes > 0.0, sizes, 1.0)
    still = scene_of(model, _moving(samples, 0.0 * probe, phases[:1]))
    moves = _moves(still, scene_of(model, _moving(samples, probe, phases)), modes, _size(still))
    amplitudes = probe * np.where(moves > 0.0, REACH * _size(still) / np.where(moves > 0.0, moves, 1.0), 0.0)
    begins = np.arange(modes) * (PERIOD + BETWEEN)
    chapters = tuple(TimeSection(_named(samples, k), float(b), float(b + PERIOD)) for k, b in enumerate(begins))
    return replace(scene_of(model, _moving(samples, amplitudes, phases)), arrows=(), traces=(), chapters=chapters)


def _moving(samples: Samples, amplitudes: Array, phases: Array) -> Samples:
    """The signals over the phases of all modes, one mode after the other."""
    begins = np.arange(len(amplitudes)) * (PERIOD + BETWEEN)
    time = (begins[:, None] + PERIOD * phases / (2 * np.pi)).ravel()
    turning = np.exp(1j * phases)
    unseen = {
        name: (d[0].real + amplitudes[:, None] * (d[1:, None] * turning).real).ravel()
        for name, d in samples.unseen.items()
    }
    for name in [n for n in unseen if n.endswith("[1,1]")]:
        entries = [f"{name[:-5]}[{i},{j}]" for i in (1, 2, 3) for j in (1, 2, 3)]
        if all(e in unseen for e in entries):
            left, _, right = np.linalg.svd(np.stack([unseen[e] for e in entries], axis=1).reshape(-1, 3, 3))
            unseen |= dict(zip(entries, (left @ right).reshape(-1, 9).T))
    return Samples(
        samples.name, time, (), np.zeros((len(time), 0)), np.zeros((len(time), 3)), samples.attributes, unseen=unseen
    )


def _moves(still: Scene, moved: Scene, modes: int, size: float) -> Array:
    """How far each mode moves anything (modes,) in m; angles count as what the largest one allowed is worth."""
    far = np.zeros(len(moved.time))
    for before, after in zip(still.frames, moved.frames):
        if np.ndim(after.position) > 1:
            far = np.maximum(far, np.linalg.norm(after.position - np.atleast_2d(before.position)[0], axis=1))
        if np.ndim(after.rotation) > 2:
            angles = np.linalg.norm(after.rotation - np.reshape(before.rotation, (-1, 3, 3))[0], axis=(1, 2)) / np.sqrt(
                2
            )
            far = np.maximum(far, angles * REACH * size / TURN)
    for straight, bent in zip(still.curves, moved.curves):
        far = np.maximum(far, np.linalg.norm(bent.bent - straight.bent[0], axis=2).max(axis=1))
    return far.reshape(modes, -1).max(axis=1)


def _size(still: Scene) -> float:
    """The extent of bodies and beams at rest, 1 m where all is at one point."""
    points = [np.atleast_2d(f.position) for f in still.frames] + [c.straight.reshape(-1, 3) for c in still.curves]
    points += [np.atleast_2d(end) for k in still.links for end in (k.start, k.end)]
    return float(np.linalg.norm(np.ptp(np.concatenate(points), axis=0))) or 1.0


def _named(samples: Samples, k: int) -> str:
    frequency, damping, decay = (samples.series(name)[k] for name in ("frequency", "damping", "decay"))
    if abs(damping) > 1 - 1e-9:
        return f"mode {k + 1}: {'decays' if decay > 0 else 'grows'} with {abs(decay):.4g} 1/s"
    return f"mode {k + 1}: {frequency:.4g} Hz" + (f", damping {damping:.2g}" if abs(damping) > 1e-9 else "")
