"""Weigh: how much each pseudo-labelled node counts."""
