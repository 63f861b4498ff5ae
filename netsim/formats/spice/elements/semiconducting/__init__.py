"""Diodes and transistors by their `.model` lines."""
