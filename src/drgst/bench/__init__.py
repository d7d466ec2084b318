"""Many runs: a grid of them, the store that keeps them, executors, tuning and statistics."""
