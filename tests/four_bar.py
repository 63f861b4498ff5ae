"""A four-bar with a crank of 0.1 m, a coupler and a rocker of uniform bars, in its plane."""

PLANE = """
use planar
world gravity = [0, -9.81, 0] m/s2
let Cx = (0.325 m)
let Cy = (sqrt(0.039375)*1 m)
crank    planar_bar       (a)          m = 0.2 kg, at1 = [0, 0] m,    at2 = [0.1, 0] m
coupler  planar_bar       (b)          m = 0.6 kg, at1 = [0.1, 0] m,  at2 = [Cx, Cy]
rocker   planar_bar       (c)          m = 0.4 kg, at1 = [0.3, 0] m,  at2 = [Cx, Cy]
pA       planar_revolute  (ground, a)  at = [0, 0] m
pB       planar_revolute  (a, b)       at = [0.1, 0] m
pC       planar_revolute  (b, c)       at = [Cx, Cy]
pD       planar_revolute  (ground, c)  at = [0.3, 0] m
"""
