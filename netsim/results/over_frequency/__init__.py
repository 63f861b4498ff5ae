"""Responses over frequency: their figures and pictures."""
