"""Trees of rigid and flexible bodies: recursive Newton-Euler algorithms on flat arrays.

`model` describes a tree; `inverse` (rnea), `forward` (aba, mixed), `composite` (crba), `derivatives`, `observers`
compute on it; `newmark` integrates it. The page docs/recursion.md has the equations and the conventions.
"""
