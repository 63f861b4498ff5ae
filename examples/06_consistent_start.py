"""Where a run starts: written starts are equations, defaults give way, and every default that moved is listed.

A rigid link is 100 mm long, so its two ends cannot both stand at the default position 0: the mass nobody spoke of
moves.
"""

import netsim

LINK = """
use translational
m1    mass    (a)          m = 1 kg
m2    mass    (b)          m = 1 kg
link  weld    (a, b)       l = 100 mm
c1    spring  (b, ground)  c = 100 N/m
start  a.x = 150 mm
start  a.v = 0.2 m/s
run   transient(stop = 10 ms, step = 1 ms)
save  a.x, b.x, b.v, link.f
"""


def compute():
    result = netsim.load(LINK).run()
    at_start = {name: float(result[name][0]) for name in ("a.x", "b.x", "b.v", "link.f")}
    assert abs(at_start["a.x"] - 0.15) < 1e-12, "what is written holds"
    assert abs(at_start["b.x"] - 0.05) < 1e-12, "the default of b gave way to the link"
    assert abs(at_start["b.v"] - 0.2) < 1e-12, "so did its velocity"
    # the spring pulls both masses with c*b.x; the link carries what accelerates a, half of it, as compression
    assert abs(at_start["link.f"] - 100 * 0.05 / 2) < 1e-9
    assert "b.v: 0 -> 0.2" in result.attrs["start_changes"]
    return result


def draw(result):
    print(result.attrs["start_changes"].replace("; ", "\n"))


if __name__ == "__main__":
    draw(compute())
