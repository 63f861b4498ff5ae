"""Starts: assembly of mechanisms, consistent values, points recovered from states."""
