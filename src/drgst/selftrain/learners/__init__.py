"""Learners: what is trained."""
