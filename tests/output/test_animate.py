"""The animation page: what it is told about the motion, and what a real browser shows of it, with WebGL and without."""

import base64
import json
import re

import numpy as np
import pytest

import netsim
from browser.chromium import PROGRAM, Browser
from netsim.analyses.over_time.run import transient
from netsim.library.files import models_folder
from netsim.output.animate import (
    Arrow,
    Frame,
    Link,
    Scene,
    Shape,
    Trace,
    box,
    cylinder,
    encoded,
    kept_times,
    line,
    page_text,
    point,
    rod,
    scene_of_samples,
    sphere,
    write_page,
)
from netsim.output.scene import TimeSection, quaternions
from netsim.output.scenes import moving_signals, scene_of
from netsim.results.samples import Samples, Signal
from netsim.simulate.options import TransientOptions
from netsim.text.errors import InputError

T = np.linspace(0.0, 2.0, 5)


def along(x, y=0.0, z=0.0):
    return np.column_stack([x, y + 0 * x, z + 0 * x])


def turning(angle):
    return np.column_stack([np.cos(angle / 2), 0 * angle, 0 * angle, np.sin(angle / 2)])


def series(told, where):
    block = np.frombuffer(base64.b64decode(told["series"]), "<f4")
    first, rows, width = where
    return block[first : first + rows * width].reshape(rows, width)


# --------------------------------------------------------------------------------------------------- what the page is told


def test_series_arrive_in_single_precision_and_constants_once():
    moving, still = Frame("a", along(T**2, 3.0), turning(T)), Frame("b", along(0 * T, 1.0))
    told = encoded(Scene("s", T, (moving, still), traces=(Trace("p", along(np.sin(T))),)))
    a, b = told["frames"]
    assert np.array_equal(np.frombuffer(base64.b64decode(told["time"]), "<f8"), T)
    assert np.array_equal(series(told, a["position"]), along(T**2, 3.0).astype("f4"))
    assert np.array_equal(series(told, a["rotation"]), turning(T).astype("f4"))
    assert np.array_equal(series(told, told["traces"][0]["points"]), along(np.sin(T)).astype("f4"))
    assert series(told, b["position"]).tolist() == [[0, 1, 0]]
    assert series(told, b["rotation"]).tolist() == [[1, 0, 0, 0]]


def test_matrices_are_the_same_rotations():
    angle = np.array([0.0, 1.0, 3.0, -2.0])
    c, s, o = np.cos(angle), np.sin(angle), 0 * angle
    matrices = np.array([[c, -s, o], [s, c, o], [o, o, o + 1]]).transpose(2, 0, 1)
    found = quaternions(matrices)
    assert np.allclose(np.abs(np.sum(found * turning(angle), axis=1)), 1.0, atol=1e-14)
    assert np.allclose(quaternions(2 * turning(angle)), turning(angle), atol=1e-14)


def test_kept_times_are_spread_evenly_over_the_time():
    time = np.concatenate([np.linspace(0, 1, 9000, endpoint=False), np.linspace(1, 2, 101)])
    keep = kept_times(time, 201)
    assert keep[0] == 0 and keep[-1] == len(time) - 1 and len(keep) == 201
    assert np.max(np.abs(np.diff(time[keep]) - 0.01)) < 2e-3
    assert np.array_equal(kept_times(T, 5), np.arange(5))


def test_bounds_hold_turned_shapes_and_arrows():
    turned = Frame("a", along(T), turning(np.pi / 2 + 0 * T), (box(2.0, 0.2, 0.4),))
    assert np.allclose(encoded(Scene("s", T, (turned,)))["bounds"], [[-0.1, -1, -0.2], [2.1, 1, 0.2]], atol=1e-12)
    upright = Frame("b", np.zeros(3), shapes=(rod((0, 0, 1), (0, 0, 3), 0.1), sphere(0.5, (0, 2, 0))))
    assert np.allclose(encoded(Scene("s", T, (upright,)))["bounds"], [[-0.5, -0.1, -0.5], [0.5, 2.5, 3]], atol=1e-12)
    push = Arrow("F", np.zeros(3), along(-10 * T, 20.0), scale=0.1)
    assert np.allclose(encoded(Scene("s", T, arrows=(push,)))["bounds"], [[-2, 0, 0], [0, 2, 0]], atol=1e-12)


