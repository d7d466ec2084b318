"""What a finished run is used for: evaluation, thresholds, review of labels, explanations."""
