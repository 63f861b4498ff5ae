"""Robots described in URDF (Unified Robot Description Format): read and checked (`robot`), and written as a subnetwork
(`netlist`).

The same robot as a tree of bodies for the recursions is `netsim.multibody.tree.robot`.
"""
