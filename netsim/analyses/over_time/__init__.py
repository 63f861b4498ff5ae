"""Runs over time: how one begins, goes on and ends, and what runs with other values share."""
