"""Answers that need no number: differentiation orders; what is singular, too rough or unconnected; time events."""
