"""What measures look at: the signals of a run over its axis, and the functions of them."""
