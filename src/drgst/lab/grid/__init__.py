"""A grid of runs: which there are, their keys, and how they are made."""
