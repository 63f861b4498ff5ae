"""Inverse dynamics: tracked motions and actuators, authority, zero dynamics, the check by a run forward."""
