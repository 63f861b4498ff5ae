"""The beginning of a run in compiled code: stages of a consistent start, sizes before the first step."""
