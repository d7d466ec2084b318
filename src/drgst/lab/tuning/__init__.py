"""Tuning: the search for settings of highest validation accuracy."""
