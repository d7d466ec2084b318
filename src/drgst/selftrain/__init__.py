"""selftrain."""
