"""Information gain (sampled and in closed form) and calibration."""