def test_longest_arrow_is_a_quarter_of_the_scene():
    bar = Frame("a", np.zeros(3), shapes=(line((0, 0, 0), (8, 0, 0)),))
    told = encoded(Scene("s", T, (bar,), arrows=(Arrow("F", np.zeros(3), along(T * 50)),)))
    assert told["arrows"][0]["scale"] * 100 == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("frame", "planar"),
    [
        (Frame("a", along(T, T, 0.3), turning(T)), True),
        (Frame("a", along(T, T, T)), False),
        (Frame("a", along(T), turning(T)[:, [0, 3, 1, 2]]), False),
    ],
)
def test_planar_scenes_are_found(frame, planar):
    assert encoded(Scene("s", T, (frame,)))["planar"] is planar
    assert encoded(Scene("s", T, (frame,), arrows=(Arrow("g", np.zeros(3), np.array([0, 0, -9.8])),)))["planar"] is False
    assert encoded(Scene("s", T, (frame,), planar=not planar))["planar"] is not planar


def test_cylinders_lie_along_their_axis():
    from scipy.spatial.transform import Rotation

    for axis in [(1, 0, 0), (-1, 0, 0), (0, 0, 2), (1, -2, 0.5)]:
        shape = cylinder(1.0, 0.1, axis)
        assert np.allclose(Rotation.from_quat(shape.rotation, scalar_first=True).apply([1, 0, 0]), np.array(axis) / np.linalg.norm(axis), atol=1e-14)
    assert cylinder(1.0, 0.2, inner=0.1).kind == "tube"


def test_every_mistake_of_a_scene_is_reported():
    bad = Scene(
        "s", T, (Frame("a", np.zeros((4, 3)), shapes=(Shape("cone", (1.0,)), Shape("box", (1.0, 2.0)))), Frame("b", np.full(3, np.nan))),
        links=(Link("k", np.zeros(3), np.zeros(2), "rope"),),
    )  # fmt: skip
    with pytest.raises(InputError) as caught:
        page_text(bad)
    text = str(caught.value)
    for words in (
        "position of frame 'a'",
        "(5, 3) or (3,)",
        "no shape 'cone'",
        "the box of frame 'a' cannot have the size",
        "frame 'b' is not finite",
        "end of link 'k'",
        "'rope'",
    ):
        assert words in text
    with pytest.raises(InputError, match="do not decrease"):
        page_text(Scene("s", T[::-1]))


def test_page_stands_alone_and_a_title_stays_text():
    text = page_text(Scene("</script><b>&", T, (Frame("<!-- x", along(T)),)))
    assert not re.search(r"(src|href)=[\"']?(https?:)?//|@import|import\(", text.replace(" ", ""))
    assert "The MIT License" in text and "</script><b>" not in text and "{{" not in text.split("<script>")[0]
    told = re.search(r'type="application/json">(.*?)</script>', text, re.S)
    assert told and json.loads(told[1])["title"] == "</script><b>&"


def test_pages_go_to_html_files(tmp_path):
    scene = Scene("s", T, (Frame("a", along(T)),))
    assert write_page(scene, tmp_path / "new" / "a.html").stat().st_size < 1_000_000
    with pytest.raises(InputError, match="E436"):
        write_page(scene, tmp_path / "a.gif")
    with pytest.raises(InputError, match="E431"):
        write_page(scene, tmp_path / "new" / "a.html" / "b.html")


# --------------------------------------------------------------------------------------------------- samples alone


def samples(columns, **more):
    signals = tuple(Signal(n, "rad" if n.endswith("phi") else "1" if "R[" in n else "m") for n in columns)
    return Samples("run1", T, signals, np.column_stack(list(columns.values())), np.zeros((len(T), 3)), **more)


def test_scene_of_nodes_on_a_line_has_a_lane_each():
    scene = scene_of_samples(samples({"a.x": T, "b.x": 1 - T}))
    a, b = scene.frames
    assert (a.name, b.name, scene.title) == ("a", "b", "run1")
    assert np.array_equal(a.position[:, 0], T) and np.array_equal(b.position[:, 0], 1 - T)
    assert abs(a.position[0, 1] - b.position[0, 1]) > a.shapes[0].size[1]


