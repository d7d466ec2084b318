"""The public data sets, where their files come from, and synthetic graphs."""
