"""Graphs and splits in files and in other libraries."""
