"""Calibrate: calibrated probabilities."""
