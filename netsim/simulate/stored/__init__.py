"""The state of a run on the disk, and a run that goes on from it."""
