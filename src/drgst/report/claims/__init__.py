"""The claims of the paper, what was is_numeric of each, and whether it held."""
