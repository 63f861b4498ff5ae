"""The nonlinear program of an optimal motion: blocks, points, mesh, transcription, solution."""
