"""Events of a run: relations and their iteration, discontinuities that are passed, the log."""
