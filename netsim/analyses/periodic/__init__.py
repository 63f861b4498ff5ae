"""Periodic states: the orbit itself, what becomes of disturbances, and its harmonics."""
