"""The cache folder, and in it texts that were read before: their syntax trees as data."""
