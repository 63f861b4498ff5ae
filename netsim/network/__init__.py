"""The hierarchy expanded; parameters and counts valued; inputs, signals and tables bound; the drawing."""
