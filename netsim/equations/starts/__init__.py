"""Starts and guesses as rows of the initial problem."""
