"""Public data sets, their files, and synthetic graphs."""
