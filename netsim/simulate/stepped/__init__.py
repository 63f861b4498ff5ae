"""A transient run that is stepped from Python: its inputs, how it is kept and copied, how it goes on."""
