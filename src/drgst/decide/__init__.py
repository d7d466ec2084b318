"""Decisions with a finished run: evaluate, choose a threshold, explain, review labels, suggest nodes to label next."""
