"""Correct: what to do about wrong pseudo-labels."""