def test_scene_of_nodes_in_the_plane_and_in_space():
    half_turn = {f"s.R[{i},{j}]": (np.diag([-1, -1, 1])[i - 1, j - 1] + 0 * T).astype(float) for i in (1, 2, 3) for j in (1, 2, 3)}
    columns = {"p.r.x": T, "p.r.y": T**2, "p.phi": 3 * T, "s.r.x": T, "s.r.y": 2 * T, "s.r.z": 3 * T, **half_turn}
    planar, spatial = scene_of_samples(samples(columns)).frames
    assert np.array_equal(planar.position, along(T, T**2)) and np.allclose(planar.rotation, turning(3 * T))
    assert np.array_equal(spatial.position, along(T, 2 * T, 3 * T)) and np.allclose(spatial.rotation, np.diag([-1, -1, 1]))


def test_failed_runs_are_shown_up_to_their_failure():
    scene = scene_of_samples(samples({"a.x": np.where(T > 1.2, np.nan, T)}, finished=False, message="no convergence"))
    assert scene.time.tolist() == [0, 0.5, 1.0] and scene.message == "no convergence"
    with pytest.raises(InputError, match="no positions"):
        scene_of_samples(samples({"a.v": T}))


# --------------------------------------------------------------------------------------------------- models

YARD = """
use spatial
world gravity = [0, 0, -9.81] m/s2
K1 cylinder_body (a) rho = 2700 kg/m3, r = 40 mm, l = 60 mm, at = [0.2, 0, 0] m, axis = [1, 0, 0]
K2 box_body (b) rho = 2700 kg/m3, l = [60, 40, 30] mm, at = [0.4, 0, 0] m
K3 ball_body (c) rho = 7800 kg/m3, r = 30 mm, at = [0.2, 0.2, 0] m
K4 tube_body (d) rho = 7800 kg/m3, r = 40 mm, ri = 30 mm, l = 60 mm, at = [0.4, 0.2, 0] m, axis = [0, 1, 0]
j  revolute (ground, a) at = [0, 0, 0] m, axis = [0, 1, 0]
k  revolute (a, b) at = [0.3, 0, 0] m, axis = [0, 1, 0]
s  line_spring (ground, b) at1 = [0.4, 0, 0.3] m, at2 = [0.4, 0, 0] m, c = 50 N/m, d = 1 N.s/m, l0 = 0.2 m
r  rod (ground, c) at1 = [0.2, 0.2, 0.3] m, at2 = [0.2, 0.2, 0] m
v  line_spring (c, d) at1 = [0.2, 0.2, 0] m, at2 = [0.4, 0.2, 0] m, c = 0 N/m, d = 3 N.s/m
F  world_force (c) F = [1, 2, 0] N, at = [0.2, 0.2, 0.03] m
M  marker (a) at = [0.3, 0, 0] m
run transient(stop = 0.2 s, step = 2 ms, method = euler)
save M.r, k.q, r.force
"""


@pytest.fixture(scope="module")
def yard():
    from netsim.api import load
    from netsim.output.scenes import moving_signals, scene_of

    model = load(YARD)
    samples = model.samples(beside=moving_signals(model))[0]
    return scene_of(model, samples), samples


def test_bodies_by_shape_are_drawn_as_they_are(yard):
    frames = {f.name: f for f in yard[0].frames}
    own = {name: next(s for s in frames[name].shapes if s.colour == "" and np.allclose(s.position, 0)) for name in "abcd"}
    assert [own[n].kind for n in "abcd"] == ["cylinder", "box", "sphere", "tube"]
    assert own["a"].size == (0.06, 0.04) and own["b"].size == (0.06, 0.04, 0.03) and own["c"].size == (0.03,) and own["d"].size == (0.06, 0.04, 0.03)
    assert len(frames["_ground"].shapes) == 3  # hinge, spring, rod


def test_joints_springs_and_markers_go_with_their_bodies(yard):
    scene, samples = yard
    links = {k.name: k for k in scene.links}
    assert {name: k.kind for name, k in links.items()} == {"s": "spring", "r": "line", "v": "damper"}
    assert np.allclose(np.linalg.norm(links["r"].end - links["r"].start, axis=1), 0.3, atol=1e-9)
    (trace,) = scene.traces
    assert trace.name == "M"
    assert np.allclose(trace.points, np.column_stack([samples.series(f"M.r.{c}") for c in "xyz"]), atol=1e-12)


