"""Callbacks that show a run: a live line in a terminal or notebook."""
