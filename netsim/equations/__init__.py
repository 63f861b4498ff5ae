"""Components -> equations -> machine code; numbering and layout of unknowns; the system and its machine."""