def test_arrows_are_the_forces_on_bodies(yard):
    scene, samples = yard
    arrows = {a.name: a for a in scene.arrows}
    assert set(arrows) == {"F", "j", "s", "r"} and arrows["F"].colour != arrows["r"].colour
    assert np.allclose(arrows["F"].vector, [1, 2, 0])
    ball = next(f for f in scene.frames if f.name == "c")
    assert np.allclose(arrows["F"].origin[0], ball.position[0] + [0, 0, 0.03])
    pull = np.column_stack([samples.series(f"r.force.{c}") for c in "xyz"])
    assert np.allclose(arrows["r"].vector, pull, rtol=1e-9)
    assert len({a.scale for a in arrows.values()}) == 1  # one scale for all: lengths can be compared


def test_a_body_by_inertia_is_its_cuboid():
    """m = 1 kg, I = diag(1, 2, 3): edges sqrt(24), sqrt(12), 0."""
    from netsim.output.visual_shapes import body_shapes

    given = {"m": np.ones(1), "I": np.diag([1.0, 2, 3]).ravel(), "axes": np.eye(3).ravel()}
    (shape,) = body_shapes(given, np.zeros(3), 0.0, np.inf)
    turned = np.abs(quaternions(np.array(shape.rotation)))
    assert shape.kind == "box" and sorted(shape.size) == pytest.approx([0, np.sqrt(12), np.sqrt(24)]) and turned.shape == (1, 4)
    assert body_shapes(given, np.zeros(3), 0.0, 0.1) == []  # wider than where it is held


def test_nodes_on_a_line_have_lanes_and_circuits_have_nothing_to_show():
    from netsim.api import load
    from netsim.output.scenes import moving_signals, scene_of

    model = load("use translational\nm1 mass (a) m = 1 kg\nm2 mass (b) m = 1 kg\nstart a.v = 1 m/s\nrun transient(stop = 1 s, step = 0.1 s)\n")
    a, b = scene_of(model, model.samples(beside=moving_signals(model))[0]).frames
    assert a.position[-1, 0] == pytest.approx(1.0) and b.position[0, 1] < a.position[0, 1]
    model = load("use electrical\nr resistor (a, ground) R = 1 Ohm\nv voltage (a, ground) v = 1 V\nrun transient(stop = 1 s, step = 0.1 s)\n")
    with pytest.raises(InputError, match="no positions to animate"):
        scene_of(model, model.samples(beside=moving_signals(model))[0])


# --------------------------------------------------------------------------------------------------- what a browser shows

RED, BLUE = np.array([230, 20, 20]), np.array([20, 20, 230])


@pytest.fixture(scope="module", params=["webgl", "canvas"])
def browser(request):
    if PROGRAM is None:
        pytest.skip("needs the program chromium")
    with Browser(webgl=request.param == "webgl") as opened:
        opened.expected = request.param
        yield opened


@pytest.fixture
def shown(browser, tmp_path):
    """Opens a scene and returns the browser; afterwards nothing may have gone wrong and nothing but the file been asked for."""

    def show(scene):
        browser.open(write_page(scene, tmp_path / "page.html"), "window.viewer")
        assert browser.value("document.body.dataset.renderer") == browser.expected
        return browser

    browser.errors.clear()
    browser.requests.clear()
    yield show
    assert browser.errors == []
    assert all(r.startswith(("file:", "data:")) for r in browser.requests) and browser.requests


def centre(picture, colour):
    """Pixel (x, y) of the middle of everything above the triad that has the hue of a pure colour, in any light."""
    picture = picture[:460]
    first = int(np.argmax(colour))
    others = np.delete(picture, first, axis=2).max(axis=2)
    y, x = np.nonzero((picture[:, :, first] > 2.5 * others) & (picture[:, :, first] > 90))
    assert len(x) > 100, "nothing of this colour"
    return np.array([x.mean(), y.mean()])


def two_boxes(**more):
    """A red box that moves from x = 0 to x = 1 and y = 0.2 within 2 s, a blue one that stays at x = 1, y = -0.2."""
    red = Frame("_red", np.array([[0, 0.2, 0], [1, 0.2, 0]]), shapes=(box(0.2, 0.2, 0.2),), colour="#e61414")
    blue = Frame("_blue", np.array([1, -0.2, 0]), shapes=(box(0.2, 0.2, 0.2),), colour="#1414e6")
    return Scene("Two boxes", np.array([0.0, 2.0]), (red, blue), grid=False, **more)


