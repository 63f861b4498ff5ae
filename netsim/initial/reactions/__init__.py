"""Redundant constraints and the reactions of closed loops."""
