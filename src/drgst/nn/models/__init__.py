"""Networks for node classification."""