def test_bodies_are_where_the_time_puts_them(shown):
    page = shown(two_boxes())
    places = []
    for part in (0.0, 0.5, 1.0):
        page.value(f"(s => (s.value = {part}, s.dispatchEvent(new Event('input'))))(document.getElementById('slider'))")
        picture = page.picture()
        places.append(centre(picture, RED))
        assert page.value("viewer.time()") == 2 * part
        assert page.value("document.getElementById('time').textContent") == f"t = {2 * part:.3f} s"
    blue = centre(picture, BLUE)
    assert places[2][0] == pytest.approx(blue[0], abs=1.0) and places[2][1] < blue[1] - 30  # y points up
    assert places[1] == pytest.approx((places[0] + places[2]) / 2, abs=1.0)
    assert places[2][0] - places[0][0] > 250  # the scene fills the picture


def test_play_pause_speed_and_the_end(shown):
    page = shown(two_boxes())
    page.click("play")
    page.wait("viewer.time() > 0.1")
    page.click("play")
    stopped = page.value("viewer.time()")
    page.drawn()
    assert page.value("viewer.time()") == stopped < 2
    page.value("document.getElementById('speed').value = '10', document.getElementById('loop').checked = false")
    page.value("viewer.play(true)")
    page.wait("!viewer.playing()")
    assert page.value("viewer.time()") == 2.0


def test_chapters_are_shown_one_at_a_time(shown):
    """A page with chapters plays the first over and over; another is chosen by name, and its time ends where it ends."""
    page = shown(two_boxes(chapters=(TimeSection("mode 1: 3 Hz", 0.0, 0.5), TimeSection("mode 2: 5 Hz", 1.0, 1.5))))
    assert page.value("viewer.playing()") and page.value("document.getElementById('time').textContent") == "mode 1: 3 Hz"
    page.value("viewer.play(false), viewer.seek(0.25), 0")
    assert page.value("document.getElementById('clock').textContent") == "180°"
    choose = "const s = document.getElementById('chapter'); s.selectedIndex = 1; s.dispatchEvent(new Event('change')); viewer.time()"
    assert page.value(f"(() => {{ {choose.replace('viewer.time()', 'return viewer.time()')} }})()") == 1.0
    assert page.value("document.getElementById('time').textContent") == "mode 2: 5 Hz"
    page.value("document.getElementById('loop').click(), viewer.play(true), 0")
    page.wait("!viewer.playing()")
    assert page.value("viewer.time()") == 1.5


def test_shapes_of_every_kind_are_drawn(shown):
    kinds = (box(1, 1, 1), cylinder(1, 0.5), cylinder(1, 0.5, inner=0.3), sphere(0.5), line((0, 0, 0), (1, 0, 0), (1, 1, 0)), point())
    for shape in kinds:
        page = shown(Scene("One shape", np.zeros(1), (Frame("_a", np.zeros(3), shapes=(shape,), colour="#e61414"),), grid=False, planar=False))
        stage = page.picture()[200:540, 100:800]
        coloured = np.count_nonzero((stage[:, :, 0] > 100) & (stage[:, :, 1] < 90))
        assert coloured > {"point": 40, "line": 300}.get(shape.kind, 10_000), shape.kind


def test_arrows_links_and_paths_follow(shown):
    time = np.linspace(0, 1, 11)
    path = along(2 * time, 0.2)
    arrow = Arrow("push", np.array([0, -0.2, 0]), along(10 * time), scale=0.2, colour="#1414e6")
    spring = Link("s", np.array([0, 0, 0]), along(2 * time), "spring", colour="#0a7a3c")
    page = shown(Scene("Motion", time, traces=(Trace("p", path, "#e61414"),), arrows=(arrow,), links=(spring,), grid=False))
    widths = []
    for t in (0.5, 1.0):
        page.value(f"viewer.seek({t})")
        stage = page.picture()[190:560]
        found = [np.nonzero((stage[:, :, k] > 1.6 * np.delete(stage, k, axis=2).max(axis=2)) & (stage[:, :, k] > 60))[1] for k in range(3)]
        widths.append([np.ptp(x) for x in found])
        assert all(len(np.unique(x)) > 0.97 * np.ptp(x) for x in found)  # no gaps
        assert f"{10 * t:g} N" in page.value("document.getElementById('legend').innerText")
    half, whole = np.array(widths)
    assert np.all(whole > 500) and np.all(np.abs(half - whole / 2) < 12), (half, whole)


