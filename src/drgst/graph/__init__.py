"""Graphs and splits: data structures, transforms, input and output, data sets."""
