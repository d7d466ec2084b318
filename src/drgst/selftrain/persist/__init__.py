"""Stages, models and tensors in files."""