def test_names_legend_and_failure_are_readable(shown):
    bodies = tuple(Frame(n, along(T, y), shapes=(box(0.3, 0.3, 0.3),)) for n, y in (("sledge", 0.0), ("cart <1>", 0.01)))
    page = shown(Scene("A & B", T, (*bodies, Frame("_hidden", np.zeros(3))), message="stopped at 2 s"))
    legend = page.value("document.getElementById('legend').innerText")
    for words in ("A & B", "sledge", "cart <1>", "grid", "stopped at 2 s"):
        assert words in legend
    assert "_hidden" not in page.value("document.body.innerText")
    boxes = page.value(
        "[...document.querySelectorAll('#labels span')].map(e => e.getBoundingClientRect()).map(r => [r.left, r.right, r.top, r.bottom])"
    )
    (l1, r1, t1, b1), (l2, r2, t2, b2) = boxes
    assert r1 <= l2 or r2 <= l1 or b1 <= t2 or b2 <= t1  # names do not cover each other


def test_mouse_turns_and_zooms_and_views_show_their_side(shown):
    page = shown(two_boxes(planar=False))
    before = page.picture()
    page.drag((450, 400), (600, 330))
    turned = page.picture()
    assert np.count_nonzero(np.abs(turned - before).max(axis=2) > 40) > 2000
    page.mouse("mouseWheel", 450, 300, deltaX=0, deltaY=-600)
    zoomed = page.picture()
    assert np.count_nonzero(np.abs(zoomed - turned).max(axis=2) > 40) > 2000
    page.value("document.querySelector('[data-view=\"0,0,1\"]').click(); viewer.seek(2)")
    picture = page.picture()
    red, blue = centre(picture, RED), centre(picture, BLUE)
    assert red[0] == pytest.approx(blue[0], abs=6) and red[1] < blue[1] - 30  # from above: x to the right, y up


def test_eye_follows_a_body(shown):
    scene = two_boxes()
    named = Scene(
        scene.title, scene.time, (Frame("red", scene.frames[0].position, shapes=(box(0.2, 0.2, 0.2, colour="#e61414"),)), scene.frames[1]), grid=False
    )
    page = shown(named)
    page.value("(s => (s.value = '0', s.dispatchEvent(new Event('change'))))(document.getElementById('follow'))")
    page.value("document.getElementById('show-labels').click()")
    start = centre(page.picture(), RED)
    page.value("viewer.seek(2)")
    assert centre(page.picture(), RED) == pytest.approx(start, abs=1.0)


def test_page_of_a_run_shows_the_mechanism(shown, yard):
    scene, _ = yard
    page = shown(scene)
    page.value("viewer.seek(0.1)")
    legend = page.value("document.getElementById('legend').innerText")
    force = next(a for a in scene.arrows if a.name == "r")
    now = float(np.interp(0.1, scene.time, np.linalg.norm(force.vector, axis=1)))
    row = re.search(r"^r\s+([\d.]+) N$", legend, re.MULTILINE)
    assert row and float(row[1]) == pytest.approx(now, rel=2e-3), legend
    stage = page.picture()[20:540, 170:]
    hues = (stage.max(axis=2) - stage.min(axis=2)) > 40
    assert np.count_nonzero(hues) > 3000  # bodies fill a good part of the picture


def test_a_bent_beam_is_told_with_the_line_it_is_bent_from():
    """The first link of a pendulum: its curve ends where its end frame is, the straight line where the link would end if it were stiff."""
    model = netsim.load(models_folder() / "manipulators/flexible_pendulum_1.net")
    run = model.transient(stop=0.02, rtol=1e-6, method="rk8", sample=0.01, save=["tip1.r", "theta1", "u5"])
    samples = transient(model.machine, model.structure, TransientOptions(0.02, method="rk8", sample=0.01), beside=moving_signals(model))
    scene = scene_of(model, samples)
    assert [c.name for c in scene.curves] == ["link1.first", "link1.part[1]"]
    last = scene.curves[1]
    assert np.allclose(last.bent[:, -1, :2], np.column_stack([run["tip1.r.x"], run["tip1.r.y"]]), atol=1e-9)
    away = np.linalg.norm(last.bent[:, -1] - last.straight[:, -1], axis=1)
    assert np.allclose(away, np.abs(run["u5"].values), rtol=1e-6, atol=1e-12)
    told = encoded(scene)["curves"]
    assert len(told) == 2 and series(encoded(scene), told[1]["bent"]).shape == (3, 27)
