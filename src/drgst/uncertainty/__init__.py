"""How sure it is: information gain (sampled and closed form) and calibration."""
