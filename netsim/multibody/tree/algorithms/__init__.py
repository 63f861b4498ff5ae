"""Inverse, forward and mixed dynamics, inertia matrix, derivatives, Newmark's method, superelements."""
