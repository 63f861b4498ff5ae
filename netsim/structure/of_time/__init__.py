"""Functions of time: where they switch, and how continuous and smooth they are."""
