"""The claims of the paper, what was measured of each, and whether it held."""
