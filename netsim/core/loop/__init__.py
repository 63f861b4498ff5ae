"""The time loop: accept or refuse, events, samples, the energy account, the history of delays."""
