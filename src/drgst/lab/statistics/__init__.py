"""Statistics of runs: means over draws, paired comparison, correlation."""
