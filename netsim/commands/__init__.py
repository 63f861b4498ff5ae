"""What the commands of `netsim` do; their arguments stand in `netsim/cli.py`."""
