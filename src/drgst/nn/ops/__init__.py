"""Sparse operators."""
