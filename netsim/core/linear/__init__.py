"""Sparse LU factors: ordering, symbolic part, values, and what is eliminated first."""
