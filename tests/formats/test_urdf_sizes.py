"""Robots of any size: one that is scaled down by a factor s moves as the large one does, sqrt(s) times faster."""

import numpy as np
import pytest

import netsim

ROBOT = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="{a} 0 {b}" rpy="0.3 0.2 0.1"/><mass value="{m}"/>
<inertia ixx="{i1}" iyy="{i2}" izz="{i3}" ixy="{i4}" ixz="0" iyz="{i4}"/></inertial></link>
<link name="fore"><inertial><origin xyz="0 {a} {b}"/><mass value="{m}"/>
<inertia ixx="{i3}" iyy="{i1}" izz="{i2}" ixy="0" ixz="{i4}" iyz="0"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0.2 1 0.1"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="fore"/>
<origin xyz="{c} 0 {b}" rpy="1.57079632679489661923 0 0"/><axis xyz="1 0 1"/></joint></robot>"""


@pytest.mark.parametrize("size", [1e3, 1e-3, 1e-6])
def test_a_robot_of_any_size_has_all_of_its_inertia(tmp_path, size):
    """Moments and products of inertia go with the fifth power: of a robot of a micrometre they are 1e-29 kg.m2."""
    angles = []
    for s in (1.0, size):
        lengths = {"a": 0.2 * s, "b": 0.05 * s, "c": 0.4 * s, "m": 3 * s**3}
        moments = {name: 3 * s**5 * i for name, i in (("i1", 0.01), ("i2", 0.04), ("i3", 0.035), ("i4", 0.004))}
        (tmp_path / "arm.urdf").write_text(ROBOT.format(**lengths, **moments), encoding="utf-8")
        text = f'use "{tmp_path / "arm.urdf"}"\nworld gravity = [0, 0, -9.81] m/s2\nr arm (ground)\n'
        with netsim.allow(tmp_path):
            run = netsim.load(text).transient(stop=np.sqrt(s), sample=np.sqrt(s) / 10, save=["r.shoulder.q", "r.elbow.q"])
        angles.append(np.array([run["r.shoulder.q"].values, run["r.elbow.q"].values]))
    assert np.max(np.abs(angles[1] - angles[0])) <= 2e-5 * np.max(np.abs(angles[0]))
