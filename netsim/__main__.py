"""`python -m netsim`: the command line."""

from netsim.cli import console

console()
