"""Analyses of operating points: characteristics, small-signal transfer at rest, sensitivities."""
